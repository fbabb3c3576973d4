# SPDX-License-Identifier: Apache-2.0
"""What state modules know of their states that compiles and is probably not meant (`traps`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from runner.engine.loader.hooks import answer_of
from runner.engine.step import Step
from runner.model.diagnostics import Diagnostic


def warnings(steps: Sequence[Step], foreign: bool) -> Iterator[Diagnostic]:
    """A warning for each, where the argument was typed. foreign: other machines get the states, so
    that the values of this one say nothing.
    """
    for step in steps:
        chunk = step.chunk
        hook = step.call.function.hook("traps") if step.call else None
        if hook is None:
            continue
        arguments = {"fun": chunk.fun, **chunk.args, "name": chunk.name}
        for trap in answer_of(hook, "traps", chunk, arguments) or ():
            if trap.of_values and foreign:
                continue
            place = chunk.arg_places.get(trap.argument, chunk.place)
            message = f"{chunk.function}: {trap.message}"
            yield Diagnostic(message, place.source, trap.hint, "trap", "warning")
