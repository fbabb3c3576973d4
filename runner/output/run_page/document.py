# SPDX-License-Identifier: Apache-2.0
"""What all pages have in common: their head, navigation, parts, style and script.

They need no network and no script: scripts only add the search. Their Content-Security-Policy
admits nothing but their own style sheet and script, by their hashes, so that even text that was not
escaped could neither run nor load anything.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from runner.model.records import Record
from runner.model.result import OUTCOMES
from runner.output.run_page.escaping import cut, escape
from runner.output.text import counted
from runner.support.drawing.page import style_sheet

INDEX = "index.html"
MARK = '<meta name="generator" content="runner'  # begins what says that a file is a page of these


class Section(Record):
    """A part of a page; one without contents is left out."""

    anchor: str
    title: str
    contents: str
    about: str = ""


class Heading(Record):
    """The top of a page. about: what follows the name; outcome: a word, with its colour and the
    part of the page that it leads to; mark: a word in a box; facts: HTML by their names, empty ones
    are left out.
    """

    name: str
    about: str
    outcome: str
    colour: str
    leads_to: str
    mark: str
    facts: Mapping[str, str]


def whole(
    heading: Heading, sections: Iterable[Section], written: str, *, above: str = "", stamp: str = ""
) -> str:
    """The whole page. above: a link to the index it belongs to; stamp: what it was made from."""
    there = [section for section in sections if section.contents]
    script, style, hashes = _assets()
    kind = f" ({heading.mark})" if heading.mark else ""
    title = f"{heading.name}: {heading.about} {heading.outcome}{kind}"
    return "\n".join(
        [
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'{MARK} {escape(stamp)}">',
            f'<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; {hashes};'
            " base-uri 'none'; form-action 'none'\">",
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            '<meta name="referrer" content="no-referrer">',
            f"<title>{escape(cut(title))}</title>\n<style>{style}</style>\n</head>\n<body>",
            '<a class="skip" href="#states">To the list</a>',
            *_head(heading),
            _navigation(there, above),
            "<main>",
            *map(_section, there),
            f"</main>\n<footer>Written {escape(written)}.</footer>",
            f"<script>{script}</script>\n</body>\n</html>\n",
        ]
    )


@cache
def _assets() -> tuple[str, str, str]:
    """The script, the style sheet, and what of the policy admits them."""
    folder = Path(__file__).parent
    script = (folder / "page.js").read_text(encoding="utf-8")
    style = style_sheet() + (folder / "page.css").read_text(encoding="utf-8")
    return script, style, f"style-src '{_hash(style)}'; script-src '{_hash(script)}'"


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"sha256-{digest}"


def _head(heading: Heading) -> Iterator[str]:
    outcome = escape(heading.outcome)
    if heading.leads_to:
        outcome = f'<a href="#{heading.leads_to}">{outcome}</a>'
    yield (
        f'<header>\n<h1>{escape(cut(heading.name))} <span class="soft">{heading.about}</span>'
        f' <span class="outcome {heading.colour}">{outcome}</span>{marks(heading.mark)}</h1>'
    )
    items = (
        f"<div><dt>{name}</dt><dd>{value}</dd></div>"
        for name, value in heading.facts.items()
        if value
    )
    yield f'<dl class="facts">{"".join(items)}</dl>\n</header>'


def _navigation(sections: Iterable[Section], above: str) -> str:
    links = [(f"#{one.anchor}", one.title) for one in sections]
    links = [(INDEX, above), *links] if above else links
    items = (f'<li><a href="{address}">{title}</a></li>' for address, title in links)
    return f'<nav aria-label="Parts of this page"><ul>{"".join(items)}</ul></nav>'


def _section(section: Section) -> str:
    about = f'<p class="soft">{section.about}</p>\n' if section.about else ""
    heading = f'<h2 id="{section.anchor}-title">{section.title}</h2>'
    return (
        f'<section id="{section.anchor}" aria-labelledby="{section.anchor}-title">\n{heading}\n'
        f"{about}{section.contents}\n</section>"
    )


# ---------------------------------------------------------------- what parts are made of


def notes(items: Iterable[str], most: int = 0) -> str:
    """A list of sentences, as HTML; of more than `most` only these, and how many more there are."""
    items = [*items]
    rest = len(items) - most if most else 0
    if rest > 0:
        items = [*items[:most], f'<span class="soft">{rest:,} more</span>']
    return f'<ul class="notes">{"".join(f"<li>{item}</li>" for item in items)}</ul>' * bool(items)


def marks(*words: str) -> str:
    """Words in boxes, each behind a blank; empty ones are left out."""
    return "".join(f' <span class="mark">{escape(word)}</span>' for word in words if word)


def when(moment: str) -> str:
    """A moment for people."""
    return moment.replace("T", " ")


def revision(run: Mapping[str, object]) -> str:
    """The commit of the tree of a run; empty where it had none."""
    if not run["revision"]:
        return ""
    return f"{run['revision']}{' with uncommitted changes' if run['dirty'] else ''}"


def slug(outcome: str) -> str:
    """An outcome as the name of a class."""
    return outcome.replace(" ", "-")


class Line(Record):
    """A line of a list that does not open. outcome: one of OUTCOMES, whose colour it has; word:
    what it says instead; link: a file beside the page, if there is one; what: HTML.
    """

    outcome: str
    word: str
    title: str
    link: str
    what: str
    took: str


def listed(lines: Sequence[Line], noun: str, hint: str) -> str:
    """Lines that can be chosen by outcome and by words."""
    if not lines:
        return ""
    rows = "".join(map(_line, lines))
    chooser = choice([line.outcome for line in lines], noun, hint)
    return f'{chooser}\n<ol class="states">\n{rows}</ol>'


def _line(line: Line) -> str:
    title = f"<b>{escape(cut(line.title))}</b>"
    if line.link:
        title = f'<a href="{escape(line.link)}">{title}</a>'
    return (
        f'<li class="{slug(line.outcome)}"><div class="line"><span class="outcome">'
        f'{escape(line.word)}</span> <span class="what">{title} {line.what}</span>'
        f' <span class="took">{line.took}</span></div></li>\n'
    )


def choice(
    outcomes: Sequence[str], noun: str, hint: str, button: str = "", hidden: str = ""
) -> str:
    """What chooses lines: by outcome with the style sheet alone, by words with scripts.

    outcomes: of all lines. button: one for all of them. hidden: an outcome that is not shown at
    first.
    """
    present = {word: outcomes.count(word) for word in OUTCOMES if word in outcomes}
    boxes = []
    for outcome, count in present.items():
        checked = "" if outcome == hidden and len(present) > 1 else " checked"
        boxes.append(
            f'<label class="{slug(outcome)}"><input type="checkbox" id="show-{slug(outcome)}"'
            f' autocomplete="off"{checked}> {count} {outcome}</label>'
        )
    every = f' <button type="button" id="all">{button}</button>' if button else ""
    return (
        '<div class="tools" role="search">\n<fieldset><legend>Show</legend>'
        f"{''.join(boxes)}</fieldset>\n"
        '<p class="scripted" hidden><label for="words">Find</label> <input type="search" id="words"'
        f' placeholder="{hint}" autocomplete="off">{every}'
        f' <span id="shown" role="status" data-noun="{noun}s">{counted(len(outcomes), noun)}</span>'
        "</p>\n</div>"
    )
