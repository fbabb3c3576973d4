# SPDX-License-Identifier: Apache-2.0
"""How many instructions runner and its peers take for the same work, in millions.

    python bench/instructions.py [--salt salt-call] [--cfengine cf-agent] [--python PYTHON ...]
                                 [--only WORD]

Seconds differ by half between machines and moments; instructions hardly do, whatever else the
machine does. Those of user space count, of a program and all that it starts, by `perf stat` where
the machine has such counters and otherwise by valgrind (a hundred times slower; the same figures).
What finds nothing to do is counted in its fourth run, when all is kept that runs keep. Prints a
Markdown table with the ratios to runner. PYTHON: one more Python, of the same minor version as this
one, whose dependencies it takes. Programs that are not in the PATH are left out.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from loads import COUNTED, Load
from measure import Program, cost, prepare_environment
from peers import add_peers, programs

WARM = 3
UNCOUNTED = "Nothing counts instructions here. Install valgrind."
CACHEGRIND = "cachegrind.out."


@cache
def perf_counts() -> bool:
    """Whether perf can count instructions here; on a virtual machine it often cannot."""
    if not shutil.which("perf"):
        return False
    argv = ["perf", "stat", "-x,", "-e", "instructions:u", "true"]
    said = subprocess.run(argv, capture_output=True, text=True, check=False)
    return said.returncode == 0 and said.stderr.split(",")[0].isdigit()


def countable() -> bool:
    """Whether instructions can be counted on this machine at all."""
    return perf_counts() or shutil.which("valgrind") is not None


def instructions(program: Program, children: bool = True) -> int:
    """The instructions of one run of a program and, unless told otherwise, its children. The hashes
    of texts are the same each time, because sets and dictionaries take more or fewer steps with
    others.
    """
    with tempfile.TemporaryDirectory(prefix="runner-count-") as folder:
        if perf_counts():
            counter = ["perf", "stat", "-x,", "-e", "instructions:u", "-o", f"{folder}/perf"]
            counter += [] if children else ["--no-inherit"]
        else:  # a quarter of callgrind's time
            counter = ["valgrind", "-q", "--tool=cachegrind", "--cache-sim=no"]
            counter += [f"--cachegrind-out-file={folder}/{CACHEGRIND}%p"]
            counter += [f"--trace-children={'yes' if children else 'no'}"]
        environment = {**program.environment, "PYTHONHASHSEED": "0"}
        cost(program._replace(argv=[*counter, *program.argv], environment=environment))
        if perf_counts():
            lines = Path(folder, "perf").read_text().splitlines()
            return sum(int(line.split(",")[0]) for line in lines if "instructions" in line)
        return sum(map(counted_by_cachegrind, Path(folder).glob(f"{CACHEGRIND}*")))


def counted_by_cachegrind(path: Path) -> int:
    """The instructions that one process took, as its file says. It is read line by line: the peak
    of memory of what is started later begins with that of this process.
    """
    with path.open() as lines:
        return sum(int(line.split()[1]) for line in lines if line.startswith("summary:"))


def counted(load: Load, program: Program, folder: Path, children: bool = True) -> int:
    """The instructions of a program for a load that lies in a folder."""
    for number in range(1 if load.first else WARM):
        cost(program._replace(stale=() if number else load.written(folder)))
    stale = load.written(folder) if load.first else ()
    return instructions(program._replace(stale=stale), children)


def row(load: Load, columns: list[str], counts: dict[str, int]) -> str:
    own = counts["runner"]
    cells = [load.name, f"{own / 1e6:.0f}"]
    cells += [
        f"{counts[name] / 1e6:.0f}, {counts[name] / own:.2f}x" if name in counts else "-"
        for name in columns
    ]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_peers(parser)
    options = parser.parse_args()
    if not countable():
        sys.exit(UNCOUNTED)
    prepare_environment()
    columns = [name for name in programs(options, COUNTED[0]) if name != "runner"]
    print(f"| millions of instructions | runner | {' | '.join(columns)} |")
    print("|---" * (2 + len(columns)) + "|")
    for load in COUNTED:
        if options.only not in load.name or not shutil.which(load.needs):
            continue
        counts = {}
        for name, make in programs(options, load).items():
            with tempfile.TemporaryDirectory(prefix="runner-counted-") as scratch:
                load.prepare(Path(scratch))
                counts[name] = counted(load, make(Path(scratch)), Path(scratch))
        print(row(load, columns, counts), flush=True)


if __name__ == "__main__":
    main()
