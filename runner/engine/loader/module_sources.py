# SPDX-License-Identifier: Apache-2.0
"""The functions of a tree's modules, as their source has them: nothing in them is executed. For
completion.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import Any

from runner.engine.loader.builtin import virtual_name
from runner.model.records import Record
from runner.support.files.text import text_to_show


class Offered(Record):
    """A function of a module. about: the first line of its docstring."""

    name: str
    about: str
    arguments: tuple[str, ...]


def functions(paths: Iterable[str]) -> Iterator[Offered]:
    """The functions that the files of a module define for users."""
    for path in paths:
        body = _body(path)
        listed = _literal(body, "__load__") or _literal(body, "__all__")
        aliases = _literal(body, "__func_alias__") or {}
        for statement in body:
            if not isinstance(statement, ast.FunctionDef) or statement.name.startswith("_"):
                continue
            if isinstance(listed, list | tuple) and statement.name not in listed:
                continue
            name = aliases.get(statement.name) if isinstance(aliases, dict) else None
            about = (ast.get_docstring(statement) or "").split("\n")[0]
            yield Offered(
                str(name or virtual_name(statement.name)), about, tuple(_arguments(statement))
            )


def _body(path: str) -> list[ast.stmt]:
    try:
        return ast.parse(text_to_show(path)).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def _literal(body: list[ast.stmt], name: str) -> Any:
    """The value that is assigned to a name, where it is written out."""
    for statement in body:
        if isinstance(statement, ast.Assign) and any(
            isinstance(to, ast.Name) and to.id == name for to in statement.targets
        ):
            try:
                return ast.literal_eval(statement.value)
            except (ValueError, TypeError, RecursionError, MemoryError):
                return None
    return None


def _arguments(function: ast.FunctionDef) -> Iterator[str]:
    arguments = function.args
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        yield re.sub(r"(?<=\w)_$", "", argument.arg)
