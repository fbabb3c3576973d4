# SPDX-License-Identifier: Apache-2.0
"""JUnit's XML, for CI systems that show test results: a state is a test case."""

from __future__ import annotations

import json
import xml.sax.saxutils
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from runner.model.diagnostics import Diagnostic
from runner.model.result import Report, Result
from runner.output.text import reason

if TYPE_CHECKING:
    from runner.tools.expectations.model import Outcome


def text(report: Report) -> str:
    """The whole document."""
    comment = f"Not run: {report.why}"  # of a run that was interrupted
    left = [Result(chunk, None, comment, ran=False) for chunk in report.left]
    results = [*report.results, *left]
    failures = sum(result.result is False and result.ran for result in results)
    skipped = sum(_is_skipped(result, report.dry) for result in results)
    seconds = sum(result.duration for result in results) / 1000
    counts = (
        f'tests="{len(results)}" failures="{failures}" errors="0" skipped="{skipped}"'
        f' time="{seconds:.3f}"'
    )
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f'<testsuite name="runner" {counts}>']
    for result in results:
        lines += _case(result, report.dry)
    return "\n".join([*lines, "</testsuite>"])


def undecided(comment: str, decided_by: str) -> str:
    """The message of a state whose outcome a dry run cannot know: such a test case is skipped."""
    first = comment.split("\n")[0]
    by = f" (decided by {decided_by})" if decided_by and decided_by not in comment else ""
    return f"undecided: {first}{by}"


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


def of_expectations(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """The lines of a suite: each assertion is a test case."""
    failures = sum(outcome.ok is False for outcome in outcomes)
    skipped = sum(outcome.ok is None for outcome in outcomes)
    yield (
        f'<testsuite name="expectations" tests="{len(outcomes)}" failures="{failures}" errors="0"'
        f' skipped="{skipped}">'
    )
    for outcome in outcomes:
        about = f"classname={_quoted(outcome.kind)}"
        about += f" name={_quoted(f'{outcome.name}: {outcome.word}')}"
        if outcome.source:
            about += f' file={_quoted(outcome.source.file)} line="{outcome.source.line}"'
        message = _quoted(outcome.problem)
        if outcome.ok is None:
            yield f"  <testcase {about}><skipped message={message}/></testcase>"
        elif outcome.ok:
            yield f"  <testcase {about}/>"
        else:
            yield f"  <testcase {about}>"
            place = f"{outcome}\nat {outcome.source}"
            yield f'    <failure type="failed" message={message}>{_escaped(place)}</failure>'
            yield "  </testcase>"
    yield "</testsuite>"


def of_second_run(changed: Mapping[str, str], states: Sequence[str]) -> Iterator[str]:
    """The lines of a suite: each state is a test case, and one that changed something again fails.

    changed: their comments, by the keys of Salt's JSON.
    """
    yield (
        f'<testsuite name="second run" tests="{len(states)}" failures="{len(changed)}" errors="0"'
        ' skipped="0">'
    )
    for key in states:
        kind, name, _, function = key.split("_|-", 3)
        about = f"classname={_quoted(f'{kind}.{function}')} name={_quoted(name)}"
        if key not in changed:
            yield f"  <testcase {about}/>"
            continue
        comment = changed[key]
        message = _quoted(f"not converged: {comment.splitlines()[0] if comment else ''}")
        yield f"  <testcase {about}>"
        yield f'    <failure type="changed" message={message}>{_escaped(comment)}</failure>'
        yield "  </testcase>"
    yield "</testsuite>"


def _is_skipped(result: Result, dry: bool) -> bool:
    return not result.ran or result.outcome(dry) == "undecided"


def _case(result: Result, dry: bool) -> Iterator[str]:
    chunk = result.chunk
    name = chunk.id if chunk.id == result.name else f"{chunk.id} ({result.name})"
    place = chunk.place.source
    about = f"classname={_quoted(f'{chunk.sls}.{chunk.function}')} name={_quoted(name)}"
    about += f' file={_quoted(place.file)} line="{place.line}" time="{result.duration / 1000:.3f}"'
    inside = _inside(result, dry)
    yield f"  <testcase {about}>" if inside else f"  <testcase {about}/>"
    if inside:
        yield f"    {inside}"
        yield "  </testcase>"


def _inside(result: Result, dry: bool) -> str:
    first = _quoted(reason(result.comment, result.changes, result.name).split("\n")[0])
    if _is_skipped(result, dry):
        is_open = result.outcome(dry) == "undecided"
        told = _quoted(undecided(result.comment, result.decided_by)) if is_open else first
        return f"<skipped message={told}/>"
    if result.result is False:
        return f'<failure type="failed" message={first}>{_escaped(result.comment)}</failure>'
    if result.changes:
        changes = json.dumps(result.changes, indent=1, default=str)
        return f"<system-out>{_escaped(changes)}</system-out>"
    return ""


def document(suites: Iterable[tuple[str, Sequence[str]]]) -> str:
    """The document of several suites: their names, and their cases as `case` writes them."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', "<testsuites>"]
    for name, cases in suites:
        counts = {
            attribute: sum(f"<{tag} " in text for text in cases)
            for attribute, tag in (
                ("failures", "failure"),
                ("errors", "error"),
                ("skipped", "skipped"),
            )
        }
        numbers = " ".join(f'{attribute}="{number}"' for attribute, number in counts.items())
        lines.append(f'<testsuite name={_quoted(name)} tests="{len(cases)}" {numbers}>')
        lines += [*cases, "</testsuite>"]
    return "\n".join([*lines, "</testsuites>"])


def case(
    suite: str, name: str, seconds: float, kind: str = "", comment: str = "", changes: object = None
) -> str:
    """A test case. kind: failure, error or skipped; empty for one that went well."""
    about = f'classname={_quoted(suite)} name={_quoted(name)} time="{seconds:.3f}"'
    first = _quoted(comment.split("\n")[0])
    if kind == "skipped":
        inside = f"<skipped message={first}/>"
    elif kind:
        inside = f'<{kind} type="failed" message={first}>{_escaped(comment)}</{kind}>'
    elif changes:
        inside = f"<system-out>{_escaped(json.dumps(changes, indent=1, default=str))}</system-out>"
    else:
        return f"  <testcase {about}/>"
    return f"  <testcase {about}>\n    {inside}\n  </testcase>"


def _escaped(text: str) -> str:
    """Text without what XML cannot say."""
    return xml.sax.saxutils.escape(
        "".join(char if char in "\t\n" or char.isprintable() else "?" for char in text)
    )


def _quoted(text: str) -> str:
    return '"' + _escaped(text).replace('"', "&quot;").replace("\n", "&#10;") + '"'
