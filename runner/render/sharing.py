"""Templates that differ only in their texts share their compiled code.

Most of the time that a tree needs when it is compiled for the first time goes into Jinja's parser and code generator,
and formulas are much alike. So texts as typed and strings are taken out of the tokens of a template: what is left is
its shape, and the code that is made of a shape takes them from a table.
"""

from __future__ import annotations

from typing import Any

from jinja2 import nodes
from jinja2.lexer import Token, TokenStream
from jinja2.parser import Parser

from runner.records import Record


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


def shaped(tokens: list[Token]) -> Shaped:
    """What the tokens of a template share with other templates, and what is their own."""
    if any(kind == "name" and value == "autoescape" for _, kind, value in tokens):  # asks texts while it is compiled
        return Shaped(tokens, tuple(tokens), (), ())
    shape: list[Any] = []
    texts: list[tuple[str, int]] = []
    strings: list[str] = []
    kinds = ["", *(token.type for token in tokens), ""]
    for number, (line, kind, value) in enumerate(tokens):
        if kind == "data":
            tokens[number] = Token(line, kind, Lifted.of(value, len(texts)))
            shape.append((line, kind))
            texts.append((value, line))
        elif kind == "string" and kind not in (kinds[number], kinds[number + 2]):  # neighbours become one string
            tokens[number] = Token(line, kind, Lifted.of(value, len(strings)))
            shape.append((line, kind))
            strings.append(value)
        else:
            shape.append((line, kind, value))
    return Shaped(tokens, tuple(shape), tuple(texts), tuple(strings))


class TokenParser(Parser):
    """Jinja's parser for tokens that are there already."""

    def __init__(self, environment: Any, tokens: list[Token], name: str, file: str) -> None:
        super().__init__(environment, "", name, file)
        self.stream = TokenStream(iter(tokens), name, file)

    def parse_primary(self, *arguments: Any, **named: Any) -> nodes.Expr:
        token = self.stream.current
        node = super().parse_primary(*arguments, **named)
        return nodes.Const(token.value, lineno=token.lineno) if isinstance(token.value, Lifted) else node
