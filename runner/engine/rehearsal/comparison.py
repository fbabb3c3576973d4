# SPDX-License-Identifier: Apache-2.0
"""Where a dry run said otherwise than the real run, state by state.

The results of states are those of Salt's JSON, by their keys.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from runner.model.records import Record

States = Mapping[str, Mapping[str, Any]]
NONE = "not run"


class Difference(Record):
    """A state of which a dry run said otherwise. dry_run, real: what became of it; details: what
    was announced and what was done.
    """

    key: str
    dry_run: str
    real: str
    details: str = ""


def outcome(state: Mapping[str, Any] | None) -> str:
    """A word for what became of a state.

    >>> outcome({"result": None, "changes": {}}), outcome({"result": True, "changes": {"a": 1}})
    ('undecided', 'changed')
    """
    if state is None:
        return NONE
    if state["result"] is False:
        return "skipped" if state.get("__state_ran__") is False else "failed"
    if state.get("__cause__") and state["result"] is None:
        return "skipped"
    if state.get("__noop__") and state["result"] is None:
        return "no-op"
    if state["result"] is None and not state.get("changes"):
        return "undecided"
    return "changed" if state.get("changes") else "unchanged"


def differences(dry: States, real: States) -> Iterator[Difference]:
    """The states of which the dry run said otherwise, in the order of the real run. Of an undecided
    one it said nothing.
    """
    for key in [*real, *(key for key in dry if key not in real)]:
        before, after = dry.get(key), real.get(key)
        announced, became = outcome(before), outcome(after)
        if announced == "undecided":
            continue
        if announced != became:
            if before is None and became == "unchanged":
                continue  # a reaction that had nothing to do
            yield Difference(key, announced, became, _comment(after if after else before))
        elif became == "changed" and before and after and before.get("exact", True):
            details = _keys(before["changes"], after["changes"])
            if details:
                yield Difference(key, announced, became, details)


def undecided(dry: States, real: States) -> dict[str, str]:
    """Return what became of the states that the dry run could not decide."""
    return {
        key: outcome(real.get(key)) for key, state in dry.items() if outcome(state) == "undecided"
    }


def _comment(state: Mapping[str, Any] | None) -> str:
    return str(state["comment"]).strip() if state else ""


def _keys(announced: Any, done: Any) -> str:
    """Return what changed otherwise than announced; empty where all is as announced. What was
    announced without a value (the number of a new user) may have any.
    """
    if announced == done:
        return ""
    if not (isinstance(announced, Mapping) and isinstance(done, Mapping)):
        return f"announced {announced!r}, done {done!r}"
    parts = []
    for key in [*done, *(key for key in announced if key not in done)]:
        if key not in announced:
            parts.append(f"{key}: not announced")
        elif key not in done:
            parts.append(f"{key}: announced, not done")
        elif key != "pid" and announced[key] not in (done[key], "", [], None):
            parts.append(f"{key}: other than announced")
    return "; ".join(parts)
