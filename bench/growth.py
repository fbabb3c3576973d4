# SPDX-License-Identifier: Apache-2.0
"""How runner grows: time, CPU and peak memory of the same work in several sizes.

    python bench/growth.py [--only WORD] [--largest SIZE] [--plot docs/growth.svg]

The last two numbers of a row are what the CPU time beyond a start was multiplied by from the size
above it, and what the size was: they are about equal where cost is in proportion. --plot draws the
loads of the page docs/performance.md; a quiet machine needs ten minutes and 6 GB of disk for all.
"""

from __future__ import annotations

import argparse
import math
import os
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from shutil import which
from typing import NamedTuple

from loads import files, graph
from measure import RUNNER, Cost, Program, cost, prepare_environment, write_configuration


class Growing(NamedTuple):
    """Work that is made in several sizes. prepare: fills a folder with a size of it; the words of
    the command. first: the first run of it is measured, else the third one, for which all is kept
    that is kept between runs.
    """

    name: str
    unit: str
    sizes: tuple[int, ...]
    prepare: Callable[[Path, int], Sequence[str]]
    first: bool = False
    plotted: bool = False


def load(folder: Path, text: str) -> Sequence[str]:
    (folder / "load.sls").write_text(text)
    return "sls", "load", "-q"


def no_ops(folder: Path, count: int) -> Sequence[str]:
    return load(folder, "".join(f"s{n}: test.nop\n" for n in range(count)))


def requisites(folder: Path, count: int) -> Sequence[str]:
    return load(folder, graph(count, folder))


def new_files(folder: Path, count: int) -> Sequence[str]:
    return load(folder, files(count, folder))


def converged(folder: Path, count: int) -> Sequence[str]:
    """Files that are as they should be."""
    (folder / "out").mkdir()
    for n in range(count):
        (folder / f"out/{n}").write_text(f"hello {n}\n")
    return new_files(folder, count)


def watchers(folder: Path, count: int) -> Sequence[str]:
    """A file that changes, and who watches it."""
    watched = f"{folder}/watched"
    return load(
        folder,
        f"{watched}:\n  file.managed:\n    - contents: new\n"
        + "".join(
            f"w{n}:\n  test.nop:\n    - watch: [{{file: {watched}}}]\n" for n in range(count)
        ),
    )


