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


def unlike(dry: dict[str, Any], real: dict[str, Any]) -> dict[str, Any]:
    """Return the states of which a dry run says something else than the real run then does, and in
    what: the result, the changes, what it warns of, the turn, and why where it does nothing or
    fails.
    """
    assert list(dry) == list(real), "the same states in the same order"
    wrong = {}
    for name, done in real.items():
        said, wanted = _told(dry[name]), _told(done)
        if done["result"] and done["changes"]:
            said["comment"] = wanted["comment"] = ""  # each in its tense
            wanted["result"] = None
        if differing := {key: (said[key], wanted[key]) for key in said if said[key] != wanted[key]}:
            wrong[name] = differing
    return wrong


def _told(result: dict[str, Any]) -> dict[str, Any]:
    told = {key: result.get(key) for key in ("result", "changes", "warnings", "__run_num__")}
    # only who started a service can read its journal
    return {**told, "comment": result["comment"].partition("\n\nThe last lines")[0]}


def foreseen(machine: Debian, sls: str, code: int | None = 0) -> dict[str, Any]:
    """Assert that a dry run says of each state what the real run then does; return its results.
    code: the status of both, None for any.
    """
    dry = machine.results("sls", sls, "--test", code=code)
    wrong = unlike(dry, machine.results("sls", sls, code=code))
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
