# SPDX-License-Identifier: Apache-2.0
"""Processes, and what the machine as a whole is busy with."""

from __future__ import annotations

import os
import re
import signal as signals
import time
from collections.abc import Callable, Sequence
from typing import Any

from modules import _paths, cmd
from modules._machine.processes import needs
from modules._paths import text_of
from modules.ps import _machine, table
from modules.ps._machine import (
    boot_time,
    cpu_percent,
    cpu_times,
    disk_io_counters,
    disk_partition_usage,
    disk_partitions,
    disk_usage,
    get_users,
    network_io_counters,
    num_cpus,
    swap_memory,
    total_physical_memory,
    virtual_memory,
)
from runner.api import CommandFailed, changer, for_states, planned_as
from runner.api.offline import is_offline


def get_pid_list() -> list[int]:
    """The numbers of all processes."""
    return table.numbers()


def pgrep(
    pattern: str, user: str | None = None, full: bool = False, pattern_is_regex: bool = False
) -> list[int] | None:
    """The numbers of the processes whose name has a text in it; null if there are none.

    user: only this user's. full: search the whole command line. pattern_is_regex: the text is a
    regular expression.

    {% if salt['ps.pgrep']('dockerd') %}
    """
    wanted = re.compile(str(pattern) if pattern_is_regex else re.escape(str(pattern)))
    matching = [
        pid
        for pid in table.numbers()
        if wanted.search(" ".join(table.command_line(pid)) if full else table.name_of(pid))
        and user in (None, table.owner_of(pid))
    ]
    return matching or None


def pkill(
    pattern: str, user: str | None = None, signal: int | str = 15, full: bool = False
) -> dict[str, list[int]] | None:
    """Send a signal to the processes whose name has a text in it: {killed: their numbers}; null if
    there are none. Raises CommandFailed for an empty text.

    user: only to this user's. signal: a number or a name (HUP). full: search the whole command
    line. runner itself, and what called it, are left alone.

        runner call ps.pkill dnsmasq signal=HUP
    """
    if not str(pattern).strip():
        raise CommandFailed("an empty text would be in the name of every process")
    number = _signal(signal)
    killed = [pid for pid in others(pattern, user, full) if _send(pid, number)]
    return {"killed": killed} if killed else None


@for_states
def others(pattern: str, user: str | None = None, full: bool = False) -> list[int]:
    """The processes that pkill would signal."""
    found = set(pgrep(pattern, user, full) or ()) - table.own_family()
    return sorted(pid for pid in found if _is_of_this_system(pid))


def _is_of_this_system(pid: int) -> bool:
    """Return false, on a system that does not run, for a process of the machine around it."""
    if not is_offline():
        return True
    try:
        ours, its = os.stat("/"), os.stat(f"/proc/{pid}/root")  # os: what runs is not planned
        return os.path.samestat(ours, its)
    except OSError:
        return False


@for_states
@planned_as(lambda pattern, user, seconds: [])
def left_of(pattern: str, user: str | None, seconds: float) -> list[int]:
    """Those that still run when they had some seconds to end."""
    end = time.monotonic() + seconds
    while (left := others(pattern, user, full=True)) and time.monotonic() < end:
        time.sleep(0.1)
    return left


@for_states
def check_signal(signal: int | str, pids: Sequence[int]) -> None:
    """Raise CommandFailed where there is no such signal, or we may not send it to these."""
    _signal(signal)
    for pid in pids:
        _tried(pid, 0)


def kill_pid(pid: int, signal: int | str = 15) -> bool:
    """Send a signal to a process; false when there is none of this number. Raises CommandFailed
    for what is no process, an unknown signal, and a process that the caller may not signal.

    signal: a number or a name (KILL); 0 only tells whether there is such a process.

        runner call ps.kill_pid 4711 signal=KILL
    """
    return _send(int(pid), _signal(signal))


def _signal(signal: int | str) -> int:
    text = str(signal).upper().removeprefix("SIG")
    if text == "0":
        return 0  # none: only whether there is such a process
    try:
        return int(signals.Signals(int(text)) if text.isdigit() else signals.Signals[f"SIG{text}"])
    except (KeyError, ValueError):
        raise CommandFailed(f"there is no signal {signal!r}") from None


