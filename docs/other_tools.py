# SPDX-License-Identifier: Apache-2.0
"""Writes the lists of docs/coming-from-*.md anew, between `<!-- words of TOOL -->` and `<!-- end
-->`, from the table of other tools' words.
"""

from __future__ import annotations

import re
from itertools import groupby
from pathlib import Path

from runner.model import other_tools
from runner.support.own_modules import FAMILIES

DOCS = Path(__file__).parent
STATES = DOCS.parent / "states"
PLACE = re.compile(r"(<!-- words of (\w+) -->\n).*?(<!-- end -->\n)", re.S)
MOST = 2  # states of one row
TITLES = {
    other_tools.IDEA: "Ideas",
    other_tools.COMMAND: "Commands",
    other_tools.FUNCTION: "States",
}


def listed(row: other_tools.Word, tool: str) -> bool:
    """Whether a page has a row: what bites. Not what `runner check` names at its place (arguments,
    values, variables), nor what one word of `runner doc` answers: the name of a state or of what
    `salt[...]` calls. Nor options, which the command line answers, and commands whose page an idea
    names.
    """
    if row.kind not in TITLES or tool not in row.words or not row.text:
        return False
    if row.text.startswith("`salt["):
        return False
    if row.kind != other_tools.COMMAND:
        return not (row.names and all(map(_in_a_family, _modules(row))))
    options = all(word.startswith("-") for word in row.words[tool])
    return not options and not _pages(row) & _pages_of_ideas(tool)


def _modules(row: other_tools.Word) -> set[str]:
    return {name.partition(".")[0] for name in row.names}


def _pages(row: other_tools.Word) -> set[str]:
    return {name for name in row.names if name.startswith("docs/")}


def _pages_of_ideas(tool: str) -> set[str]:
    ideas = (row for row in other_tools.table() if row.kind == other_tools.IDEA)
    return {page for row in ideas if tool in row.words for page in _pages(row)}


def _in_a_family(module: str) -> bool:
    return any((STATES / family / f"{module}.py").exists() for family in FAMILIES)


def lists(tool: str) -> str:
    """The lists of a tool's words."""
    text = ""
    for kind, title in TITLES.items():
        rows = [row for row in other_tools.table() if row.kind == kind and listed(row, tool)]
        text += f"\n### {title}\n\n" if rows else ""
        for _, alike in groupby(rows, key=_alike):
            text += f"- {'; '.join(f'{_words(row, tool)}: {_here(row)}' for row in alike)}\n"
    return f"{text}\n"


def _alike(row: other_tools.Word) -> str:
    """What rows of one line have in common: the module, where nothing more is to be said."""
    return row.text or row.names[0].partition(".")[0]


def _words(row: other_tools.Word, tool: str) -> str:
    coded = row.kind not in (other_tools.IDEA, other_tools.COMMAND)
    words = (
        f"`{word}`" if (coded or word.startswith("-")) and "`" not in word else word
        for word in row.words[tool]
    )
    text = ", ".join(words)
    return text if coded or row.kind == other_tools.COMMAND else f"**{text}**"


def _here(row: other_tools.Word) -> str:
    pages = [name for name in row.names if name.startswith("docs/")]
    links = ", ".join(f"[{name[5:]}]({name[5:]})" for name in pages)
    names = row.names if row.kind in other_tools.WRITTEN else ()
    listed = ", ".join([*(f"`{name}`" for name in names[:MOST]), *["..."][: len(names) > MOST]])
    glue = "; " if len(names) > 1 else " "
    said = glue.join(filter(None, [listed, row.text]))
    return said + (f" ({links})" if links else "")


def page(text: str) -> str:
    """A page with its lists as they are now."""
    return PLACE.sub(lambda found: found[1] + lists(found[2]) + found[3], text)


if __name__ == "__main__":
    for path in sorted(DOCS.glob("coming-from-*.md")):
        path.write_text(page(path.read_text()))
