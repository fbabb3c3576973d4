# SPDX-License-Identifier: Apache-2.0
"""From what a state's looks asked for to what tells that it has changed. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from runner.model.paths import lies_in
from runner.model.records import Record

Look = tuple[str, str]  # (path, folder, tree, program or server; its name)
TIMER, POLLED = "timer", "polled"
MOUNTS = frozenset(f"/proc/{name}" for name in ("mounts", "self/mounts", "self/mountinfo"))
# what no file tells of: the kernel makes it when it is asked for
_SILENT = ("/proc", "/sys")
# of them, those of which is told what programs write; not what the kernel does itself, nor after it
# has forgotten the file for want of memory
_SETTINGS = ("/proc/sys", "/sys")
# of them, those whose changes rtnetlink tells of
_NETWORK = ("/sys/class/net", "/proc/net/route", "/proc/net/ipv6_route")
# the kinds of what lies below a path; all else is a path
_KINDS = {
    "packages": tuple(
        "/var/lib/dpkg /var/lib/apt /var/lib/rpm /usr/lib/sysimage/rpm /lib/apk/db"
        " /usr/lib/apk/db /var/lib/pacman".split()
    ),
    "accounts": ("/etc/passwd", "/etc/group", "/etc/shadow", "/etc/gshadow"),
    "units": ("/etc/systemd", "/run/systemd", "/usr/lib/systemd", "/usr/local/lib/systemd"),
    "crontabs": ("/var/spool/cron",),
}
_KIND_OF = {path: kind for kind, paths in _KINDS.items() for path in paths}
# programs whose answers come from files alone
_DPKG: list[Look] = [("path", "/var/lib/dpkg/status"), ("folder", "/var/lib/dpkg/updates")]
_RPM: list[Look] = [("folder", "/var/lib/rpm"), ("folder", "/usr/lib/sysimage/rpm")]
_ACCOUNTS: list[Look] = [("path", path) for path in _KINDS["accounts"]]
_FILES_OF: dict[str, list[Look]] = {
    "dpkg": _DPKG,
    "dpkg-query": _DPKG,
    "apt-cache": [*_DPKG, ("folder", "/var/lib/apt/lists")],
    "apt-mark": [*_DPKG, ("path", "/var/lib/apt/extended_states")],
    "rpm": _RPM,
    "getent": _ACCOUNTS,
    "crontab": [("folder", f"/var/spool/cron{name}") for name in ("", "/crontabs", "/tabs")],
    "findmnt": [("path", "/proc/self/mountinfo")],
}
# systemd has a link there for each unit that runs, and makes it anew with each start
_INVOCATION = "/run/systemd/units/invocation:"
_UNIT_FOLDERS: list[Look] = [("tree", "/etc/systemd/system"), ("folder", "/run/systemd/units")]


class Watched(Record):
    """What tells that a state may be otherwise. kinds: for people, sorted; places: the paths,
    folders and trees; mounts, network: whether the table of mounts does, and the kernel's network.
    By the timer alone nothing tells.
    """

    kinds: tuple[str, ...]
    places: tuple[Look, ...]
    mounts: bool = False
    network: bool = False

    @property
    def is_certain(self) -> bool:
        """Return whether everything is told that the looks asked for."""
        return TIMER not in self.kinds


def watched_by(
    looks: Iterable[Look], is_polled: Callable[[str], bool] = lambda path: False
) -> Watched:
    """What tells of changes of what a state's looks asked for. is_polled: whether a path lies where
    the kernel does not tell of all.

    >>> watched_by([("path", "/etc/motd"), ("program", "sh")]).kinds
    ('paths', 'timer')
    """
    kinds, places = set[str](), dict[Look, None]()
    for kind, name in looks:
        for place in _of_program(name) if kind == "program" else [(kind, name)]:
            kinds |= _kinds_of(place)
            if _is_told(place) and is_polled(place[1]):
                kinds.add(POLLED)
            if _is_told(place) or (place[0] == "path" and _lies_in_any(place[1], _SETTINGS)):
                places[place] = None
    is_told = ("mounts" in kinds, "network" in kinds)
    return Watched(tuple(sorted(kinds or {TIMER})), tuple(places), *is_told)


def _is_told(look: Look) -> bool:
    """Return whether a file system tells of a change."""
    return look[0] not in ("program", "server") and not _lies_in_any(look[1], _SILENT)


def _lies_in_any(path: str, folders: Iterable[str]) -> bool:
    return any(lies_in(path, folder) for folder in folders)


def _of_program(words: str) -> list[Look]:
    """What the answer of a program comes from; the program itself where nobody knows."""
    name, *units = words.split()
    if name == "systemctl":
        paths: list[Look] = [("path", f"{_INVOCATION}{unit}") for unit in units if "." in unit]
        return paths + _UNIT_FOLDERS[: 1 if paths else 2]
    return _FILES_OF.get(name) or [("program", name)]


def _kinds_of(look: Look) -> set[str]:
    kind, name = look
    if name in MOUNTS:
        return {"mounts"}
    if look == ("program", "ip"):
        return {"network", TIMER}  # of neighbours nothing tells
    if kind == "path" and _lies_in_any(name, _NETWORK):
        return {"network"}
    if not _is_told(look):
        return {TIMER}
    known = (_KIND_OF[path] for path in _KIND_OF if lies_in(name, path))
    return {next(known, "paths")}
