# SPDX-License-Identifier: Apache-2.0
"""Rename an ID everywhere: its declarations, requisites, `extend`, `exclude` and chains, in all
files of the tree.

What a state is called stays: where it had its ID for a name, it gets `- name:`. The server checks
the renamed tree before it hands out the edits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import yaml

from runner.model.diagnostics import Diagnostic
from runner.model.errors import RunnerError
from runner.model.records import Record
from runner.tools.lsp import navigation
from runner.tools.lsp.analysis import Analysis
from runner.tools.lsp.documents import BOM, OpenDocument
from runner.tools.lsp.navigation import Spot
from runner.tools.lsp.outline import MADE, Declaration, DeclaredState, Span, masked
from runner.tools.lsp.project import Project, Texts

RESERVED = frozenset(["include", "extend", "exclude", "chain", "defaults"])


class TextEdit(Record):
    """New text for some characters of a file."""

    path: str
    span: Span
    text: str


def renamable(project: Project, document: OpenDocument, offset: int) -> tuple[str, Span]:
    """The ID at a place. Raises RunnerError where there is none, or a template makes it."""
    id_ = navigation.id_at(document.outline, offset)
    if id_ is None or not project.declares_states(document):
        raise RunnerError("only IDs and references to them can be renamed")
    name, span = id_
    if MADE in masked(document.text)[span.start : span.end]:
        raise RunnerError(f"{name} is made by the template: it cannot be renamed")
    return id_


async def rename(project: Project, document: OpenDocument, offset: int, new: str) -> list[TextEdit]:
    """The edits that rename the ID at a place. Raises RunnerError where that cannot be done."""
    old, _ = renamable(project, document, offset)
    await _refuse(project, old, new)
    edits = [
        TextEdit(spot.path, spot.span, _written(spot, new))
        for spot in await navigation.references(project, old)
    ]
    declared = False
    async for holder in project.documents():
        for declaration in holder.outline.declarations:
            if declaration.id.value == old and not declaration.extends:
                declared = True
                edits += _with_name(holder, declaration, old)
    if not declared:
        raise RunnerError(f"no text declares {old}: a template makes it, or nothing")
    return list(dict.fromkeys(edits))


async def _refuse(project: Project, old: str, new: str) -> None:
    """Raise RunnerError for a name that cannot be an ID here."""
    if not new.strip() or "\n" in new or "{{" in new or "{%" in new:
        raise RunnerError("an ID is a text in one line, without a template")
    if new in RESERVED or new.startswith("__"):
        raise RunnerError(f"{new!r} cannot be an ID")
    if new == old:
        return
    taken = await navigation.references(project, new)
    made = [declared for declared in project.analysis.declared if declared.id == new]
    if taken or made:
        path = taken[0].path if taken else made[0].file
        raise RunnerError(f"the ID {new!r} is taken: see {path}")


def _written(spot: Spot, new: str) -> str:
    """The new ID as it has to be written at a place."""
    if spot.span.kind == "'":
        return new.replace("'", "''")
    if spot.span.kind == '"':
        return new.replace("\\", "\\\\").replace('"', '\\"')
    return plain_or_quoted(new)


def plain_or_quoted(text: str) -> str:
    """A text as YAML reads it, in quotes where it needs them, also within brackets."""
    try:
        plain = yaml.safe_load(f"[{{{text}: {text}}}]") == [{text: text}]
    except yaml.YAMLError:
        plain = False
    return text if plain and text == text.strip() else "'" + text.replace("'", "''") + "'"


def _with_name(document: OpenDocument, declaration: Declaration, old: str) -> list[TextEdit]:
    """The edits that let the states of a declaration keep their name."""
    path, end, edits = document.path, document.line_end, []
    name = f"name: {plain_or_quoted(old)}"
    for state in declaration.states:
        if state.named:
            continue
        if declaration.short:
            text = f"{end}  {state.function}:{end}    - {name}"
            start = _after_colon(document, declaration.id.end)
            edits.append(TextEdit(path, Span(start, state.key.end, ""), text))
        elif state.items:
            start = state.items.start
            margin = " " * (start - document.starts[document.line_of(start)])
            edits.append(TextEdit(path, Span(start, start, ""), f"- {name}{end}{margin}"))
        else:
            edits.append(_first_argument(document, state, name))
    return edits


def _first_argument(document: OpenDocument, state: DeclaredState, name: str) -> TextEdit:
    """The edit for a state without a list of its own lines: `test.nop:`, `test.nop: []`,
    `file: managed`.
    """
    after = _after_colon(document, state.key.end)
    line = document.line_of(after)
    written = document.line(line)
    rest = written[after - document.starts[line] :].split(" #")[0].rstrip()
    own = rest.strip()
    if own.startswith("[") and own.endswith("]"):
        inner = own[1:-1].strip()
        text = f" [{{{name}}}{', ' if inner else ''}{inner}]"
    else:
        margin = document.line_end + " " * (len(written) - len(written.lstrip()) + 2)
        text = "".join(f"{margin}- {item}" for item in (own, name) if item)
    return TextEdit(document.path, Span(after, after + len(rest), ""), text)


def _after_colon(document: OpenDocument, offset: int) -> int:
    return document.text.index(":", offset) + 1


# ---------------------------------------------------------------- tried before it is done


def applied(texts: Texts, edits: list[TextEdit]) -> dict[str, str]:
    """The texts of the files with the edits in them."""
    made: dict[str, str] = {}
    for path in dict.fromkeys(edit.path for edit in edits):
        document = texts.get(path)
        text = document.text if document else ""
        own = [edit for edit in edits if edit.path == path]
        for edit in sorted(own, key=lambda edit: -edit.span.start):
            text = text[: edit.span.start] + edit.text + text[edit.span.end :]
        made[path] = text.removeprefix(BOM)
    return made


def refuse_changed_meaning(before: Analysis, after: Analysis, notes: Sequence[Diagnostic]) -> None:
    """Raise RunnerError unless a renamed tree has the same states, and no mistake more."""
    if notes:
        raise RunnerError(f"the rename cannot be tried: {notes[0].message}")
    counted = Counter(problem.code for problem in before.problems if problem.severity == "error")
    for problem in after.problems:
        if problem.severity == "error":
            counted[problem.code] -= 1
            if counted[problem.code] < 0:
                raise RunnerError(f"the rename would be a mistake: {problem.message}")
    if _states(before) != _states(after):
        raise RunnerError("the rename would change what the states do, or depend on")


def _states(analysis: Analysis) -> Counter[tuple[str, ...]]:
    """Return what the states of a tree are, and what they depend on, whatever their IDs are."""
    return Counter(
        (declared.name, declared.function, declared.sls, *sorted(declared.requisites))
        for declared in analysis.declared
    )
