"""Users, groups, services and packages for real, on a throw-away copy of this machine.

The copy is an overlay of the running system whose changes lie in memory, entered with chroot in a mount namespace of
its own: useradd really adds and apt really installs, and nothing of it is left. Needs root and overlayfs.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from laws import machine_scenarios

ROOT = Path(__file__).parent.parent.parent
ENTER = """
mount -t tmpfs none "$0" && mkdir "$0/u" "$0/w" "$0/m" &&
mount -t overlay overlay -o "lowerdir=/,upperdir=$0/u,workdir=$0/w" "$0/m" &&
for d in proc sys dev; do mount --rbind /$d "$0/m/$d"; done &&
mount -t tmpfs none "$0/m/run" &&
exec chroot "$0/m" "$@"
"""


ALL = machine_scenarios()


def inside(folder: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    command = ["unshare", "-m", "sh", "-c", ENTER, str(folder), *argv]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="session")
def reason(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Why there is no throw-away copy here; empty when there is."""
    if os.geteuid() != 0:
        return "needs root"
    done = inside(tmp_path_factory.mktemp("overlay"), "true")
    return f"no overlay here: {done.stderr.strip()}" if done.returncode else ""


@pytest.fixture(scope="session")
def apt(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Why apt cannot install here; empty when it can."""
    if os.geteuid() != 0:
        return "needs root"
    script = "apt-get update -q; apt-get install -y -q hello"
    done = inside(tmp_path_factory.mktemp("apt"), "sh", "-c", script)
    return "" if done.returncode == 0 else "apt-get installs nothing here"


@pytest.mark.parametrize("number", range(len(ALL)), ids=lambda number: f"{ALL[number].function}-{number}")
def test_laws_on_the_machine(number: int, tmp_path: Path, reason: str, request: pytest.FixtureRequest) -> None:
    scenario = ALL[number]
    if reason:
        pytest.skip(reason)
    script = f"{shlex.quote(sys.executable)} {ROOT}/tests/machine/inside.py {number}"
    if scenario.function.startswith(("pkg.", "cron.")):
        lacking = request.getfixturevalue("apt")
        if lacking:
            pytest.skip(lacking)
        script = f"apt-get update -q >/dev/null 2>&1; {script}"
    done = inside(tmp_path, "sh", "-c", script)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout.splitlines()[-1])
    assert answer["untouched"], "a dry run changes nothing"
    if scenario.fails is not None:
        assert scenario.fails in (answer["fails"] or "")
        return
    assert answer["fails"] is None
    assert answer["plans"] is scenario.plans
    if answer.get("sure"):
        assert answer["keys"] == answer["made"], "the keys of a sure Plan are those of the real run"
    assert not answer["again"], "a second run plans nothing"
