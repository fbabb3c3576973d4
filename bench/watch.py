# SPDX-License-Identifier: Apache-2.0
"""How soon `runner watch` reports and mends what is changed, and what that costs.

    python bench/watch.py [STATES]

A throw-away Debian machine with STATES (1,000) states: files, and one each of a package, a unit, an
account and a mount. Prints a Markdown table: seconds from a change to its report (`--act report`)
and until it is put right (`--act drift`); of the latter those of the program that puts it right,
started by hand; and the processor time of all processes of `runner watch` for both, for the latter
with that program and the look that follows. Beneath it memory, the processor time of
a minute without events and of a look at everything, and what a timer of a minute costs instead.
The middle one of some rounds each, of which each is on its own: a state that is changed too often
is left alone.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests/support"))

from debian import Debian, debian
from debian_layer import layer_or_skip

ROUNDS, PATIENCE, MINUTE, QUIET = 3, 60.0, 60.0, 1.0
STATUS = "/var/lib/runner/watch.json"
TREE = """
cron:
  service.running: []
watched:
  user.present: [{shell: /bin/sh}]
/mnt:
  mount.mounted: [{device: tmpfs, fstype: tmpfs, persist: false}]
unwanted:
  pkg.removed: []
"""
CONTROL = (
    "Package: unwanted\nVersion: 1\nArchitecture: all\nMaintainer: a <a@b.c>\nDescription: d\n"
)
# what is changed -> the command, the state, what tells that it is right again, and the program that
# puts it right
CHANGES = {
    "a file is written": (
        "echo wrong > /srv/many/7",
        "file: /srv/many/7",
        "grep -qx right /srv/many/7",
        "echo right > /srv/many/7",
    ),
    "a file is replaced": (
        "echo wrong > /srv/new; mv /srv/new /srv/many/8",
        "file: /srv/many/8",
        "grep -qx right /srv/many/8",
        "echo right > /srv/many/8",
    ),
    "a package is installed": (
        "dpkg -i /root/unwanted.deb",
        "pkg: unwanted",
        "! dpkg-query -W -f '${db:Status-Status}' unwanted | grep -qx installed",
        "apt-get remove -y unwanted",
    ),
    "a unit is stopped": (
        "systemctl stop cron",
        "service: cron",
        "systemctl is-active cron",
        "systemctl start cron",
    ),
    "an account is altered": (
        "usermod -s /bin/bash watched",
        "user: watched",
        "grep -q ^watched.*:/bin/sh$ /etc/passwd",
        "usermod -s /bin/sh watched",
    ),
    "a mount is undone": (
        "umount /mnt",
        "mount: /mnt",
        "mountpoint /mnt",
        "mount -t tmpfs tmpfs /mnt",
    ),
}


class Watching:
    """`runner watch` on a machine, seen from outside."""

    def __init__(self, machine: Debian, act: str) -> None:
        self._machine, self._status = machine, machine.path(STATUS)
        machine.run(f"rm -f {STATUS}")
        words = f"runner watch --act {act} --every 1d"
        machine.start(words, ready=f"test -e {STATUS}", output="/root/watched")
        self.pid = self.status()["pid"]
        self.settle()

    def status(self) -> dict[str, Any]:
        known: dict[str, Any] = json.loads(self._status.read_text())
        return known

    def until(self, is_so: Callable[[], object]) -> float:
        """Wait until something is so; returns the seconds."""
        began = time.monotonic()
        while not is_so():
            if time.monotonic() > began + PATIENCE:
                sys.exit(f"waited in vain: {self._machine.read('cat /root/watched')}")
            time.sleep(0.005)
        return time.monotonic() - began

    def deviates(self, state: str) -> bool:
        return any(known["state"] == state for known in self.status()["deviations"])

    def settle(self) -> None:
        """Wait until nothing happens any more."""
        before = -1.0
        while before != (now := self.cpu()) or self._is_busy():
            before = now
            time.sleep(QUIET)

    def _is_busy(self) -> bool:
        """Return whether a look or a run is under way, which may wait for something itself."""
        return any(map(self._children, self._children(self.pid)))

    def _children(self, pid: int) -> list[int]:
        children = self._machine.path(f"/proc/{pid}/task/{pid}/children").read_text()
        return [*map(int, children.split())]

    def processes(self) -> list[int]:
        return [self.pid, *self._children(self.pid)]

    def cpu(self) -> float:
        """Seconds of the processor of all its processes so far."""
        ticks = 0
        for pid in self.processes():
            fields = self._machine.path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:15]))
        return ticks / os.sysconf("SC_CLK_TCK")

    def megabytes(self) -> float:
        """The memory of all its processes, what they share counted once."""
        whole = 0
        for pid in self.processes():
            text = self._machine.path(f"/proc/{pid}/smaps_rollup").read_text()
            whole += int(text.split("\nPss:")[1].split()[0])
        return whole / 1024

    def end(self) -> None:
        self._machine.run(f"kill {self.pid}; while test -d /proc/{self.pid}; do sleep 0.1; done")


def prepare(machine: Debian, count: int) -> None:
    """A machine that is as its tree says."""
    names = range(count - 4)
    files = "".join(
        f"/srv/many/{name}: {{file.managed: [{{contents: right}}]}}\n" for name in names
    )
    machine.run("mkdir -p /srv/many")
    machine.tree(top="base: {'*': [all]}\n", all=TREE + files)
    machine.write("/root/unwanted/DEBIAN/control", CONTROL)
    machine.run("dpkg-deb --build --root-owner-group /root/unwanted /root/unwanted.deb")
    for _ in range(3):
        machine.runner("highstate")


def reported(machine: Debian, rounds: int) -> dict[str, tuple[float, float]]:
    """Seconds from each change to its report, and those of the processor."""
    watching, found = Watching(machine, "report"), {}
    for what, (change, state, *_) in CHANGES.items():
        seconds, cpu = [], []
        for _ in range(rounds):
            began = watching.cpu()
            machine.run(change)
            seconds.append(watching.until(lambda state=state: watching.deviates(state)))
            watching.settle()
            cpu.append(watching.cpu() - began)
            machine.runner("watch", "fix")
            watching.until(lambda state=state: not watching.deviates(state))
            watching.settle()
        found[what] = statistics.median(seconds), statistics.median(cpu)
    watching.end()
    return found


def is_so(machine: Debian, command: str) -> bool:
    return machine.run(command, code=None).returncode == 0


def by_hand(machine: Debian, rounds: int) -> dict[str, float]:
    """Seconds that the program takes that puts each change right."""
    found = {}
    for what, (change, *_, mend) in CHANGES.items():
        taken = []
        for _ in range(rounds):
            machine.run(change)
            taken.append(timed(machine, mend)[0])
        found[what] = min(taken)
    return found


def timed(machine: Debian, line: str) -> tuple[float, float]:
    """Seconds that a line of shell takes, and those of the processor."""
    clocked = f"TIMEFORMAT='%R %U %S'; time {{ {line}; }} >/dev/null 2>/dev/null"
    whole, user, system = map(float, machine.run("bash", "-c", clocked).stderr.split())
    return whole, user + system


def main() -> None:
    count = int(sys.argv[1]) if sys.argv[1:] else 1000
    rounds = int(sys.argv[2]) if sys.argv[2:] else ROUNDS
    with debian(layer_or_skip("base")) as machine:
        prepare(machine, count)
        own, seen = by_hand(machine, rounds), reported(machine, rounds)
        run, run_cpu = timed(machine, "runner highstate -q")
        watching = Watching(machine, "drift")
        whole = watching.cpu()
        print("seconds, and those of the processor:\n")
        print("| what is changed | reported | put right | its program | reported | put right |")
        print("|---|---|---|---|---|---|")
        for what, (change, _, right, _) in CHANGES.items():
            seconds, cpu = [], []
            for _ in range(rounds):
                began = watching.cpu()
                machine.run(change)
                seconds.append(watching.until(partial(is_so, machine, right)))
                watching.settle()
                cpu.append(watching.cpu() - began)
            figures = (seen[what][0], statistics.median(seconds), own[what])
            row = " | ".join(f"{figure:.1f}" for figure in figures)
            print(f"| {what} | {row} | {seen[what][1]:.2f} | {statistics.median(cpu):.2f} |")
        before = watching.cpu()
        time.sleep(MINUTE)
        idle, memory = watching.cpu() - before, watching.megabytes()
        print(f"\n{count} states: {memory:.0f} MB; a minute without events: {idle:.2f} s")
        print(f"start, and a look at everything: {whole:.2f} s of the processor")
        print(
            f"a timer of one minute: {run_cpu * 60:.1f} s of the processor an hour; put right after"
            f" {MINUTE / 2 + run:.0f} s on average, {MINUTE + run:.0f} s at most"
        )


if __name__ == "__main__":
    main()
