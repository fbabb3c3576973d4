# SPDX-License-Identifier: Apache-2.0
"""A tree of packages and states, and what its dry run says beside what its real run does."""

from __future__ import annotations

import json
from typing import Any

from debian import Debian


def tree(packages: tuple[str, ...], states: dict[str, Any]) -> str:
    installed = {name: {"pkg.installed": []} for name in packages}
    return json.dumps({**installed, **states})


def assert_foreseen(machine: Debian, code: int = 0) -> dict[str, Any]:
    """Run the tree both ways, and compare; the results of the dry run."""
    dry = machine.results("sls", "all", "--test", code=code)
    real = machine.results("sls", "all", code=code)
    wrong = [
        (name, *((side[name]["result"], side[name]["changes"]) for side in (dry, real)))
        for name, done in real.items()
        if (dry[name]["result"], dry[name]["changes"])
        != (None if done["result"] and done["changes"] else done["result"], done["changes"])
    ]
    assert not wrong, json.dumps(wrong, indent=1)
    assert not [name for name, each in dry.items() if "decided when" in each["comment"]]
    return dry
