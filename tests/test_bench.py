# SPDX-License-Identifier: Apache-2.0
"""The scripts in bench start, and bench/regress.py tells a slower runner from an equal one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from needing import needs

ROOT = Path(__file__).parent.parent
BENCH = ROOT / "bench"
FIGURES = BENCH / "figures.json"
START = "start, one converged file"


def python(*argv: str, **environment: str) -> subprocess.CompletedProcess[str]:
    argv = (sys.executable, *argv)
    env = os.environ | environment
    return subprocess.run(argv, capture_output=True, text=True, cwd=ROOT, env=env)


def regress(figures: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    options = ["--only", START, "--figures", str(figures)]
    return python(str(BENCH / "regress.py"), *options, *words, **environment)


@needs("valgrind")
def test_regress(tmp_path: Path) -> None:
    """Nothing is compared without figures; an equal release: .ci/run, a worse one: below."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    figures = tmp_path / "figures.json"
    figures.write_text("{}")
    assert regress(figures).returncode == 0
    figures.write_text(json.dumps({version: {}}))
    assert regress(figures).returncode == 1
    figures.write_text(json.dumps({version: {START: [100, 100]}}))
    done = regress(figures)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("  start")


@pytest.mark.parametrize(
    ("now", "is_worse"),
    [((1.02, 1.1), False), ((1.04, 1.0), True), ((1.0, 1.2), True), ((0.5, 0.5), False)],
)
def test_what_is_worse(now: tuple[float, float], is_worse: bool) -> None:
    code = f"import regress as r; print(r.Ratio(*{now}).worse(r.Ratio(1.0, 1.0)))"
    done = python("-c", f"import sys; sys.path.insert(0, 'bench'); {code}")
    assert done.stdout == f"{is_worse}\n", done.stderr


@pytest.mark.parametrize(("second", "is_worse"), [(1.01, False), (1.04, True)])
def test_what_seems_worse_is_counted_again(second: float, is_worse: bool, tmp_path: Path) -> None:
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    figures = tmp_path / "figures.json"
    figures.write_text(json.dumps({version: {START: [1.0, 1.0]}}))
    code = (
        f"import regress as r; counts = iter([r.Ratio(1.05, 0.9), r.Ratio({second}, 1.2)]);"
        " r.ratio = lambda load: next(counts); r.countable = lambda: True; sys.exit(r.main())"
    )
    words = ["--only", START, "--figures", str(figures)]
    done = python("-c", f"import sys; sys.path.insert(0, 'bench'); {code}", *words)
    assert (done.returncode, done.stdout[0]) == ((1, "!") if is_worse else (0, " ")), done.stderr


def test_nothing_is_compared_where_nothing_counts(tmp_path: Path) -> None:
    done = regress(FIGURES, PATH=str(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    assert "Install valgrind" in done.stdout


def test_scripts_import() -> None:
    """What they take from each other is there."""
    paths = map(str, sorted(BENCH.glob("*.py")))
    code = "import runpy, sys; [runpy.run_path(path) for path in sys.argv[1:]]"
    done = python("-c", f"import sys; sys.path.insert(0, 'bench'); {code}", *paths)
    assert done.returncode == 0, done.stderr
