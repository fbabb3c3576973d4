# SPDX-License-Identifier: Apache-2.0
"""Clocks that jump: runs at other times than the one before (years ahead, years back), and a clock that is set in the
middle of a run.

The history keeps its order; drift and pending reactions are reported as ever; time limits and durations are those of a clock that
nobody sets.

    python bench/faults/clock.py [--trials 100]
"""

from __future__ import annotations

import argparse
import ctypes
import json
import random
import re
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from common import Score, Tree, seeded, warm, with_shim

DAY = 86400
JUMPS = (0, -1, 60, -3600, DAY, -DAY, -400 * DAY, 3650 * DAY, -3650 * DAY)
SLS = """
{target}/f:
  file.managed:
    - contents: {{ pillar['g'] }}
react:
  cmd.wait:
    - name: test -e {target}/ready && echo {{ pillar['g'] }} >> {target}/log
    - watch: [{file: {target}/f}]
"""


def answer(tree: Tree, *words: str, before: Any = lambda: None) -> Any:
    return json.loads(tree.run(*words, "--out", "json", before=before).out)["local"]


def one(
    tree: Tree, score: Score, shim: ctypes.CDLL, chance: random.Random, generation: int
) -> None:
    """The tree changes, the reaction fails, is owed, and done; each run at another time."""
    words = ("sls", "a", "--pillar", f'{{"g": {generation}}}')
    times = [chance.choice(JUMPS) for _ in range(4)]

    def at(step: int) -> Any:
        return lambda: shim.fault_clock(times[step])

    (tree.target / "ready").unlink(missing_ok=True)
    first = tree.run(*words, before=at(0))
    score.check(first.code == 2, f"{times}: {first}")
    (tree.target / "ready").touch()
    owed = answer(tree, "show", "pending", before=at(1))
    score.check([debt["kind"] for debt in owed] == ["watch"], f"{times}: owed {owed}")
    second = tree.run(*words, before=at(1))
    score.check(second.code == 0, f"{times}: {second}")
    done = (tree.target / "log").read_text().split()
    score.check(done[-1] == str(generation), f"{times}: the reaction is missing")
    (tree.target / "f").write_text("behind our back")
    third = tree.run(*words, before=at(2))
    score.check("drift" in third.out, f"{times}: no drift is told: {third.out}")
    runs = answer(tree, "history", "-n", "3", before=at(3))
    numbers = [run["id"] for run in runs]
    score.check(numbers == sorted(numbers, reverse=True), f"{times}: the history's order {numbers}")
    score.check(
        json.dumps({"g": generation})[1:-1] in runs[0]["command"],
        f"{times}: the last run is not the first",
    )
    metrics = (tree.folder / "prom").read_text()
    score.check("runner_last_run_success 1\n" in metrics, f"{times}: {metrics}")
    score.trials += 1


def set_meanwhile(tree: Tree, score: Score, shim: ctypes.CDLL, jump: int) -> None:
    """The clock is set while a command runs; the time limit and the durations do not care."""

    def soon() -> None:
        def turn() -> None:
            time.sleep(0.3)
            shim.fault_clock(jump)

        threading.Thread(target=turn, daemon=True).start()

    ended = tree.run("sls", "slow", "--out", "json", before=soon)
    score.check(ended.code == 0, f"set by {jump}: {ended}")
    durations = [float(found) for found in re.findall(r'"duration": ([-\d.]+)', ended.out)]
    score.check(
        len(durations) == 1 and 500 < durations[0] < 20000, f"set by {jump}: durations {durations}"
    )
    limited = tree.run("sls", "slower", "--timeout", "1.5", before=soon)
    score.check(limited.code == 143 and limited.seconds < 20, f"set by {jump}: {limited}")
    metrics = (tree.folder / "prom").read_text()
    took = re.search(r"^runner_last_run_duration_seconds ([-\d.]+)$", metrics, re.M)
    score.check(took is not None and 1 < float(took[1]) < 20, f"set by {jump}: {metrics}")
    score.trials += 1


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--seed", type=int)
    options = parser.parse_args()
    shim = with_shim()
    warm()
    chance, score = seeded(options.seed), Score("clocks that jump")
    with tempfile.TemporaryDirectory(prefix="runner-clock-") as folder:
        tree = Tree(Path(folder), prometheus_textfile=f"{folder}/prom")
        tree.write("states/a.sls", SLS)
        tree.write("states/slow.sls", "slow:\n  cmd.run:\n    - name: sleep 1\n")
        tree.write("states/slower.sls", "slow:\n  cmd.run:\n    - name: sleep 30\n")
        for generation in range(1, options.trials + 1):
            one(tree, score, shim, chance, generation)
        for jump in JUMPS[:: -max(1, 10 // options.trials)]:
            set_meanwhile(tree, score, shim, jump)
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
