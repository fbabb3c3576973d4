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


def foreseen(machine: Debian, sls: str, code: int | None = 0) -> dict[str, Any]:
    """Assert that a dry run says of each state what the real run then does, and why where it does
    nothing; return its results. code: the status of both, None for any.
    """
    dry = machine.results("sls", sls, "--test", code=code)
    real = machine.results("sls", sls, code=code)
    wrong = []
    for name, done in real.items():
        said = dry[name]
        expected = None if done["result"] and done["changes"] else done["result"]
        comment = done["comment"].partition("\n\nThe last lines")[0]
        same = (said["result"], said["changes"]) == (expected, done["changes"])
        if not same or not (expected is None or said["comment"] == comment):
            wrong.append((name, *((r["result"], r["changes"], r["comment"]) for r in (said, done))))
    assert not wrong, json.dumps(wrong, indent=1)
    return dry


def assert_foreseen(machine: Debian, states: dict[str, Any] | None = None) -> dict[str, Any]:
    """The same of states that a dry run has to be certain of. states: of the tree; None where it is
    written.
    """
    if states is not None:
        machine.tree(all=json.dumps(states))
    dry = foreseen(machine, "all")
    assert not [name for name, each in dry.items() if "decided when" in each["comment"]]
    return dry
