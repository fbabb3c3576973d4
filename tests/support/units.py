# SPDX-License-Identifier: Apache-2.0
"""SLS files with units of systemd, and what runs of them agree on."""

from __future__ import annotations

import json
from typing import Any

from both_runs import unlike
from debian import Debian


def sls(units: dict[str, dict[str, Any]]) -> str:
    """An SLS file with a `systemd.unit` for each name."""
    return json.dumps(
        {
            name: {"systemd.unit": [{key: value} for key, value in arguments.items()]}
            for name, arguments in units.items()
        }
    )


def agreed(machine: Debian, units: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The results of a real run; its dry run planned the same, and a second run nothing."""
    machine.tree(all=sls(units))
    dry = machine.results("sls", "all", "--test")
    real = machine.results("sls", "all")
    again = machine.results("sls", "all", "--test")
    assert unlike(dry, real) == {}
    assert not any(result["changes"] for result in again.values()), again
    return real
