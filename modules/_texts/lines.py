# SPDX-License-Identifier: Apache-2.0
"""Lines of files and words of programs that are made of data: what is not a line, or would be an
option, is refused.
"""

from __future__ import annotations

from functools import lru_cache

from runner.api import CommandFailed, line_problem, name_problem, pattern, split_lines, without_end

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
    from typing import ParamSpec, TypeVar

    P = ParamSpec("P")
    R = TypeVar("R")

split = split_lines  # the lines of a file, without their ends
_SPACES = pattern(r"[ \t]+")
VERSIONS = 4  # of texts, whose meaning is remembered
LINES = 8192


def once_a_version(parse: Callable[P, R]) -> Callable[P, R]:
    """Declare what finds out the meaning of a text. Where many states look at one file, it does so
    once for each version of the file. Its answer is shared: nobody alters it.
    """
    kept: Callable[P, R] = lru_cache(VERSIONS)(parse)  # type: ignore[assignment]
    return kept


def once_a_line(parse: Callable[P, R]) -> Callable[P, R]:
    """Declare what finds out the meaning of a line: another version of a file has mostly lines that
    the one before had. Its answer is shared, too.
    """
    kept: Callable[P, R] = lru_cache(LINES)(parse)  # type: ignore[assignment]
    return kept


class LinesBy:
    """The lines of texts by what they are about, each in their order. Of a text that is an earlier
    version and more lines behind it, only these are looked at: states that add theirs to one file
    make as many versions of it. The answer is shared, too.
    """

    def __init__(self, keys: Callable[[str], Iterable[Hashable]]) -> None:
        """keys: what a line is about."""
        self._keys = keys
        self._known: list[tuple[str, Mapping[Hashable, Sequence[str]]]] = []

    def __call__(self, text: str) -> Mapping[Hashable, Sequence[str]]:
        for known, found in self._known:
            if text == known:
                return found
        earlier = (each for each in self._known if each[0].endswith("\n"))
        base, before = next((each for each in earlier if text.startswith(each[0])), ("", {}))
        more: dict[Hashable, list[str]] = {}
        for line in split(text[len(base) :]):
            for key in self._keys(line):
                more.setdefault(key, []).append(line)
        by_key = {**before, **{key: (*before.get(key, ()), *new) for key, new in more.items()}}
        self._known = [(text, by_key), *self._known[: VERSIONS - 1]]
        return by_key


def ending(text: str) -> str:
    """The line ending of a text: as the first one does."""
    return "\r\n" if text.partition("\n")[0].endswith("\r") else "\n"


def fields(line: str, most: int = 0) -> list[str]:
    """The fields of a line; spaces and tabs part them, and no other space of Unicode does.

    most: so many, the last of which is the rest of the line.
    """
    text = line.strip(" \t")
    return _SPACES.split(text, max(most - 1, 0)) if text else []


def join_lines(lines: Iterable[str]) -> str:
    """The text of lines. Raises CommandFailed for one that would be several."""
    all_lines = [*lines, ""]
    text = "\n".join(all_lines)
    if "\0" in text or text.count("\n") != len(all_lines) - 1:
        wrong = next(line for line in all_lines if "\n" in line or "\0" in line)
        raise CommandFailed(f"a line would become several, so nothing is written: {_shown(wrong)}")
    return text


def encoded(lines: Iterable[str]) -> bytes:
    """The bytes of lines of a table; a carriage return is part of its line, since programs take it
    for a part of the last field. Raises CommandFailed for one that would be several.
    """
    return join_lines(lines).encode("utf-8", "surrogateescape")


def one_line(value: object, what: str) -> str:
    """A value as one line, without the line ends behind it. Raises CommandFailed for a value that
    is more than that.

    what: how the message calls it. The message does not show the value, which may be a secret.
    """
    text = without_end(str(value))
    problem = line_problem(text)
    if problem:
        raise CommandFailed(f"{what}: {problem}")
    return text


def plain_name(value: object, what: str) -> str:
    """A value as a name that no program takes for an option. Raises CommandFailed otherwise."""
    text = without_end(str(value))
    problem = name_problem(text)
    if problem:
        raise CommandFailed(f"{what}: {problem}")
    return text


# ---------------------------------------------------------------- values of ini files


def value_problem(value: object) -> str | None:
    """The problem that keeps a value from being one: a line of it that does not continue the first
    one is another option.
    """
    first, *more = str(value).rstrip("\r\n").split("\n")
    if any(not line.strip() or line[0] not in " \t" for line in more):
        return (
            "expected a value, and a line of it that does not begin with a space would be an option"
            " of its own"
        )
    return next((problem for line in (first, *more) if (problem := line_problem(line))), None)


def whole_value(option: str, value: object) -> str:
    """A value as it is written, without the line ends behind it. Raises CommandFailed for what
    would be more.
    """
    problem = value_problem(value)
    if problem:
        raise CommandFailed(f"{option}: {problem}")
    return str(value).rstrip("\r\n")


def as_read(value: str) -> str:
    """A value as it is read from a file: lines that continue it lose the spaces before them."""
    return "\n".join(line.strip() for line in value.split("\n"))


def _shown(line: str) -> str:
    text = repr(line)
    return text if len(text) <= 60 else f"{text[:57]}..."
