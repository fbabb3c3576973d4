# SPDX-License-Identifier: Apache-2.0
"""The laws that every state function keeps, tried with one of a tree's own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from runner.engine.rehearsal.observation import RESTLESS, Moment, Observed, moment, observed
from runner.testing.machine import Machine, Run, State


def check_laws(
    machine: Machine,
    function: str,
    name: str | None = None,
    /,
    *,
    exact: bool = True,
    converges: bool = True,
    fails: str = "",
    **arguments: Any,
) -> Run:
    """Hold a state against the laws, and give its real run. Raises AssertionError with what is
    broken, and with the mistake where the state cannot be run, or fails.

    1. A dry run changes nothing.
    2. It says what the real run will do: whether it changes something, under which keys, and
       whether it fails.
    3. Where it plans nothing, the real run changes nothing.
    4. A second run plans and changes nothing.

    exact: false for a function whose plan is not sure, as that of cmd.run: other keys are no
    mistake. converges: false for one that changes something in each run by its nature. fails: a
    part of the comment with which it has to fail, in a dry run too. name, arguments: as those of
    `machine.single`.
    """
    __tracebackhide__ = True
    words = (function,) if name is None else (function, name)

    def run(test: bool) -> tuple[Run, State, Observed]:
        __tracebackhide__ = True
        before = _moment(machine)
        made = machine.single(*words, test=test, check=False, **arguments)
        if made.errors:
            made.check()
        return made, made.states[0], observed(machine.box, before, _moment(machine))

    _, planned, traces = run(test=True)
    problems = [f"the dry run {line}" for line in _changes(traces)]
    whole, done, traces = run(test=False)
    problems += [*_comparison(planned, done, exact), *_failure(done, fails)]
    if planned.result is True:
        problems += [
            f"the dry run planned nothing, the real run {line}" for line in _changes(traces)
        ]
    if converges and done.result is not False:
        _, planned, _ = run(test=True)
        _, again, traces = run(test=False)
        for kind, state in (("dry run", planned), ("run", again)):
            if state.changed or state.result is False:
                problems.append(f"the second {kind} has something to do: {state.comment}")
        problems += [f"the second run {line}" for line in _changes(traces)]
    if problems:
        lines = "".join(f"\n  {line}" for line in problems)
        raise AssertionError(f"{' '.join(words)} breaks the laws:{lines}")
    return whole


def _moment(machine: Machine) -> Moment:
    return moment(machine.box, (*RESTLESS, *machine.own_folders))


def _comparison(planned: State, done: State, exact: bool) -> Iterator[str]:
    """Yield what the dry run said otherwise than the real run."""
    if (planned.result is False) != (done.result is False):
        yield f"the dry run says: {planned.comment}; the real run: {done.comment}"
    elif done.result is False:
        return
    elif planned.changed != done.changed:
        plan, report = ("a change" if state.changed else "nothing" for state in (planned, done))
        yield f"the dry run plans {plan}, the real run reports {report}"
    elif exact and planned.changes and planned.changes.keys() != done.changes.keys():
        plan, report = (", ".join(map(str, state.changes)) for state in (planned, done))
        yield f"the dry run plans changes of {plan}, the real run reports {report}"


def _failure(done: State, expected: str) -> Iterator[str]:
    """Yield what is wrong with how the real run ended."""
    if done.result is False and (not expected or expected not in done.comment):
        yield f"it fails: {done.comment}"
    elif expected and done.result is not False:
        yield f"it has to fail with {expected!r}: {done.comment}"


def _changes(what: Observed) -> Iterator[str]:
    """Yield what changed on the machine, but for Python's own caches."""
    for item in what.files:
        if "/__pycache__" not in item.path:
            yield f"{'removed' if item.change == 'removed' else 'wrote'} {item.path}"
    for change in (*what.packages, *what.units, *what.ports):
        yield f"changed {change.name}: {change.old or 'none'} -> {change.new or 'none'}"
