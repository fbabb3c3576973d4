# SPDX-License-Identifier: Apache-2.0
"""Calling a function of Python's: what an SLS written in Python hands over."""

from __future__ import annotations

import inspect

from runner.api import (
    OPEN,
    Annotated,
    Check,
    Done,
    Plan,
    Planned,
    StateFailed,
    here,
    refuse_unforeseen,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

WHY = "what a function changes is known when it has been called"


def _callable(value: Any) -> str | None:
    return (
        None
        if callable(value) or isinstance(value, str)
        else "expected a function of Python's, or the name of one"
    )


FUNCTION = Check(_callable)


def call(
    name: str,
    func: Annotated[Any, FUNCTION],
    args: list[Any] | None = None,
    kws: dict[str, Any] | None = None,
    output_loglevel: str | None = None,
    hide_output: bool = False,
    use_vt: bool = False,
) -> Planned:
    """Call a function of Python's.

    name: Names the state.
    func: The function, from an SLS written in Python (`#!py`), or the name of an execution
      function. It answers with the result of a state (changes, comment, result), or with anything
      that counts as success when it is true, or None.
    args: Its arguments by their position.
    kws: Its arguments by their names.
    output_loglevel, use_vt: as of cmd.run.
    hide_output: Keep the answer out of the result.

        warm the cache:
          cmd.call:
            - func: hashutil.md5_digest
            - args: [text]

    Behaviour: Salt 3008's cmd.call, which calls it in a dry run, too.
    """
    label = func if isinstance(func, str) else getattr(func, "__name__", "?")
    if isinstance(func, str) and not here.has(func):
        raise StateFailed(f"{func!r} is not an execution function, nor a function of Python's")
    values, words = args or [], kws or {}
    _refuse_arguments(here.function(func) if isinstance(func, str) else func, label, values, words)
    yield Plan(
        {"retval": None},
        f"Function {label} would have been called",
        exact=False,
        why=WHY,
        provides=OPEN,
    )
    refuse_unforeseen(label)
    answer = here.call(func, *values, **words) if isinstance(func, str) else func(*values, **words)
    if isinstance(answer, dict):
        return _own_outcome(answer)
    comment = answer if isinstance(answer, str) and not hide_output else ""
    changes = {"retval": None if hide_output else answer}
    if not (answer is None or answer):
        raise StateFailed(comment, changes=changes)
    return Done(comment, changes)


def _refuse_arguments(
    function: Callable[..., Any], label: str, values: list[Any], words: dict[str, Any]
) -> None:
    """Raise StateFailed for arguments that a function does not take."""
    try:
        parameters = inspect.signature(function)
    except (TypeError, ValueError):  # of Python's own, some do not say
        return
    try:
        parameters.bind(*values, **words)
    except TypeError as problem:
        raise StateFailed(f"Function {label} cannot be called: {problem}", changes={}) from None


def _own_outcome(answer: dict[str, Any]) -> Done:
    """The outcome that a function tells itself."""
    comment, changes = str(answer.get("comment", "")), answer.get("changes", {})
    if not answer.get("result", False):
        raise StateFailed(comment, changes=changes)
    return Done(comment, changes)


def wait_call(
    name: str,
    func: Annotated[Any, FUNCTION],
    args: list[Any] | None = None,
    kws: dict[str, Any] | None = None,
    stateful: bool | list[Any] = False,
    use_vt: bool = False,
    output_loglevel: str | None = None,
    hide_output: bool = False,
) -> str:
    """Call a function of Python's only when something that the state watches changed.

    name, func, args, kws, use_vt, output_loglevel, hide_output: As of cmd.call.
    stateful: ignored; the function's answer says what it changed.

        count again:
          cmd.wait_call:
            - func: hashutil.md5_digest
            - args: [text]
            - watch:
              - file: /etc/words
        /etc/words:
          file.managed:
            - source: salt://words
    """
    return ""
