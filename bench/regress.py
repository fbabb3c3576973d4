# SPDX-License-Identifier: Apache-2.0
"""Whether runner has become slower or larger than its last release was, on any machine.

    python bench/regress.py [--write] [--only WORD]

Measures what runner takes for some loads (bench/loads.py) and what the floor takes for the same
(bench/floor.py), by turns; of many runs the least counts. What is compared is their ratio, which
hardly depends on the machine and on what else it does. bench/figures.json has the ratios of the
last release for each minor version of Python. One that is more than 15 % worse in three tries makes
the exit code 1. --write keeps those of now: part of a release, on a quiet machine.

Files are written in memory where that is possible: what syncing costs depends on the disk.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from loads import COMMANDS, FILES, GRAPH, NEW_FILES, START, TEMPLATES, Load
from measure import floor, least_by_turns, prepare_environment, runner

FIGURES = Path(__file__).with_name("figures.json")
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
MEMORY = Path("/dev/shm")
WORSE = 1.15
TRIES = 3
ROWS = ((START, 20), (COMMANDS, 8), (FILES, 5), (NEW_FILES, 4), (TEMPLATES, 4), (GRAPH, 5))


class Ratio(NamedTuple):
    """How many times what the floor takes."""

    cpu: float
    memory: float

    def worse(self, former: Ratio) -> bool:
        return self.cpu > former.cpu * WORSE or self.memory > former.memory * WORSE

    def __str__(self) -> str:
        return f"CPU {self.cpu:.2f}, memory {self.memory:.2f}"


def ratio(load: Load, turns: int, folder: Path) -> Ratio:
    """The ratio of one try. folder: where the load is prepared."""
    stale = load.written(folder) if load.first else ()
    programs = [make(folder)._replace(stale=stale) for make in (runner, floor)]
    own, least = least_by_turns(programs, turns)
    return Ratio(own.cpu / least.cpu, own.megabytes / least.megabytes)


def tries(load: Load, turns: int, former: Ratio | None) -> list[Ratio]:
    """The ratios of all tries, or up to the first that is not worse than the former one."""
    where = str(MEMORY) if MEMORY.is_dir() and os.access(MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="runner-regress-", dir=where) as name:
        load.prepare(Path(name))
        least_by_turns([runner(Path(name))], 1)
        ratios: list[Ratio] = []
        while len(ratios) < TRIES:
            ratios.append(ratio(load, turns, Path(name)))
            if former and not ratios[-1].worse(former):
                break
        return ratios


def compare(load: Load, turns: int, former: Ratio) -> bool:
    """Print how a load compares with the former ratio, and say whether it is worse."""
    ratios = tries(load, turns, former)
    worse = ratios[-1].worse(former)
    shown = "; then ".join(map(str, ratios))
    print(f"{'!' if worse else ' '} {load.name:28} {shown} (last release: {former})", flush=True)
    return worse


def ratios_of_now(rows: list[tuple[Load, int]]) -> dict[str, Ratio]:
    """Return the worst of three tries for each load, since noise may not fail a build."""
    ratios = {}
    for load, turns in rows:
        columns = zip(*tries(load, turns, None), strict=True)
        ratios[load.name] = Ratio(*(round(max(column), 2) for column in columns))
        print(f"  {load.name:28} {ratios[load.name]}", flush=True)
    return ratios


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="keep the ratios of now")
    parser.add_argument("--only", default="", help="loads whose name has this word in it")
    parser.add_argument("--turns", type=int, help="how often each runs in a try")
    parser.add_argument("--figures", type=Path, default=FIGURES, help="the ratios to compare with")
    options = parser.parse_args()
    prepare_environment()
    figures = json.loads(options.figures.read_text())
    rows = [(load, options.turns or turns) for load, turns in ROWS if options.only in load.name]
    if options.write:
        figures.setdefault(PYTHON, {}).update(ratios_of_now(rows))
        options.figures.write_text(json.dumps(figures, indent=2) + "\n")
        return 0
    if PYTHON not in figures:
        print(f"{options.figures} has no ratios of Python {PYTHON}: nothing to compare with")
        return 0
    former = figures[PYTHON]
    unknown = [load.name for load, _ in rows if load.name not in former]
    if unknown:
        print(
            f"{options.figures} has no ratios of {'; '.join(unknown)}: --write keeps those of now"
        )
        return 1
    worse = [compare(load, turns, Ratio(*former[load.name])) for load, turns in rows]
    return int(any(worse))


if __name__ == "__main__":
    sys.exit(main())
