"""JUnit's XML, for CI systems that show test results: a state is a test case."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from runner.model.diagnostics import Diagnostic
from runner.model.result import Report, Result


def text(report: Report) -> str:
    """The whole document."""
    failures = sum(result.result is False and result.ran for result in report.results)
    skipped = sum(not result.ran for result in report.results)
    seconds = sum(result.duration for result in report.results) / 1000
    counts = (
        f'tests="{len(report.results)}" failures="{failures}" errors="0" skipped="{skipped}"'
        f' time="{seconds:.3f}"'
    )
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f'<testsuite name="runner" {counts}>']
    for result in report.results:
        lines += _case(result)
    return "\n".join([*lines, "</testsuite>"])


def errors(problems: Iterable[Diagnostic]) -> str:
    """The document of a run that ran no state: each mistake is a test case that is in error."""
    problems = [problem for problem in problems if problem.severity == "error"]
    counts = (
        f'tests="{len(problems)}" failures="0" errors="{len(problems)}" skipped="0" time="0.000"'
    )
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f'<testsuite name="runner" {counts}>']
    for problem in problems:
        where = (
            f' file={_quoted(problem.source.file)} line="{problem.source.line}"'
            if problem.source
            else ""
        )
        message = _quoted(problem.message.split("\n")[0])
        lines.append(
            f'  <testcase classname="runner" name={_quoted(problem.code)}{where} time="0.000">'
        )
        lines.append(
            f'    <error type="{problem.code}" message={message}>{_escaped(str(problem))}</error>'
        )
        lines.append("  </testcase>")
    return "\n".join([*lines, "</testsuite>"])


def _case(result: Result) -> Iterator[str]:
    chunk = result.chunk
    name = chunk.id if chunk.id == chunk.name else f"{chunk.id} ({chunk.name})"
    place = chunk.place.source
    about = f"classname={_quoted(f'{chunk.sls}.{chunk.function}')} name={_quoted(name)}"
    about += f' file={_quoted(place.file)} line="{place.line}" time="{result.duration / 1000:.3f}"'
    inside = _inside(result)
    yield f"  <testcase {about}>" if inside else f"  <testcase {about}/>"
    if inside:
        yield f"    {inside}"
        yield "  </testcase>"


def _inside(result: Result) -> str:
    first = _quoted(result.comment.split("\n")[0])
    if not result.ran:
        return f"<skipped message={first}/>"
    if result.result is False:
        return f'<failure type="failed" message={first}>{_escaped(result.comment)}</failure>'
    if result.changes:
        import json

        changes = json.dumps(result.changes, indent=1, default=str)
        return f"<system-out>{_escaped(changes)}</system-out>"
    return ""


def _escaped(text: str) -> str:
    """Text without what XML cannot say."""
    from xml.sax.saxutils import escape

    return escape("".join(char if char in "\t\n" or char.isprintable() else "?" for char in text))


def _quoted(text: str) -> str:
    return '"' + _escaped(text).replace('"', "&quot;").replace("\n", "&#10;") + '"'
