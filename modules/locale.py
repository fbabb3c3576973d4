# SPDX-License-Identifier: Apache-2.0
"""Languages of the machine."""

from __future__ import annotations

import re

from modules import _paths, cmd, file
from modules._planned.overlay import planned_machine
from modules._texts.lines import one_line
from runner.api import FormerState, StateFailed, changer, for_states

DEFAULT = "/etc/default/locale"
LIST = "/etc/locale.gen"
DEFINITIONS = ("/usr/local/share/i18n", "/usr/share/i18n")  # what locale-gen makes locales of


def _normal(name: str) -> str:
    language, _, charset = name.partition(".")
    return f"{language}.{_flat(charset)}" if charset else language


def _flat(charset: str) -> str:
    return charset.lower().replace("-", "")


def list_avail() -> list[str]:
    """The locales that programs can use."""
    planned = planned_machine().locales
    now = cmd.probe(["locale", "-a"]).stdout.splitlines()
    return [one for one in now if _normal(one) not in planned] + [
        one for one in planned if planned[one]
    ]


def avail(locale: str) -> bool:
    """Return whether programs can use a locale."""
    return any(is_same(locale, known) for known in list_avail())


@for_states
def is_missing(locale: str) -> bool:
    """Return whether programs cannot use a locale; False where nothing lists them."""
    known = list_avail() if cmd.which("locale") else []
    return bool(known) and not any(is_same(locale, one) for one in known)


@for_states
def plain(name: str) -> str:
    """A locale, however its character set is written and named: de_DE.utf8."""
    return _normal("".join(name.split()[:1]))


@for_states
def is_same(one: str, other: str) -> bool:
    """Return whether two names mean one locale: `de_DE.UTF-8 UTF-8`, `de_DE.utf8`."""
    return plain(one) == plain(other)


def get_locale() -> str:
    """The locale of the system; empty when none is set."""
    for path in (DEFAULT, "/etc/locale.conf"):
        if file.is_file(path):
            match = re.search(
                r'^LANG="?([^"\n]*)"?', file.read_bytes(path).decode("utf-8", "replace"), re.M
            )
            if match:
                return match[1]
    return ""


def set_locale(locale: str) -> bool:
    """Set the locale of the system. Raises StateFailed for what cannot be the name of one."""
    path = DEFAULT if file.is_file("/etc/debian_version") else "/etc/locale.conf"
    old = file.read_bytes(path).decode("utf-8", "replace") if file.is_file(path) else ""
    locale = one_line(locale, "the locale")
    if re.search(r"[\"'`$\\\s]", locale):
        raise StateFailed(f"{locale!r} is not the name of a locale")
    line = f'LANG="{locale}"'
    new = (
        re.sub(r"^LANG=.*$", lambda _: line, old, count=1, flags=re.M)
        if re.search(r"^LANG=", old, re.M)
        else f"{old}{line}\n"
    )
    file.write(path, new.encode(), mode=None if old else "0644")
    return True


def refuse_new(locale: str) -> None:
    """Raise StateFailed when the system has no such locale, or nothing that makes locales, and for
    a caller who may not.
    """
    if not file.is_file(LIST) or not cmd.which("locale-gen"):
        what = "locale-gen" if file.is_file(LIST) else LIST
        raise StateFailed(
            f"there is no {what}; install the package locales", missing=("pkg", "locales")
        )
    file.refuse_put(LIST)
    name, charset = _split(locale)
    definition = re.sub(r"\.[^@]*", "", name)
    wanted = {
        "a locale": [f"locales/{name}", f"locales/{definition}"],
        "a character set": [f"charmaps/{charset}", f"charmaps/{charset}.gz"],
    }
    for kind, paths in wanted.items():
        if not any(file.is_file(f"{folder}/{path}") for folder in DEFINITIONS for path in paths):
            raise StateFailed(
                f"there is no definition of {kind} in {DEFINITIONS[-1]}/{paths[-1]}:"
                f" {DEFINITIONS[-1]}/SUPPORTED lists the locales that there are"
            )


def _split(locale: str) -> tuple[str, str]:
    """The name and the character set of a locale (`de_DE.UTF-8`, `de_DE ISO-8859-1`), also of one
    as `locale -a` writes it (`de_DE.utf8`).
    """
    name, *rest = one_line(locale, "the locale").split() or [""]
    written = name.partition(".")[2].partition("@")[0]
    charset = _charmap(written) if written else "UTF-8"
    return name.replace(f".{written}", f".{charset}"), rest[0] if rest else charset


def _charmap(charset: str) -> str:
    """The name by which there is the definition of a character set."""
    folders = [f"{folder}/charmaps" for folder in DEFINITIONS]
    names = [name.removesuffix(".gz") for path in folders for name in _names_in(path)]
    fitting = [name for name in names if _flat(name) == _flat(charset)]
    return charset if charset in fitting else (fitting or [charset])[0]


def _names_in(folder: str) -> list[str]:
    return sorted(_paths.listdir(folder)) if _paths.isdir(folder) else []


@for_states
def former_state(*_: str) -> FormerState:
    """The locales that programs can use, as undo restores them."""
    return FormerState("locales", "generated", {"names": sorted(list_avail())})


@changer(before=former_state)
def regenerate() -> None:
    """Make the locales that are listed, and no others. Raises StateFailed where locale-gen does."""
    cmd.execute(["locale-gen"]).or_fail("locale-gen")


def _listed() -> str:
    return file.read_bytes(LIST).decode("utf-8", "replace")


def _list(locale: str) -> None:
    """Name a locale in the list of those that locale-gen makes."""
    line = " ".join(_split(locale))
    text = _listed()
    if not re.search(rf"^{re.escape(line)}\s*$", text, re.M):
        commented = rf"^#\s*{re.escape(line)}\s*$"
        text = (
            re.sub(commented, line, text, count=1, flags=re.M)
            if re.search(commented, text, re.M)
            else f"{text}{line}\n"
        )
        file.write(LIST, text.encode())


def _unlist(locale: str) -> None:
    lines = [
        f"# {line}" if line.strip() and line[:1] != "#" and is_same(locale, line) else line
        for line in _listed().splitlines()
    ]
    file.write(LIST, "\n".join([*lines, ""]).encode())


def _plan(locale: str, usable: bool) -> bool:
    (_list if usable else _unlist)(locale)
    planned_machine().locales[_normal(_split(locale)[0])] = usable
    return True


@changer(before=former_state, planned=lambda locale: _plan(locale, True))
def gen_locale(locale: str) -> bool:
    """Make a locale usable. Raises StateFailed when the system has no such locale, or cannot make
    it.
    """
    refuse_new(locale)
    _list(locale)
    name, _ = _split(locale)
    done = cmd.execute(["locale-gen"])
    if done.retcode or not avail(name):
        raise StateFailed(f"locale-gen did not make {name}: {done.error_text}")
    return True


def is_listed(locale: str) -> bool:
    """Return whether locale-gen makes a locale."""
    text = _listed() if file.is_file(LIST) else ""
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    return any(is_same(locale, line) for line in lines if line.strip())


@changer(before=former_state, planned=lambda locale: _plan(locale, False))
def drop_locale(locale: str) -> bool:
    """Make a locale usable no more. Raises StateFailed where locale-gen fails."""
    _unlist(locale)
    done = cmd.execute(["locale-gen"])
    if done.retcode or avail(locale):
        raise StateFailed(f"locale-gen did not remove {locale}: {done.error_text}")
    return True
