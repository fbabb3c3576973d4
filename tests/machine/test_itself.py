# SPDX-License-Identifier: Apache-2.0
"""The throw-away machine itself: what it cannot touch here, and that nothing of it stays, however
its user ends.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from debian import ROOT, Debian
from starting import PATIENCE, background, wait_until

HOLD = """
import sys, time
sys.path.insert(0, {support!r})
from debian import debian
from pathlib import Path
with debian(Path({layer!r})) as found:
    found.start("sleep", "1000")
    print(found.pid, found.cgroup, flush=True)
    time.sleep(1000)
"""


@pytest.mark.parametrize(
    "command",
    [
        "date -s 2030-01-01",
        "echo 1 >/proc/sys/kernel/sysrq",
        "echo 0 >/sys/kernel/mm/ksm/run",
        f"touch '{ROOT}/touched'",
        f"touch '{sys.prefix}/touched'",
        "test -b /dev/vda -o -b /dev/sda",
        "curl -sS http://192.0.2.1/",
    ],
)
def test_out_of_reach(debian: Debian, command: str) -> None:
    assert debian.run(command, code=None).returncode != 0
    assert not os.path.exists(f"{ROOT}/touched")


def test_it_is_a_copy(debian: Debian) -> None:
    debian.run(
        "echo mine >/etc/only-here; rm /etc/passwd; echo >/etc/os-release; useradd nobody-else ||"
        " true"
    )
    assert not os.path.exists("/etc/only-here")
    assert os.path.getsize("/etc/passwd")
    assert os.path.getsize("/etc/os-release")


def gone(path: str) -> None:
    wait_until(lambda: not os.path.exists(path), f"the end of {path}")


def children(pid: int) -> list[int]:
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(each) for each in found]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_stays(layer: Path, number: signal.Signals) -> None:
    program = HOLD.format(support=f"{ROOT}/tests/support", layer=str(layer))
    with background([sys.executable, "-c", program], stdout=subprocess.PIPE) as holder:
        assert holder.stdout
        pid, cgroup = holder.stdout.readline().split()
        inside = [int(pid), *children(int(pid))]
        assert len(inside) > 1
        holder.send_signal(number)
        holder.wait(PATIENCE)
    for each in inside:
        gone(f"/proc/{each}")
    gone(cgroup)
