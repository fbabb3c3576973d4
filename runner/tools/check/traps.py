# SPDX-License-Identifier: Apache-2.0
"""What state modules know of their states that compiles and is probably not meant (`traps`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from runner.engine.loader.hooks import answer_of
from runner.engine.loader.registry import Registry
from runner.model.chunk import Chunk
from runner.model.diagnostics import Diagnostic
from runner.model.errors import RunnerError


def warnings(chunks: Sequence[Chunk], registry: Registry) -> Iterator[Diagnostic]:
    """A warning for each, where the argument was typed."""
    for chunk in chunks:
        try:
            hook = registry.state(chunk.function).hook("traps")
        except RunnerError:  # it is told where the state is bound
            continue
        if hook is None:
            continue
        arguments = {"fun": chunk.fun, **chunk.args, "name": chunk.name}
        for trap in answer_of(hook, "traps", chunk, arguments) or ():
            place = chunk.arg_places.get(trap.argument, chunk.place)
            message = f"{chunk.function}: {trap.message}"
            yield Diagnostic(message, place.source, trap.hint, "trap", "warning")
