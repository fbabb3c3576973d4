# SPDX-License-Identifier: Apache-2.0
"""Hooks of state modules that are asked about bound steps, before anything runs."""

from __future__ import annotations

from runner.api import StateFailed
from runner.engine.loader.hooks import answer_of, pairs
from runner.engine.step import Step
from runner.language.compiler import auto_requisites
from runner.model.diagnostics import Diagnostic
from runner.model.errors import RunnerError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from runner.engine.step import Hooked


def automatic_relations(step: Step, kind: str) -> Iterable[tuple[str, str]]:
    """The states that a step comes after or before. kind: autorequire, autobefore, ..."""
    if step.call is None:
        return ()
    return pairs(step.call.function.hook(kind), kind, step.chunk, step.call.own_arguments)


def automatic_links(steps: Sequence[Step]) -> tuple[auto_requisites.Link, ...]:
    """The automatic relationships that the modules of steps ask for."""
    return auto_requisites.links(
        [step.chunk for step in steps],
        [step.call.function.relationships if step.call else () for step in steps],
        lambda number, kind: automatic_relations(steps[number], kind),
    )


def called_functions(hooked: Iterable[Hooked]) -> dict[int, Iterable[str]]:
    """The execution functions that steps with a `calls` call by the names that they were given, by
    the identity of their chunks.
    """
    return {id(step.chunk): hook(**call.own_arguments) for step, call, hook in hooked}


def refusals(hooked: Iterable[Hooked]) -> list[Diagnostic]:
    """The objections of `pre_run_check` to running the steps that have one; nothing has been run
    yet.
    """
    problems: list[Diagnostic] = []
    for step, call, hook in hooked:
        try:
            answer_of(hook, "pre_run_check", step.chunk, call.own_arguments)
        except StateFailed as failure:
            source = step.chunk.place.source
            problems.append(Diagnostic(failure.message, source, None, "pre-run-check"))
        except RunnerError as error:
            problems += error.diagnostics
    return problems
