# SPDX-License-Identifier: Apache-2.0
"""A small sample of each of the fault scripts in bench/faults, always the same one: by hand, they
choose others without `--seed`. docs/reliability.md says what all of them found.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from needing import may_mount
from starting import PATIENCE

SCRIPTS = Path(__file__).parent.parent / "bench/faults"
SEED = "33"
SAMPLES = {
    "kills at calls that write": "kills.py --every-call --below target --trials 12",
    "kills of each state function": "laws.py",
    "calls that write fail": "errors.py --below target --trials 10",
    "a full disk, a read-only one": "errors.py --full-disk --read-only",
    "targets swapped for links": "swap.py --only mode",
    "runs at once": "storm.py --runs 8",
    "damaged histories and debts": "history.py --trials 2",
    "clocks that jump": "clock.py --trials 1",
    "secrets in sinks": "sinks.py --every 7",
    "modes at each call": "modes.py --only cop",
    "mangled files": "fuzz.py --trials 15",
    "pulls killed at calls that write": "pulls.py --every-call --trials 2",
    "pulls onto full disks": "pulls.py --full-disk --trials 2",
    "hostile trees": "hostile.py --quick --every 29",
}


@pytest.mark.parametrize("sample", SAMPLES)
def test_sample(sample: str, tmp_path: Path) -> None:
    words = SAMPLES[sample].split()
    if "--full-disk" in words and not may_mount():
        pytest.skip("needs the right to mount")
    if shutil.which("cc") is None and words[0] in (
        "kills.py",
        "laws.py",
        "pulls.py",
        "errors.py",
        "swap.py",
        "clock.py",
        "modes.py",
    ):
        pytest.skip("needs a C compiler")
    script = SCRIPTS / words[0]
    seed = ("--seed", SEED) if '"--seed"' in script.read_text() else ()
    argv = [sys.executable, str(script), *words[1:], *seed]
    memory = Path("/dev/shm")  # where syncing costs nothing
    environment = {**os.environ, "TMPDIR": str(memory if memory.is_dir() else tmp_path)}
    done = subprocess.run(argv, capture_output=True, text=True, timeout=PATIENCE, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 wrong" in done.stdout
    assert {*re.findall(r"^seed (.*)", done.stdout, re.MULTILINE)} <= {SEED}, "no run is by chance"