@changer(touches=["services"])
def _send(pid: int, number: int) -> bool:
    if not _is_of_this_system(pid):
        raise CommandFailed(f"process {pid} is none of this system, which does not run")
    return _tried(pid, number)


def _tried(pid: int, number: int) -> bool:
    if pid < 1:
        raise CommandFailed(f"{pid} is not the number of one process")
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError) as problem:
        raise CommandFailed(f"process {pid}: {getattr(problem, 'strerror', problem)}") from None
    return True


def top(num_processes: int = 5, interval: float = 3) -> list[dict[str, Any]]:
    """The processes that use most of the processors: cmd, user, status, pid, create_time, cpu and
    mem of each.

    interval: how many seconds to watch.

        runner call ps.top 3 interval=1
    """
    before = {pid: _busy(pid) for pid in table.numbers()}
    time.sleep(max(0.0, float(interval)))
    used = {pid: _busy(pid) - before.get(pid, 0.0) for pid in table.numbers()}
    busiest = sorted(used, key=lambda pid: (-used[pid], pid))
    described = (_described(pid) for pid in busiest)
    return [facts for facts in described if facts][: max(0, int(num_processes))]


def _busy(pid: int) -> float:
    process = table.process(pid)
    return process.seconds(14) + process.seconds(15) if process else 0.0


def _described(pid: int) -> dict[str, Any] | None:
    process = table.process(pid)
    if process is None:
        return None
    return {
        "cmd": table.command_line(pid) or process.comm,
        "user": table.owner_of(pid),
        "status": process.status,
        "pid": pid,
        "create_time": process.started,
        "cpu": _cpu_times(process),
        "mem": _memory(process),
    }


def _cpu_times(process: table.Process) -> dict[str, float]:
    places = {"user": 14, "system": 15, "children_user": 16, "children_system": 17, "iowait": 42}
    return {name: process.seconds(place) for name, place in places.items()}


def _memory(process: table.Process) -> dict[str, int]:
    """The bytes of memory that a process has."""
    pages = [int(word) for word in text_of(f"/proc/{process.pid}/statm").split()]
    names = ("vms", "rss", "shared", "text", "lib", "data", "dirty")  # the order of statm
    in_use = {name: pages[at] * table.PAGE if pages else 0 for at, name in enumerate(names)}
    return {"rss": in_use.pop("rss"), **in_use}


def proc_info(pid: int, attrs: Sequence[str] | None = None) -> dict[str, Any]:
    """Describe a process. Raises CommandFailed when there is none of this number.

    attrs: only these: pid, ppid, name, exe, cmdline, cwd, environ, status, username, uids, gids,
    create_time, cpu_times, cpu_affinity, cpu_num, memory_info, memory_percent, nice, num_threads,
    num_fds, num_ctx_switches, io_counters, open_files. The default: all but environ, where
    programs have passwords. What the caller may not read is null.

        runner call ps.proc_info 1 attrs='[name, status]'
    """
    process = table.process(int(pid))
    if process is None:
        raise CommandFailed(f"process PID not found (pid={pid})")
    names = list(attrs) if attrs else [name for name in _ATTRIBUTES if name != "environ"]
    unknown = [name for name in names if name not in _ATTRIBUTES]
    if unknown:
        raise CommandFailed(
            f"attrs: there is no {unknown[0]!r}; there are {', '.join(_ATTRIBUTES)}"
        )
    return {name: _attribute(process, name) for name in names}


def _attribute(process: table.Process, name: str) -> Any:
    try:
        return _ATTRIBUTES[name](process)
    except OSError:  # it belongs to somebody else, or is gone
        return None


def _status_words(process: table.Process, key: str) -> list[str]:
    for line in text_of(f"/proc/{process.pid}/status").splitlines():
        if line.startswith(f"{key}:"):
            return line.split()[1:]
    return []


def _switches(process: table.Process) -> list[int]:
    keys = ("voluntary_ctxt_switches", "nonvoluntary_ctxt_switches")
    return [int((_status_words(process, key) or ["0"])[0]) for key in keys]


def _environment(process: table.Process) -> dict[str, str]:
    with open(f"/proc/{process.pid}/environ", encoding="utf-8", errors="replace") as file:
        pairs = (text.partition("=") for text in file.read().split("\0"))
    return {name: value for name, _, value in pairs if name}


