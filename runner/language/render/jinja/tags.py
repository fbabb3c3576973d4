# SPDX-License-Identifier: Apache-2.0
"""Salt's own Jinja tags: import_yaml, import_json, import_text, load_yaml, load_json, load_text,
profile.
"""

from __future__ import annotations

import logging
import time

from jinja2 import nodes
from jinja2.ext import Extension
from jinja2.parser import Parser

from runner.language.render.renderers.files import load_json
from runner.support.yaml import load
from runner.support.yaml.rendered_text import Pieces, Rendered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

IMPORTS = ("import_yaml", "import_json", "import_text")
LOADS = ("load_yaml", "load_json", "load_text")


class SaltTags(Extension):
    """Parses the tags to plain assignments, so that scope and exports are Jinja's own."""

    tags = {*IMPORTS, *LOADS, "profile"}

    def parse(self, parser: Parser) -> list[nodes.Node]:
        token = next(parser.stream)
        if token.value == "profile":
            made = self._profile(parser, token.lineno)
        else:
            make = self._import if token.value in IMPORTS else self._load
            made = make(parser, token.value, token.lineno)
        return [node.set_lineno(token.lineno) for node in made]

    def _import(self, parser: Parser, tag: str, line: int) -> list[nodes.Node]:
        template = parser.parse_expression()
        parser.stream.expect("name:as")
        target = parser.parse_assign_target()
        module = f"_imported_{line}"
        imported = nodes.Import(template, module, False, lineno=line)
        parser.parse_import_context(imported, False)
        if not imported.with_context:
            named: list[nodes.Expr] = [nodes.Const(tag), template, _own_name()]
            return [
                nodes.Assign(target, self.call_method("_read", named, lineno=line), lineno=line)
            ]
        arguments: list[nodes.Expr] = [nodes.Const(tag), nodes.Name(module, "load")]
        return [
            imported,
            nodes.Assign(
                target, self.call_method("_imported", arguments, lineno=line), lineno=line
            ),
        ]

    def _load(self, parser: Parser, tag: str, line: int) -> list[nodes.Node]:
        parser.stream.expect("name:as")
        target = parser.parse_assign_target(with_tuple=True)
        body = parser.parse_statements(("name:endload",), drop_needle=True)
        text = f"_loaded_{line}"
        block = nodes.AssignBlock(nodes.Name(text, "store"), None, body, lineno=line)
        arguments: list[nodes.Expr] = [nodes.Const(tag), nodes.Name(text, "load")]
        return [
            block,
            nodes.Assign(target, self.call_method("_loaded", arguments, lineno=line), lineno=line),
        ]

    def _profile(self, parser: Parser, line: int) -> list[nodes.Node]:
        parser.stream.expect("name:as")
        label = parser.parse_expression()
        body = parser.parse_statements(("name:endprofile",), drop_needle=True)
        timer = f"_profile_{line}"
        start = nodes.Assign(
            nodes.Name(timer, "store"), self.call_method("_started", []), lineno=line
        )
        end = nodes.ExprStmt(
            self.call_method("_ended", [label, nodes.Name(timer, "load")]), lineno=line
        )
        return [start, *body, end]

    # -------------------------------------------------- called while rendering

    def _read(self, tag: str, name: Any, parent: str | None) -> Any:
        """An import without context; a file without Jinja in it is read as it is."""
        environment: Any = self.environment
        verbatim = environment.verbatim(name, parent) if isinstance(name, str) else None
        if verbatim is not None:
            return verbatim.value(tag, _parsed)
        return self._imported(tag, environment.get_template(name, parent)._get_default_module())

    def _imported(self, tag: str, module: Any) -> Any:
        text = self.environment.concat(module._body_stream)
        return _parsed(tag, text, self.environment.file_of(module.__name__))  # type: ignore[attr-defined]

    def _loaded(self, tag: str, text: str) -> Any:
        return _parsed(tag, text, "<text>")

    def _started(self) -> float:
        return time.perf_counter()

    def _ended(self, label: str, start: float) -> None:
        seconds = time.perf_counter() - start
        logging.getLogger("runner.render").info(
            "Time (in seconds) to render block '%s': %s", label, seconds
        )


def _own_name() -> nodes.InternalName:
    """The variable of the code that holds the template's name."""
    # Jinja makes them only with a name of its own
    made: nodes.InternalName = object.__new__(nodes.InternalName)
    nodes.Node.__init__(made, "placed_name")
    return made


def _parsed(tag: str, text: str, file: str) -> Any:
    """The value of a rendered text. Raises RenderError with the place in it."""
    document = Rendered(str.__str__(text), file, text if isinstance(text, Pieces) else None)
    if tag.endswith("_text"):
        return document.text
    if tag.endswith("_json"):
        return load_json(document.text, document)
    return load.load_with(load.Apart, document.text, document)
