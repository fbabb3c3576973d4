# SPDX-License-Identifier: Apache-2.0
"""What the system says of a failure is told in its words, not as Python writes it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from command import ROOT, Machine

OF_SYSTEM = ("OSError", "TimeoutExpired")
OTHERS = {
    "modules/pkg/_ahead.py",  # asks for strerror itself
    "modules/pkg/_contents.py",
    "modules/messaging/redis/__init__.py",
    "runner/support/files/folder_syncs.py",
    "runner/tools/expectations/evaluation.py",
}


def _as_python_writes(path: Path) -> Iterator[int]:
    """The lines of a file where an error of the system becomes a text by itself."""
    for handler in ast.walk(ast.parse(path.read_text())):
        if not isinstance(handler, ast.ExceptHandler) or not handler.name or not handler.type:
            continue
        if not any(word in ast.unparse(handler.type) for word in OF_SYSTEM):
            continue
        for node in ast.walk(handler):
            written = isinstance(node, ast.FormattedValue) and node.conversion == -1
            value = node.value if written and isinstance(node, ast.FormattedValue) else None
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "str" and node.args:
                value = node.args[0]
            if isinstance(value, ast.Name) and value.id == handler.name:
                yield node.lineno


def test_no_error_of_the_system_is_told_as_python_writes_it() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for folder in ("runner", "modules", "states")
        for path in sorted((ROOT / folder).rglob("*.py"))
        if str(path.relative_to(ROOT)) not in OTHERS
        for line in _as_python_writes(path)
    ]
    assert not found, "write it with reason_of"


def test_a_program_that_cannot_be_started(machine: Machine) -> None:
    machine.program("age", "\x7fELF")
    message = "-----BEGIN AGE ENCRYPTED FILE-----\\nx\\n-----END AGE ENCRYPTED FILE-----"
    machine.write(
        pillar__top="base: {'*': [a]}\n",
        pillar__a=f'#!yaml|age\nsecret: "{message}"\n',
        a="a: {test.nop: []}\n",
    )
    said = machine("sls", "a", code=1).stderr
    assert "age does not work: age: Exec format error" in said and "Errno" not in said


def test_a_server_that_is_not_there(machine: Machine) -> None:
    words = ("http.query", "name=http://127.0.0.1:1/", "status=200")
    (result,) = machine.results("single", *words, code=2).values()
    assert result["comment"] == "Status 200 was not found. (Connection refused)"
