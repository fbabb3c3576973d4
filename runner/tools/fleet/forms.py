# SPDX-License-Identifier: Apache-2.0
"""What came of many machines, for programs: Salt's JSON under each ID, and JUnit's XML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from runner.engine.rehearsal import comparison
from runner.output.junit import case, document, undecided
from runner.output.text import reason
from runner.tools.fleet.grouping import label, number, states
from runner.tools.fleet.records import OK, HostOutcome

# of test cases that say more than that all went well, by what became of the state
KINDS = {"failed": "failure", "skipped": "skipped", "undecided": "skipped"}


def data(outcomes: Iterable[HostOutcome]) -> dict[str, Any]:
    """Each host's answer under its ID; a list of messages where there is none."""
    return {outcome.host: _answer(outcome) for outcome in outcomes}


def _answer(outcome: HostOutcome) -> Any:
    if outcome.kind == OK or outcome.answer is not None:
        return outcome.answer
    return [f"{outcome.kind}: {outcome.message}" if outcome.message else outcome.kind]


def junit(outcomes: Iterable[HostOutcome]) -> str:
    """A suite a host, a test case a state; a host without results is a case in error."""
    return document(_suites(outcomes))


def _suites(outcomes: Iterable[HostOutcome]) -> Iterator[tuple[str, list[str]]]:
    for outcome in outcomes:
        cases = []
        for key, state in states(outcome):
            comment = str(state.get("comment", ""))
            comment = reason(comment, state.get("changes"), str(state.get("name")))
            became = comparison.outcome(state)
            kind = KINDS.get(became, "")
            if became == "undecided":
                comment = undecided(comment, str(state.get("__decided_by__", "")))
            name, title = label(key, state).split("  ", 1)
            seconds = number(state.get("duration")) / 1000
            about = state.get("changes") or None
            cases.append(
                case(f"{state.get('__sls__')}.{name}", title, seconds, kind, comment, about)
            )
        if not cases:
            kind = "" if outcome.kind == OK else "error"
            answer = _answer(outcome)
            text = "\n".join(map(str, answer)) if isinstance(answer, list) else str(answer)
            cases.append(case("runner", outcome.host, outcome.seconds, kind, text))
        yield outcome.host, cases
