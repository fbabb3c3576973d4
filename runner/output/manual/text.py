# SPDX-License-Identifier: Apache-2.0
"""Pages of the manual for a terminal, and as Markdown."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from runner.output.manual import language
from runner.output.manual.pages import Argument, Page

if TYPE_CHECKING:
    from runner.tools.queries.search import Answer


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
    more = (
        "`runner doc arguments` shows what every state takes, `runner doc config` the keys of the"
        " configuration.",
        f"Words of the language: {', '.join(language.pages())}.",
    )
    for text in more:
        lines += ["", *textwrap.wrap(text, width, subsequent_indent="  ")]
    lines += ["", "Modules for templates and `runner call`:"]
    lines.append(
        textwrap.fill(", ".join(modules), width, initial_indent="  ", subsequent_indent="  ")
    )
    return "\n".join(lines) + "\n"


def found(answer: Answer, width: int = 80) -> str:
    """What a search found. width: of the terminal."""
    if answer.instead:
        lines = [f"No page is called {answer.words}. About {answer.instead}:"]
    else:
        lines = [f"About {answer.words}:"]
    if answer.hint:
        lines += ["", *textwrap.wrap(answer.hint, width)]
    names = [
        f"config {entry.name}" if entry.kind == "key" else entry.name for entry in answer.entries
    ]
    column = max(map(len, names), default=0) + 2
    lines += ["" for _ in names[:1]]
    for name, entry in zip(names, answer.entries, strict=True):
        line = f"  {name:<{column}}{entry.about}"
        lines.append(line if len(line) < width else f"{line[: width - 2]}…")
    pages = "`runner doc NAME` shows a page; those below docs/ are the documents of runner."
    return "\n".join([*lines, "", *textwrap.wrap(pages, width)]) + "\n"


_KINDS = {
    "states": "States",
    "functions": "Execution functions",
    "arguments": "Arguments of states",
}
_OWN = "nothing takes its place; one of your own belongs in _states/ or _modules/ of the tree"


def missing(
    lacking: Mapping[str, Mapping[str, str | None]],
    partly: Mapping[str, Collection[str]],
    width: int = 80,
) -> str:
    """Return what Salt has and runner lacks, what the same advice is for together.

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
            names = _shortened(by_advice[instead], partly.get(kind))
            lines += textwrap.wrap(
                ", ".join(names), width, initial_indent="  ", subsequent_indent="  "
            )
            lines += textwrap.wrap(
                instead, width, initial_indent="      -> ", subsequent_indent=" " * 9
            )
        lines += [""] if advice else []
    return "\n".join(lines) or "nothing: runner has them all\n"


def _shortened(names: Iterable[str], partly: Collection[str] | None) -> Iterator[str]:
    if partly is None:
        yield from names
        return
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
    yield from _listed_arguments("Arguments", [a for a in page.arguments if not a.effect], wrapped)
    without = [argument for argument in page.arguments if argument.effect]
    yield from _listed_arguments(_WITHOUT_EFFECT, without, wrapped)
    if page.notes or page.since:
        yield ""
    for note in page.notes:
        yield from wrapped(note)
    if page.since:
        yield from wrapped(f"Since {page.since}.")


_WITHOUT_EFFECT = "Ignored or refused"


def _listed_arguments(
    title: str, arguments: Sequence[Argument], wrapped: Callable[[str, int], list[str]]
) -> Iterator[str]:
    if arguments:
        yield ""
        yield f"  {title}:"
    for alike in _alike(arguments):
        names = ", ".join(argument.name for argument in alike)
        yield from wrapped(f"{names} ({_kind(alike[0])})", 4)
        yield from wrapped(_described(alike[0]), 8)


def _alike(arguments: Iterable[Argument]) -> list[list[Argument]]:
    """The arguments in groups of those that are described alike, to be listed once."""
    groups: dict[tuple[str, ...], list[Argument]] = {}
    for argument in arguments:
        name = "" if argument.description else argument.name
        groups.setdefault((_described(argument), _kind(argument), name), []).append(argument)
    return list(groups.values())


def _described(argument: Argument) -> str:
    text = argument.description
    if argument.reaction and text:
        text = f"When it reacts to a change: {text[0].lower()}{text[1:]}"
    return text + (f" Since {argument.since}." if argument.since else "")


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
    if any(not argument.effect for argument in page.arguments):
        yield ""
        yield from _table(argument for argument in page.arguments if not argument.effect)
    without = [argument for argument in page.arguments if argument.effect]
    if without:
        yield f'\n<details markdown="1">\n<summary>{_WITHOUT_EFFECT}</summary>\n'
        yield from _table(without)
        yield "\n</details>"
    if page.notes or page.since:
        yield ""
    for note in page.notes:
        yield f"- `{note}`" if note.startswith("runner call ") else f"- {_plain(note)}"
    if page.since:
        yield f"- Since {page.since}."


def _table(arguments: Iterable[Argument]) -> Iterator[str]:
    yield "| argument | type | default | meaning |\n|---|---|---|---|"
    for alike in _alike(arguments):
        argument = alike[0]
        default = "*required*" if argument.default is None else _code(argument.default)
        names = ", ".join(f"`{one.name}`" for one in alike)
        cells = (names, argument.type, default, _plain(_described(argument)))
        yield f"| {' | '.join(map(_cell, cells))} |"


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
