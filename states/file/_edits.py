# SPDX-License-Identifier: Apache-2.0
"""The base of the functions that edit lines: one edit of one existing text file."""

from __future__ import annotations

import re
from functools import partial

from modules import file
from modules.file.bounded_regex import matches
from modules.file.large_texts import LargeText, is_by_lines
from runner.api import Plan, Planned, StateFailed, here
from states.file import _lines
from states.file._lines import Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def refuse_missing(name: str) -> None:
    if not file.exists(name):
        raise StateFailed(f"{name}: file not found", missing=("file", name))


def lines_to_edit(name: str, expression: str) -> Text:
    """The text of a file that has to be there, to be edited where an expression matches. Raises
    StateFailed for one that is missing or binary.
    """
    refuse_missing(name)
    text = _lines.text_at(name)
    compiled = _lines.compiled(expression, re.MULTILINE)
    if isinstance(text, LargeText) and not is_by_lines(compiled):
        text = text.whole(_lines.by_lines(expression))
    refuse_binary(name, text)
    return text


def refuse_binary(name: str, text: Text) -> None:
    if text.any(lambda part: "\0" in part):
        raise StateFailed(f"Cannot perform string replacements on a binary file: {name}")


def warn_of_carriage_returns(name: str, text: Text, expression: re.Pattern[str]) -> None:
    """Warn where an expression matches no line, and would without the carriage returns."""
    if "$" not in expression.pattern or "\r\n" not in text.first():
        return
    if text.any(partial(matches, expression)):
        return
    if text.any(lambda part: matches(expression, part.replace("\r\n", "\n"))):
        here.warn(
            f"the lines of {name} end with CR LF, and {expression.pattern!r} matches none of them,"
            " since `$` stands behind the CR: write `\\r?$`"
        )


def warn_unsettled(
    name: str, new: str | file.Edited | None, edit: Callable[[Text], str | file.Edited | None]
) -> None:
    """Warn where the new text of a file calls for the same edit again, or lets that fail: not of a
    large file, nor of a state that its guards or requisites may skip in the next run.
    """
    if not isinstance(new, str) or (here.chunk is not None and here.chunk.is_conditional):
        return
    try:
        settled = edit(_lines.WholeText(new)) is None
    except StateFailed:
        settled = False
    if not settled:
        here.warn(f"the next run changes {name} again: the edit applies to its own result")


def edited(
    name: str,
    old: Text,
    new: str | file.Edited,
    *,
    backup: str | bool,
    planned: str,
    done: str,
    show: bool = True,
    user: str | int | None = None,
    group: str | int | None = None,
    mode: str | None = None,
) -> Planned:
    """Write the new text of a file. backup: what the copy's name ends with. user, group, mode: of
    the file then.
    """
    yield Plan(
        {"diff": _lines.diff_of(old, new) if show else True},
        planned,
        provides=_lines.provided(name, new),
    )
    with file.backed_up(name, backup):
        file.write(name, _lines.contents(new), user=user, group=group, mode=mode)
    return done


def turned(
    name: str,
    old: Text,
    edit: Callable[[str], str],
    test: Callable[[str], bool],
    backup: str | bool,
    into: str,
) -> Planned:
    """Make lines comments, or no comments, part by part of a file. test: whether a text has such
    lines then. into: what results call them.
    """
    found = False

    def noting(part: str, *_: bool) -> str:
        nonlocal found
        new = edit(part)
        found = found or test(new)
        return new

    new = old.edited(noting)
    if not found:
        # the expression, or the sign, is not at the beginning of a line
        raise StateFailed(f"Expected {into} lines not found")
    done = f"{into.capitalize()} lines successfully"
    if new is None:
        return done
    planned = f"File {name} is set to be updated"
    return (yield from edited(name, old, new, backup=backup, planned=planned, done=done))
