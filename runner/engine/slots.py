# SPDX-License-Identifier: Apache-2.0
"""Slots: `__slot__:salt:module.function(args).key ~ text`, evaluated right before the look."""

from __future__ import annotations

from collections.abc import Mapping

from runner.model.errors import RunnerError
from runner.model.nested import has_slot, mapped
from runner.model.places import Value
from runner.model.stdlib import pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

_FUNCTION = pattern(r"__slot__:salt:\s*(?P<name>\w+(?:\.\w+)+)\s*\(")
_REST = pattern(r"(?s)\s*(?:\.(?P<path>[^~]*[^~\s]))?\s*(?:~\s*(?P<tail>.*?)\s*)?")
_CLOSING = {"(": ")", "[": "]", "{": "}"}


def fill(value: Value, call: Callable[..., Any]) -> Value:
    """The value with its slots replaced by what their functions return."""
    filled: Value = mapped(value, lambda item: _evaluate(item, call) if has_slot(item) else item)
    return filled


def _evaluate(text: str, call: Callable[..., Any]) -> Value:
    function = _FUNCTION.match(text)
    if not function:
        raise RunnerError(
            f"malformed slot {text!r}", hint="write __slot__:salt:module.function(arguments)"
        )
    parser = _Arguments(text, function.end())
    rest = _REST.fullmatch(text, parser.position)
    if not rest:
        hint = "after the arguments comes nothing, a key (`.key`) or a text to append (` ~ text`)"
        raise RunnerError(f"malformed slot {text!r}", hint=hint)
    answer = call(function["name"], *parser.positional, **parser.named)
    for key in (rest["path"] or "").split(".") if rest["path"] else ():
        answer = answer.get(key.strip()) if isinstance(answer, Mapping) else None
    return answer if rest["tail"] is None else _appended(answer, rest["tail"], text)


def _appended(answer: Value, tail: str, slot: str) -> str:
    if isinstance(answer, bool) or not isinstance(answer, str | int | float):
        kind = "nothing" if answer is None else f"a {type(answer).__name__}"
        message = f"the slot {slot!r} cannot append to what its function returns, which is {kind}"
        raise RunnerError(
            message, hint="`~ text` is for texts and numbers; `.key` takes one value of a mapping"
        )
    quoted = len(tail) > 1 and tail[0] == tail[-1] and tail[0] in "'\""
    return f"{answer}{tail[1:-1] if quoted else tail}"


class _Arguments:
    """The arguments of a slot: texts, as Salt has them, parted by commas; quotes keep blanks,
    commas and brackets.

    `name=text` is an argument with a name. Brackets group, and stay with what they enclose, without
    blanks.
    """

    def __init__(self, slot: str, start: int) -> None:
        """start: behind the opening bracket. Raises RunnerError."""
        self.position = start  # behind the closing bracket, when all is read
        self.positional: list[str] = []
        self.named: dict[str, str] = {}
        self._slot = slot
        self._read()

    def _read(self) -> None:
        name: str | None = None
        value: str | None = None  # None: nothing yet
        brackets: list[str] = []
        blank = False
        for char, plain in self._characters():
            if plain and char.isspace():
                blank = True
                continue
            if plain and not brackets and char in ",)":
                self._add(name, value)
                if char == ")":
                    return
                name = value = None
            elif plain and not brackets and char == "=" and name is None and value:
                name, value = value, ""
            elif plain and brackets and char == brackets[-1]:
                value = f"{value or ''}{char}"
                brackets.pop()
            else:
                if plain and char in ")]}":
                    raise self._wrong(f"no bracket is open for this {char!r}")
                if blank and value and not brackets:
                    raise self._wrong(
                        f"put the text that begins with {value!r} in quotes: it has blanks"
                    )
                if plain and char in _CLOSING:
                    brackets.append(_CLOSING[char])
                value = f"{value or ''}{char}"
            blank = False
        raise self._wrong(f"{(brackets or [')'])[-1]!r} is missing at its end")

    def _characters(self) -> Iterator[tuple[str, bool]]:
        """The characters, each with whether it stands outside of quotes; empty quotes give ""."""
        text, quote = self._slot, ""
        while self.position < len(text):
            char = text[self.position]
            after = text[self.position + 1 : self.position + 2]
            self.position += 1
            if char == "\\" and after and (not quote or after in (quote, "\\")):
                self.position += 1
                yield after, False
            elif quote and char == quote:
                quote = ""
            elif not quote and char in "'\"":
                quote = char
                yield "", False
            else:
                yield char, not quote
        if quote:
            raise self._wrong(f"the text that {quote} begins has no end")

    def _add(self, name: str | None, value: str | None) -> None:
        if name is not None:
            self.named[name] = value or ""
        elif value is not None:
            self.positional.append(value)

    def _wrong(self, problem: str) -> RunnerError:
        return RunnerError(f"malformed slot {self._slot!r}", hint=problem)
