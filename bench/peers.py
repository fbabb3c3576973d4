# SPDX-License-Identifier: Apache-2.0
"""What runner costs beside Salt, CFEngine and the floor, in one round, as ratios.

    python bench/peers.py [--salt salt-call] [--cfengine cf-agent] [--python PYTHON ...]
                          [--only WORD] [--turns N]

Applies the same work with each of them (bench/loads.py), by turns, so that a busy moment hits all;
the least of each counts. Prints a Markdown table of CPU seconds and peak memory of runner, and how
many times those the others take: 0.5x is half of what runner takes. The floor is bench/floor.py.
Programs that are not in the PATH are left out. PYTHON: one more Python with runner's dependencies.

Each makes all files of a load once before, and they have to be equal. Salt and CFEngine keep their
own state in the scratch folder as well.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from loads import LOADS, Load
from measure import (
    Cost,
    Program,
    cfengine,
    cost,
    floor,
    least_by_turns,
    prepare_environment,
    runner,
    salt,
)

Make = Callable[[Path], Program]


def programs(options: argparse.Namespace, load: Load) -> dict[str, Make]:
    """The programs that know such work, runner first."""
    made: dict[str, Make] = {"runner": runner}
    if load.has_floor:
        made["floor"] = floor
    for python in options.python:
        made[python] = partial(runner, python=python)
    if shutil.which(options.salt):
        made["Salt"] = lambda folder: salt(folder, options.salt)
    if load.promises and shutil.which(options.cfengine):
        made["CFEngine"] = lambda folder: cfengine(folder, options.cfengine)
    return made


def contents(folder: Path) -> dict[str, str]:
    """Return what files and links below a folder hold."""
    paths = {str(path.relative_to(folder)): path for path in folder.rglob("*")}
    return {
        name: os.readlink(path) if path.is_symlink() else path.read_text()
        for name, path in paths.items()
        if path.is_symlink() or path.is_file()
    }


def measure(load: Load, made: dict[str, Make], turns: int) -> dict[str, Cost]:
    """Return what the programs cost for a load. Ends this one when they do not make equal files."""
    with tempfile.TemporaryDirectory(prefix="runner-peers-") as scratch:
        folder = Path(scratch)
        load.prepare(folder)
        ready = [make(folder) for make in made.values()]
        results = []
        for program in ready:
            cost(program._replace(stale=load.written(folder)))
            results.append(contents(folder / "out"))
        for name, result in zip(made, results, strict=True):
            if result != results[0]:
                sys.exit(f"{load.name}: {name} makes other files than runner")
        stale = load.written(folder) if load.first else ()
        ready = [program._replace(stale=stale) for program in ready]
        return dict(zip(made, least_by_turns(ready, turns), strict=True))


def row(load: Load, columns: list[str], costs: dict[str, Cost]) -> str:
    own = costs["runner"]
    cells = [load.name, f"{own.cpu:.3f} s", f"{own.megabytes:.0f} MB"]
    for column in columns:
        other = costs.get(column)
        cells.append(
            f"{other.cpu / own.cpu:.2f}x, {other.megabytes / own.megabytes:.2f}x" if other else "-"
        )
    return f"| {' | '.join(cells)} |"


def add_peers(parser: argparse.ArgumentParser) -> None:
    """Options that say what runner is compared with, and which loads count."""
    parser.add_argument("--salt", default="salt-call", help="Salt's program")
    parser.add_argument("--cfengine", default="cf-agent", help="CFEngine's program")
    parser.add_argument("--python", action="append", default=[], help="one more Python")
    parser.add_argument("--only", default="", help="loads whose name has this word in it")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_peers(parser)
    parser.add_argument("--turns", type=int, default=5, help="of how many the least counts")
    return parser.parse_args()


def main() -> None:
    options = arguments()
    prepare_environment()
    columns = [name for name in programs(options, LOADS[0]) if name != "runner"]
    print(f"| CPU, peak memory | runner | | {' | '.join(columns)} |")
    print("|---" * (3 + len(columns)) + "|")
    for load in LOADS:
        if options.only not in load.name:
            continue
        if not shutil.which(load.needs):
            print(f"{load.name}: there is no {load.needs} here", file=sys.stderr)
            continue
        costs = measure(load, programs(options, load), options.turns)
        print(row(load, columns, costs), flush=True)


if __name__ == "__main__":
    main()
