# SPDX-License-Identifier: Apache-2.0
"""Hooks of state modules, called so that a mistake in one is told with its place."""

from __future__ import annotations

from collections.abc import Callable

from runner.api import StateFailed
from runner.model.chunk import Chunk
from runner.model.errors import RunnerError
from runner.model.places import Source
from runner.model.plain_values import exception

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

Hook = Callable[..., "Any"]
# classes to test for: made once, as `tuple | list` costs more than the test
_PAIR, _SEVERAL = (tuple, list), (list, tuple, set)


def answer_of(hook: Hook, name: str, chunk: Chunk, arguments: Mapping[str, Any]) -> Any:
    """Call a hook for a state; a generator's values come as a list. StateFailed passes.

    Raises RunnerError with the line of the module for any other exception.
    """
    try:
        answer = hook(**arguments)
        return list(answer) if hasattr(answer, "__next__") else answer
    except StateFailed:
        raise
    except Exception as error:
        message = f"{chunk.state}.{name} failed for {chunk.id}: {exception(error)}"
        raise RunnerError(
            message, _line(error, hook), f"{name}(name, **arguments) of the module", "hook"
        ) from error


def pairs(
    hook: Hook, name: str, chunk: Chunk, arguments: Mapping[str, Any]
) -> list[tuple[str, str]]:
    """The (state module, ID or name) pairs of an automatic relationship. Raises RunnerError when
    the hook gives anything else.
    """
    answer = answer_of(hook, name, chunk, arguments)
    if not answer:
        return []
    if isinstance(answer, _SEVERAL):
        pairs = [
            pair
            if type(pair) is tuple and type(pair[0]) is type(pair[1]) is str
            else (str(pair[0]), str(pair[1]))
            for pair in answer
            if isinstance(pair, _PAIR) and len(pair) == 2
        ]
        if len(pairs) == len(answer):
            return pairs
    message = f"{chunk.state}.{name} for {chunk.id} gives {answer!r}"
    hint = 'it has to give pairs: [("file", "/etc/x")]'
    raise RunnerError(
        message, Source(hook.__code__.co_filename, hook.__code__.co_firstlineno), hint, "hook"
    )


def _line(error: BaseException, hook: Hook) -> Source:
    """The last line of the hook's own file that the exception passed through."""
    file, line = hook.__code__.co_filename, hook.__code__.co_firstlineno
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            line = trace.tb_lineno
        trace = trace.tb_next
    return Source(file, line)
