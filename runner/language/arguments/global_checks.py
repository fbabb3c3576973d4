# SPDX-License-Identifier: Apache-2.0
"""The arguments that every state has: what they have to be. Those of a function are checked by its
signature.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from runner.api import argtypes
from runner.language.arguments import hints, retry
from runner.language.arguments.scalars import Mismatch
from runner.language.arguments.schema import Parameter
from runner.model.chunk import Chunk
from runner.model.diagnostics import IGNORED, Diagnostic
from runner.model.global_arguments import GLOBAL_ARGUMENTS

TYPED = {
    name: Parameter(name, argument.type, vars(argtypes))
    for name, argument in GLOBAL_ARGUMENTS.items()
    if argument.type
}


def problems(
    chunks: Sequence[Chunk], known: Callable[[str, str], frozenset[str]]
) -> Iterator[Diagnostic]:
    """All values that cannot be. known: the arguments that a function has itself; none where
    there is no such function, which is a mistake of its own.
    """
    checked = frozenset((*TYPED, "retry"))
    for chunk in chunks:
        if checked.isdisjoint(chunk.args):
            continue
        for key in TYPED.keys() & chunk.args.keys():
            value = chunk.args[key]
            try:
                if value is not None:
                    TYPED[key].shape.convert(value)
            except Mismatch as wrong:
                own = known(chunk.state, chunk.fun)
                if own and key not in own:
                    hint = GLOBAL_ARGUMENTS[key].hint or hints.cure("true or false", key, value)
                    source = chunk.arg_places.get(key, chunk.place).source
                    message = f"{chunk.function}: {key}: {wrong.problem}"
                    argument = (chunk.function, key)
                    yield Diagnostic(message, source, hint, "argument", argument=argument)
        if "retry" in chunk.args and "retry" not in known(chunk.state, chunk.fun):
            problem = retry.retry_options(chunk.args["retry"])[1]
            if problem:
                source = chunk.arg_places.get("retry", chunk.place).source
                hint = (
                    "write `- retry:` and below it, indented further, `attempts: 3` and"
                    " `interval: 10`"
                )
                yield Diagnostic(
                    f"{chunk.function}: {problem}{IGNORED}", source, hint, "ignored", "warning"
                )
