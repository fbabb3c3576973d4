# SPDX-License-Identifier: Apache-2.0
"""Units of systemd as the plans of a dry run so far would leave them.

Their files and links are planned files; what runs is in `_planned.py`. systemd is asked for a unit
of which nothing was planned; where none runs, files and links say all.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

from modules import _paths, file
from modules import user as users
from modules._planned.overlay import is_planned, overlay
from modules.service._planned import STARTING, plan_enabled, plan_running
from modules.service.user_units import account
from runner.api import CommandFailed, Unforeseen, leave_pending

MACHINES = tuple(
    f"{folder}/systemd/system" for folder in ("/etc", "/run", "/usr/local/lib", "/usr/lib", "/lib")
)
# folders that systemd makes for a service
FOLDERS = {
    "RuntimeDirectory": "/run",
    "StateDirectory": "/var/lib",
    "CacheDirectory": "/var/cache",
    "LogsDirectory": "/var/log",
    "ConfigurationDirectory": "/etc",
}
NO = ("no", "false", "off", "0")
USERS = tuple(f"{folder}/systemd/user" for folder in ("/etc", "/run", "/usr/local/lib", "/usr/lib"))


def concerns(unit: str, user: str = "") -> bool:
    """Return whether a file that defines a unit was planned, or its removal."""
    if overlay() is None:
        return False
    return any(is_planned(path) for path in _candidates(unit, user))


def comes_as_script(unit: str) -> bool:
    """Return whether an init script was planned, of which systemd makes a unit of the machine."""
    return is_planned(_script(unit)) and _paths.lexists(_script(unit))


def is_script(unit: str) -> bool:
    """Return whether systemd makes a unit of the machine of an init script."""
    return _paths.isfile(_script(unit)) and not definition(unit)


def _script(unit: str) -> str:
    return f"/etc/init.d/{unit.removesuffix('.service')}"


def definition(unit: str, user: str = "") -> str:
    """The file that will define a unit; empty where there will be none."""
    return next((path for path in _candidates(unit, user) if _paths.lexists(path)), "")


def own_name(unit: str, user: str = "") -> str:
    """The name that a unit has itself, where this is an alias of it: a link to its file."""
    path = "" if overlay() is None or "@" in unit else definition(unit, user)
    if not path or not _paths.islink(path):
        return unit
    folder, name = os.path.split(_paths.realpath(path))
    if folder not in map(_paths.realpath, _folders(user)):  # a file of elsewhere, by this name
        return unit
    return name if name.rpartition(".")[2] == unit.rpartition(".")[2] else unit


def text(unit: str, user: str = "") -> str:
    """The text of a unit with its drop-ins."""
    path = definition(unit, user)
    paths = [path] if path and _paths.isfile(path) else []
    return "\n".join(map(_paths.text_of, paths + drop_ins(unit, user)))


def drop_ins(unit: str, user: str = "") -> list[str]:
    """The files that change parts of a unit, in the order that systemd reads them: of one name, the
    first counts, and one without a text hides the others.
    """
    found: dict[str, str] = {}
    for name in _names_of_drop_ins(unit):
        for folder in _folders(user):
            for path in _paths.glob(f"{folder}/{name}.d/*.conf"):
                found.setdefault(os.path.basename(path), path)
    return [path for _, path in sorted(found.items()) if _paths.isfile(path) and _has_text(path)]


def _has_text(path: str) -> bool:
    return _paths.stat(path).st_size > 0


def _names_of_drop_ins(unit: str) -> Iterator[str]:
    """A unit, its template, what their names begin with up to a hyphen, and all of its kind."""
    stem, _, kind = unit.rpartition(".")
    first, at, instance = stem.partition("@")
    words = first.split("-")
    for number in range(len(words), 0, -1):
        begin = first if number == len(words) else "-".join(words[:number]) + "-"
        yield f"{begin}{at}{instance}.{kind}"
        if instance:
            yield f"{begin}@.{kind}"
    yield kind


def is_outdated(unit: str, user: str, fragment: str, known: Sequence[str]) -> bool:
    """Return whether systemd would find other files of a unit than it has read: one that goes
    before its own, a drop-in of a folder that was not there. It does not say so itself
    (NeedDaemonReload). fragment, known: the files that it has read.
    """
    if os.path.dirname(fragment) in _folders(user):
        path = definition(unit, user)
        if path and _paths.realpath(path) != _paths.realpath(fragment):
            return True
    return not {*map(_paths.realpath, drop_ins(unit, user))} <= {*map(_paths.realpath, known)}


def masked_by(unit: str, user: str = "") -> str:
    """The link that masks a unit; empty where it is not masked."""
    folders = _folders(user)
    for path in (f"{folder}/{unit}" for folder in folders):
        if _paths.lexists(path):
            is_mask = _paths.islink(path) and _paths.readlink(path) == os.devnull
            return path if is_mask else ""
    return ""


def will_be_enabled(unit: str, user: str = "") -> bool:
    """Return whether a unit with planned files will start with the machine, by its links; what
    nobody can enable counts as enabled.
    """
    return not installs(text(unit, user)) or any(map(_paths.lexists, _links(unit, user)))


def properties(unit: str, user: str = "") -> dict[str, str]:
    """What systemctl would show of a unit of a system that does not run."""
    words, mask = text(unit, user), masked_by(unit, user)
    if mask:
        return {"LoadState": "masked", "ActiveState": "inactive", "UnitFileState": "masked"}
    if not definition(unit, user):
        stem = unit.removesuffix(".service")
        loaded = not user and unit != stem and _paths.access(f"/etc/init.d/{stem}", os.X_OK)
        starts = bool(_paths.glob(f"/etc/rc[2-5].d/S[0-9][0-9]{stem}"))
        state = ("enabled" if starts else "disabled") if loaded else ""
    else:
        loaded = True
        state = "enabled" if will_be_enabled(unit, user) else "disabled"
        state = state if installs(words) else "static"
    shown = "loaded" if loaded else "not-found"
    return {"LoadState": shown, "ActiveState": "inactive", "UnitFileState": state}


def starts_with_machine(unit: str) -> bool:
    """Return whether links have a unit started with the machine; false for one that only others
    start.
    """
    return installs(text(unit)) and any(map(_paths.lexists, _links(unit, "")))


def act(name: str, action: str, options: Sequence[str] = (), user: str = "") -> None:
    """Plan what systemctl makes of a unit. Raises CommandFailed with its words."""
    unit = name if re.search(r"\.[a-z]+$", name) else f"{name}.service"
    mask = masked_by(unit, user)
    if action in STARTING:
        if mask:
            raise CommandFailed(f"Failed to {action} {unit}: Unit {unit} is masked.")
        if _is_gone(unit, user):
            raise CommandFailed(f"Failed to {action} {unit}: Unit {unit} not found.")
    if action in (*STARTING, "stop"):
        _plan_active(unit, action, user)
    elif action in ("mask", "unmask"):
        _mask(unit, action, "--runtime" in options, user)
    elif action == "enable":
        if mask:
            raise CommandFailed(f"Failed to enable unit: Unit file {mask} is masked.")
        if _is_gone(unit, user):
            raise CommandFailed(f"Failed to enable unit: Unit file {unit} does not exist.")
        _enable(unit, user)
    elif action == "disable":
        own = own_name(unit, user)
        _disable(own, user)
        if own != unit:  # the alias goes, too
            plan_enabled(unit, False, user)


def _plan_active(unit: str, action: str, user: str) -> None:
    """Plan that a unit is started, or stopped, with what systemd itself makes of that."""
    runs = action != "stop" and not ends_by_itself(unit, user)
    for name in {unit, own_name(unit, user)}:  # the one may be gone when it is asked for
        plan_running(name, runs, user, is_restart=action != "start")
    words = "" if user else text(unit)
    for where in _values(words, "Mount", "Where") + _values(words, "Automount", "Where"):
        leave_pending([("made", where), ("altered", where)])
    if action == "restart":
        _drop_folders(words)
    if action != "stop":
        _make_folders(words)
    if not runs:
        _drop_folders(words)


def _drop_folders(words: str) -> None:
    """Plan that the folders go which a service has only while it runs."""
    if _said(words, "RuntimeDirectoryPreserve", "no") in NO:
        for name in _values(words, "Service", "RuntimeDirectory"):
            file.remove(f"/run/{name.partition(':')[0]}")


def _make_folders(words: str) -> None:
    """Plan the folders that a service is to have before its programs start."""
    user = _said(words, "User", "root")
    is_dynamic = _said(words, "DynamicUser", "no") not in NO
    for kind, top in FOLDERS.items():
        for name in _values(words, "Service", kind):
            path = f"{top}/{name.partition(':')[0]}"
            if "%" in path:
                continue
            if is_dynamic or not users.info(user):
                leave_pending([("made folder", path)])
                continue
            file.makedirs(os.path.dirname(path))
            file.mkdir(path)
            if top != "/etc":
                file.chown(path, user, _said(words, "Group", users.info(user)["gid"]))
                file.set_mode(path, _said(words, f"{kind}Mode", "0755"))


def _said(words: str, key: str, otherwise: str) -> str:
    """The last word that a service says of a key."""
    return next(reversed(_values(words, "Service", key)), otherwise)


def _is_gone(unit: str, user: str) -> bool:
    """Return whether a plan has taken away all that there was of a unit, such as its mask."""
    if not concerns(unit, user) or definition(unit, user):
        return False
    made = ("/run/systemd/generator*/", "/run/systemd/transient/")  # by generators, by programs
    return not _paths.lexists(_script(unit)) and not any(_paths.glob(path + unit) for path in made)


def generated(user: str = "") -> str:
    """Where generators put the units that they make when systemd reads all anew."""
    return f"{account(user).runtime() if user else '/run'}/systemd/generator"


def _folders(user: str) -> tuple[str, ...]:
    return (*((account(user).folder(), *USERS) if user else MACHINES), generated(user))


def _candidates(unit: str, user: str) -> Iterator[str]:
    """Where the file of a unit, or of the template that it is made of, may be; the first counts."""
    names = [unit]
    if "@" in unit:
        names.append(f"{unit.partition('@')[0]}@.{unit.rpartition('.')[2]}")
    for name in names:
        for folder in _folders(user):
            yield f"{folder}/{name}"


def _values(text: str, section: str, key: str) -> list[str]:
    """The words that a section of a unit says of a key."""
    found: list[str] = []
    now = ""
    for line in map(str.strip, text.replace("\\\n", " ").splitlines()):
        if line.startswith("["):
            now = line.strip("[]")
        name, equals, value = line.partition("=")
        if now == section and equals and name.strip() == key:
            found = [*found, *value.split()] if value.strip() else []
    return found


def triggers(unit: str, user: str) -> str:
    """The unit that a timer, a path or a socket starts; empty for other kinds, and where it is an
    instance for each connection.
    """
    stem, _, kind = unit.rpartition(".")
    key = {"timer": "Unit", "path": "Unit", "socket": "Service"}.get(kind, "")
    words = text(unit, user) if key else ""
    if not words or _values(words, "Socket", "Accept")[-1:] not in ([], ["no"], ["false"]):
        return ""
    return (_values(words, kind.title(), key)[-1:] or [f"{stem}.service"])[0]


def asked(unit: str, key: str, user: str = "") -> list[str]:
    """The words of a key of what a unit says of its installation."""
    return _values(text(unit, user), "Install", key)


def installs(text: str) -> bool:
    """Return whether the text of a unit says what starts it."""
    keys = ("WantedBy", "RequiredBy", "UpheldBy", "Alias", "Also")
    return any(_values(text, "Install", key) for key in keys)


def ends_by_itself(unit: str, user: str) -> bool:
    """Return whether a service has ended when its start is done."""
    if not unit.endswith(".service"):
        return False
    words = text(unit, user)
    kind = _values(words, "Service", "Type")[-1:]
    remains = _values(words, "Service", "RemainAfterExit")[-1:]
    return kind == ["oneshot"] and remains not in (["yes"], ["true"], ["on"], ["1"])


def reloads(unit: str, user: str) -> bool:
    """Return whether the text of a unit says how it reads its configuration anew."""
    words = text(unit, user)
    kind = _values(words, "Service", "Type")[-1:]
    return kind == ["notify-reload"] or bool(_values(words, "Service", "ExecReload"))


def _links(unit: str, user: str) -> list[str]:
    """The links that have a unit started with the machine, as its text asks for them."""
    words, folder = text(unit, user), _folders(user)[0]
    links = [
        f"{folder}/{target}.{kind}/{unit}"
        for key, kind in (("WantedBy", "wants"), ("RequiredBy", "requires"))
        for target in _values(words, "Install", key)
    ]
    return links + [f"{folder}/{alias}" for alias in _values(words, "Install", "Alias")]


def _enable(unit: str, user: str, also: tuple[str, ...] = ()) -> None:
    words = text(unit, user)
    if any("%" in link for link in _links(unit, user)):
        raise Unforeseen(unit)
    path = definition(unit, user)
    for link in _links(unit, user):
        if not _paths.lexists(link):
            file.makedirs(os.path.dirname(link))
            file.symlink(path, link)
    if not path or installs(words):  # the others only start for those that want them
        plan_enabled(unit, True, user)
    for other in _others(unit, user, also):
        _enable(other, user, (*also, unit))


def _others(unit: str, user: str, done: tuple[str, ...]) -> list[str]:
    """The units that are enabled and disabled together with another one. done: those that are."""
    others = asked(unit, "Also", user)
    return [each for each in others if each not in (*done, unit) and definition(each, user)]


def _disable(unit: str, user: str, also: tuple[str, ...] = ()) -> None:
    words = text(unit, user)
    folder = _folders(user)[0]
    wanting = (path for kind in ("wants", "requires") for path in _paths.glob(f"{folder}/*.{kind}"))
    for link in {*(f"{path}/{unit}" for path in wanting), *_links(unit, user)}:
        if _paths.islink(link):
            file.remove(link)
    if installs(words) or (not user and is_script(unit)):
        plan_enabled(unit, False, user)
    elif not definition(unit, user):
        raise Unforeseen(unit)
    for other in _others(unit, user, also):
        _disable(other, user, (*also, unit))


def _mask(unit: str, action: str, runtime: bool, user: str) -> None:
    folder = _folders(user)[0]
    if runtime:
        folder = f"{account(user).runtime()}/systemd/user" if user else "/run/systemd/system"
    path = f"{folder}/{unit}"
    is_mask = _paths.islink(path) and _paths.readlink(path) == os.devnull
    if action == "unmask":
        if is_mask:
            file.remove(path)
    elif not is_mask:
        if _paths.lexists(path):
            raise CommandFailed(f"Failed to mask unit: File {path} already exists.")
        file.makedirs(folder)
        file.symlink(os.devnull, path)