def on_whole_files(
    kind: str,
    command: Sequence[str] = ("sls",),
    options: Sequence[str] = ("-q",),
    function: str = "test.nop",
) -> Callable[[Path, int], Sequence[str]]:
    """SLS files of 50 states, each of which has a requisite on all states of the file before it, or
    behind it; of those that it includes as well. command, options: what is before and behind the
    name of the one that brings all. function: of the states.
    """

    def prepare(folder: Path, count: int) -> Sequence[str]:
        numbers = range(count // 50)
        for number in numbers:
            other = number + 1 if kind == "prereq" else number - 1
            include, asked = "", ""
            if other in numbers:
                include, asked = f"include: [f{other}]\n", f"    - {kind}: [sls: f{other}]\n"
            (folder / f"f{number}.sls").write_text(
                include
                + "".join(
                    f"s{number}_{n}:\n  {function}:\n    - order: {50 * number + n + 1}\n{asked}"
                    for n in range(50)
                )
            )
        return *command, f"f{0 if kind == 'prereq' else numbers[-1]}", *options

    return prepare


def chain(folder: Path, count: int) -> Sequence[str]:
    """SLS files each of which includes the next one."""
    (folder / "many").mkdir()
    for n in range(count):
        include = f"include: [many.s{n + 1}]\n" if n < count - 1 else ""
        text = f"{include}s{n}:\n  test.nop:\n    - name: {{{{ grains['id'] }}}}{n}\n"
        (folder / f"many/s{n}.sls").write_text(text)
    return "sls", "many.s0", "-q"


def assigned(folder: Path, count: int) -> Sequence[str]:
    chain(folder, count)
    names = "".join(f"    - many.s{n}\n" for n in range(count))
    (folder / "top.sls").write_text(f"base:\n  '*':\n{names}")
    return "highstate", "-q"


def checked(folder: Path, count: int) -> Sequence[str]:
    chain(folder, count)
    return ("check",)


def pillar(folder: Path, megabytes: int) -> Sequence[str]:
    """Files of up to 10 MB with mappings of a few keys."""
    roots = folder / "pillar"
    roots.mkdir()
    numbers = range((megabytes + 9) // 10)
    (roots / "top.sls").write_text(f"base: {{'*': [{', '.join(f'data{n}' for n in numbers)}]}}\n")
    line = "  key{0:07}: {{name: host{0:07}, size: {0:08}, more: " + "text " * 10 + "}}\n"
    for n in numbers:
        rows = min(10, megabytes - 10 * n) * (1_000_000 // len(line.format(0)))
        with (roots / f"data{n}.sls").open("w") as file:
            file.write(f"data{n}:\n")
            file.writelines(map(line.format, range(rows)))
    return *load(folder, "a: test.nop\n"), "--pillar-tree", str(roots)


# a state of a file in which many states have a part: FILE is that file
ON_ONE_FILE = {
    "ini.options_present": "[name: FILE, sections: {{S{n}: {{o{n}: v}}}}]",
    "mount.fstab_present": (
        "[name: /d{n}, fs_file: /m{n}, fs_vfstype: ext4, mount: false, config: FILE]"
    ),
    "mount.mounted": "[name: /m{n}, device: /d{n}, fstype: ext4, mount: false, config: FILE]",
    "ssh_auth.present": "[name: AAAA{n:06}, user: root, config: FILE]",
    "ssh_known_hosts.present": (
        "[name: h{n}.example, config: FILE, enc: ssh-rsa, hash_known_hosts: false,"
        " key: AAAAB3NzaC1yc2EAAAADAQABAAAAgQD{n:09}]"
    ),
    "logrotate.set": "[name: /var/log/l{n}, key: rotate, value: 2, conf_file: FILE]",
    "file.line": "[name: FILE, mode: insert, location: end, content: l{n}]",
    "file.replace": (
        "[name: FILE, pattern: '^l{n:06}.*', repl: 'l{n:06} v', append_if_not_found: true]"
    ),
    "file.keyvalue": "[name: FILE, key: k{n:06}, value: v, append_if_not_found: true]",
    "file.append": "[name: FILE, text: l{n:06}]",
    "file.blockreplace": (
        "[name: FILE, marker_start: '# s{n:06}', marker_end: '# e{n:06}', content: v,"
        " append_if_not_found: true]"
    ),
    "sysctl.present": "[name: {parameter}, value: '{value}', config: FILE]",
    "host.present": "[name: h{n}.example, ip: 192.0.{hundred}.{rest}]",
    "cron.present": "[name: 'true {n}', user: root, minute: 7]",
    "user.present": "[name: u{n}]",
}
PLANNED = ("host.present", "cron.present", "user.present")  # their files are this machine's


def on_one_file(state: str) -> Callable[[Path, int], Sequence[str]]:
    """States that each have a line of one file. Of this machine's files it is a dry run."""

    def prepare(folder: Path, count: int) -> Sequence[str]:
        (folder / "file").write_text("")
        parameters = _parameters() if state == "sysctl.present" else [("", "")] * count
        text = ""
        for n, (parameter, value) in zip(range(count), parameters, strict=False):
            hundred, rest = divmod(n, 250)
            facts = {"n": n, "hundred": hundred, "rest": rest, "parameter": parameter}
            line = ON_ONE_FILE[state].format(**facts, value=value)
            line = line.replace("FILE", f"{folder}/file")
            text += f"s{n}:\n  {state}: {line}\n"
        return *load(folder, text), *(["--test"] if state in PLANNED else [])

    return prepare


def _parameters() -> list[tuple[str, str]]:
    """The parameters of this kernel that may be set, as they are."""
    found = []
    for path in sorted(Path("/proc/sys").rglob("*")):
        if path.is_file() and path.stat().st_mode & 0o600 == 0o600:
            with suppress(OSError):
                value = " ".join(path.read_text().split())
                name = str(path.relative_to("/proc/sys")).translate(str.maketrans("./", "/."))
                found += [(name, value)] if value.isdigit() else []
    return found


def large_source(folder: Path, megabytes: int) -> Sequence[str]:
    (folder / "big").write_text("begin\n")
    os.truncate(folder / "big", megabytes * 1_000_000)
    return load(folder, f"{folder}/target:\n  file.managed:\n    - source: salt://big\n")


def large_difference(folder: Path, megabytes: int) -> Sequence[str]:
    """Two texts of which every line differs."""
    for name, word in (("big", "new"), ("target", "old")):
        with (folder / name).open("w") as file:
            rows = range(megabytes * 1_000_000 // 64)
            file.writelines(f"{word} {n:012} ".ljust(63, "x") + "\n" for n in rows)
    return load(folder, f"{folder}/target:\n  file.managed:\n    - source: salt://big\n")


def history(*words: str) -> Callable[[Path, int], Sequence[str]]:
    """A command about a history with many runs, each of which made 100 files."""

    def prepare(folder: Path, count: int) -> Sequence[str]:
        cost(command(folder, new_files(folder, 100)))
        database = sqlite3.connect(folder / "cache/state/history.sqlite")
        runs = _columns(database, "runs", "id")
        for run in range(2, count + 1):
            database.execute(f"INSERT INTO runs ({runs}) SELECT {runs} FROM runs WHERE id = 1")
            for table in ("results", "changers", "kept", "left_behind"):
                columns = _columns(database, table, "run")
                database.execute(
                    f"INSERT INTO {table} (run, {columns}) SELECT {run}, {columns} FROM {table}"
                    " WHERE run = 1"
                )
        database.commit()
        database.close()
        return words

    return prepare


def _columns(database: sqlite3.Connection, table: str, but: str) -> str:
    """The names of a table's columns but one."""
    rows = database.execute(f"SELECT name FROM pragma_table_info('{table}')")
    return ", ".join(name for (name,) in rows if name != but)


STATES = (1000, 3000, 10000, 30000, 100000)
SLS_FILES = (100, 300, 1000, 2000)
RUNS = (20, 200, 2000)
LOADS = (
    Growing("states that do nothing", "states", STATES, no_ops, plotted=True),
    Growing("files, nothing to do", "files", STATES, converged, plotted=True),
    Growing("states with two requisites each", "states", STATES, requisites, plotted=True),
    Growing("files, first run", "files", STATES[:3], new_files, first=True),
    Growing("watchers of a file that changes", "states", STATES[:3], watchers, first=True),
    *(
        Growing(
            f"{kind} on whole SLS files", "states", (500, 1000, 2000, 4000), prepare, first=True
        )
        for kind, prepare in ((kind, on_whole_files(kind)) for kind in ("require", "prereq"))
    ),
    *(
        Growing(
            f"{kind} on whole SLS files that change",
            "states",
            (500, 1000, 2000),
            on_whole_files(kind, function="test.succeed_with_changes"),
            first=True,
        )
        for kind in ("watch", "onchanges", "listen")
    ),
    Growing(
        "the page of require on whole SLS files",
        "states",
        (500, 1000, 2000, 4000),
        on_whole_files("require", ("show", "graph"), ("--out", "html")),
        first=True,
    ),
    Growing("SLS files, each includes the next", "files", SLS_FILES, chain),
    Growing("the same, assigned by the top file", "files", SLS_FILES, assigned),
    Growing("runner check of the chain, not assigned", "files", SLS_FILES, checked),
    Growing("a pillar", "MB", (1, 5, 15, 50), pillar),
    Growing("a source that is new", "MB", (50, 500, 5000), large_source, first=True),
    Growing("a source that is there", "MB", (50, 500, 5000), large_source),
    Growing("a diff of all lines", "MB", (1, 10, 100), large_difference, first=True),
    *(
        Growing(f"runner {' '.join(words)}", "runs", RUNS, history(*words))
        for words in (
            ("history",),
            ("history", "show", "last"),
            ("history", "diff", "1", "2"),
            ("undo", "--test"),
            ("sls", "load", "-q"),
        )
    ),
    *(
        Growing(f"{state} on one file, {run}", "states", (100, 1000), on_one_file(state), first)
        for state in ON_ONE_FILE
        for run, first in (("first run", True), ("nothing to do", False))
        if (first or state not in PLANNED) and (state != "cron.present" or which("crontab"))
    ),
)


def command(folder: Path, words: Sequence[str]) -> Program:
    return Program([sys.executable, "-c", RUNNER, *words, "--config", f"{folder}/runner.yaml"])


def measured(growing: Growing, size: int) -> Cost:
    """Return what a size of some work costs."""
    with tempfile.TemporaryDirectory(prefix="runner-growth-") as name:
        folder = Path(name)
        write_configuration(folder)
        program = command(folder, growing.prepare(folder, size))
        for _ in range(0 if growing.first else 2):
            cost(program)
        return cost(program)


def row(size: int, now: Cost, unit: str, before: tuple[int, Cost] | None, start: float) -> str:
    """The line of a size. before: the size above it. start: the CPU seconds of a start."""
    text = f"  {size:7,} {unit:7} {now.wall:7.2f} s {now.cpu:7.2f} s CPU {now.megabytes:6.0f} MB"
    if before:
        times = max(now.cpu - start, 0.01) / max(before[1].cpu - start, 0.01)
        text += f"  x {times:.1f} for x {size / before[0]:.1f}"
    return text


# ------------------------------------------------------------------ the plot

COLOURS = ("#1769c4", "#00806e", "#b45f06")
WIDTH, HEIGHT, LEFT, TOP = 330, 220, 60, 30
STYLE = "text { font: 12px sans-serif; fill: #1c1e21; } .line { fill: none; stroke-width: 2; }"
STYLE += " .guide { fill: none; stroke: #999; stroke-dasharray: 4 4; }"


class Panel(NamedTuple):
    """One drawing with logarithmic axes. least, most: the powers of ten at the ends of them."""

    title: str
    left: int
    least: tuple[int, int]
    most: tuple[int, int]

    def at(self, size: float, value: float) -> str:
        (first, low), (last, high) = self.least, self.most
        x = self.left + WIDTH * (math.log10(size) - first) / (last - first)
        y = TOP + HEIGHT * (1 - (math.log10(value) - low) / (high - low))
        return f"{x:.0f},{y:.0f}"

    def axes(self) -> list[str]:
        (first, low), (last, high) = self.least, self.most
        parts = [f'<text x="{self.left}" y="16" font-weight="bold">{self.title}</text>']
        for power in range(low, high + 1):
            x, y = self.at(10**first, 10**power).split(",")
            parts.append(f'<path d="M{x} {y}h{WIDTH}" stroke="#ddd"/>')
            label = f"{10**power:,g}"
            parts.append(
                f'<text x="{int(x) - 6}" y="{int(y) + 4}" text-anchor="end">{label}</text>'
            )
        for power in range(first, last + 1):
            x, y = self.at(10**power, 10**low).split(",")
            parts.append(f'<path d="M{x} {y}v-{HEIGHT}" stroke="#ddd"/>')
            label = f"{10**power:,}"
            parts.append(f'<text x="{x}" y="{int(y) + 18}" text-anchor="middle">{label}</text>')
        return parts

    def line(self, points: Mapping[int, float], colour: str) -> str:
        path = " ".join(self.at(size, value) for size, value in points.items())
        return f'<polyline class="line" points="{path}" stroke="{colour}"/>'


def plot(costs: Mapping[str, Mapping[int, Cost]]) -> str:
    """A drawing of the CPU time and the memory of some loads, by their sizes."""
    seconds = Panel("CPU seconds", LEFT, (3, -1), (5, 2))
    memory = Panel("peak memory, MB", 2 * LEFT + WIDTH, (3, 1), (5, 3))
    width, bottom = 2 * (LEFT + WIDTH) + 30, TOP + HEIGHT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {bottom + 108}"'
        f' width="{width}" height="{bottom + 108}" role="img">',
        "<title>CPU time and peak memory by the number of states</title>",
        f"<style>{STYLE}</style>",
        *seconds.axes(),
        *memory.axes(),
    ]
    y = bottom + 42 + 18 * len(costs)
    parts.append(f'<path d="M{LEFT} {y - 4}h24" class="guide"/>')
    parts.append(f'<text x="{LEFT + 32}" y="{y}">in proportion</text>')
    for panel, least in ((seconds, 0.2), (memory, 10)):
        ends = " ".join(panel.at(10**power, least * 10 ** (power - 3)) for power in (3, 5))
        parts.append(f'<polyline class="guide" points="{ends}"/>')
    for number, (name, of_load) in enumerate(costs.items()):
        colour, y = COLOURS[number], bottom + 42 + 18 * number
        parts.append(seconds.line({size: of.cpu for size, of in of_load.items()}, colour))
        parts.append(memory.line({size: of.megabytes for size, of in of_load.items()}, colour))
        parts.append(f'<path d="M{LEFT} {y - 4}h24" stroke="{colour}" stroke-width="2"/>')
        parts.append(f'<text x="{LEFT + 32}" y="{y}">{name}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def main() -> None:
    """Measure all sizes of all loads."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="loads whose name has this word in it")
    parser.add_argument("--largest", type=int, default=10**9, help="no size above this one")
    parser.add_argument("--plot", help="a file for the drawing")
    given = parser.parse_args()
    prepare_environment()
    start = measured(LOADS[0], 1).cpu
    costs: dict[str, dict[int, Cost]] = {}
    for growing in LOADS:
        if given.only not in growing.name or (given.plot and not growing.plotted):
            continue
        print(f"{growing.name} ({time.strftime('%H:%M')})", flush=True)
        before = None
        of_load = costs[growing.name] = {}
        for size in growing.sizes:
            if size <= given.largest:
                of_load[size] = measured(growing, size)
                print(row(size, of_load[size], growing.unit, before, start), flush=True)
                before = size, of_load[size]
    if given.plot:
        Path(given.plot).write_text(plot(costs))


if __name__ == "__main__":
    main()
