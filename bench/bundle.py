# SPDX-License-Identifier: Apache-2.0
"""What a start from the bundle costs, beside that of the installed runner.

    python bench/bundle.py [PYTHON ...]

Unpacks a bundle, starts it with this Python and those that are named, and prints the CPU seconds of
the first start, which compiles, and of a later one. A start of the bundle and of the installed
runner run by turns, and the least of each counts. The target: within 10 % with the same Python.
"""

from __future__ import annotations

import sys
import tarfile
import tempfile
import time
from pathlib import Path

from measure import RUNNER, Program, cost, least_by_turns

from runner.sources.bundle import build

TURNS = 15
TREE = "a:\n  file.managed:\n    - name: {}/made\n    - contents: x\n"


def main(others: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "states").mkdir()
        (Path(folder) / "states/web.sls").write_text(TREE.format(folder))
        began = time.process_time()
        build(f"{folder}/runner.tar")
        print(f"building it: {time.process_time() - began:.2f} s")
        began = time.process_time()
        with tarfile.open(f"{folder}/runner.tar") as archive:
            archive.extractall(f"{folder}/bundle", filter="data")
        print(f"unpacking it: {time.process_time() - began:.2f} s")
        words = ["sls", "web", "-q", "--state-tree", f"{folder}/states"]
        words += ["--cachedir", f"{folder}/cache"]
        bundled = [f"{folder}/bundle/runner", *words]
        for python in [sys.executable, *others]:
            program = Program([python, *bundled])
            first = cost(program).cpu
            later = least_by_turns([program], TURNS)[0].cpu
            print(f"{python}: first start {first:.2f} s, later ones {later:.3f} s")
        both = [["-c", RUNNER, *words], bundled]
        programs = [Program([sys.executable, *argv]) for argv in both]
        installed, least = (used.cpu for used in least_by_turns(programs, TURNS))
        ratio = f"{least / installed:.2f} (target 1.10)"
        print(f"installed {installed:.3f} s, bundle {least:.3f} s: {ratio}")


if __name__ == "__main__":
    main(sys.argv[1:])
