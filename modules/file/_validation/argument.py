# SPDX-License-Identifier: Apache-2.0
"""The argument `validate` of state functions that write files."""

from __future__ import annotations

from functools import partial, wraps

from modules.file._validation import judge
from runner.api import Added, Planned, for_states

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ParamSpec

    P = ParamSpec("P")

VALIDATE = Added(
    "NonEmptyLine | None",
    None,
    "A command that must accept the new contents before they take their place, in a dry run too;"
    " where it refuses, nothing changes. The path of a private copy with the name of the file is"
    " added to it, or stands for `%s`.",
)


@for_states
def validated(function: Callable[P, Planned]) -> Callable[P, Planned]:
    """Give a state function that writes files the argument `validate`.

    >>> @validated
    ... def append(name: str, text: str) -> Planned: ...
    """

    @wraps(function)
    def call(*args: Any, validate: str | None = None, **kwargs: Any) -> Planned:
        look = partial(function, *args, **kwargs)
        if not validate:
            return look()
        return judge.judged(validate, look)

    call.__dict__["adds"] = {"validate": VALIDATE}
    return call  # type: ignore[return-value]  # with the argument more
