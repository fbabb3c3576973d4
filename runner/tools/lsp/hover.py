# SPDX-License-Identifier: Apache-2.0
"""What is said about what stands at a place, as Markdown."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from runner.engine.loader import module_sources
from runner.model.errors import RunnerError
from runner.model.global_arguments import DOCUMENTED
from runner.output.manual import language, pages, text
from runner.tools.lsp.documents import OpenDocument
from runner.tools.lsp.navigation import PlacedThing, declarations, thing_at
from runner.tools.lsp.outline import DeclaredState, OutlineArgument, Reference, Span
from runner.tools.lsp.project import Project


async def hover(project: Project, document: OpenDocument, offset: int) -> tuple[str, Span] | None:
    """The Markdown, and what it is about."""
    thing = thing_at(document.outline, offset)
    if thing is None:
        return None
    words = await _words(project, document, thing)
    return (words, thing.span) if words else None


async def _words(project: Project, document: OpenDocument, thing: PlacedThing) -> str:
    value, written = thing.value, thing.span.value
    if isinstance(value, DeclaredState):
        return _page(project, "states", value.function)
    if isinstance(value, OutlineArgument):
        return _argument(project, value)
    if isinstance(value, Reference) and value.state != "sls":
        spots = await declarations(project, written, value.state)
        lines = [f"- {_place(project, spot.path, spot.span)}" for spot in spots]
        about = f"`{value.state}: {written}`" if value.state not in ("", "id") else f"`{written}`"
        return "\n".join([f"{about} is declared in", "", *lines] if lines else [])
    match thing.kind:
        case "reference" | "include":
            return _file(project, project.included(document, written))
        case "import":
            return _file(project, project.imported(document, written))
        case "file":
            env = project.env_of(document.path)
            return _file(project, project.session.tree.find(written, env))
        case "call":
            return _page(project, "modules", written)
        case "key":
            return _key(project, written)
    return ""


def _page(project: Project, kind: str, function: str) -> str:
    """The manual page of a function; of the tree's own, what its source says."""
    registry = project.session.registry
    module, _, name = function.partition(".")
    sources = registry.sources(kind, module)
    if sources:
        own = [made for made in module_sources.functions(sources) if made.name == name]
        return "\n\n".join(
            f"## {function}\n\n{made.about}\n\nArguments: {', '.join(made.arguments)}"
            for made in own
        )
    page = pages.state_page if kind == "states" else pages.function_page
    try:
        return text.as_markdown([page(registry, function)])
    except RunnerError as error:
        return error.hint or ""


def _argument(project: Project, argument: OutlineArgument) -> str:
    name = argument.name.value
    listed: tuple[pages.Argument, ...] = ()
    if not project.session.registry.sources("states", argument.function.partition(".")[0]):
        try:
            listed = pages.state_page(project.session.registry, argument.function).arguments
        except RunnerError:
            listed = ()
    for known in listed:
        if known.name == name:
            kind = f" ({known.type})" if known.type else ""
            default = f" Default: `{known.default}`." if known.default else ""
            return f"**{name}**{kind}: {known.description}{default}"
    if name in language.names():
        return language.page(name)
    return f"**{name}**: {DOCUMENTED[name].description}" if name in DOCUMENTED else ""


def _key(project: Project, written: str) -> str:
    """Return what the last check knows of a key of the pillar or the grains: never its value, which
    may be a secret.
    """
    kind, *steps = written.split(":")
    keys: Any = project.analysis.pillar if kind == "pillar" else project.analysis.grains
    for step in steps:
        if not isinstance(keys, Mapping) or step not in keys:
            return f"`{':'.join(steps)}`: this machine's {kind} has no such key"
        keys = keys[step]
    below = ", ".join(f"`{key}`" for key in keys) if isinstance(keys, Mapping) else ""
    return f"`{':'.join(steps)}` of the {kind}" + (f", with the keys {below}" if below else "")


def _file(project: Project, path: str | None) -> str:
    return f"`{os.path.relpath(path, project.folder)}`" if path else ""


def _place(project: Project, path: str, span: Span) -> str:
    document = project.document(path)
    line = document.line_of(span.start) + 1 if document else 1
    return f"`{os.path.relpath(path, project.folder)}`, line {line}"
