# SPDX-License-Identifier: Apache-2.0
"""Texts edited: what the states and the execution functions of `file` share."""

from __future__ import annotations

import re
from itertools import islice

from modules._texts.lines import ending as ending
from modules.file import bounded_regex
from modules.file.bounded_regex import matches, matching
from modules.file.large_texts import HeldText, LargeText, Piece, WholeText, size_of
from runner.api import StateFailed, here, in_main_thread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from modules.file._contents.streamed import Edited

    Text = WholeText | LargeText


def compiled(pattern: str, flags: int | str | Sequence[str | int]) -> re.Pattern[str]:
    """A regular expression with flags as an SLS names them (`[IGNORECASE, MULTILINE]` or their
    number). Raises StateFailed for a wrong expression and an unknown flag.
    """
    number = 0
    for flag in [flags] if isinstance(flags, int | str) else flags:
        if isinstance(flag, str) and not flag.isdigit():
            known = getattr(re, flag.upper(), None)
            if not isinstance(known, re.RegexFlag):
                raise StateFailed(f"Invalid re flag given: {flag}")
            number |= known
        else:
            number |= int(flag)
    try:
        return re.compile(pattern, number)
    except (re.error, ValueError) as problem:
        raise StateFailed(f"{pattern!r} is not a regular expression: {problem}") from problem


# ---------------------------------------------------------------- what matches


def substituted(expression: re.Pattern[str], repl: str, text: str, count: int) -> str:
    """Replace what an expression matches. Raises StateFailed for a replacement that does not fit
    it.
    """
    at = bounded_regex.first_place(expression, text)
    if at is None and "\\" not in repl:
        return text
    return text[: at or 0] + substituted_parts(expression, repl, [text[at or 0 :]], count)[0]


def substituted_parts(
    expression: re.Pattern[str], repl: str, parts: Sequence[str], count: int
) -> list[str]:
    """Replace what an expression matches in several texts, as `substituted` does in one. Raises
    StateFailed for a replacement that does not fit the expression.
    """
    try:
        return bounded_regex.substituted(expression, repl, parts, count)
    except (re.error, IndexError) as problem:
        raise StateFailed(
            f"repl {repl!r} does not fit the pattern: {problem}; backslash_literal: True takes"
            " backslashes literally"
        ) from problem


def replaced(text: Text, expression: re.Pattern[str], repl: str, count: int) -> str | Edited | None:
    """The text in which what an expression matches is replaced; None where that changes nothing.
    Raises StateFailed as `substituted`.
    """
    if isinstance(text, HeldText) and in_main_thread():  # no other is bounded in time
        return text.large.with_pieces(_replacements(expression, repl, text, count))
    return text.edited(lambda part, *_: substituted(expression, repl, part, count))


def _replacements(
    expression: re.Pattern[str], repl: str, held: HeldText, count: int
) -> list[Piece]:
    """What takes the place of each match, which is told in bytes."""
    text = held.text
    substituted(expression, repl, "", count)  # refuses what does not fit
    pieces: list[Piece] = []
    at, place = 0, size_of(held.mark)
    with here.limited(f"the regular expression {expression.pattern!r}", len(text)):
        for match in islice(expression.finditer(text), count or None):
            begin = place + size_of(text[at : match.start()])
            at, place = match.end(), begin + size_of(match[0])
            pieces.append((begin, place, match.expand(repl)))
    return pieces


def found_in(expression: re.Pattern[str], content: str, text: str) -> bool:
    """Return whether the text matches, or has already got the lines that would be added."""
    if matches(expression, text):
        return True
    first, *_ = rows = content.replace("\r\n", "\n").split("\n")
    if first not in text and not expression.flags & re.IGNORECASE:
        return False
    lines = r"\r?\n".join(map(re.escape, rows))
    return re.search(rf"^{lines}\r?$", text, expression.flags | re.MULTILINE) is not None


def takes_cr(expression: re.Pattern[str], repl: str, content: str, count: int) -> bool:
    """Return whether replacing what matches (`.*$`) takes the CR of lines away."""
    lines = f"{content}\r\n"
    return substituted(expression, repl, lines, count) != lines


