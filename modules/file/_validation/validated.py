# SPDX-License-Identifier: Apache-2.0
"""What `validate` of a state function does: a program judges new contents of files before they take
their place.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from modules.file._contents.streamed import Contents
    from modules.file._validation.judge import Judge

_judge: ContextVar[Judge | None] = ContextVar("judge", default=None)


@contextmanager
def asked(judge: Judge | None) -> Iterator[None]:
    """Have a judge asked about all files that are written; None: nobody."""
    token = _judge.set(judge)
    try:
        yield
    finally:
        _judge.reset(token)


def ask(path: str, contents: Contents) -> None:
    """Ask about the new contents of a file. Raises StateFailed where they are refused."""
    if judge := _judge.get():
        judge(path, contents)
