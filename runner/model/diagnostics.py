"""Diagnostics: one mistake in the user's input, with its place and hint."""

from __future__ import annotations

from collections.abc import Iterable

from runner.model.places import Source
from runner.model.records import Record


class Diagnostic(Record):
    """One mistake in the user's input."""

    message: str
    source: Source | None = None
    hint: str | None = None
    code: str = "error"
    severity: str = "error"  # error | warning
    subject: str = ""  # what the message is about, for those who know more of it
    # the SLS that could not be rendered (base:web); "pillar" or "pillar SLS" for the pillar's
    rendering: str = ""

    def __str__(self) -> str:
        text = self.message
        if self.source:
            text += f"\n  at {self.source}"
            for via in self.source.via:
                text += f"\n  called from {via}"
        if self.hint:
            text += f"\n  hint: {self.hint}"
        return text


def deduplicated(problems: Iterable[Diagnostic]) -> list[Diagnostic]:
    """One mistake, one error: what a loop or a macro repeats is told for the first time only, with
    a count.
    """
    found: dict[object, Diagnostic] = {}
    more: dict[object, int] = {}
    for problem in problems:
        source = problem.source
        if source is None or not source.line:
            found.setdefault(problem, problem)
            continue
        said = _said(problem)
        key = (problem.code, problem.severity, source.file, source.line, source.column, said)
        if key in found:
            more[key] = more.get(key, 0) + (problem != found[key])
        found.setdefault(key, problem)
    return [_counted(problem, more.get(key, 0)) for key, problem in found.items()]


def _said(problem: Diagnostic) -> str:
    """What tells two mistakes at one place apart, without the values that a loop gave."""
    if problem.code == "argument":
        return ":".join(problem.message.split(":")[:2])
    return problem.message if problem.code == "structure" else ""


def _counted(problem: Diagnostic, more: int) -> Diagnostic:
    return (
        problem._replace(message=f"{problem.message} (and {more} more from this line)")
        if more
        else problem
    )


def nearest(word: str, words: Iterable[str], alike: float = 0.6) -> str | None:
    """The word that was probably meant. alike: how much it has to look like it, from 0 to 1."""
    import difflib

    found = difflib.get_close_matches(word, words, 3, alike)
    swapped = (each for each in found if sorted(each) == sorted(word))  # letters in another order
    return next(swapped, found[0] if found else None)


def did_you_mean(word: str, words: Iterable[str], alike: float = 0.6) -> str | None:
    """The hint that names it; None when nothing is near."""
    near = nearest(word, words, alike)
    return f"did you mean {near}?" if near else None


def bug(error: BaseException) -> Diagnostic:
    """What a defect of runner's own says."""
    return Diagnostic(f"this is a bug in runner: {type(error).__name__}: {error}", code="bug")
