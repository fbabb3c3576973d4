# SPDX-License-Identifier: Apache-2.0
"""Words that a secret shares with the tree: masking `zabbix` wherever it stands would destroy what
things are called.

A value that is short or a plain word, and stands in a name too (of a state, a file, a function, a
key or value of the pillar that is no secret), cannot be hidden: it is hidden only where it stands
as the value of a key that says so.
"""

from __future__ import annotations

from collections.abc import Mapping

from runner.model.chunk import Chunk
from runner.model.stdlib import pattern
from runner.support.redaction.keys import plain_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from runner.model.highdata import Declaration

SHORT = 8  # characters from which on a value that is no word is in no name by chance
LONGEST = 64  # of a name's part
WORD = pattern(r"[A-Za-z]+(?:[-_.][A-Za-z]+)*\d{0,4}")
CASE_CHANGE = pattern(r"(?<=[a-z])[A-Z]|(?<=[A-Z])[a-z]")
RANDOM = 12  # characters from which on letters of wildly mixed case are no word
NAME = pattern(r"[\w./~+-]+")  # what may be a name: no spaces, no quotes, no login in a URL
NAMING = pattern(
    r"(.*_)?(user|user_?name|login|names?|host|host_?name|group|owner|id|pkgs|service|db|database)$"
)
_ASSIGNED = pattern(r"""([\w.-]{1,64})["']?(?:\s{0,3}(?:[:=]|=>)\s{0,3}["']?|\s{1,3}["'])$""")


class Names:
    """The names of a run, read when a secret is first met in a text."""

    def __init__(self, matches: Callable[[object], bool]) -> None:
        self._matches = matches  # whether a key means a secret
        self.chunks: tuple[Chunk, ...] = ()
        self._pillar: Any = None
        self._ids: tuple[Declaration, ...] = ()
        self._files: Callable[[], Iterable[str]] = tuple
        self._explicit: set[str] = set()  # secrets because someone said so, whatever their keys
        self._things: tuple[str, ...] = ()
        self._answers: dict[str, bool] = {}
        self._all: str | None = None

    def learn(
        self,
        chunks: Iterable[Chunk] = (),
        pillar: Any = None,
        ids: Iterable[Declaration] = (),
        files: Callable[[], Iterable[str]] | None = None,
        things: Iterable[str] = (),
    ) -> None:
        """Take these into account.

        ids: where there are no chunks yet; files: gives the paths of the tree; things: what things
        of the machine are called.
        """
        self._things = tuple(thing for thing in things if NAME.fullmatch(thing)) or self._things
        self.chunks, self._ids = tuple(chunks) or self.chunks, tuple(ids) or self._ids
        self._pillar, self._files = pillar or self._pillar, files or self._files
        self._answers.clear()
        self._all = None

    def mark_secret(self, value: str) -> None:
        """Take notice that a value is a secret whatever its key: it is not a word of the data for
        standing there.
        """
        self._explicit.add(value)

    def has(self, value: str) -> bool:
        """Return whether a value is part of names, and can therefore not be hidden."""
        if value not in self._answers:
            self._answers[value] = self._answer(value)
        return self._answers[value]

    def state_names(self) -> str:
        """The names of states, with their functions and SLS files, a line each."""
        names = [
            name for chunk in self.chunks for name in (*_names_of(chunk), chunk.sls, chunk.function)
        ]
        return "\n".join(
            _unique([*names, *(state.id for state in self._ids if NAME.fullmatch(state.id))])
        )

    def _answer(self, value: str) -> bool:
        if len(value) > LONGEST or not NAME.fullmatch(value):
            return False
        if _is_word(value):
            if self._all is None:
                self._all = "\n".join(
                    _unique([*self._of_data(), *self._files(), *self._things, self.state_names()])
                )
            if value in self._explicit:
                return value in self.state_names()
            return value in self._all or self._is_word_of_pillar(value)
        holders = [
            chunk.place for chunk in self.chunks if any(value in name for name in _names_of(chunk))
        ]
        holders += [state.place for state in self._ids if value in state.id]
        return bool(holders) and (
            len(value) < SHORT
            or any(map(_occurs_in_file(value), _unique(place.source.file for place in holders)))
        )

    def _of_data(self) -> Iterator[str]:
        for key, item in self._plain([self._pillar, *(chunk.args for chunk in self.chunks)]):
            yield str(key)
            if (
                isinstance(item, str)
                and NAME.fullmatch(item)
                and ("/" in item or NAMING.match(plain_key(key)))
            ):
                yield item

    def _is_word_of_pillar(self, value: str) -> bool:
        return value.isalpha() and any(item == value for _, item in self._plain([self._pillar]))

    def _plain(self, data: Iterable[Any]) -> Iterator[tuple[object, object]]:
        """The pairs of keys that mean no secrets and their values."""
        todo: list[tuple[object, Any]] = [("", value) for value in data]
        while todo:
            key, item = todo.pop()
            if isinstance(item, Mapping):
                for name, value in item.items():
                    if self._matches(name):
                        yield name, None
                    else:
                        todo.append((name, value))
                if key:
                    yield key, None
            elif isinstance(item, list | tuple):
                todo += [(key, member) for member in item]
            else:
                yield key, item


def _is_word(value: str) -> bool:
    """Return whether a value may be a word, joined ones, or several as in NetworkManager: those
    change their case a few times, random letters at every second one.
    """
    if not WORD.fullmatch(value):
        return False
    changes = len(CASE_CHANGE.findall(value, 1))
    return len(value) < RANDOM or changes <= len(value) / 4


def is_assigned(text: str, start: int, end: int, matches: Callable[[object], bool]) -> bool:
    """Return whether a span of a text is the whole value of a key that means a secret."""
    if text[end : end + 1].isalnum() or text[end : end + 1] in ("_", "-", "/"):
        return False
    assignment = _ASSIGNED.search(text, max(0, start - 80), start)
    return bool(assignment and matches(assignment[1]))


def _names_of(chunk: Chunk) -> Iterator[str]:
    """The ID and the name of a state; a command is not a name."""
    return (name for name in (chunk.id, chunk.name) if NAME.fullmatch(name))


def _occurs_in_file(value: str) -> Callable[[str], bool]:
    def stands_in(path: str) -> bool:
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                return value in file.read()
        except OSError:
            return False

    return stands_in


def _unique(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))
