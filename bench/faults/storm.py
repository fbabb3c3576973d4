# SPDX-License-Identifier: Apache-2.0
"""Fifty runs started at once, on one machine.

Without --wait one works and the others end with exit code 3 and say who holds the lock; with --wait all do their work,
one after the other; a lock whose holder was killed holds nobody up.

    python bench/faults/storm.py [--runs 50]
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import sys
import tempfile
import time
from pathlib import Path

from common import Score, Tree, warm

SLS = """
begin:
  cmd.run:
    - name: test ! -e {target}/at-work && touch {target}/at-work && echo $$ >> {target}/log && sleep {seconds}
end:
  file.absent:
    - name: {target}/at-work
    - require: [{cmd: begin}]
"""


def refused(tree: Tree, score: Score, runs: int) -> None:
    """All at once, nobody waits."""
    running = [tree.start("sls", "slow") for _ in range(runs)]
    ended = [each.wait() for each in running]
    codes = [each.code for each in ended]
    score.trials += runs
    score.check(codes.count(0) >= 1 and set(codes) <= {0, 3}, f"exit codes {codes}")
    done = len((tree.target / "log").read_text().split())
    score.check(done == codes.count(0), f"{codes.count(0)} ended well, {done} did their work")
    for each in ended:
        told = re.search(
            r"another run is under way: (process \d+ since .*|it did not identify itself)", each.err
        )
        score.check(each.code == 0 or bool(told), f"does not say who: {each.err}")


def waiting(tree: Tree, score: Score, runs: int) -> None:
    """All at once, everybody waits."""
    (tree.target / "log").unlink()
    running = [tree.start("sls", "fast", "--wait") for _ in range(runs)]
    ended = [each.wait(300) for each in running]
    score.trials += runs
    for each in ended:
        score.check(
            each.code == 0, f"a run that waited ended with {each.code}: {each.out}{each.err}"
        )
    done = len((tree.target / "log").read_text().split())
    score.check(done == runs, f"{done} of {runs} did their work")
    listed = tree.run("history", "-n", "1000", "--out", "json")
    score.check(listed.out.count('"outcome": "done"') >= runs, "the history lacks runs")


def killed(tree: Tree, score: Score, times: int) -> None:
    """The holder of the lock is killed while others wait for it."""
    for _ in range(times):
        holder = tree.start("sls", "slow")
        while not (tree.target / "at-work").exists():
            time.sleep(0.01)
        waits = tree.start("sls", "nothing", "--wait")
        os.kill(holder.pid, signal.SIGKILL)
        holder.wait()
        ended = waits.wait(20)
        score.trials += 1
        score.check(ended.code == 0, f"after a kill: {ended}")
        (tree.target / "at-work").unlink(missing_ok=True)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=50)
    options = parser.parse_args()
    warm()
    score = Score(f"{options.runs} runs at once")
    with tempfile.TemporaryDirectory(prefix="runner-storm-") as folder:
        tree = Tree(Path(folder))
        for name, seconds in (("slow", "0.5"), ("fast", "0")):
            tree.write(f"states/{name}.sls", SLS.replace("{seconds}", seconds))
        tree.write("states/nothing.sls", "x:\n  test.nop: []\n")
        refused(tree, score, options.runs)
        waiting(tree, score, options.runs)
        killed(tree, score, max(1, options.runs // 10))
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
