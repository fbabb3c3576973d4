"""Salt's own Jinja tags: import_yaml, import_json, import_text, load_yaml, load_json, load_text, profile."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

from jinja2 import nodes
from jinja2.ext import Extension
from jinja2.parser import Parser
from jinja2.runtime import Context

IMPORTS = ("import_yaml", "import_json", "import_text")
LOADS = ("load_yaml", "load_json", "load_text")


class SaltTags(Extension):
    """Parses the tags to plain assignments, so that scope and exports are Jinja's own."""

    tags = {*IMPORTS, *LOADS, "profile"}

    def parse(self, parser: Parser) -> nodes.Node | list[nodes.Node]:
        token = next(parser.stream)
        if token.value in IMPORTS:
            return self._import(parser, token.value, token.lineno)
        if token.value == "profile":
            return self._profile(parser, token.lineno)
        return self._load(parser, token.value, token.lineno)

    def _import(self, parser: Parser, tag: str, line: int) -> nodes.Node:
        template = parser.parse_expression()
        parser.stream.expect("name:as")
        target = parser.parse_assign_target()
        name = nodes.ContextReference()
        arguments: list[nodes.Expr] = [nodes.Const(tag), name, template, nodes.Const(parser.name)]
        return nodes.Assign(target, self.call_method("_imported", arguments), lineno=line)

    def _load(self, parser: Parser, tag: str, line: int) -> list[nodes.Node]:
        parser.stream.expect("name:as")
        target = parser.parse_assign_target()
        body = parser.parse_statements(("name:endload",), drop_needle=True)
        assert isinstance(target, nodes.Name)
        read = nodes.Name(target.name, "load")
        return [
            nodes.AssignBlock(target, None, body, lineno=line),
            nodes.Assign(target, self.call_method("_loaded", [nodes.Const(tag), read]), lineno=line),
        ]

    def _profile(self, parser: Parser, line: int) -> list[nodes.Node]:
        parser.stream.expect("name:as")
        label = parser.parse_expression()
        body = parser.parse_statements(("name:endprofile",), drop_needle=True)
        timer = f"_profile_{line}"
        start = nodes.Assign(nodes.Name(timer, "store"), self.call_method("_started", []), lineno=line)
        end = nodes.ExprStmt(self.call_method("_ended", [label, nodes.Name(timer, "load")]), lineno=line)
        return [start, *body, end]

    # -------------------------------------------------- called while rendering

    def _imported(self, tag: str, context: Context, name: str, parent: str | None) -> Any:
        template = self.environment.get_template(name, parent, self.environment.globals)
        shared = template.new_context(context.get_all(), shared=True)
        text = self.environment.concat(template.root_render_func(shared))
        return _parser(tag)(str.__str__(text))

    def _loaded(self, tag: str, text: str) -> Any:
        return _parser(tag)(str.__str__(text))

    def _started(self) -> float:
        return time.perf_counter()

    def _ended(self, label: str, start: float) -> None:
        seconds = time.perf_counter() - start
        logging.getLogger("runner.render").info("Time (in seconds) to render block '%s': %s", label, seconds)


def _parser(tag: str) -> Callable[[str], Any]:
    if tag.endswith("_text"):
        return str
    if tag.endswith("_json"):
        import json

        return json.loads
    from runner.render.yaml import load_plain

    return load_plain
