# SPDX-License-Identifier: Apache-2.0
"""Jinja's code generator with places: each piece of output is marked with its line.

What it makes depends on the shape of the template alone (shared_code.py): the name, the file and
its texts are given to the code when a template is made of it.
"""

from __future__ import annotations

from types import CodeType

from jinja2 import nodes
from jinja2.compiler import CodeGenerator, Frame

from runner.language.render.jinja.shared_code import Lifted
from runner.model.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Unit(Record):
    """A compiled template."""

    code: CodeType
    texts: tuple[tuple[str, int], ...]  # as typed, with their lines: `placed` in the code
    strings: tuple[str, ...]  # `given` in the code
    names: frozenset[str] | None  # in it; None where it is not repeatable whatever they are


class _Name(str):
    """The name of the template, which stands in the code as a variable."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "placed_name"


class _Verbatim(str):
    """A part of an f-string, in which braces are not doubled."""

    __slots__ = ()

    def replace(self, *_: Any) -> _Verbatim:
        return self


class PlacedCodeGenerator(CodeGenerator):
    """Wraps every output in `environment.mark(value, name, line)`; texts as typed are
    `placed[number]`.
    """

    _line = 0
    _including = 0  # the line of the include whose output is being passed on
    _importing = False
    _closing = ""  # of the mark of a block whose output is a value

    def __init__(self, environment: Any, name: str | None, *rest: Any, **options: Any) -> None:
        super().__init__(environment, _Name(name or "<template>"), *rest, **options)
        self._visitors: dict[type[nodes.Node], Any] = {}

    def get_visitor(self, node: nodes.Node) -> Any:
        if (found := self._visitors.get(type(node))) is None:
            found = self._visitors[type(node)] = super().get_visitor(node)
        return found

    def visit_Output(self, node: nodes.Output, frame: Frame) -> None:
        for child in node.nodes:
            self._line = child.lineno
            super().visit_Output(nodes.Output([child], lineno=node.lineno), frame)

    def _output_child_to_const(self, node: nodes.Expr, frame: Frame, finalize: Any) -> str:
        """Only texts as typed are constants: a filter or a test is asked again in every run."""
        if isinstance(node, nodes.TemplateData) and isinstance(node.data, Lifted):
            return node.data
        if not isinstance(node, nodes.TemplateData | nodes.Const) or isinstance(
            node.as_const(frame.eval_ctx), Lifted
        ):
            raise nodes.Impossible
        return super()._output_child_to_const(node, frame, finalize)

    def _output_const_repr(self, group: Any) -> str:
        (text,) = group
        return (
            f"placed[{text.number}]"
            if isinstance(text, Lifted)
            else f"mark({text!r}, placed_file, {self._line}, True)"
        )

    def _output_child_pre(self, node: nodes.Expr, frame: Frame, finalize: Any) -> None:
        self.write("mark((")  # mark makes a text of the value

    def _output_child_post(self, node: nodes.Expr, frame: Frame, finalize: Any) -> None:
        typed = ", True" if isinstance(node, nodes.Const) else ""
        self.write(f"), placed_file, {node.lineno}{typed})")

    def start_write(self, frame: Frame, node: nodes.Node | None = None) -> None:
        super().start_write(frame, node)
        if isinstance(node, nodes.FilterBlock | nodes.CallBlock):
            self.write("environment.marked((")
            self._closing = f"), placed_file, {node.lineno})"

    def end_write(self, frame: Frame) -> None:
        self.write(self._closing)
        self._closing = ""
        super().end_write(frame)

    def visit_Include(self, node: nodes.Include, frame: Frame) -> None:
        self._including = node.lineno
        super().visit_Include(node, frame)
        self._including = 0

    def visit_Assign(self, node: nodes.Assign, frame: Frame) -> None:
        """`set a.b` looks at `a` before Jinja says on which line it is."""
        self.newline(node)
        super().visit_Assign(node, frame)

    def visit_FromImport(self, node: nodes.FromImport, frame: Frame) -> None:
        self._importing = True
        super().visit_FromImport(node, frame)
        self._importing = False

    def visit_CondExpr(self, node: nodes.CondExpr, frame: Frame) -> None:
        importing, self._importing = self._importing, False
        super().visit_CondExpr(node, frame)
        self._importing = importing

    def position(self, node: nodes.Node) -> str:
        """`line 3 in 'web.sls'`, for the text in which it is to stand: an f-string, or one in
        double quotes.
        """
        if self._importing:
            return _Verbatim(f"line {node.lineno} in {{placed_name!r}}")
        return f'line {node.lineno} in " + repr(placed_name) + "'

    def simple_write(self, s: str, frame: Frame, node: nodes.Node | None = None) -> None:
        if self._including and s == "event":
            s = f"environment.included(event, placed_file, {self._including})"
        super().simple_write(s, frame, node)

    def visit_Const(self, node: nodes.Const, frame: Frame) -> None:
        if isinstance(node.value, Lifted):
            self.write(f"given[{node.value.number}]")
        else:
            super().visit_Const(node, frame)

    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:
        self.write("environment.joined((")
        for part in node.nodes:
            self.visit(part, frame)
            self.write(", ")
        self.write("))")
