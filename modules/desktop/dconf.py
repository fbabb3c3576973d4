# SPDX-License-Identifier: Apache-2.0
"""Settings of desktops in databases of dconf: those of users, and those of the machine."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from modules import _accounts, _paths, file, ini
from modules._machine.surroundings import home
from modules._machine.tools import Tool
from modules._planned.overlay import is_planned
from modules._texts.lines import encoded, plain_name, split
from modules.file._snapshot import snapshot
from runner.api import CommandFailed, changer

FOLDER = "/etc/dconf/db"  # below it NAME.d has the key files of a database, and NAME what is read
OWN = "90-runner"
_KEY = re.compile(r"(/[^/\s]+)+")
_NUMBERS: Mapping[str, tuple[str, int, int]] = {
    "y": ("byte ", 0, 255),
    "n": ("int16 ", -(2**15), 2**15 - 1),
    "q": ("uint16 ", 0, 2**16 - 1),
    "i": ("", -(2**31), 2**31 - 1),
    "u": ("uint32 ", 0, 2**32 - 1),
    "x": ("int64 ", -(2**63), 2**63 - 1),
    "t": ("uint64 ", 0, 2**64 - 1),
}
_ESCAPES = {"\a": "a", "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t", "\v": "v"}


# ---------------------------------------------------------------- values


def value_text(value: Any, kind: str | None = None) -> str:
    """A value as dconf prints it. Raises CommandFailed for one that is not of this type.

    kind: the type, as GVariant names it (`u`, `as`, `a(ss)`, `a{sv}` ...); without it the one that
    the value looks like.

    {{ salt['dconf.value_text'](['a', 'b']) }}
    """
    kind = kind or _kind_of(value)
    first, rest = _first(kind)
    if rest:
        raise _no_type(kind)
    return _text(value, first, True)


def _kind_of(value: Any) -> str:
    if isinstance(value, list | tuple):
        return "a" + (_kind_of(value[0]) if value else "s")
    for kind, type_ in (("b", bool), ("i", int), ("d", float), ("s", str)):
        if isinstance(value, type_):
            return kind
    raise CommandFailed(f"{value!r} is no value without its `type`")


def _first(kind: str) -> tuple[str, str]:
    """The first whole type of a text of types, and the rest."""
    if kind[:1] == "a":
        inner, rest = _first(kind[1:])
        return f"a{inner}", rest
    if kind[:1] in ("(", "{"):
        rest = kind[1:]
        while rest[:1] not in ("", ")", "}"):
            rest = _first(rest)[1]
        whole = kind[: len(kind) - len(rest) + 1]
        if rest and whole[0] + whole[-1] in ("()", "{}"):
            return whole, rest[1:]
    elif kind and kind[0] in {*_NUMBERS, *"bdsv"}:
        return kind[0], kind[1:]
    raise _no_type(kind)


def _parts(inner: str) -> list[str]:
    parts = []
    while inner:
        first, inner = _first(inner)
        parts.append(first)
    return parts


def _text(value: Any, kind: str, marked: bool) -> str:
    """The text of a value. marked: with its type, where it is not the usual one of such texts: of
    an array only the first element is.
    """
    if kind == "v":
        return f"<{_text(value, _kind_of(value), True)}>"
    if kind[0] == "(":
        parts = _parts(kind[1:-1])
        if not isinstance(value, list | tuple) or len(value) != len(parts):
            raise _unlike(value, kind)
        texts = [_text(*each, marked) for each in zip(value, parts, strict=True)]
        return f"({', '.join(texts)}{',' * (len(texts) == 1)})"
    if kind[0] != "a":
        return _plain(value, kind, marked)
    is_mapping = kind[1] == "{"
    if not isinstance(value, Mapping if is_mapping else (list, tuple)):
        raise _unlike(value, kind)
    texts = []
    for each in value:
        first = marked and not texts
        if is_mapping:
            of_key, of_value = _parts(kind[2:-1])
            texts.append(f"{_text(each, of_key, first)}: {_text(value[each], of_value, first)}")
        else:
            texts.append(_text(each, kind[1:], first))
    start, end = "{}" if is_mapping else "[]"
    return f"{f'@{kind} ' * (marked and not texts)}{start}{', '.join(texts)}{end}"


def _plain(value: Any, kind: str, marked: bool) -> str:
    if kind == "b" and isinstance(value, bool):
        return "true" if value else "false"
    if kind == "s" and isinstance(value, str):
        return _quoted(value)
    if kind == "d" and isinstance(value, int | float) and not isinstance(value, bool):
        text = f"{value:.17g}"
        return text if set(text) & set(".en") else f"{text}.0"
    if kind in _NUMBERS and isinstance(value, int) and not isinstance(value, bool):
        mark, least, most = _NUMBERS[kind]
        if least <= value <= most:
            return f"{mark if marked else ''}{f'0x{value:02x}' if kind == 'y' else value}"
    raise _unlike(value, kind)


def _quoted(text: str) -> str:
    mark = '"' if "'" in text else "'"
    shown = ""
    for letter in text:
        if letter in (mark, "\\"):
            shown += f"\\{letter}"
        elif letter.isprintable():
            shown += letter
        elif letter in _ESCAPES:
            shown += f"\\{_ESCAPES[letter]}"
        else:
            code = ord(letter)
            shown += f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
    return f"{mark}{shown}{mark}"


def _unlike(value: Any, kind: str) -> CommandFailed:
    return CommandFailed(f"{value!r} is no value of the type {kind!r}")


def _no_type(kind: str) -> CommandFailed:
    return CommandFailed(f"{kind!r} is no type: b, i, u, d, s, as, a(ss), a{{sv}} are some")


def _key(name: str) -> str:
    if not _KEY.fullmatch(name):
        raise CommandFailed(f"{name!r} is not the path of a key, such as /org/gnome/mutter/overlay")
    return name


# ---------------------------------------------------------------- users


def _database(user: str | None) -> str:
    return os.path.join(home(user), ".config/dconf/user")


def _tool(user: str | None, *, bus: bool) -> Tool:
    """dconf for a user. bus: on the bus of the user's session, or on one of its own."""
    try:
        runtime = f"/run/user/{_accounts.user(user).pw_uid if user else os.geteuid()}"
    except KeyError:
        raise CommandFailed(f"There is no user {user}", missing=("user", str(user))) from None
    env = {"XDG_RUNTIME_DIR": runtime if _paths.isdir(runtime) else "", "XDG_CONFIG_HOME": ""}
    if bus and _paths.exists(f"{runtime}/bus"):
        env["DBUS_SESSION_BUS_ADDRESS"] = f"unix:path={runtime}/bus"
    elif bus:
        return Tool("dbus-run-session", "dbus-daemon", user, None, env)
    return Tool("dconf", "dconf-cli", user, None, env)


