# SPDX-License-Identifier: Apache-2.0
"""The search of the manual: states, functions, keys, words of the language and pages of docs/ that
are about some words. Its index is made by docs/reference.sh.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib.resources import files

from runner.model import other_tools
from runner.model.diagnostics import similar
from runner.model.records import Record

INDEX = "manual_index.txt"
MOST = 15  # entries of an answer
ALIKE = 3  # of one module
# what people say, and what this manual calls it
MEANS = {
    "firewall": "firewalld nftables iptables ufw",
    "mail": "alias on_failure",
    "email": "alias on_failure",
    "vhost": "apache_site virtual host",
    "virtualhost": "apache_site virtual host",
    "unattended": "schedule upgraded cron",
    "backup": "undo restore_backup",
    "rollback": "undo",
    "password": "secrets shadow password",
    "vault": "secrets vault",
    "reboot": "system reboot",
    "repo": "pkgrepo repository",
    "ppa": "pkgrepo",
    "systemd": "service systemd timer",
    "timer": "schedule systemd",
    "container": "docker podman container",
    "handler": "listen watch",
    "facts": "grains",
    "variables": "pillar vars",
    "loop": "names templates",
    "role": "formulas include",
    "apt": "pkg pkgrepo",
    "yum": "pkg pkgrepo",
}
# how likely it is that people look for it
_LIKELY = {"word": 4, "state": 3, "page": 3, "key": 2, "function": 0}


class Entry(Record):
    """kind: state, function, key (of the configuration), word (of the language) or page (of
    docs/).
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
    entries = [*_entries()]
    known_names = {entry.name for entry in entries}
    entries += [Entry("state", name, "of this tree") for name in states if name not in known_names]
    asked = [_asked(word.lower()) for word in words]
    said = " ".join(words)
    hint = next((each.rows[0].hint(each.word) for each in asked if each.rows), "")
    if (found := _found(entries, asked)) or hint:
        return Answer(said, "", hint, found)
    known = {token for entry in entries for token in _tokens(f"{entry.name} {entry.about}")}
    known |= MEANS.keys() | {word for row in other_tools.TABLE for word in row.words.split()}
    near = [similar(each.word, known, 1, 0.8) for each in asked]
    if not all(near):
        return Answer(said, "", "", ())
    asked = [_asked(word) for (word,) in near]
    return Answer(said, " ".join(each.word for each in asked), "", _found(entries, asked))


def _entries() -> Iterator[Entry]:
    text = files("runner.tools.queries").joinpath(INDEX).read_text(encoding="utf-8")
    for line in text.splitlines():
        kind, name, about = line.split("\t")
        yield Entry(kind, name, about)


class _Asked(Record):
    """A word that is looked for. rows: of other tools' words; here: their names here. meant: what
    this manual calls it. stem: without its ending, or empty where too little is left.
    """

    word: str
    rows: Sequence[other_tools.Word]
    here: frozenset[str]
    meant: frozenset[str]
    stem: str


def _asked(word: str) -> _Asked:
    rows = other_tools.rows(word)
    here = frozenset(name for row in rows for name in row.names.split())
    meant = MEANS.get(word) or MEANS.get(word.removesuffix("s")) or ""
    stem = re.sub(r"(ies|es|s|ing|ed)$", "", word)
    return _Asked(word, rows, here, frozenset(meant.split()), stem if len(stem) > 3 else "")


def _found(entries: Sequence[Entry], asked: Sequence[_Asked]) -> list[Entry]:
    scored = []
    for entry in entries:
        names, about = _tokens(entry.name), _tokens(entry.about)
        scores = [_score(each, entry.name, names, about) for each in asked]
        if all(scores):
            scored.append((-sum(scores) - _LIKELY[entry.kind], entry.name, entry))
    of_module: Counter[tuple[str, str]] = Counter()
    best = list[Entry]()
    for *_, entry in sorted(scored):
        if any(entry.name == other.name for other in best):  # a state and a function
            continue
        module = (entry.kind, entry.name.partition(".")[0])
        of_module[module] += 1
        if "." not in entry.name or of_module[module] <= ALIKE:
            best.append(entry)
    return best[:MOST]


def _score(asked: _Asked, name: str, names: frozenset[str], about: frozenset[str]) -> int:
    """How much an entry is about a word. names, about: the words of its name, and the others."""
    word, _, here, meant, stem = asked
    if name in here:
        return 9
    if word in names or (meant and meant <= names):
        return 8
    if meant & names:
        return 6
    if stem and any(token.startswith(stem) for token in names):
        return 5
    if word in about or meant & about:
        return 3
    return 2 if stem and any(token.startswith(stem) for token in about) else 0


def _tokens(text: str) -> frozenset[str]:
    whole = re.findall(r"[a-z0-9_]+", text.lower())
    return frozenset(part for token in whole for part in (token, *token.split("_")) if part)
