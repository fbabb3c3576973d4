"""Jinja's code generator with places: each piece of output is marked with its line."""

from __future__ import annotations

from typing import Any

from jinja2 import nodes
from jinja2.compiler import CodeGenerator, Frame

from runner.render.linemap import mark


class PlacedCodeGenerator(CodeGenerator):
    """Wraps every output in `environment.mark(value, name, line, literal)`."""

    _line = 0
    _including = 0  # the line of the include whose output is being passed on

    def visit_Output(self, node: nodes.Output, frame: Frame) -> None:
        for child in node.nodes:
            self._line = child.lineno
            super().visit_Output(nodes.Output([child], lineno=node.lineno), frame)

    def _output_child_to_const(self, node: nodes.Expr, frame: Frame, finalize: Any) -> str:
        """Only texts as typed are constants: a filter or a test is asked again in every run."""
        if not isinstance(node, nodes.TemplateData | nodes.Const):
            raise nodes.Impossible
        return super()._output_child_to_const(node, frame, finalize)

    def _output_const_repr(self, group: Any) -> str:
        text = super()._output_const_repr(group)
        return f"mark({text}, placed_file, {self._line}, True)"

    def _output_child_pre(self, node: nodes.Expr, frame: Frame, finalize: Any) -> None:
        self.write("mark((")  # mark makes a text of the value

    def _output_child_post(self, node: nodes.Expr, frame: Frame, finalize: Any) -> None:
        self.write(f"), placed_file, {node.lineno})")

    def visit_Include(self, node: nodes.Include, frame: Frame) -> None:
        self._including = node.lineno
        super().visit_Include(node, frame)
        self._including = 0

    def simple_write(self, s: str, frame: Frame, node: nodes.Node | None = None) -> None:
        if self._including and s == "event":
            s = f"environment.included(event, placed_file, {self._including})"
        super().simple_write(s, frame, node)

    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:
        self.write("environment.joined((")
        for part in node.nodes:
            self.visit(part, frame)
            self.write(", ")
        self.write("))")

    def visit_Template(self, node: nodes.Template, frame: Frame | None = None) -> None:
        self.writeline("mark = environment.mark")
        self.writeline(f"placed_file = environment.file_of({self.name!r})")
        super().visit_Template(node, frame)


__all__ = ["PlacedCodeGenerator", "mark"]