def added(text: str, content: str, at_end: bool, end: str, with_cr: bool = True) -> str:
    """The text with further lines. end: that of its lines, and of the new ones; these have LF
    unless `with_cr`.
    """
    own = end if with_cr else "\n"
    content = "".join(f"{line}{own}" for line in content.replace("\r\n", "\n").split("\n"))
    if not at_end:
        return content + text
    return text + (end if text and not text.endswith("\n") else "") + content


# ---------------------------------------------------------------- comment signs


def commented_out(text: str, regex: str, char: str) -> str:
    """The text with a sign before the lines that match from their beginning."""
    whole = compiled(f"(?:{bare(regex)}){'$' if regex.endswith('$') else ''}", 0)
    return _edit_matching_lines(text, whole, lambda line: char + line)


def bared_lines(text: str, regex: str, char: str) -> str:
    """The text without the sign before the lines that match behind it."""
    signed = compiled(
        rf"{re.escape(char)}\s*(?:{bare(regex)}){'$' if regex.endswith('$') else ''}", 0
    )
    return _edit_matching_lines(text, signed, lambda line: line[len(char) :])


def bare(regex: str) -> str:
    """The expression without its anchors; flags before it hold for the expression alone."""
    core = regex.lstrip("^").rstrip("$")
    flags = re.match(r"\(\?([aimsux]+)\)", core)
    return f"(?{flags[1]}:{core[flags.end() :]})" if flags else core


def _edit_matching_lines(text: str, expression: re.Pattern[str], edit: Callable[[str], str]) -> str:
    """The text with each line edited that matches from its beginning, to which its end belongs."""
    *lines, rest = text.split("\n")
    parts = [*(f"{line}\n" for line in lines), *([rest] if rest else [])]
    fitting = matching(expression, parts, from_start=True)
    return "".join(edit(line) if fits else line for line, fits in zip(parts, fitting, strict=True))


# ---------------------------------------------------------------- blocks between markers


def with_block(
    text: Text,
    start: str,
    end: str,
    block: str,
    append: bool = False,
    prepend: bool = False,
    before: str | None = None,
    after: str | None = None,
) -> str | Edited | None:
    """The text with a block between its markers; with markers too where it has none: at its end, at
    its beginning, or beside a line that matches. None where that changes nothing.
    """
    line_end = ending(text.first())
    pieces = _replacing(text, start, end, block, line_end)
    if pieces is None:
        whole = f"{start}{line_end}{block}{end}{line_end}"
        at, is_ended = _place(text, append, prepend, before, after)
        pieces = [(at, at, whole if is_ended else line_end + whole)]
    return text.with_pieces(pieces)


def _replacing(text: Text, start: str, end: str, block: str, line_end: str) -> list[Piece] | None:
    """The block instead of what is between the markers; None where there is none."""
    pieces: list[Piece] = []
    is_there, began = False, None  # where the block that is open begins
    for _, stop, line in text.lines_with(start, end):
        if began is not None and end in line:
            rest = line[line.index(end) :].rstrip("\r\n") + line_end
            pieces.append((began, stop, block + rest))
            began = None
        elif start in line:
            is_there, began = True, stop
    if began is not None:
        raise StateFailed(
            "Unterminated marked block. End of file reached before marker_end: no line behind the"
            f" last {start!r} has {end!r} in it"
        )
    return pieces if is_there else None


def _place(
    text: Text, append: bool, prepend: bool, before: str | None, after: str | None
) -> tuple[int, bool]:
    """Where a new block goes, and whether the line above it has an end."""
    if prepend:
        return 0, True
    if append:
        return text.size, text.is_ended()
    if before or after:
        pattern = compiled(before or after or "", 0)
        found = text.line_that(lambda lines: matching(pattern, lines))
        if found is not None:
            return (found[0], True) if before else (found[1], found[2].endswith("\n"))
    raise StateFailed("Cannot edit marked block. Markers were not found in file.")
