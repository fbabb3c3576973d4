# SPDX-License-Identifier: Apache-2.0
"""Compound targets: `a and not ( b or c )`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Malformed(Exception):
    """The words of a compound make no expression."""


def words(expression: Any) -> list[str]:
    if isinstance(expression, str):
        return expression.split()
    return [str(word) for word in expression or ()]


class Compound:
    """`a and not ( b or c )`; all of it is read, terms are asked only where they matter.

    term: answers one; None where that is not known, which the others may make up for.
    """

    def __init__(self, words: list[str], term: Callable[[str], bool | None]) -> None:
        self._words = words
        self._term = term
        self._next = 0

    def answer(self) -> bool | None:
        """Return whether it is met; None where that is not known."""
        _check(self._words)
        return self._either(True)

    def _word(self) -> str:
        return self._words[self._next] if self._next < len(self._words) else ""

    def _takes(self, word: str) -> bool:
        matches = self._word() == word
        self._next += matches
        return matches

    def _either(self, matters: bool) -> bool | None:
        answer = self._both(matters)
        while self._takes("or"):
            other = self._both(matters and answer is not True)
            answer = _stronger(answer, other, True)
        return answer

    def _both(self, matters: bool) -> bool | None:
        answer = self._one(matters)
        while self._takes("and") or self._word() == "not":  # `a not b` is `a and not b`
            other = self._one(matters and answer is not False)
            answer = _stronger(answer, other, False)
        return answer

    def _one(self, matters: bool) -> bool | None:
        if self._takes("not"):
            answer = self._one(matters)
            return None if answer is None else not answer
        if self._takes("("):
            answer = self._either(matters)
            self._takes(")")
            return answer
        word = self._word()
        self._next += 1
        return self._term(word) if matters else False


def _stronger(one: bool | None, other: bool | None, decisive: bool) -> bool | None:
    """Of two answers the one that decides, else the one that is not known."""
    if decisive in (one, other):
        return decisive
    return None if None in (one, other) else not decisive


def _check(words: list[str]) -> None:
    """Operators stand between terms, parentheses are balanced."""
    depth = 0
    before = "("  # what a term may follow
    for word in words:
        depth += {"(": 1, ")": -1}.get(word, 0)
        opens = before in ("(", "and", "or", "not")
        if depth < 0:
            raise Malformed("a ) without its (")
        if word in ("and", "or", ")") and opens:
            raise Malformed(f"{word!r} is in the place of a target")
        if word == "not" and before == "not":
            raise Malformed("'not' twice")
        if word not in ("and", "or", ")", "not") and not opens:
            raise Malformed(f"'and' or 'or' is missing before {word!r}")
        before = word
    if depth:
        raise Malformed("a ( is not closed")
    if before in ("(", "and", "or", "not"):
        raise Malformed(f"nothing follows {before!r}" if words else "it is empty")
