# SPDX-License-Identifier: Apache-2.0
"""Mistakes for other programs: SARIF, and the annotations of GitHub's CI."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from runner.model.diagnostics import Diagnostic
from runner.output.text import safe

PAGE = "docs/reference/checks.md"  # in runner's own documentation


def sarif(problems: Sequence[Diagnostic]) -> dict[str, Any]:
    """A SARIF 2.1.0 log."""
    codes = dict.fromkeys(problem.code for problem in problems)
    rules = [{"id": code, "helpUri": f"{PAGE}#{code}"} for code in codes]
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "runner", "rules": rules}},
                "results": [*map(_result, problems)],
            }
        ],
    }


def _file(path: str) -> str:
    """A path as CI wants it: from the folder of the checkout, where runner is started."""
    here = os.path.join(os.getcwd(), "")
    return path.removeprefix(here)


def _result(problem: Diagnostic) -> dict[str, Any]:
    text = problem.message + (f"\nHint: {problem.hint}" if problem.hint else "")
    level = problem.severity if problem.severity in ("error", "warning") else "note"
    entry: dict[str, Any] = {"ruleId": problem.code, "level": level, "message": {"text": text}}
    source = problem.source
    if source:
        region = {
            "startLine": max(source.line, 1),
            **({"startColumn": source.column} if source.column else {}),
        }
        place = {"artifactLocation": {"uri": _file(source.file)}, "region": region}
        entry["locations"] = [{"physicalLocation": place}]
    return entry


def github(problems: Sequence[Diagnostic]) -> str:
    """A workflow command for each."""
    return "\n".join(_command(problem) for problem in problems)


def _command(problem: Diagnostic) -> str:
    level = problem.severity if problem.severity in ("error", "warning") else "notice"
    where = ""
    if problem.source:
        where = f" file={_property(_file(problem.source.file))},line={max(problem.source.line, 1)}"
        where += f",col={problem.source.column}" if problem.source.column else ""
        where += f",title={_property(problem.code)}"
    text = problem.message + (f" ({problem.hint})" if problem.hint else "")
    return f"::{level}{where}::{_escaped(text)}"


def _escaped(text: str) -> str:
    """A text that cannot end its command, nor steer a terminal: a line that begins with `::` would
    be a command.
    """
    return safe(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """A text of a property, which ends at a comma, and its command at a colon."""
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")
