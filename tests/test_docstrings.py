# SPDX-License-Identifier: Apache-2.0
"""The examples in the docstrings of the library hold."""

import ast
import doctest
import importlib

import pytest
from command import ROOT

ILLUSTRATIONS = "runner/api/"  # its examples show states, which run only within the engine


def examples() -> list[tuple[str, str, str]]:
    """The module, the name and the docstring of all that has an example."""
    listed = []
    for package in ("runner", "modules", "states"):
        for path in sorted((ROOT / package).rglob("*.py")):
            place = str(path.relative_to(ROOT))
            if place.startswith(ILLUSTRATIONS) or ">>> " not in path.read_text():
                continue
            module = place.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module):
                    text = ast.get_docstring(node) or ""
                    if ">>> " in text:
                        listed.append((module, getattr(node, "name", ""), text))
    return listed


@pytest.mark.parametrize(("module", "name", "text"), examples())
def test_examples_hold(module: str, name: str, text: str) -> None:
    names = dict(vars(importlib.import_module(module)))
    example = doctest.DocTestParser().get_doctest(text, names, name, module, 0)
    report: list[str] = []
    doctest.DocTestRunner(verbose=False).run(example, out=report.append)
    assert example.examples
    assert "".join(report) == ""