def _counters(process: table.Process) -> dict[str, int]:
    with open(f"/proc/{process.pid}/io", encoding="ascii") as file:
        pairs = (line.partition(":") for line in file)
        return {name: int(value) for name, _, value in pairs}


def _open_files(process: table.Process) -> list[str]:
    folder = f"/proc/{process.pid}/fd"
    targets = {_paths.readlink(f"{folder}/{name}") for name in _paths.listdir(folder)}
    return sorted(path for path in targets if path.startswith("/"))


def _share(process: table.Process) -> float:
    return 100 * _memory(process)["rss"] / (_machine.total_physical_memory() or 1)


_ATTRIBUTES: dict[str, Callable[[table.Process], Any]] = {
    "pid": lambda process: process.pid,
    "ppid": lambda process: process.number(4),
    "name": lambda process: table.name_of(process.pid),
    "exe": lambda process: _paths.readlink(f"/proc/{process.pid}/exe"),
    "cmdline": lambda process: table.command_line(process.pid),
    "cwd": lambda process: _paths.readlink(f"/proc/{process.pid}/cwd"),
    "environ": _environment,
    "status": lambda process: process.status,
    "username": lambda process: table.owner_of(process.pid),
    "uids": lambda process: [int(word) for word in _status_words(process, "Uid")[:3]],
    "gids": lambda process: [int(word) for word in _status_words(process, "Gid")[:3]],
    "create_time": lambda process: process.started,
    "cpu_times": lambda process: list(_cpu_times(process).values()),
    "cpu_affinity": lambda process: sorted(os.sched_getaffinity(process.pid)),
    "cpu_num": lambda process: process.number(39),
    "memory_info": lambda process: list(_memory(process).values()),
    "memory_percent": _share,
    "nice": lambda process: process.number(19),
    "num_threads": lambda process: process.number(20),
    "num_fds": lambda process: len(_paths.listdir(f"/proc/{process.pid}/fd")),
    "num_ctx_switches": _switches,
    "io_counters": _counters,
    "open_files": _open_files,
}


def status(status: str) -> list[dict[str, Any]]:
    """The processes in a state: pid and name of each. Raises CommandFailed for an unknown state.

    status: running, sleeping, disk-sleep, stopped, tracing-stop, zombie, dead, wake-kill, waking,
    idle or parked.

        {% if salt['ps.status']('zombie') %}
    """
    if status not in table.STATUS.values():
        known = ", ".join(dict.fromkeys(table.STATUS.values()))
        raise CommandFailed(f"there is no state {status!r} of processes; there are {known}")
    processes = filter(None, map(table.process, table.numbers()))
    return [
        {"pid": process.pid, "name": process.comm}
        for process in processes
        if process.status == status
    ]


def psaux(name: str) -> list[Any]:
    """The lines of `ps aux` with a text in them: the text, the lines, how many they are. runner
    itself, and what called it, do not count.

    runner call ps.psaux nginx
    """
    needs("ps", "procps")
    done = cmd.probe(["ps", "auxww"])  # whole lines, whatever COLUMNS says
    own = {str(pid) for pid in (*table.own_family(), done.pid)}
    lines = [
        line for line in done.stdout.splitlines()[1:] if name in line and line.split()[1] not in own
    ]
    return [name, lines, f"{len(lines)} occurrence(s)."]


def lsof(name: str) -> list[str]:
    """The files that the programs whose name begins with a text have open: the text, and what lsof
    prints.
    """
    needs("lsof", "lsof")
    return [name, cmd.probe(["lsof", f"-c{name}"]).stdout]


def netstat(name: str) -> list[Any]:
    """The lines of `netstat -nap` with a text in them, behind the text."""
    return [name, _lines_with(name, ["netstat", "-nap"], "net-tools")]


def ss(name: str) -> list[Any]:
    """The lines of `ss -neap` with a text in them, behind the text.

    runner call ps.ss nginx
    """
    return [name, _lines_with(name, ["ss", "-neap"], "iproute2")]


def _lines_with(name: str, argv: Sequence[str], package: str) -> list[str]:
    needs(argv[0], package)
    return [line for line in cmd.probe(argv).stdout.splitlines() if name in line]
