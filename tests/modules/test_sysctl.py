# SPDX-License-Identifier: Apache-2.0
"""Parameters of the running kernel."""

import json
from pathlib import Path

from command import Machine


def test_a_value_is_read_whole(machine: Machine) -> None:
    """A file of /proc/sys has no size, and gives nothing to a second read."""
    value = Path("/proc/sys/kernel/pid_max").read_text().strip()
    assert len(value) > 1
    answer = machine("call", "sysctl.get", "kernel.pid_max", "--out", "json").stdout
    assert str(json.loads(answer)["local"]) == value
