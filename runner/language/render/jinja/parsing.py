# SPDX-License-Identifier: Apache-2.0
"""Jinja's lexer and parser, which give the same with less work.

The lexer tries what is frequent first. The parser knows of tokens where an operator is, so that it
does not ask for each of them on its way to a name. What stands in a tree its nodes know: Jinja's
compiler walks through it for each question that it has.
"""

from __future__ import annotations

import re
from functools import partial

from jinja2 import nodes
from jinja2.lexer import Lexer, Token, TokenStream
from jinja2.parser import Parser

from runner.language.render.jinja.repeatable import Seen, Uses
from runner.language.render.jinja.shared_code import Lifted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

_NAMES = frozenset([nodes.Name, nodes.NSRef])
_SILENT_LEAVES = frozenset([nodes.Const, nodes.TemplateData])
# what Jinja's compiler looks for below nodes of a type
_ASKED: dict[type[nodes.Node], tuple[type[nodes.Node], ...]] = {
    nodes.Template: (nodes.Extends, nodes.Block, nodes.ImportedName),
    nodes.For: (nodes.Block, nodes.Name),
    nodes.Assign: (nodes.NSRef,),
}
# whose children are asked for but for some
_IN_PARTS = frozenset([nodes.For, nodes.CallBlock])
_OPERATORS = frozenset(
    "add sub mul div floordiv mod pow tilde eq ne gt gteq lt lteq".split()  # types of tokens
)
_WORDS = frozenset(["and", "else", "if", "in", "is", "not", "or"])
_ENDS = frozenset(["assign", "block_end", "colon", "comma", "semicolon", "variable_end"])
_OPENING = frozenset(["lbrace", "lbracket", "lparen"])
_CLOSING = frozenset(["rbrace", "rbracket", "rparen"])
# of the rules for what stands in a tag, in Jinja's order
_RULES = ["whitespace", "float", "integer", "name", "string", "operator"]


def quick_lexer(environment: Any) -> Lexer:
    """Jinja's lexer of an environment, which tries what is frequent first: no two of its rules
    match at the same place.
    """
    made = Lexer(environment)
    for state, end in (
        ("block_begin", environment.block_end_string),
        ("variable_begin", environment.variable_end_string),
    ):
        last, *rules = made.rules[state]
        if [rule.tokens for rule in rules] == _RULES and re.match(r"[^\w\s'\"]", end):
            space, decimal, integer, name, string, operator = rules
            word = name._replace(pattern=re.compile(rf"(?!\d){name.pattern.pattern}"))
            made.rules[state] = [space, word, last, operator, string, decimal, integer, name]
    return made


class TokenParser(Parser):
    """Jinja's parser for tokens that are there already."""

    uses: Uses = None  # of what was parsed

    def __init__(self, environment: Any, tokens: list[Token], name: str, file: str) -> None:
        super().__init__(environment, "", name, file)
        self.stream = TokenStream(iter(tokens), name, file)
        self._tokens = tokens  # whose ids are these
        self._operands = _operands(tokens)

    def parse_condexpr(self) -> nodes.Expr:
        if id(self.stream.current) in self._operands:
            return self.parse_unary()
        return super().parse_condexpr()

    def parse_or(self) -> nodes.Expr:
        if id(self.stream.current) in self._operands:
            return self.parse_unary()
        return super().parse_or()

    def parse(self) -> nodes.Template:
        tree = nodes.Template(self.subparse(), lineno=1)
        walk = _Walk()
        walk.through(tree)
        self.uses = walk.seen.uses()
        return tree

    def parse_primary(self, *arguments: Any, **named: Any) -> nodes.Expr:
        token = self.stream.current
        node = super().parse_primary(*arguments, **named)
        return (
            nodes.Const(token.value, lineno=token.lineno)
            if isinstance(token.value, Lifted)
            else node
        )


def _operands(tokens: list[Token]) -> set[int]:
    """The tokens, by their ids, from which on an expression has no operator up to its end."""
    found = set()
    has_operator = False
    around: list[bool] = []  # the same of what is around the brackets
    for token in reversed(tokens):
        kind = token.type
        if kind in _CLOSING:
            around.append(has_operator)
            has_operator = False
        elif kind in _OPENING:
            has_operator = around.pop() if around else True
            if not has_operator:
                found.add(id(token))
        elif kind in _ENDS:
            has_operator = False
        elif kind in _OPERATORS or (kind == "name" and token.value in _WORDS):
            has_operator = True
        elif not has_operator:
            found.add(id(token))
    return found


class _Walk:
    """One walk through a tree, which leaves in its nodes what is found below them."""

    def __init__(self) -> None:
        self.seen = Seen()
        self._found: dict[type[nodes.Node], list[nodes.Node]] = {
            kind: [] for kinds in _ASKED.values() for kind in kinds
        }

    def through(self, node: nodes.Node) -> bool:
        """Look at all below a node; return whether there is more than texts and numbers."""
        kind = type(node)
        self.seen.see(node)
        if kind in _SILENT_LEAVES:
            return False
        if (found := self._found.get(kind)) is not None:
            found.append(node)
        if kind in _NAMES:
            node.iter_child_nodes = _none  # type: ignore[method-assign]
            return True
        asked = [(kind, len(self._found[kind])) for kind in _ASKED.get(kind, ())]
        speaking = [child for child in _children(node) if self.through(child)]
        if kind not in _IN_PARTS:  # symbols, dependencies and names are looked for through it
            node.iter_child_nodes = speaking.__iter__  # type: ignore[method-assign, assignment]
        if asked:
            below = {kind: self._found[kind][start:] for kind, start in asked}
            node.find_all = partial(_find_all, node, below)  # type: ignore[method-assign, assignment]
        return bool(speaking) or kind is not nodes.Output


def _children(node: nodes.Node) -> list[nodes.Node]:
    children = []
    values = node.__dict__
    for field in node.fields:
        value = values.get(field)
        if isinstance(value, nodes.Node):
            children.append(value)
        elif isinstance(value, list):
            children += [item for item in value if isinstance(item, nodes.Node)]
    return children


def _none(exclude: Any = None, only: Any = None) -> Any:
    return iter(())


def _find_all(
    node: nodes.Node, below: dict[Any, list[nodes.Node]], kind: Any
) -> Iterable[nodes.Node]:
    found = below.get(kind)
    return nodes.Node.find_all(node, kind) if found is None else found
