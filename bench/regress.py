# SPDX-License-Identifier: Apache-2.0
"""Whether runner has become slower or larger than it was, on any machine.

    python bench/regress.py [--write] [--only WORD]

Counts the instructions that runner takes for some loads (bench/loads.py) and those that the floor
takes for the same (bench/floor.py), as bench/instructions.py does, but without those of what they
start: a start is seen in their own. What is compared is their ratio, which does not depend on the
machine nor on what else it does. bench/figures.json has the ratios to compare with, for each minor
version of Python. One that is more than 3 % higher, or a peak of memory that is more than 15 %
higher, makes the exit code 1. --write keeps those of now: part of a release, and of a change that
makes runner faster.

Files are written in memory where that is possible.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from instructions import UNCOUNTED, countable, counted
from loads import COMMANDS, FILES_300, GRAPH, NEW_300, START, TEMPLATES_300, Load
from measure import RUNNER, floor, least_by_turns, prepare_environment, runner

FIGURES = Path(__file__).with_name("figures.json")
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
MEMORY = Path("/dev/shm")
SLOWER = 1.03
LARGER = 1.15
TURNS = 3  # of which the least peak of memory counts
# what waits for more to be written with it waits as long as there is some: how much is written at
# once would depend on what else the machine does
WAITING = """
from runner.engine import shared_commit
from runner.history import journal
shared_commit.LONGEST_WAIT = journal.LONGEST_WAIT = 3600
"""
ROWS = (START, COMMANDS, FILES_300, NEW_300, TEMPLATES_300, GRAPH)


class Ratio(NamedTuple):
    """How many times what the floor takes."""

    instructions: float
    memory: float

    def worse(self, former: Ratio) -> bool:
        return (
            self.instructions > former.instructions * SLOWER or self.memory > former.memory * LARGER
        )

    def __str__(self) -> str:
        return f"instructions {self.instructions:.3f}, memory {self.memory:.2f}"


def ratio(load: Load) -> Ratio:
    """What runner takes for a load, as a ratio to the floor."""
    where = str(MEMORY) if MEMORY.is_dir() and os.access(MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="runner-regress-", dir=where) as name:
        folder = Path(name)
        load.prepare(folder)
        stale = load.written(folder) if load.first else ()
        programs = [make(folder) for make in (runner, floor)]
        if load.first:
            argv = [WAITING + word if word == RUNNER else word for word in programs[0].argv]
            programs[0] = programs[0]._replace(argv=argv)
        own, least = (counted(load, program, folder, children=False) for program in programs)
        large, small = least_by_turns(
            [program._replace(stale=stale) for program in programs], TURNS
        )
        return Ratio(round(own / least, 3), round(large.megabytes / small.megabytes, 2))


def compare(load: Load, former: Ratio) -> bool:
    """Print how a load compares with the former ratio, and say whether it is worse. What seems so
    is counted once more, and the least counts.
    """
    now = ratio(load)
    if now.worse(former):
        now = Ratio(*map(min, now, ratio(load)))
    worse = now.worse(former)
    more = now.instructions / former.instructions - 1
    says = f"{load.name:28} {now} (before: {former}), {more:+.1%}"
    print(f"{'!' if worse else ' '} {says}", flush=True)
    return worse


def ratios_of_now(rows: list[Load]) -> dict[str, Ratio]:
    """Return the ratio of each load."""
    ratios = {}
    for load in rows:
        ratios[load.name] = ratio(load)
        print(f"  {load.name:28} {ratios[load.name]}", flush=True)
    return ratios


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="keep the ratios of now")
    parser.add_argument("--only", default="", help="loads whose name has this word in it")
    parser.add_argument("--figures", type=Path, default=FIGURES, help="the ratios to compare with")
    options = parser.parse_args()
    prepare_environment()
    if not countable():
        print(f"Nothing to compare. {UNCOUNTED}")
        return 0
    figures = json.loads(options.figures.read_text())
    rows = [load for load in ROWS if options.only in load.name]
    if options.write:
        figures.setdefault(PYTHON, {}).update(ratios_of_now(rows))
        options.figures.write_text(json.dumps(figures, indent=2) + "\n")
        return 0
    if PYTHON not in figures:
        print(f"{options.figures} has no ratios of Python {PYTHON}: nothing to compare with")
        return 0
    former = figures[PYTHON]
    unknown = [load.name for load in rows if load.name not in former]
    if unknown:
        print(
            f"{options.figures} has no ratios of {'; '.join(unknown)}: --write keeps those of now"
        )
        return 1
    worse = [compare(load, Ratio(*former[load.name])) for load in rows]
    return int(any(worse))


if __name__ == "__main__":
    sys.exit(main())
