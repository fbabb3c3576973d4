# SPDX-License-Identifier: Apache-2.0
"""What compiles and is probably not meant: what state modules know of their states (`traps`), and
guards.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from runner.api.claims import Trap
from runner.engine.loader.hooks import answer_of
from runner.engine.step import Step
from runner.model.chunk import COMMAND_GUARDS, Chunk
from runner.model.diagnostics import Diagnostic
from runner.model.places import Value


def warnings(steps: Sequence[Step], foreign: bool) -> Iterator[Diagnostic]:
    """A warning for each, where the argument was typed. foreign: other machines get the states, so
    that the values of this one say nothing.
    """
    for step in steps:
        chunk = step.chunk
        hook = step.call.function.hook("traps") if step.call else None
        arguments = {"fun": chunk.fun, **chunk.args, "name": chunk.name}
        own = answer_of(hook, "traps", chunk, arguments) if hook else None
        for trap in (*(own or ()), *_of_guards(chunk)):
            if trap.of_values and foreign:
                continue
            place = chunk.arg_places.get(trap.argument, chunk.place)
            message = f"{chunk.function}: {trap.message}"
            yield Diagnostic(message, place.source, trap.hint, "trap", "warning")


def _of_guards(chunk: Chunk) -> Iterator[Trap]:
    """Conditions that no state of any module has as they are written."""
    for key in COMMAND_GUARDS:
        for command in _texts(chunk.args.get(key)):
            if command.startswith("-"):
                message = f"{key}: YAML reads brackets as a list, and {command!r} is no command"
                yield Trap(key, message, f"put it in quotes: `- {key}: '[ {command} ]'`")
    for path in _texts(chunk.args.get("creates")):
        if path and not path.startswith("/"):
            message = f"creates: {path} is looked for below the directory where runner is started"
            hint = "write the path from the root directory on: nothing expands ~ and $ in it"
            yield Trap("creates", message, hint)


def _texts(value: Value) -> Iterator[str]:
    for each in value if isinstance(value, list) else [value]:
        if isinstance(each, str):
            yield each
