# SPDX-License-Identifier: Apache-2.0
"""Salt's JSON: `{"local": {tag: result}}`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from json.encoder import encode_basestring_ascii as _quoted
from typing import Any

from runner.model.diagnostics import Diagnostic
from runner.model.plain_values import key_of, plain
from runner.model.result import Report, Result
from runner.output.text import reason


def result(item: Result) -> dict[str, Any]:
    """One result with Salt's keys. `__state_ran__` is there (false) only where a requisite kept it
    from running.
    """
    data: dict[str, Any] = {
        "name": item.name,
        "changes": item.changes,
        "result": item.result,
        "comment": item.comment,
        **item.extra,
    }
    if item.ran and item.chunk.args.get("parallel") and "skip_watch" not in item.extra:
        data["__parallel__"] = True
    if item.warnings:
        data["warnings"] = list(item.warnings)
    if not item.ran:
        data["__state_ran__"] = False
    data.update(
        __sls__=item.chunk.sls or None,
        __run_num__=item.run_num,
        start_time=item.start_time,
        duration=item.duration,
        __id__=item.key.split("_|-")[1] if item.key.count("_|-") == 3 else item.chunk.id,
    )
    if item.cause:
        data["__cause__"] = item.cause
    if item.noop:
        data["__noop__"] = True
    if item.origin in ("drift", "repeats"):
        data["__origin__"] = item.origin
    if item.decided_by:
        data["__decided_by__"] = item.decided_by
    if item.owed:
        data["__owed__"] = list(item.owed)
    return data


def report(run: Report) -> dict[str, Any]:
    """All results of a run, as Salt has them."""
    return {"local": {item.tag: result(item) for item in run}}


def summarised(run: Report) -> dict[str, Any]:
    """The same, and beside it what a person has to look at, where there is something: what failed,
    with its place, whose reactions are pending, and what an interrupted run did not come to.
    """
    failed = [
        {
            "state": item.tag,
            "place": str(item.chunk.place),
            "comment": reason(item.comment, item.changes, item.name),
        }
        for item in run
        if item.outcome(run.dry) == "failed"
    ]
    pending = [
        {"state": item.tag, "place": str(item.chunk.place), "reactions": list(item.owed)}
        for item in run
        if item.owed
    ]
    summary = {"failed": failed, "pending": pending}
    if run.left:
        summary["not_run"] = [{"state": it.tag, "place": str(it.place)} for it in run.left]
    return report(run) | ({"summary": summary} if any(summary.values()) else {})


def errors(problems: Iterable[Diagnostic]) -> dict[str, Any]:
    """The errors of compiling; warnings beside the errors are not what Salt's readers expect."""
    return {"local": [str(problem) for problem in problems if problem.severity == "error"]}


def value(answer: object) -> dict[str, Any]:
    """The answer of `show` and `call`."""
    return {"local": answer}


def diagnostics(problems: Iterable[Diagnostic]) -> dict[str, Any]:
    """The answer of `check`."""
    return {"diagnostics": [_diagnostic(problem) for problem in problems]}


def _diagnostic(problem: Diagnostic) -> dict[str, Any]:
    source = problem.source
    return {
        "severity": problem.severity,
        "code": problem.code,
        "message": problem.message,
        "file": source.file if source else None,
        "line": source.line if source else None,
        "column": source.column if source else None,
        "hint": problem.hint,
    }


def text(data: object, indent: int | None = None) -> str:
    """The JSON text, as Salt indents it (json.dumps with an indent is written in Python, and slow).

    indent: other than Salt's 4; negative for all on one line.
    """
    if indent is None:
        return _text(data, "\n")
    return json.dumps(plain(data), indent=None if indent < 0 else indent)


def _text(data: Any, line: str) -> str:
    """The JSON text of a value; line: a newline with the margin of the value's line."""
    kind = type(data)
    if kind is str:
        return _quoted(data)
    if kind is int and data.bit_length() < 10_000:
        return str(data)
    inner = line + "    "
    if isinstance(data, dict) or isinstance(data, Mapping):  # noqa: SIM101
        if not data:
            return "{}"
        written = [
            f"{_quoted(key if type(key) is str else key_of(key))}: "
            f"{_quoted(item) if type(item) is str else _text(item, inner)}"
            for key, item in data.items()
        ]
        return f"{{{inner}{f',{inner}'.join(written)}{line}}}"
    if hasattr(data, "_asdict"):
        return _text(data._asdict(), line)
    if kind is list or isinstance(data, list | tuple):
        return (
            f"[{inner}{f',{inner}'.join([_text(item, inner) for item in data])}{line}]"
            if data
            else "[]"
        )
    return (
        _text(plain(data), line) if isinstance(data, set | frozenset) else json.dumps(plain(data))
    )
