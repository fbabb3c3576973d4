# SPDX-License-Identifier: Apache-2.0
"""The search of the manual: states, functions, keys, words of the language and pages of docs/ that
are about some words. Its index is made by docs/reference.sh.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import islice

from runner.engine.loader import unsupported
from runner.model import other_tools
from runner.model.diagnostics import likeness, nearest
from runner.model.records import Record
from runner.model.text_tables import text_beside

INDEX = "manual_index.txt"
MOST = 15  # entries of an answer
ALIKE = 3  # of one module
ALMOST = (
    0.82  # how much a word is like the one that was meant: onfial and onfail, not quota and quote
)
# how likely it is that people look for it
_LIKELY = {"word": 4, "state": 3, "page": 3, "key": 2, "example": 1, "function": 0}
_SMALL = frozenset("a an and at do for how i in is make of on or the to with".split())


class Entry(Record):
    """kind: state, function, key (of the configuration), word (of the language), page (of docs/) or
    example (of sls_examples/).
    """

    kind: str
    name: str
    about: str


class Answer(Record):
    """words: what was looked for. instead: what was found in its place, where it was mistyped.
    hint: what a word of another tool is here. entries: the best first.
    """

    words: str
    instead: str
    hint: str
    entries: Sequence[Entry]


def search(words: Sequence[str], states: Sequence[str] = ()) -> Answer:
    """The entries that are about all the words. states: all state functions, the tree's too."""
    everything = [*entries()]
    known_names = {entry.name for entry in everything}
    everything += [
        Entry("state", name, "of this tree") for name in states if name not in known_names
    ]
    said = " ".join(words)
    program = other_tools.program(said)
    if program not in ("", said) and re.search(r"\s[-|>]", said):
        return search([program], states)._replace(words=said)
    ways = _all_asked(said)
    asked = ways[0]
    # of arguments the manual has no pages
    hints = [
        row.advice(each.word)
        for each in asked
        for row in each.rows
        if row.text or row.kind == other_tools.ARGUMENT
    ]
    found = _found(everything, ways)
    if not found and len(asked) > 1:  # of another tool's words their endings count, too
        found = _found(everything, [[each._replace(rows=()) for each in asked]])
    if not found and len(asked) == 1 and (lacking := unsupported.hint(f"{said}.")):
        hints.append(lacking)
    if found or hints:
        return Answer(said, "", "".join(hints[:1]), found)
    if program not in ("", said):
        return search([program], states)._replace(words=said)
    known = {token for entry in everything for token in _tokens(f"{entry.name} {entry.about}")}
    known |= {word for row in other_tools.table() for word in row.all_words}
    near = [_near(each.word, known) for each in asked]
    if not all(near) or near == [each.word for each in asked]:
        return Answer(said, "", "", ())
    return search([*filter(None, near)], states)._replace(
        words=said, instead=" ".join(filter(None, near))
    )


def _near(word: str, known: Collection[str]) -> str | None:
    """What was probably meant by a word that is nowhere."""
    near = nearest(word, known, 0.8)
    swapped = near and sorted(near) == sorted(word)  # emial
    return near if near and (swapped or likeness(word, near) >= ALMOST) else None


def entries() -> Iterator[Entry]:
    """All of the index."""
    text = text_beside("runner.tools.queries", INDEX)
    for line in text.splitlines():
        kind, name, about = line.split("\t")
        yield Entry(kind, name, about)


class _Asked(Record):
    """A word that is looked for. rows: of other tools' words; here: what does it here, the
    likeliest first. stem: without its ending, or empty where too little is left.
    """

    word: str
    rows: Sequence[other_tools.Word]
    here: Sequence[str]
    stem: str


def _all_asked(said: str) -> list[list[_Asked]]:
    """The words; before them the one that they are together (`log rotation`, `virtual host`), if
    they are.
    """
    words = [word for word in said.lower().split() if word not in _SMALL] or [said.lower()]
    together = (glue.join(words) for glue in (" ", "", "-", "_") if len(words) > 1)
    known = (word for word in together if other_tools.rows(word))
    return [*([_asked(word)] for word in islice(known, 1)), [_asked(word) for word in words]]


def _asked(word: str) -> _Asked:
    rows = sorted(other_tools.rows(word), key=lambda row: row.kind != other_tools.SUBJECT)
    here = dict.fromkeys(name for row in rows for name in row.names)
    stem = re.sub(r"(ies|es|s|ing|ed)$", "", word)
    return _Asked(word, rows, [*here], stem if len(stem) > 3 else "")


def _found(entries: Sequence[Entry], ways: Sequence[Sequence[_Asked]]) -> list[Entry]:
    rated = []
    for entry in entries:
        names, about = _tokens(entry.name), _tokens(entry.about)
        scores = [[_score(each, entry.name, names, about) for each in asked] for asked in ways]
        if best_score := max(sum(one) if all(one) else 0 for one in scores):
            rated.append((-best_score - _LIKELY[entry.kind], entry.name, entry))
    of_module: Counter[tuple[str, str]] = Counter()
    best = list[Entry]()
    for *_, entry in sorted(rated):
        if any(entry.name == other.name for other in best):  # a state and a function
            continue
        module = (entry.kind, entry.name.partition(".")[0])
        of_module[module] += 1
        asked_for = any(entry.name in each.here for asked in ways for each in asked)
        if "." not in entry.name or of_module[module] <= ALIKE or asked_for:
            best.append(entry)
    return best[:MOST]


def _score(asked: _Asked, name: str, names: frozenset[str], about: frozenset[str]) -> int:
    """How much an entry is about a word. names, about: the words of its name, and the others."""
    if name in asked.here:
        return 40 - asked.here.index(name)
    if asked.word in names:
        return 8
    if asked.stem and any(token.startswith(asked.stem) for token in names):
        return 5
    if asked.word in about:
        return 3
    by_stem = asked.stem and not asked.rows  # `become` is not about what becomes something
    return 2 if by_stem and any(token.startswith(asked.stem) for token in about) else 0


def _tokens(text: str) -> frozenset[str]:
    whole = re.findall(r"[a-z0-9_]+", text.lower())
    return frozenset(part for token in whole for part in (token, *token.split("_")) if part)
