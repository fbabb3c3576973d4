# SPDX-License-Identifier: Apache-2.0
"""Templates that differ only in their texts share their compiled code.

Most of the time that a tree needs when it is compiled for the first time goes into Jinja's parser
and code generator, and formulas are much alike. So texts as typed and strings are taken out of the
tokens of a template: what is left is its shape, and the code that is made of a shape takes them
from a table. Variables with a number in their name, as trees have that a program wrote, get their
names when the code is there.
"""

from __future__ import annotations

import keyword
import re
from types import CodeType

from jinja2.lexer import Token

from runner.model.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Lifted(str):
    """A text that the code takes from a table, where it has a number."""

    __slots__ = ("number",)
    number: int

    @classmethod
    def of(cls, text: str, number: int) -> Lifted:
        made = cls(text)
        made.number = number
        return made


class Shaped(Record):
    """The tokens of a template, and what was lifted from them."""

    tokens: list[Token]
    shape: tuple[Any, ...]  # equal for templates whose code is
    texts: tuple[tuple[str, int], ...]  # texts as typed, with their lines
    strings: tuple[str, ...]
    names: tuple[str, ...]  # of the variables that stand in the tokens as _VARIABLE


_VARIABLE = re.compile(r"zq(\d+)z")  # in the tokens and in the code: the variable of a number
_NUMBERED = re.compile(r"[A-Za-z][A-Za-z_]*\d\w*", re.ASCII)
# but an attribute, a filter or a test
_NO_VARIABLE_AFTER = frozenset(["dot", "pipe", "is", "is not", "filter"])


def shaped(tokens: list[Token]) -> Shaped:
    """Split the tokens of a template into what other templates share and its own."""
    # asks texts while it is compiled
    if any(kind == "name" and value == "autoescape" for _, kind, value in tokens):
        return Shaped(tokens, tuple(tokens), (), (), ())
    names = _numbered(tokens)
    shape: list[Any] = []
    texts: list[tuple[str, int]] = []
    strings: list[str] = []
    kinds = ["", *(token.type for token in tokens), ""]
    for number, (line, kind, value) in enumerate(tokens):
        if kind == "data":
            tokens[number] = Token(line, kind, Lifted.of(value, len(texts)))
            shape.append((line, kind))
            texts.append((value, line))
        elif kind == "string" and kind not in (
            kinds[number],
            kinds[number + 2],
        ):  # neighbours become one string
            tokens[number] = Token(line, kind, Lifted.of(value, len(strings)))
            shape.append((line, kind))
            strings.append(value)
        else:
            shape.append((line, kind, value))
    return Shaped(tokens, tuple(shape), tuple(texts), tuple(strings), names)


def _numbered(tokens: list[Token]) -> tuple[str, ...]:
    """Put numbers into the tokens for variables with a number in their name; these names."""
    names: dict[str, int] = {}
    numbers: list[tuple[int, str]] = []
    before = ""
    for number, (_, kind, value) in enumerate(tokens):
        if kind == "name":
            if (
                before not in _NO_VARIABLE_AFTER
                and _NUMBERED.fullmatch(value)
                and not keyword.iskeyword(value)
            ):
                names.setdefault(value, len(names))
                numbers.append((number, value))
            before = "is not" if (before, value) == ("is", "not") else value
        else:
            before = kind
    if not numbers or any(
        isinstance(token.value, str) and _VARIABLE.search(token.value) for token in tokens
    ):
        return ()
    for number, name in numbers:
        tokens[number] = tokens[number]._replace(value=f"zq{names[name]}z")
    return tuple(names)


def own_name(name: str, names: tuple[str, ...]) -> str:
    """A name in the code of a shape, with the names of its variables."""
    return _VARIABLE.sub(lambda variable: names[int(variable[1])], name) if names else name


def renamed(code: CodeType, names: tuple[str, ...]) -> CodeType:
    """The code of a shape with the names of its variables."""
    if not names:
        return code

    def text(name: str) -> str:
        return own_name(name, names) if "zq" in name else name

    def constant(value: Any) -> Any:
        if isinstance(value, str):
            return text(value)
        if isinstance(value, tuple):
            return tuple(map(constant, value))
        return renamed(value, names) if isinstance(value, CodeType) else value

    return code.replace(
        co_consts=tuple(map(constant, code.co_consts)),
        co_names=tuple(map(text, code.co_names)),
        co_varnames=tuple(map(text, code.co_varnames)),
        co_cellvars=tuple(map(text, code.co_cellvars)),
        co_freevars=tuple(map(text, code.co_freevars)),
        co_name=text(code.co_name),
        co_qualname=text(code.co_qualname),
    )
