# SPDX-License-Identifier: Apache-2.0
"""What looks of a dry run cannot know: what pending packages bring and pending commands alter.

A look notes that it came upon such a thing. The engine then has the state look again in other
worlds, in which that thing is otherwise: where the outcome is another one, the state is undecided.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Literal

World = Literal["", "file", "folder", "nothing"]  # what is there instead; "": as it is now

# where packages put something: below /usr/local, /var/tmp and all else only the owner does
_OF_PACKAGES = re.compile(r"/(?:bin|boot|etc|lib\w*|run|sbin|usr(?!/local\b)|var(?!/tmp\b))(?:/|$)")
_OPTIONAL = re.compile(r"/opt/([^/]+)")
CONTENTS = b"what nobody knows yet\n"  # of a file in another world


def may_be_packaged(path: str, packages: Collection[str]) -> bool:
    """Tell whether packages may bring what is at a path: below /opt in a folder of their name.

    >>> may_be_packaged("/etc/screenrc", ["screen"])
    True
    >>> may_be_packaged("/opt/own/etc", ["screen"])
    False
    """
    if vendor := _OPTIONAL.match(path):
        return is_named_like(vendor[1], packages)
    return _OF_PACKAGES.match(path) is not None


def is_named_like(path: str, packages: Collection[str]) -> bool:
    """Tell whether a name of a path is, or begins like, that of a package.

    >>> is_named_like("/etc/postgresql/15", ["postgresql-15"])
    True
    """
    words = [word for word in re.split(r"[^\w.+-]", path) if len(word) > 2]
    return any(
        word == name or name.startswith(word) or (len(name) > 2 and word.startswith(name))
        for word in words
        for name in packages
    )


class Doubts:
    """What is pending, as a look sees it.

    packages: by "state: ID" those that a state brings, the likeliest first. promised: by path the
    state that makes it; made: the one after which something may be there, with what is above and
    below; altered: the one after which that may be otherwise. world: what is there instead of what
    is in doubt. by: the first state that a look came upon; worlds: those that it may be otherwise
    in.
    """

    def __init__(
        self,
        packages: Mapping[str, Collection[str]],
        promised: Mapping[str, str],
        made: Mapping[str, str],
        altered: Mapping[str, str],
        settled: Collection[str] = (),
        world: World = "",
    ) -> None:
        self._packages, self._settled = packages, settled
        self._promised, self._made, self._altered = promised, made, altered
        self.world, self.contents = world, CONTENTS
        self.by = ""
        self.worlds: set[World] = set()
        self.is_read = False  # contents that nobody knows were asked for

    def __bool__(self) -> bool:
        return bool(self._packages or self._promised or self._made or self._altered)

    def instead(self, world: World) -> Doubts:
        """The same in another world."""
        pending = self._packages, self._promised, self._made, self._altered
        return Doubts(*pending, self._settled, world)

    def of_path(self, path: str, is_there: bool, in_own: str | None) -> bool:
        """Tell, and note, whether what is at a path may be otherwise by then. in_own: the folder
        above where this run makes it.
        """
        by = self._alters(path, is_there)
        if not by and not is_there:
            if in_own is None:
                by = self._brings(path, path)
            else:
                by = self._brings(path, in_own, only_named_like=True)
        if by:
            self._note(by, ["nothing", "file"] if is_there else ["file", "folder"])
        return bool(by)

    def of_account(self, name: str) -> bool:
        """Tell, and note, whether an account that is not there may be by then."""
        if by := self._package_state(name, [*self._packages]):
            self._note(by, ["file"])
        return bool(by)

    def note_read(self, data: bytes) -> None:
        """Note that the contents of a file were read."""
        self.is_read |= data == CONTENTS

    def of_program(self, words: str) -> str:
        """The state after which a command that asks about packages may say something else; empty
        when none.
        """
        return self._package_state(words, [*self._packages])

    def _note(self, by: str, worlds: Collection[World]) -> None:
        self.by = self.by or by
        self.worlds.update(worlds)

    def _alters(self, path: str, is_there: bool) -> str:
        if path in self._settled:
            return ""
        for named, state in self._altered.items():
            if f"{path}/".startswith(f"{named}/"):
                return state
        if is_there:
            return ""
        for named, state in (*self._made.items(), *self._altered.items()):
            if f"{path}/".startswith(f"{named}/") or named.startswith(f"{path}/"):
                return state
        return self._promised.get(path, "")

    def _brings(self, path: str, named: str, only_named_like: bool = False) -> str:
        if path in self._settled:
            return ""
        states = [
            state
            for state, names in self._packages.items()
            if may_be_packaged(path, names) and (not only_named_like or is_named_like(named, names))
        ]
        return self._package_state(path, states)

    def _package_state(self, words: str, states: list[str]) -> str:
        """Of several states the one whose packages are named like what is asked for."""
        alike = (state for state in states if is_named_like(words, self._packages[state]))
        return next(alike, next(iter(states), ""))