def read(key: str, user: str | None = None) -> str:
    """The value that a user gave a key, as text of GVariant; empty without one. Raises
    CommandFailed when dconf does not work.

    {{ salt['dconf.read']('/org/gnome/desktop/interface/color-scheme', user='zoe') }}
    """
    dconf, path = _tool(user, bus=False), _database(user)
    dconf.require()
    if not file.is_file(path):
        return ""
    # without the machine's databases, and without the memory that dconf shares with sessions
    line = 'printf "file-db:%s\\n" "$1" | DCONF_PROFILE=/dev/stdin exec dconf read "$2"'
    return dconf._replace(program="sh").output("-c", line, "sh", path, _key(key)).strip()


def _before(key: str, *_: object, user: str | None = None) -> object:
    return snapshot(_database(user))


@changer(touches=["files"], before=_before)
def write(key: str, text: str, user: str | None = None) -> None:
    """Give a key of a user a value, which is text of GVariant. Raises CommandFailed with what dconf
    has against it.
    """
    _change(user, "write", _key(key), text)


@changer(touches=["files"], before=_before)
def reset(key: str, user: str | None = None) -> None:
    """Take away the value that a user gave a key. Raises CommandFailed with what dconf has against
    it.
    """
    _change(user, "reset", _key(key))


def _change(user: str | None, *words: str) -> None:
    _tool(user, bus=False).require()
    tool = _tool(user, bus=True)
    if tool.program != "dconf":
        words = ("--", "dconf", *words)
    done = tool.run(*words)
    if done.retcode:
        lines = [line for line in done.error_text.splitlines() if line.startswith("error:")]
        raise CommandFailed(lines[-1] if lines else f"dconf failed: {done.error_text}")


