# SPDX-License-Identifier: Apache-2.0
"""A run that changes packages, accounts, services and files of a real machine, killed before calls
that write: undo brings back what was there, and the next run goes on; what that made is undone,
too.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from debian import ROOT, Debian
from laws import EVERYTHING
from starting import SCRIPT

SHIM = "/usr/local/lib/shim.so"
# runner, killed before the call of this number; the number of all calls where that is none of them
PROGRAM = f"""{SCRIPT}import ctypes, os, sys
sys.path.insert(0, {str(ROOT)!r})
shim = ctypes.CDLL({SHIM!r})
shim.fault_calls.restype = ctypes.c_long
at = int(sys.argv.pop(1))
pid = os.fork()
if pid:
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    print(shim.fault_calls(), file=open("/run/calls", "w"))
    sys.exit(code if code >= 0 else 128 - code)
from runner.cli import main
shim.fault_arm(ctypes.c_long(at), 2, 0, 0, b"/")
main()
"""
KILLED = 128 + 9
NEVER = 10**9  # no run has so many calls
SOME = 60 if EVERYTHING else 4  # moments, evenly spread over the calls of a run
UNIT = "[Service]\nExecStart=/bin/sleep 1000\n[Install]\nWantedBy=multi-user.target\n"
TREE: dict[str, Any] = {
    "greeting": {"pkg.installed": []},
    "crew": {"group.present": [{"gid": 7300}]},
    "ann": {"user.present": [{"groups": ["crew"]}, {"require": [{"group": "crew"}]}]},
    "old": {"user.present": [{"shell": "/bin/sh"}]},
    "/etc/systemd/system/nap.service": {"file.managed": [{"contents": UNIT}]},
    "nap": {"service.running": [{"enable": True}]},
    "cron": {"service.dead": [{"enable": False}]},
}
LOOKS = (
    "dpkg-query -W -f '${Package} ${Version} ${db:Status-Status}\n' greeting",
    "getent passwd ann old; getent group crew ann old; ls -d /home/*",
    "systemctl is-active cron nap; systemctl is-enabled cron nap 2>/dev/null",
    "find /etc/systemd /home -printf '%p %m %u %l\n' | sort",
)


def looked(machine: Debian) -> list[list[str]]:
    return [machine.run(words, code=None).stdout.splitlines() for words in LOOKS]


def killed(machine: Debian, at: int) -> int:
    """Run the states, killed before a call; the number of calls, as far as it came."""
    words = ("env", f"LD_PRELOAD={SHIM}", "/usr/local/bin/killed", str(at), "sls", "all")
    done = machine.run(*words, code=None)
    calls = int(machine.read("cat /run/calls"))
    assert done.returncode == (KILLED if calls >= at else 0), done.stdout + done.stderr
    return calls


def undone(machine: Debian, *run: str) -> None:
    """Undo a run, of which nothing may be refused."""
    done = machine.runner("undo", *run, "--out", "json", code=None)
    told = json.loads(done.stdout)["local"]
    if isinstance(told, list):
        assert done.returncode == 0 or "undo restores" in told[0], told
    else:
        assert not [step for step in told["steps"] if step["refused"]], told


def runs(machine: Debian) -> list[int]:
    """The runs that the history has, the newest first."""
    history = json.loads(machine.read("runner", "history", "-n", "9", "--out", "json"))["local"]
    return sorted((run["id"] for run in history), reverse=True)


@pytest.fixture
def machine(debian: Debian, tmp_path_factory: pytest.TempPathFactory) -> Debian:
    if shutil.which("cc") is None:
        pytest.skip("needs a C compiler")
    shim: Path = tmp_path_factory.mktemp("shim") / "shim.so"
    source = str(ROOT / "bench/faults/shim.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(shim), source, "-ldl"], check=True)
    shutil.copy(shim, debian.path(SHIM))
    debian.write("/usr/local/bin/killed", PROGRAM)
    debian.run("chmod 755 /usr/local/bin/killed; useradd -m -s /bin/bash old")
    debian.tree(all=json.dumps(TREE))
    return debian


def test_a_killed_run_is_undone_and_the_next_one_goes_on(machine: Debian) -> None:
    before = looked(machine)
    calls = killed(machine, NEVER)
    after = looked(machine)
    assert all(old != new for old, new in zip(before, after, strict=True)), "each sees a change"
    undone(machine)
    assert looked(machine) == before
    hits = 0
    for at in range(1, calls, calls // SOME):
        hits += killed(machine, at) >= at
        undone(machine)
        assert looked(machine) == before, f"killed before call {at}, and undone"
        earlier = runs(machine)
        killed(machine, at)
        results = machine.results("sls", "all")
        assert all(result["result"] for result in results.values()), results
        assert looked(machine) == after, f"killed before call {at}, and run again"
        again = machine.results("sls", "all")
        assert not any(result["changes"] for result in again.values()), again
        for run in runs(machine):
            if run > earlier[0]:
                undone(machine, str(run))
        assert looked(machine) == before, f"killed before call {at}, run again, and both undone"
    assert hits > SOME // 2, "one that has fewer calls than the first run ends before"
