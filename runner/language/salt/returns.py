# SPDX-License-Identifier: Apache-2.0
"""Calls of states in Salt's style, and what their answers are worth."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

from runner.model.chunk import Chunk
from runner.model.plain_values import plain, text_of
from runner.model.result import Result

_KEYS = ("name", "changes", "result", "comment")
DEEPEST = 200  # levels of changes


def called(function: Callable[..., Any], arguments: Mapping[str, Any]) -> object:
    """The answer of a function; the folder and the umask of this process are afterwards what they
    were before.
    """
    process, folder, umask = os.getpid(), os.open(".", os.O_PATH | os.O_CLOEXEC), os.umask(0o077)
    os.umask(umask)
    try:
        return function(**arguments)
    finally:
        if os.getpid() != process:  # a child that the function forked, and that is to go no further
            os._exit(0)
        os.umask(umask)
        with suppress(OSError):
            os.fchdir(folder)
        os.close(folder)


def result_of(chunk: Chunk, answer: object) -> Result:
    """The answer of a state in Salt's style as a result."""
    if not isinstance(answer, dict):
        message = (
            f"Malformed state return. Data must be a dictionary type, not {type(answer).__name__}"
        )
        return Result(chunk, False, message)
    missing = [key for key in _KEYS if key not in answer]
    if missing:
        return Result(
            chunk,
            False,
            f"The following keys were not present in the state return: {','.join(missing)}",
        )
    changes, comment = answer["changes"], answer["comment"]
    if isinstance(changes, dict):
        changes = dict(dict.items(changes))  # whatever its own code does
    if not isinstance(changes, Mapping) or not isinstance(plain(changes, 1), dict):
        return Result(
            chunk,
            False,
            f"Malformed state return: 'Changes' should be a dictionary, not {plain(changes)!r}",
        )
    if _too_deep(changes, DEEPEST):
        return Result(
            chunk,
            False,
            f"Malformed state return: its changes are nested more than {DEEPEST} levels deep",
        )
    if isinstance(comment, list):
        comment = "\n".join(map(text_of, comment))
    extra = {key: value for key, value in answer.items() if key not in (*_KEYS, "warnings")}
    warned = answer.get("warnings") or ()
    warnings = tuple(map(text_of, warned if isinstance(warned, list | tuple) else [warned]))
    result = answer["result"] if answer["result"] is None else bool(answer["result"])
    return Result(chunk, result, text_of(comment), changes, extra=extra, warnings=warnings)


def _too_deep(value: object, left: int) -> bool:
    if isinstance(value, dict):
        inner: Iterable[object] = dict.values(value)  # whatever its own code does
    else:
        inner = (
            value.values()
            if isinstance(value, Mapping)
            else value
            if isinstance(value, list | tuple)
            else ()
        )
    return left == 0 or any(_too_deep(each, left - 1) for each in inner)
