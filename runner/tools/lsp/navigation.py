# SPDX-License-Identifier: Apache-2.0
"""Where things are declared, and where they are used."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator

from runner.model.records import Record
from runner.tools.lsp.documents import OpenDocument
from runner.tools.lsp.outline import (
    Declaration,
    DeclaredState,
    Outline,
    OutlineArgument,
    Reference,
    Span,
)
from runner.tools.lsp.project import Project

_WORD = re.compile(r"\w+")
_ENVIRONMENT = re.compile(r"^['\"]?([^\s'\"#:]+)['\"]?:", re.M)  # of a top file
_ENTRY = re.compile(
    r"(?:^\s*- +|[\[,]\s*)['\"]?(?P<sls>[^\s'\",:{}\[\]#]+)(?=['\"]?\s*(?:[,\]#]|$))"
)


class Spot(Record):
    """Some characters of a file."""

    path: str
    span: Span


class PlacedThing(Record):
    """What stands at a place. value: the Outline's entry for it."""

    kind: str  # reference, include, file, import, key, call, state, argument, declaration, macro
    span: Span
    value: Reference | OutlineArgument | DeclaredState | Declaration | None = None


def thing_at(outline: Outline, offset: int) -> PlacedThing | None:
    """The innermost thing at a place."""
    return next((thing for thing in _things(outline) if thing.span.holds(offset)), None)


def _things(outline: Outline) -> Iterator[PlacedThing]:
    yield from (PlacedThing("reference", ref.target, ref) for ref in outline.references)
    for kind, spans in (
        ("include", outline.includes),
        ("file", outline.files),
        ("import", outline.imports),
        ("key", outline.keys),
        ("call", outline.calls),
        ("macro", outline.macros),
    ):
        yield from (PlacedThing(kind, span) for span in spans)
    yield from (PlacedThing("argument", argument.name, argument) for argument in outline.arguments)
    for declaration in outline.declarations:
        yield from (PlacedThing("state", state.key, state) for state in declaration.states)
        yield PlacedThing("declaration", declaration.id, declaration)


def id_at(outline: Outline, offset: int) -> tuple[str, Span] | None:
    """The ID that stands at a place: declared, or referred to."""
    thing = thing_at(outline, offset)
    if thing is None or thing.kind not in ("reference", "declaration"):
        return None
    if isinstance(thing.value, Reference) and thing.value.state == "sls":
        return None
    return thing.span.value, thing.span


# ---------------------------------------------------------------- declared where


async def definitions(project: Project, document: OpenDocument, offset: int) -> list[Spot]:
    """The places where what stands at a place is declared."""
    if project.is_top(document):
        return _of_top(project, document, offset)
    thing = thing_at(document.outline, offset)
    if thing is None:
        return _macros(project, document, offset)
    if isinstance(thing.value, Reference):
        if thing.value.state == "sls":
            return _files(project.included(document, thing.span.value))
        return await declarations(project, thing.span.value, thing.value.state)
    match thing.kind:
        case "include":
            return _files(project.included(document, thing.span.value))
        case "import":
            return _files(project.imported(document, thing.span.value))
        case "file":
            env = project.env_of(document.path)
            return _files(project.session.tree.find(thing.span.value, env))
        case "declaration" | "macro":
            return [Spot(document.path, thing.span)]
        case "state" if isinstance(thing.value, DeclaredState):
            return _modules(project, "states", thing.value.function)
        case "call":
            return _modules(project, "modules", thing.span.value)
    return []


def _of_top(project: Project, document: OpenDocument, offset: int) -> list[Spot]:
    """The SLS files that an entry of a top file names."""
    tree, number = project.tree_of(document.path), document.line_of(offset)
    begin = document.starts[number]
    for entry in _ENTRY.finditer(document.line(number)):
        if entry.start("sls") <= offset - begin <= entry.end("sls"):
            above = _ENVIRONMENT.findall(document.text, 0, begin + entry.start("sls"))
            env = above[-1] if above else "base"
            named = fnmatch.filter(tree.sls_names(env), entry["sls"].removesuffix(".sls"))
            return [spot for name in named for spot in _files(tree.sls_path(name, env))]
    return []


