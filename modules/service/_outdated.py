# SPDX-License-Identifier: Apache-2.0
"""Services that run on with programs and libraries that an upgrade has replaced since."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from modules import _paths, cmd
from modules._paths import text_of
from modules.ps import table
from modules.service._planned import will_run
from runner.api import CommandFailed, Record

# a restart of these cuts sessions
SESSIONS = (
    "^(dbus|elogind|systemd-logind|user@|user-runtime-dir@|(serial-|console-|container-)?getty)",
    "^(gdm|kdm|lightdm|lxdm|nodm|sddm|slim|wdm|xdm|greetd|display-manager)",
)
# ... the network, or what runs inside; or they are at work for a while
OTHERS = (
    r"^(network|NetworkManager|ModemManager|wpa_supplicant|wg-quick|openvpn|tinc|\w+swan|bird|frr)",
    "^(quagga|bluetooth|docker|containerd|podman|libvirt|virtlo[cg]|lxcfs|xendomains|zfs-fuse)",
    "^(emergency|rescue|rc-local|apt-daily|unattended-upgrades|packagekit|cron-)",
)
_ASKED = "Id,LoadState,Type,KillMode,MainPID,Transient,RefuseManualStart,RefuseManualStop"
_MAPPED = re.compile(r"^\S+ ..x. \S+ \S+ \S+ +(/.*) \(deleted\)$", re.MULTILINE)
_PASSING = re.compile(r"/(dev|proc|run|tmp|var/run|var/tmp)/|/(memfd:|SYSV|\[|anon_hugepage)")
_STATEMENT = re.compile(r"\$nrconf\s*\{\s*(\w+)\s*\}(.*?)(?=\$nrconf|\Z)", re.DOTALL)
_OPENED = re.compile(r"""\bqr?\s*([^\w\s])|(['"])""")
_PAIRS = {"(": ")", "{": "}", "[": "]", "<": ">"}


class Outdated(Record):
    """stale: the replaced files that a service runs. left: those, and sessions, that are not to be
    restarted, with the reason.
    """

    stale: dict[str, list[str]]
    left: dict[str, str]


class Exclusions:
    """What is not restarted. keep: shell patterns of services; beside them what needrestart's
    configuration excludes, where there is one, which may also take away of OTHERS.
    """

    def __init__(self, keep: Collection[str]) -> None:
        self._keep = keep
        self._said = [(pattern, False) for pattern in OTHERS]
        self._programs: list[str] = []
        folder = "/etc/needrestart"
        for path in (f"{folder}/needrestart.conf", *sorted(_paths.glob(f"{folder}/conf.d/*.conf"))):
            text = re.sub(r"^\s*#.*$", "", text_of(path), flags=re.MULTILINE)
            for kind, statement in _STATEMENT.findall(text):
                self._read(kind, statement)

    def _read(self, kind: str, statement: str) -> None:
        for pattern, rest in _patterns(statement):
            value = re.match(r"\s*\}?\s*=>?\s*(\d+)", rest)
            if kind == "blacklist":
                self._programs.append(pattern)
            elif kind == "blacklist_rc":
                self._said.append((pattern, False))
            elif kind == "override_rc" and value:
                self._said.append((pattern, int(value[1]) > 0))

    def of_service(self, name: str) -> str:
        """Why a service is left alone; empty for one that is not."""
        full = f"{name}.service"
        if any(fnmatchcase(name, pattern) or fnmatchcase(full, pattern) for pattern in self._keep):
            return "it is in `keep`"
        if any(_fits(pattern, full) for pattern in SESSIONS):
            return "a restart would end sessions"
        said = [restarts for pattern, restarts in self._said if _fits(pattern, full)]
        return "" if said[-1:] in ([], [True]) else "a restart may cut more than the service"

    def of_program(self, pid: int) -> bool:
        """Return whether needrestart does not look at the program of a process."""
        try:
            path = os.readlink(f"/proc/{pid}/exe")
        except OSError:
            return False
        return any(_fits(pattern, path.removesuffix(" (deleted)")) for pattern in self._programs)


def _patterns(statement: str) -> Iterator[tuple[str, str]]:
    """The quoted texts of Perl, each with what comes behind it in its line."""
    for line in statement.splitlines():
        at = 0
        while opened := _OPENED.search(line, at):
            mark = opened[1] or opened[2]
            end = _end_of(line, opened.end(), mark)
            if end < 0:
                break
            at = end + 1
            yield line[opened.end() : end], line[at:]


def _end_of(line: str, start: int, mark: str) -> int:
    closing, depth = _PAIRS.get(mark, mark), 1
    for place in range(start, len(line)):
        if line[place] == closing:
            depth -= 1
        elif line[place] == mark:
            depth += 1
        if not depth:
            return place
    return -1


def _fits(pattern: str, text: str) -> bool:
    try:
        return re.search(pattern, text) is not None
    except re.error:  # what only Perl knows
        return False


def outdated(keep: Collection[str], has_units: bool) -> Outdated:
    """Return what runs replaced files. keep: shell patterns of services to leave alone; has_units:
    whether systemd runs the services; elsewhere their PID files are gone by. What is planned to be
    restarted, or stopped, runs none.
    """
    if os.geteuid():
        raise CommandFailed("only root sees which files the processes of others run")
    exclusions = Exclusions(keep)
    own = table.own_family()
    found = {
        pid: files
        for pid in table.numbers()
        if pid not in own and (files := replaced_files(pid)) and not exclusions.of_program(pid)
    }
    services, left = (_by_units if has_units else _by_pid_files)(found)
    left |= {name: why for name in services if (why := exclusions.of_service(name))}
    stays = [name for name in sorted(services) if name not in left and will_run(name) is None]
    return Outdated({name: services[name] for name in stays}, dict(sorted(left.items())))


def replaced_files(pid: int) -> list[str]:
    """Return the programs and libraries that a process runs and that are no longer there as it
    has them.
    """
    mapped = set(_MAPPED.findall(text_of(f"/proc/{pid}/maps")))
    return sorted(path for path in mapped if not _PASSING.match(path))


def _by_pid_files(found: Mapping[int, list[str]]) -> tuple[dict[str, list[str]], dict[str, str]]:
    services = {
        os.path.basename(path).removesuffix(".pid"): found[int(number)]
        for path in (_paths.glob("/run/*.pid") + _paths.glob("/run/*/*.pid") if found else ())
        if (number := text_of(path).strip()).isdigit() and int(number) in found
    }
    return services, {}


def _by_units(found: Mapping[int, list[str]]) -> tuple[dict[str, list[str]], dict[str, str]]:
    top = _cgroup(1).removesuffix("/init.scope")
    units: dict[str, list[int]] = {}
    left: dict[str, str] = {}
    for pid in found:
        path = _cgroup(pid)
        parts = path.removeprefix(top).strip("/").split("/") if path.startswith(top) else [""]
        unit = next((part for part in parts if not part.endswith(".slice")), "")
        if parts[0] == "user.slice":
            left[f"sessions of {table.owner_of(pid) or pid}"] = "until they end"
        elif pid == 1:
            left["systemd"] = "`systemctl daemon-reexec` makes it run what is there now"
        elif unit.endswith(".service"):  # else it is of a container
            units.setdefault(unit, []).append(pid)
    services: dict[str, list[str]] = {}
    for about in _shown(sorted(units)):
        name = about["Id"].removesuffix(".service")
        ended = units[about["Id"]]
        if about["KillMode"] == "process":
            ended = [pid for pid in ended if about["MainPID"] == str(pid)]
        if why := _unfit(about, ended):
            left[name] = why
        else:
            services[name] = sorted({path for pid in ended for path in found[pid]})
    return services, left


def _cgroup(pid: int) -> str:
    """The control group of a process: the unified one, or that of systemd's own hierarchy."""
    lines = [line.split(":", 2) for line in text_of(f"/proc/{pid}/cgroup").splitlines()]
    paths = [line[2] for line in lines if line[0] == "0" or line[1] == "name=systemd"]
    return max(paths, key=len, default="")


def _shown(units: Sequence[str]) -> Iterator[dict[str, str]]:
    if not units:
        return
    done = cmd.probe(["systemctl", "show", f"--property={_ASKED}", "--", *units])
    for block in done.stdout.strip().split("\n\n"):
        about = dict(line.partition("=")[::2] for line in block.splitlines())
        if about.get("Id") in units:
            yield about


def _unfit(about: Mapping[str, str], ended: Collection[int]) -> str:
    """Why a restart is out of the question; empty where it is none. ended: the processes with
    replaced files that it would end.
    """
    if not ended or about["KillMode"] == "none":
        return "processes that a restart leaves running, such as sessions"
    if about["LoadState"] != "loaded" or about["Transient"] == "yes":
        return "nothing would start it again"
    if "yes" in (about["RefuseManualStart"], about["RefuseManualStop"]):
        return "systemd does not let it be restarted"
    if about["Type"] == "oneshot":
        return "it is at work, and ends by itself"
    if about["Id"] in _cgroup(os.getpid()).split("/") and about["KillMode"] != "process":
        return "this run is part of it"
    return ""
