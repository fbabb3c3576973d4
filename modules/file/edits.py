# SPDX-License-Identifier: Apache-2.0
"""Texts edited: what the states and the execution functions of `file` share."""

from __future__ import annotations

import re

from modules._texts.lines import ending as ending
from modules.file import bounded_regex
from modules.file.bounded_regex import matches, matching
from modules.file.differences import lines_of
from runner.api import StateFailed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


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
    return substituted_parts(expression, repl, [text], count)[0]


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


def found_in(expression: re.Pattern[str], content: str, text: str) -> bool:
    """Return whether the text matches, or has already got the lines that would be added."""
    if matches(expression, text):
        return True
    return (
        re.search(r"^" + re.escape(content) + r"$", text, expression.flags | re.MULTILINE)
        is not None
    )


def added(text: str, content: str, at_end: bool) -> str:
    if not at_end:
        return content + "\n" + text
    return text + ("\n" if text and not text.endswith("\n") else "") + content + "\n"


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
    text: str,
    start: str,
    end: str,
    block: str,
    append: bool = False,
    prepend: bool = False,
    before: str | None = None,
    after: str | None = None,
) -> str:
    """The text with a block between its markers; with markers too where it has none: at its end, at
    its beginning, or beside a line that matches.
    """
    new = _replaced(text, start, end, block)
    if new is not None:
        return new
    whole = f"{start}{ending(text)}{block}{end}{ending(text)}"
    return _inserted(text, whole, append, prepend, before, after)


def _replaced(text: str, start: str, end: str, block: str) -> str | None:
    """The text with the block in it; None where there is no marker."""
    openings, closings = lines_with(text, start), lines_with(text, end)
    parts: list[str] = []
    done = 0  # the text up to here is among the parts
    began = None  # where the block that is open begins
    for at in sorted({*openings, *closings}) if openings else ():
        if began is not None and at in closings:
            line = text[at : closings[at]]
            rest = line[line.index(end) :].rstrip("\r\n") + ending(text)
            parts += [text[done:began], block, rest]
            done, began = closings[at], None
        elif at in openings:
            began = openings[at]
    if began is not None:
        raise StateFailed("Unterminated marked block. End of file reached before marker_end.")
    return "".join([*parts, text[done:]]) if openings else None


def lines_with(text: str, word: str) -> dict[int, int]:
    """Where the lines of a text begin that have a word in them, and where the next ones do."""
    found: dict[int, int] = {}
    at = text.find(word)
    while 0 <= at < len(text):
        begin, end = text.rfind("\n", 0, at) + 1, text.find("\n", at) + 1 or len(text)
        if word in text[begin:end]:
            found[begin] = end
        at = text.find(word, end)
    return found


def _inserted(
    text: str, whole: str, append: bool, prepend: bool, before: str | None, after: str | None
) -> str:
    if prepend:
        return whole + text
    if append:
        return _with_line_end(text) + whole
    if before or after:
        pattern = compiled(before or after or "", 0)
        lines = lines_of(text)
        fitting = matching(pattern, lines)
        if True in fitting:
            at = fitting.index(True) + (0 if before else 1)
            return _with_line_end("".join(lines[:at])) + whole + "".join(lines[at:])
    raise StateFailed("Cannot edit marked block. Markers were not found in file.")


def _with_line_end(text: str) -> str:
    return text + ending(text) if text and not text.endswith("\n") else text
