# SPDX-License-Identifier: Apache-2.0
"""A tree of packages and states, and what its dry run says beside what its real run does."""

from __future__ import annotations

import json
from typing import Any

from debian import Debian


def tree(packages: tuple[str, ...], states: dict[str, Any]) -> str:
    installed = {name: {"pkg.installed": []} for name in packages}
    return json.dumps({**installed, **states})


def contents_of(paths: list[str]) -> dict[str, Any]:
    """States whose results tell whether files are there, and what is in them."""
    return {
        f"{kind} {path}": {function: [{"name": path}, *arguments]}
        for path in paths
        for kind, function, arguments in (
            ("there", "test.nop", [{"unless": f"test -e {path}"}]),
            ("in", "file.managed", [{"contents": "own"}, {"onlyif": f"test -f {path}"}]),
        )
    }


def assert_foreseen(machine: Debian, states: dict[str, Any] | None = None) -> dict[str, Any]:
    """Run the tree both ways, and compare; the results of the dry run. states: of the tree; None
    where it is written.
    """
    if states is not None:
        machine.tree(all=json.dumps(states))
    dry = machine.results("sls", "all", "--test")
    real = machine.results("sls", "all")
    wrong = [
        (name, *((side[name]["result"], side[name]["changes"]) for side in (dry, real)))
        for name, done in real.items()
        if (dry[name]["result"], dry[name]["changes"])
        != (None if done["result"] and done["changes"] else done["result"], done["changes"])
    ]
    assert not wrong, json.dumps(wrong, indent=1)
    assert not [name for name, each in dry.items() if "decided when" in each["comment"]]
    return dry