# ---------------------------------------------------------------- the machine


def key_files(database: str) -> list[str]:
    """The key files of a database of the machine, in the order in which they count."""
    folder = f"{FOLDER}/{plain_name(database, 'database')}.d"
    if "/" in database:
        raise CommandFailed(f"database: {database!r} is not the name of one")
    names = sorted(_paths.listdir(folder)) if _paths.isdir(folder) else []
    return [path for name in names if file.is_file(path := f"{folder}/{name}") and name[0] != "."]


def stored(key: str, database: str) -> dict[str, str]:
    """The values of a key by key file of a database, in the order in which they count: the last one
    does.

    {{ salt['dconf.stored']('/org/gnome/mutter/overlay-key', 'local') | json }}
    """
    section, _, option = _key(key)[1:].rpartition("/")
    found = {path: ini.get_option(path, section, option) for path in key_files(database)}
    return {path: str(text) for path, text in found.items() if text not in (None, "")}


def store(key: str, text: str, database: str) -> None:
    """Give a key of a database a value, which is text of GVariant."""
    section, _, option = _key(key)[1:].rpartition("/")
    path = _own(f"{FOLDER}/{database}.d")
    ini.set_option(path, {section: {option: text}}, no_spaces=True)


def unstore(key: str, database: str) -> None:
    """Take a key out of the key files of a database."""
    section, _, option = _key(key)[1:].rpartition("/")
    for path in stored(key, database):
        ini.remove_option(path, section, option)


def locks(key: str, database: str) -> list[str]:
    """The files of a database that lock a key."""
    folder = f"{FOLDER}/{plain_name(database, 'database')}.d/locks"
    names = sorted(_paths.listdir(folder)) if _paths.isdir(folder) else []
    return [path for name in names if _key(key) in _lines(path := f"{folder}/{name}")]


def _lines(path: str) -> list[str]:
    return split(file.read_bytes(path).decode("utf-8", "surrogateescape"))


def lock(key: str, database: str) -> None:
    """Lock a key of a database."""
    path = _own(f"{FOLDER}/{database}.d/locks")
    file.write(path, encoded([*_lines(path), _key(key)]))


def unlock(key: str, database: str) -> None:
    """Take the locks of a key away."""
    for path in locks(key, database):
        file.write(path, encoded(line for line in _lines(path) if line != key))


def _own(folder: str) -> str:
    path = f"{folder}/{OWN}"
    file.makedirs(folder)
    if not file.is_file(path):
        file.write(path, b"", mode="0644")
    return path


def is_stale(database: str) -> bool:
    """Return whether key files were written since dconf made a database of them."""
    folder = f"{FOLDER}/{plain_name(database, 'database')}.d"
    made = f"{FOLDER}/{database}"
    paths = [folder, *key_files(database)]
    if _paths.isdir(f"{folder}/locks"):
        names = _paths.listdir(f"{folder}/locks")
        paths += [f"{folder}/locks", *(f"{folder}/locks/{name}" for name in names)]
    if not _paths.isdir(folder) or any(map(is_planned, [made, *paths])):
        return False  # what is planned makes it anew
    if not _paths.exists(made):
        return True
    return max(_paths.stat(path).st_mtime for path in paths) > _paths.stat(made).st_mtime


def _plan_update(database: str) -> None:
    file.write(f"{FOLDER}/{database}", b"")  # nothing reads what it says


@changer(
    touches=["files"],
    before=lambda database: snapshot(f"{FOLDER}/{database}"),
    planned=_plan_update,
)
def update(database: str) -> None:
    """Make a database of its key files anew. Raises CommandFailed with what dconf has against
    them.
    """
    dconf, made = Tool("dconf", "dconf-cli"), f"{FOLDER}/{database}"
    dconf.output("update")  # which also tells sessions
    if is_stale(database):  # it goes by whole seconds
        dconf.output("compile", made, f"{made}.d")


def require() -> None:
    """Raise CommandFailed where there is no dconf."""
    Tool("dconf", "dconf-cli").require()
