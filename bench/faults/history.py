# SPDX-License-Identifier: Apache-2.0
"""A history, debts and notes that were damaged: bytes changed, files cut off, pages of zeros.

The run does its work and says what is not kept; what only reads says so; the next run keeps its history again.

    python bench/faults/history.py [--trials 300]
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
from pathlib import Path

from common import Score, Tree, seeded, warm

SLS = """
{target}/f:
  file.managed:
    - contents: {{ pillar['g'] }}
react:
  cmd.run:
    - name: echo {{ pillar['g'] }} >> {target}/log
    - onchanges: [{file: {target}/f}]
owes:
  cmd.wait:
    - name: test -e {target}/ready
    - watch: [{file: {target}/f}]
"""
LOOKS = (
    ("history",),
    ("history", "--out", "json"),
    ("history", "show", "last"),
    ("history", "diff", "1", "last"),
    ("show", "pending"),
    ("undo", "--test"),
    ("schedule", "status"),
)


def damage(path: Path, chance: random.Random) -> str:
    """Break a file in some way; says how."""
    data = bytearray(path.read_bytes())
    how = chance.choice(["bytes", "header", "zeros", "cut", "empty", "longer", "junk"])
    if how == "bytes":
        for _ in range(chance.randint(1, 200)):
            data[chance.randrange(len(data) or 1) : 0] = b""
            if data:
                data[chance.randrange(len(data))] = chance.randrange(256)
    elif how == "header":
        data[: min(100, len(data))] = chance.randbytes(min(100, len(data)))
    elif how == "zeros":
        start = chance.randrange(0, max(1, len(data)), 512)
        data[start : start + 4096] = bytes(len(data[start : start + 4096]))
    elif how == "cut":
        del data[chance.randrange(max(1, len(data))) :]
    elif how == "empty":
        data.clear()
    elif how == "longer":
        data += chance.randbytes(5000)
    else:
        data = bytearray(chance.randbytes(20000))
    path.write_bytes(data)
    return how


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--trials", type=int, default=300)
    parser.add_argument("--seed", type=int)
    options = parser.parse_args()
    warm()
    chance, score = seeded(options.seed), Score("damaged histories and debts")
    with tempfile.TemporaryDirectory(prefix="runner-history-") as folder:
        tree = Tree(Path(folder))
        tree.write("states/a.sls", SLS)
        for number in range(options.trials):
            words = ("sls", "a", "--pillar", f'{{"g": {number}}}')
            tree.run(*words)
            files = sorted(
                path
                for path in tree.state.rglob("*")
                if path.is_file() and "corrupt" not in path.name
            )
            hit = chance.sample(files, min(len(files), chance.randint(1, 3)))
            if number % 2 == 0:
                tree.write("cache/state/history.sqlite", b"no database")
            how = ", ".join(f"{path.name}: {damage(path, chance)}" for path in hit)
            score.trials += 1
            for look in LOOKS:
                ended = tree.run(*look)
                said = ended.out + ended.err
                score.check(ended.code in (0, 1, 2), f"{how}: {look}: {ended.code} {said[:600]}")
                bad = "Traceback" in said or "this is a bug" in said
                score.check(not bad, f"{how}: {look}: {said[:600]}")
            (tree.target / "f").write_text("changed behind our back")
            ended = tree.run(*words)
            said = ended.out + ended.err
            score.check(
                "Traceback" not in said and "this is a bug" not in said, f"{how}: run: {said[:600]}"
            )
            # `owes` fails on purpose
            score.check(ended.code == 2, f"{how}: run: {ended.code} {said[:600]}")
            score.check(
                (tree.target / "f").read_text() == f"{number}\n", f"{how}: the work was not done"
            )
            score.check(
                (tree.target / "log").read_text().split()[-1] == str(number), f"{how}: no reaction"
            )
            tree.run(*words)
            ended = tree.run("history", "show", "last")
            score.check(f'"g": {number}' in ended.out, f"{how}: the next run is not kept: {ended}")
            for path in tree.state.glob("*corrupt*"):
                os.unlink(path)
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
