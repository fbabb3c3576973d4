# SPDX-License-Identifier: Apache-2.0
"""SIGKILL at a call that writes, of each state function: the scenarios of the laws (tests/laws) that change something
here. Then every file is the old or the new one, and the next run makes what a run makes that nobody killed.

    python bench/faults/laws.py                 each function, at one call that its name chooses
    python bench/faults/laws.py --every-call    each scenario, before each call that writes and in the middle of it
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from common import COUNT, HERE, KILL, KILL_HALFWAY, Ended, Fault, Score, Tree, warm, with_shim

sys.path.insert(0, str(HERE.parent.parent / "tests/support"))

from carried_out import as_sls, can_be_said, snapshot
from law_table import LAWS
from laws import Scenario, all_scenarios

Found = dict[str, Any]
NOW = time.time()  # of all preparations: archives have the time in them, to the second


@contextmanager
def prepared(scenario: Scenario) -> Iterator[Tree]:
    """The scenario's tree: its own folder is the target."""
    environment = dict(os.environ)
    folder = Path(tempfile.mkdtemp(prefix="runner-laws-"))
    target = folder / "target"
    target.mkdir()
    try:
        with mock.patch("time.time", return_value=NOW):
            scenario.setup(target)
        root = target / "tree" if (target / "tree").is_dir() else target
        tree = Tree(folder, file_roots={"base": ["states", str(root)]})
        tree.write("states/a.sls", as_sls(scenario, target))
        grains = target / "grains"  # they lie beside the configuration
        if grains.exists():
            shutil.copy(grains, folder / "grains")
        yield tree
    finally:
        os.environ.clear()
        os.environ.update(environment)
        shutil.rmtree(folder, ignore_errors=True)


def run(tree: Tree, shim: ctypes.CDLL, fault: Fault | None = None) -> Ended:
    """A run, or one that a fault hits; ended with all that it started."""
    words = ("sls", "a", "--out", "json")
    ended = tree.faulty(shim, fault, *words, below="target") if fault else tree.run(*words)
    while True:
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return ended


def found(tree: Tree) -> Found:
    """What is in the target, by its path there; a folder of another trial has another name."""
    at, folder = len(str(tree.target)), str(tree.folder)

    def same(content: Any) -> Any:
        if isinstance(content, bytes):
            return content.replace(folder.encode(), b"")
        return content and content.replace(folder, "")

    states = snapshot(tree.target).items()
    return {path[at:]: (*state[:-1], same(state[-1])) for path, state in states}


def result_of(ended: Ended) -> Any:
    return next(iter(json.loads(ended.out)["local"].values()))["result"] if ended.out else None


def contents(state: Any) -> Any:
    return state and state[-1]


def tried(scenario: Scenario, shim: ctypes.CDLL, score: Score, every_call: bool) -> None:
    """Kill runs of a scenario."""
    with prepared(scenario) as tree:
        before = found(tree)
        whole = run(tree, shim, Fault(0, COUNT))
        calls, after = shim.fault_calls(), found(tree)
        if result_of(whole) is not True:
            return  # not for this user
    faults = [Fault(at, kind) for at in range(1, calls + 1) for kind in (KILL, KILL_HALFWAY)]
    some = faults if every_call else random.Random(scenario.function).sample(faults, min(1, calls))
    for fault in some:
        with prepared(scenario) as tree:
            hit = run(tree, shim, fault)
            if hit.code == 0:
                continue  # a call that has no middle
            score.trials += 1
            how = (
                f"{scenario.function} {dict(scenario.args)}: {fault} ({shim.fault_hit().decode()})"
            )
            then = found(tree)
            torn = [
                path
                for path in before.keys() | after.keys()
                if contents(then.get(path))
                not in (contents(before.get(path)), contents(after.get(path)))
            ]
            # at random; gpg writes the time into its files
            made_anew = scenario.function.startswith(("x509.", "gpg."))
            score.check(made_anew or not torn, f"{how}: torn: {torn}")
            again = run(tree, shim)
            score.check(result_of(again) is True, f"{how}: the next run: {again.out}{again.err}")
            score.check(not tree.leftovers(), f"{how}: left {tree.leftovers()}")
            last = found(tree)
            other = [
                path for path in last.keys() | after.keys() if last.get(path) != after.get(path)
            ]
            score.check(made_anew or not other, f"{how}: other than without a kill: {other}")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--every-call", action="store_true")
    parser.add_argument("--only", default="", help="functions that begin so")
    options = parser.parse_args()
    shim = with_shim()
    warm()
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
    law = LAWS["killed"]
    scenarios = [
        each
        for each in all_scenarios()
        if law.tries(each)
        and law.holds(each.function)
        and can_be_said(each)
        and each.function.startswith(options.only)
    ]
    if not options.every_call:
        scenarios = [*{each.function: each for each in reversed(scenarios)}.values()]
    score = Score("kills of each state function")
    for scenario in scenarios:
        tried(scenario, shim, score, options.every_call)
    return score.end()


if __name__ == "__main__":
    sys.exit(main())
