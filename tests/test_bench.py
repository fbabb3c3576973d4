# SPDX-License-Identifier: Apache-2.0
"""The scripts in bench start, and bench/regress.py tells a slower runner from an equal one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
BENCH = ROOT / "bench"
START = "start, one converged file"


def python(*argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *argv], capture_output=True, text=True, cwd=ROOT)


def regress(figures: Path, *words: str) -> subprocess.CompletedProcess[str]:
    options = ["--only", START, "--turns", "1", "--figures", str(figures)]
    return python(str(BENCH / "regress.py"), *options, *words)


def test_regress(tmp_path: Path) -> None:
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    figures = tmp_path / "figures.json"
    figures.write_text("{}")
    assert regress(figures).returncode == 0
    assert regress(figures, "--write").returncode == 0
    measured = json.loads(figures.read_text())[version][START]

    for factor, code, tries in ((0.5, 1, 3), (2, 0, 1)):
        ratios = [value * factor for value in measured]
        figures.write_text(json.dumps({version: {START: ratios}}))
        done = regress(figures)
        assert done.returncode == code, done.stdout + done.stderr
        assert done.stdout.startswith("!" if code else " ")
        assert done.stdout.count("CPU") == tries + 1
    figures.write_text(json.dumps({version: {}}))
    assert regress(figures).returncode == 1


def test_scripts_import() -> None:
    """What they take from each other is there."""
    paths = map(str, sorted(BENCH.glob("*.py")))
    code = "import runpy, sys; [runpy.run_path(path) for path in sys.argv[1:]]"
    done = python("-c", f"import sys; sys.path.insert(0, 'bench'); {code}", *paths)
    assert done.returncode == 0, done.stderr
