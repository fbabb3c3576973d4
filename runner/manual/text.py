"""Pages of the manual for a terminal, and as Markdown."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
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


_KINDS = {"states": "States", "functions": "Execution functions"}
_OWN = "nothing takes its place; one of your own belongs in _states/ or _modules/ of the tree"


def missing(
    lacking: Mapping[str, Mapping[str, str | None]],
    partly: Mapping[str, Collection[str]],
    width: int = 80,
) -> str:
    """What Salt has and runner lacks, what the same advice is for together.

    partly: the modules whose functions are named one by one, by the same kinds; of others there is
    one line `module.*`.
    """
    lines = []
    for kind, advice in lacking.items():
        if advice:
            lines += [f"{_KINDS[kind]} of Salt that runner lacks, and what to write instead:", ""]
        by_advice: dict[str, list[str]] = {}
        for name, instead in advice.items():
            by_advice.setdefault(instead or _OWN, []).append(name)
        for instead in sorted(by_advice, key=lambda text: (text == _OWN, by_advice[text])):
            names = _shortened(by_advice[instead], partly[kind])
            lines += textwrap.wrap(
                ", ".join(names), width, initial_indent="  ", subsequent_indent="  "
            )
            lines += textwrap.wrap(
                instead, width, initial_indent="      -> ", subsequent_indent=" " * 9
            )
        lines += [""] if advice else []
    return "\n".join(lines) or "nothing: runner has them all\n"


def _shortened(names: Iterable[str], partly: Collection[str]) -> Iterator[str]:
    for module, group in groupby(names, key=lambda name: name.partition(".")[0]):
        of_module = list(group)
        whole = len(of_module) > 1 and module not in partly
        yield from [f"{module}.* ({len(of_module)})"] if whole else of_module


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
