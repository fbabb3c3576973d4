# SPDX-License-Identifier: Apache-2.0
"""How the commands of maintainer scripts are declared, which are known.

A form of a command that is not understood raises Unread, as one that asks what only the machine
knows.
"""

from __future__ import annotations

import stat as bits
from collections.abc import Callable, Sequence
from functools import wraps

from modules import _accounts, _paths
from modules._texts.shell import Unread
from modules.pkg._scripts.run import Handler, Outcome
from modules.pkg._scripts.words import in_folder, spend
from runner.api import StateFailed, Unforeseen
from runner.api.doubts import CONTENTS

HANDLERS: dict[str, Handler] = {}

Told = Outcome | int | None


OnlyLooks = bool | frozenset[str] | Callable[[Sequence[str]], bool]


def known(
    *names: str, only_looks: OnlyLooks = False, of_names: bool = False, of_rights: bool = False
) -> Callable[[Callable[[list[str], str | None], Told]], Handler]:
    """Declare what a command does. only_looks: it alters nothing; with these words, if given, or
    where that says so.
    of_names: it alters what its words name, and no paths that they do not say. of_rights: it alters
    nothing but owners and modes.
    """

    def declare(function: Callable[[list[str], str | None], Told]) -> Handler:
        @wraps(function)
        def handler(words: list[str], text: str | None) -> Outcome:
            try:
                told = function(words, text)
            except (Unforeseen, ValueError, LookupError) as problem:
                raise Unread(str(problem)) from None
            except (OSError, StateFailed):
                return Outcome(1)
            return told if isinstance(told, Outcome) else Outcome(told or 0)

        handler.__dict__ |= {
            "only_looks": only_looks,
            "of_names": of_names,
            "of_rights": of_rights,
        }
        HANDLERS.update(dict.fromkeys(names, handler))
        return handler

    return declare


def options(
    words: Sequence[str], flags: Sequence[str], valued: Sequence[str] = ()
) -> tuple[set[str], dict[str, str], list[str]]:
    """Return the flags, the options with their values, and the other words of a command. Raises
    Unread for an option that is not among them.
    """
    given: set[str] = set()
    values: dict[str, str] = {}
    rest: list[str] = []
    pending = [*words]
    while pending:
        word = pending.pop(0)
        name, equals, value = word.partition("=")
        if word == "--":
            return given, values, rest + pending
        if word in flags:
            given.add(word)
        elif name in valued and (equals or pending):
            values[name] = value if equals else pending.pop(0)
        elif word.startswith("--") or word == "-":
            raise Unread(word)
        elif word.startswith("-"):
            for position, letter in enumerate(word[1:], 2):
                if f"-{letter}" in valued and (word[position:] or pending):
                    values[f"-{letter}"] = word[position:] or pending.pop(0)
                    break
                if f"-{letter}" not in flags:
                    raise Unread(word)
                given.add(f"-{letter}")
        else:
            rest.append(word)
    return given, values, rest


def read(path: str) -> str | None:
    """The text of a file; None where there is none. Raises Unread for what nobody knows, and
    TooMuchWork.
    """
    try:
        at = _paths.stat(path)
        if not bits.S_ISREG(at.st_mode) and not bits.S_ISDIR(at.st_mode) and path != "/dev/null":
            raise Unread(path)  # of a device there is no end, for a pipe one waits
        spend(at.st_size)
        with _paths.open_text(path, "utf-8", "surrogateescape") as stream:
            text = stream.read()
    except OSError:
        return None
    if text.encode("utf-8", "surrogateescape") == CONTENTS:
        raise Unread(path)
    return text


def made(path: str) -> Outcome:
    """What a command comes to that puts something into a file."""
    try:
        read(path)
    except Unread:
        return Outcome(0, "", (path,))
    return Outcome()


def absolute(paths: Sequence[str]) -> Sequence[str]:
    found = [*map(in_folder, paths)]
    if any(not path for path in found) or any(path.startswith("~") for path in paths):
        raise Unread("a relative path")
    return found


def refuse(what: str) -> Sequence[str]:
    raise Unread(what)


def entry_of(name: str, is_group: bool = False) -> Sequence[object] | None:
    try:
        return _accounts.group(name) if is_group else _accounts.user(name)
    except KeyError:
        return None
