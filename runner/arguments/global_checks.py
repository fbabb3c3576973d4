"""The arguments that every state has: what they have to be. Those of a function are checked by its
signature.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from runner.api.argtypes import Mode
from runner.arguments import hints
from runner.arguments.convert import shape
from runner.arguments.retry import retry_options
from runner.arguments.scalars import Mismatch
from runner.model.chunk import Chunk
from runner.model.diagnostics import IGNORED, Diagnostic

TYPES: dict[str, Any] = {
    **dict.fromkeys(
        ["failhard", "parallel", "reload_modules", "reload_grains", "reload_pillar", "onfail_stop"],
        bool,
    ),
    "creates": str | list[str],
    "umask": Mode,
}
HINTS = {
    "creates": "write a path, or a list of paths: `- creates: /PATH`",
    "umask": "write it in octal digits and in quotes: `- umask: '077'`",
}


def problems(
    chunks: Sequence[Chunk], known: Callable[[str, str], frozenset[str]]
) -> Iterator[Diagnostic]:
    """All values that cannot be. known: the arguments that a function has itself."""
    for chunk in chunks:
        for key in TYPES.keys() & chunk.args.keys():
            value = chunk.args[key]
            try:
                if value is not None:
                    shape(TYPES[key]).convert(value)
            except Mismatch as wrong:
                if key not in known(chunk.state, chunk.fun):
                    hint = HINTS.get(key) or hints.cure("true or false", key, value)
                    source = chunk.arg_places.get(key, chunk.place).source
                    message = f"{chunk.function}: {key}: {wrong.problem}"
                    argument = (chunk.function, key)
                    yield Diagnostic(message, source, hint, "argument", argument=argument)
        if "retry" in chunk.args and "retry" not in known(chunk.state, chunk.fun):
            said = retry_options(chunk.args["retry"])[1]
            if said:
                source = chunk.arg_places.get("retry", chunk.place).source
                hint = (
                    "write `- retry:` and below it, indented further, `attempts: 3` and"
                    " `interval: 10`"
                )
                yield Diagnostic(
                    f"{chunk.function}: {said}{IGNORED}", source, hint, "ignored", "warning"
                )