def _files(path: str | None) -> list[Spot]:
    return [Spot(path, Span(0, 0, ""))] if path else []


def _modules(project: Project, kind: str, function: str) -> list[Spot]:
    """The file of a function of the tree's own."""
    paths = project.session.registry.sources(kind, function.partition(".")[0])
    for path in paths:
        document = project.document(path)
        name = function.partition(".")[2]
        match = document and re.search(rf"^def ({re.escape(name)}_?)\(", document.text, re.M)
        if match:
            return [Spot(path, Span(match.start(1), match.end(1), name))]
    return []


async def declarations(project: Project, name: str, state: str = "") -> list[Spot]:
    """Where an ID, or a state of that name, is declared; first in the texts, else where rendering
    made it.
    """
    spots: list[Spot] = []
    named: list[Spot] = []
    async for document in project.documents():
        for declaration in document.outline.declarations:
            if declaration.extends:
                continue
            states = [s for s in declaration.states if _is_of(s, state)]
            if declaration.id.value == name and (states or not declaration.states):
                spots.append(Spot(document.path, declaration.id))
            elif any(name in s.names for s in states):
                named.append(Spot(document.path, declaration.id))
    if spots or named:
        return spots or named
    made = [
        declared
        for declared in project.analysis.declared
        if name in (declared.id, declared.name)
        and (state in ("", "id") or declared.function.startswith(f"{state}."))
    ]
    for declared in made:
        holder = project.document(declared.file)
        if holder:
            start = holder.offset_of(declared.line, declared.column)
            spots.append(Spot(declared.file, Span(start, start, name)))
    return list(dict.fromkeys(spots))


def _is_of(state: DeclaredState, module: str) -> bool:
    return module in ("", "id") or state.function.partition(".")[0] == module


def _macros(project: Project, document: OpenDocument, offset: int) -> list[Spot]:
    """The macro whose name stands at a place, in this file or one that it imports."""
    word = word_at(document, offset)
    if word is None:
        return []
    documents = [document]
    for span in document.outline.imports:
        path = project.imported(document, span.value)
        imported = project.document(path) if path else None
        documents += [imported] if imported else []
    return [
        Spot(holder.path, macro)
        for holder in documents
        for macro in holder.outline.macros
        if macro.value == word.value
    ]


def word_at(document: OpenDocument, offset: int) -> Span | None:
    """The word at a place of a template's expression."""
    start = max(document.text.rfind("{{", 0, offset), document.text.rfind("{%", 0, offset))
    if start < 0 or re.search(r"[}%]\}", document.text[start:offset]):
        return None
    for match in _WORD.finditer(document.text, max(start, offset - 100), offset + 100):
        if match.start() <= offset <= match.end():
            return Span(match.start(), match.end(), match[0])
    return None


# ---------------------------------------------------------------- used where


async def references(project: Project, name: str, declared: bool = True) -> list[Spot]:
    """All mentions of an ID in the tree. declared: its declarations too."""
    spots: list[Spot] = []
    mentions: list[tuple[str, Spot]] = []
    modules = {"", "id"}
    async for document in project.documents():
        for declaration in document.outline.declarations:
            if declaration.id.value == name:
                modules |= {state.function.partition(".")[0] for state in declaration.states}
                if declared and not declaration.extends:
                    spots.append(Spot(document.path, declaration.id))
        mentions += (
            (reference.state, Spot(document.path, reference.target))
            for reference in document.outline.references
            if reference.target.value == name and reference.state != "sls"
        )
    # of another module it is the name of another state
    known = len(modules) > 2
    return [*spots, *(spot for module, spot in mentions if module in modules or not known)]


async def users(project: Project, path: str) -> list[Spot]:
    """The includes and requisites that name an SLS file."""
    spots: list[Spot] = []
    async for document in project.documents():
        named = [
            *document.outline.includes,
            *(ref.target for ref in document.outline.references if ref.state == "sls"),
        ]
        spots += (
            Spot(document.path, span)
            for span in named
            if project.included(document, span.value) == path
        )
    return spots
