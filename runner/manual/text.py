"""Pages of the manual for a terminal, and as Markdown."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from runner.manual.pages import Argument, Page


def contents(states: Mapping[str, Sequence[str]], modules: Iterable[str], width: int = 80) -> str:
    """All that there is a page of."""
    lines = ["States (`runner doc file.managed` shows the page of one):"]
    column = max(len(module) for module in states) + 4
    for module, names in states.items():
        begin = f"  {module}".ljust(column)
        lines.append(
            textwrap.fill(
                ", ".join(names), width, initial_indent=begin, subsequent_indent=" " * column
            )
        )
    lines += [
        "",
        "`runner doc arguments` shows what every state takes.",
        "",
        "Modules for templates and `runner call`:",
    ]
    lines.append(
        textwrap.fill(", ".join(modules), width, initial_indent="  ", subsequent_indent="  ")
    )
    return "\n".join(lines) + "\n"


def as_data(page: Page) -> dict[str, Any]:
    """For programs."""
    return page._asdict() | {"arguments": [argument._asdict() for argument in page.arguments]}


def as_text(pages: Iterable[Page], width: int = 80) -> str:
    """For a terminal of so many columns."""
    return "\n".join("\n".join(_lines(page, min(width, 100))) + "\n" for page in pages)


def _lines(page: Page, width: int) -> Iterator[str]:
    def wrapped(text: str, indent: int = 2) -> list[str]:
        return textwrap.wrap(
            text, width, initial_indent=" " * indent, subsequent_indent=" " * indent
        )

    yield f"{page.name}  ({page.kind})"
    for text in (page.summary, *page.before):
        yield ""
        yield from wrapped(text)
    for example in page.examples:
        yield ""
        yield from textwrap.indent(example, "      ").split("\n")
    for text in page.after:
        yield ""
        yield from wrapped(text)
    if page.arguments:
        yield ""
        yield "  Arguments:"
    for description, group in groupby(page.arguments, key=lambda argument: argument.description):
        for kind, alike in groupby(group, key=_kind):
            yield from wrapped(f"{', '.join(argument.name for argument in alike)} ({kind})", 4)
        yield from wrapped(description, 8)
    if page.notes:
        yield ""
    for note in page.notes:
        yield from wrapped(note)


def _kind(argument: Argument) -> str:
    default = (
        "required"
        if argument.default is None
        else f"default {argument.default}"
        if argument.default
        else ""
    )
    kind = "" if argument.type == "anything" and default else argument.type
    return ", ".join(part for part in (kind, default) if part)


def as_markdown(pages: Iterable[Page]) -> str:
    """For the web."""
    return "\n".join("\n".join(_markdown(page)) + "\n" for page in pages)


def _markdown(page: Page) -> Iterator[str]:
    yield f"## {page.name}"
    for text in (page.summary, *page.before):
        yield f"\n{_plain(text)}"
    for example in page.examples:
        language = "jinja" if "{{" in example or "{%" in example else "yaml"
        yield f"\n```{language}\n{example}\n```"
    for text in page.after:
        yield f"\n{_plain(text)}"
    if page.arguments:
        yield "\n| argument | type | default | |\n|---|---|---|---|"
    for argument in page.arguments:
        default = "*required*" if argument.default is None else _code(argument.default)
        cells = (f"`{argument.name}`", argument.type, default, _plain(argument.description))
        yield f"| {' | '.join(map(_cell, cells))} |"
    for number, note in enumerate(page.notes):
        text = f"`{note}`" if note.startswith("runner call ") else _plain(note)
        yield ("\n" if not number else "") + f"- {text}"


def _code(text: str) -> str:
    return text if text in ("", "the ID") else f"`{text}`"


def _plain(text: str) -> str:
    """Text that Markdown leaves as it is, outside of backticks."""
    parts = text.split("`")
    marks = ("*", "_", "<", "[")
    for index in range(0, len(parts), 2):
        for mark in marks:
            parts[index] = parts[index].replace(mark, f"\\{mark}")
    return "`".join(parts)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
