# SPDX-License-Identifier: Apache-2.0
"""Edits that apply the hint of a diagnostic."""

from __future__ import annotations

import re
from collections.abc import Iterator

from runner.model.diagnostics import Diagnostic, items_written, likeness, names_suggested
from runner.model.records import Record
from runner.tools.lsp.documents import OpenDocument
from runner.tools.lsp.outline import Span

_TOKEN = re.compile(r"salt://[^\s'\"]+|[^\s'\"`:,\[\]{}()|]+(?:::?[^\s'\"`:,\[\]{}()|]+)*")
ALIKE = 0.5  # how much a word has to look like the one that was meant


class Fix(Record):
    """An edit of the file that a diagnostic is in. sure: it is all that the hint says."""

    title: str
    span: Span
    text: str
    sure: bool = True


def fixes(document: OpenDocument, problem: Diagnostic) -> list[Fix]:
    """All that the hint of a problem of this text lets an editor do."""
    source = problem.source
    if source is None or not 0 < source.line <= len(document.starts):
        return []
    made = [
        *_meant(document, problem, source.line - 1),
        *_written(document, problem, source.line - 1),
        *_included(document, problem),
    ]
    if problem.severity == "warning" and problem.code:
        made.append(_silenced(document, problem.code, source.line - 1))
    return made


def _meant(document: OpenDocument, problem: Diagnostic, line: int) -> Iterator[Fix]:
    """The word that was probably meant, in place of the one on the line that is most like it."""
    names = names_suggested(problem)
    for name in names:
        _, _, target = name.partition(": ")  # a requisite: `file: /etc/motd`
        for meant in filter(None, dict.fromkeys((name, target))):
            word = _most_like(document, problem.message, line, meant)
            if word:
                # below `test:` stands `- nop`
                _, _, function = meant.partition(f"{_function_above(problem.message, word.value)}.")
                text = function or meant
                yield Fix(f"Replace {word.value} by {text}", word, text, len(names) == 1)
                break


def _function_above(message: str, word: str) -> str:
    """The module of a function whose name alone stands on the line; else what is in no name."""
    module = re.search(rf"'(\w+)\.{re.escape(word)}'", message)
    return module[1] if module else "\0"


def _most_like(document: OpenDocument, message: str, line: int, meant: str) -> Span | None:
    """The word of a line that a message is about."""
    start = document.starts[line]
    words = [
        Span(start + match.start(), start + match.end(), match[0])
        for match in _TOKEN.finditer(document.line(line))
        if match[0].lstrip(".") in message and match[0] != meant
    ]

    def alike(word: Span) -> float:
        """Return how much; of the name of an SLS beside this one only its end is typed."""
        typed = word.value.lstrip(".")
        parts = meant.split(".")[-1 - typed.count(".") :] if typed != word.value else [meant]
        return likeness(typed, ".".join(parts))

    best = max(words, key=alike, default=None)
    return best if best and alike(best) >= ALIKE else None


def _written(document: OpenDocument, problem: Diagnostic, line: int) -> Iterator[Fix]:
    """The values that a hint writes out: `- mode: '0644'`."""
    written = items_written(problem)
    for key, value in written:
        before = rf"(?:^|[\s\-{{,'\"]){re.escape(key)}['\"]?:[ ]+"
        typed = re.search(
            before + r"(?P<value>[^\s#,\]}][^#,\]}]*?)(?=\s*(?:[#,\]}]|$))", document.line(line)
        )
        if typed and typed["value"] != value:
            start = document.starts[line]
            span = Span(start + typed.start("value"), start + typed.end("value"), typed["value"])
            yield Fix(f"Write {key}: {value}", span, value, len(written) == 1)


def _included(document: OpenDocument, problem: Diagnostic) -> Iterator[Fix]:
    """An include of the SLS that declares what is missing."""
    sls, end = problem.declared_in, document.line_end
    if not sls:
        return
    listed = re.search(r"^include:[ \t]*(?:#.*)?\r?\n(?P<dash>[ \t]*- )", document.text, re.M)
    if listed:
        at = listed.start("dash")
        yield Fix(f"Include {sls}", Span(at, at, ""), f"{listed['dash']}{sls}{end}")
    elif not re.search(r"^include:", document.text, re.M):
        begun = re.match(r"\ufeff?(?:#!.*\r?\n)?", document.text)
        at = begun.end() if begun else 0
        text = f"include:{end}  - {sls}{end}{end}"
        yield Fix(f"Include {sls}", Span(at, at, ""), text)


def _silenced(document: OpenDocument, code: str, line: int) -> Fix:
    """The comment that silences a warning."""
    text = document.line(line)
    known = re.search(r"# runner: ignore\[(?P<codes>[^\]]*)\]", text)
    start = document.starts[line]
    if known:
        at = start + known.end("codes")
        return Fix(f"Ignore {code} here", Span(at, at, ""), f", {code}", sure=False)
    at = start + len(text)
    return Fix(f"Ignore {code} here", Span(at, at, ""), f"  # runner: ignore[{code}]", sure=False)
