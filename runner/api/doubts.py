# SPDX-License-Identifier: Apache-2.0
"""What looks of a dry run cannot know: what pending packages bring and pending commands alter.

A look notes that it came upon such a thing. The engine then has the state look again in other
worlds, in which that thing is otherwise: where the outcome is another one, the state is undecided.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Literal

from runner.model.paths import lies_in

World = Literal["", "file", "folder", "nothing"]  # what is there instead; "": as it is now

# where packages put something: below /usr/local, /var/tmp and all else only the owner does
_OF_PACKAGES = re.compile(r"/(?:bin|boot|etc|lib\w*|run|sbin|usr(?!/local\b)|var(?!/tmp\b))(?:/|$)")
_OPTIONAL = re.compile(r"/opt/([^/]+)")
CONTENTS = b"what nobody knows yet\n"  # of a file in another world


def may_be_packaged(path: str, packages: Collection[str]) -> bool:
    """Return whether packages may bring what is at a path: below /opt in a folder of their name.

    >>> may_be_packaged("/etc/screenrc", ["screen"])
    True
    >>> may_be_packaged("/opt/own/etc", ["screen"])
    False
    """
    if vendor := _OPTIONAL.match(path):
        return is_named_like(vendor[1], packages)
    return _OF_PACKAGES.match(path) is not None


def is_named_like(path: str, packages: Collection[str]) -> bool:
    """Return whether a name of a path is, or begins like, that of a package.

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

    packages: by "state: ID" those that a state brings, the likeliest first. promised: by fact the
    state whose Plan provides it; made: by kind of what is made and by path the state after which
    something may be there, with what is above and below; altered: the one after which that may be
    otherwise. named: by "state: ID" names of what a script that is not understood does something
    with; called: of accounts that one may make. rights: tells the state after which the owner or
    mode of a path may be otherwise; None where nobody asks.
    opened: tells the required state after which anything may be in a folder; None where none is.
    world: what is there instead of what is in doubt. by: the first state that a look came upon;
    worlds: those that it may be otherwise in.
    """

    def __init__(
        self,
        packages: Mapping[str, Collection[str]],
        promised: Mapping[object, str],
        made: Mapping[str, Mapping[str, str]],
        altered: Mapping[str, str],
        settled: Collection[str] = (),
        opened: Callable[[], str] | None = None,
        world: World = "",
        named: Mapping[str, Collection[str]] | None = None,
        called: Mapping[str, Collection[str]] | None = None,
        rights: Callable[[str], str] | None = None,
    ) -> None:
        self._rights = rights
        self._packages, self._settled, self._opened = packages, settled, opened
        self._named, self._called = named or {}, called or {}
        self._promised, self._made, self._altered = promised, made, altered
        self.world, self.contents = world, CONTENTS
        self.by = ""
        # the longest that `by` was told for: what is above it is asked for on the way; empty for
        # what is no path
        self.path = ""
        self.worlds: set[World] = set()
        self.is_certain = True  # all in doubt comes, if its state does what it is for
        self._told: dict[tuple[str, bool, str | None], bool] = {}
        self.is_read = False  # contents that nobody knows were asked for

    def __bool__(self) -> bool:
        made = any(self._made.values())
        known = made or self._altered or self._promised or self._rights
        return bool(self._packages or known or self._opened or self._named or self._called)

    def instead(self, world: World) -> Doubts:
        """The same in another world."""
        pending = self._packages, self._promised, self._made, self._altered
        names = self._named, self._called
        return Doubts(*pending, self._settled, self._opened, world, *names, self._rights)

    def of_path(self, path: str, is_there: bool, in_own: str | None) -> bool:
        """Tell, and note, whether what is at a path may be otherwise by then. in_own: the folder
        above where this run makes it.
        """
        if path in self._settled:
            return False
        asked = path, is_there, in_own
        if asked not in self._told:  # the folders above what is looked at are asked for each time
            self._told[asked] = self._of_path(path, is_there, in_own)
        return self._told[asked]

    def _of_path(self, path: str, is_there: bool, in_own: str | None) -> bool:
        if is_there:
            by = next((self._altered[named] for named in self._altered if lies_in(path, named)), "")
            return self._note(by or self._named_like(path), ["nothing", "file"], path=path)
        by, worlds, comes = self._makes(path)
        if by:
            return self._note(by, worlds, is_certain=comes, path=path)
        if by := self._named_like(path):
            return self._note(by, ["file", "folder"], path=path)
        if in_own is None:
            return self._note(self._brings(path, path), ["file", "folder"], path=path)
        by = self._brings(path, in_own, only_named_like=True)
        return self._note(by, ["file", "folder"], path=path)

    def note_rights(self, path: str) -> None:
        """Note that the owner and mode of what is at a path were looked at."""
        if self._rights and path not in self._settled and (by := self._rights(path)):
            self.is_read |= self._note(by, [], path=path)

    def promises(self, kind: str, name: str) -> bool:
        """Return whether a state before this one makes something that no look sees until then."""
        return (kind, name) in self._promised

    def of_account(self, name: str) -> bool:
        """Tell, and note, whether an account that is not there may be by then."""
        called = (state for state, names in self._called.items() if name in names)
        by = self._named_like(name) or next(called, "")
        by = by or self._package_state(name, [*self._packages])
        return self._note(by, ["file"])

    def note_read(self, data: bytes) -> None:
        """Note that the contents of a file were read."""
        self.is_read |= data == CONTENTS

    def note_listed(self, folder: str, names: Collection[str]) -> None:
        """Note that a folder was listed, in which these names are: a command may put more there."""
        if folder in self._settled:
            return
        by = self._puts(folder, names) or (self._opened() if self._opened else "")
        self.is_read |= self._note(by, [])

    def _puts(self, folder: str, names: Collection[str]) -> str:
        """The state whose command may alter what the listing of a folder tells."""
        for kind, named_by in (*self._made.items(), ("altered", self._altered)):
            for named, state in named_by.items():
                if named != folder and lies_in(named, folder):
                    name = named[len(folder.rstrip("/")) + 1 :].partition("/")[0]
                    if name not in names or kind == "altered":
                        return state
                elif kind == "made" and lies_in(folder, named):
                    return state
        return ""

    def of_program(self, words: str, of_packages: bool, of_anything: bool) -> str:
        """The state after which a program may say something else; empty when none."""
        by = self._named_like(words)
        if not by and of_packages:
            by = self._package_state(words, [*self._packages])
        if by or not of_anything:
            return by
        commands = (self._altered, *self._made.values())
        return next((state for paths in commands for state in paths.values()), "")

    def _named_like(self, words: str) -> str:
        """The state whose scripts do something with what is named so, nobody knows what."""
        alike = (state for state, names in self._named.items() if is_named_like(words, names))
        return next(alike, "")

    def _note(
        self, by: str, worlds: Collection[World], is_certain: bool = False, path: str = ""
    ) -> bool:
        if by:
            if not self.by or (self.path and path.startswith(f"{self.path}/")):
                self.by, self.path = by, path
            self.worlds.update(worlds)
            self.is_certain &= is_certain
        return bool(by)

    def _makes(self, path: str) -> tuple[str, list[World], bool]:
        """The state after which something may be where nothing is, what, and whether it is certain
        that something comes.
        """
        for kind, named_by in self._made.items():
            for named, state in named_by.items():
                if named.startswith(f"{path}/") or (path == named and kind == "made folder"):
                    return state, ["folder"], True
                if path == named and kind in ("made file", "created"):
                    return state, ["file"] if kind == "made file" else ["file", "folder"], True
                if lies_in(path, named) and kind != "made file":
                    return state, ["file", "folder"], False
        return self._promised.get(("file", path), ""), ["file", "folder"], False

    def _brings(self, path: str, named: str, only_named_like: bool = False) -> str:
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
