# SPDX-License-Identifier: Apache-2.0
"""What a state decides of the machine: a state module says it in `owns`, and `runner check` finds
states that undo each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from runner.model.records import Record

# how much of a thing a state decides
WHOLE = "whole"  # all that a file holds
PART = "part"  # some of what it holds
PRESENT = "present"  # that it is there
ABSENT = "absent"  # that it is not there, nor anything below
VALUE = "value"  # one quality of it, such as its owner
TREE = "tree"  # below a folder the files that a folder of the tree has


class Claim(Record):
    """One thing that a state decides.

    extent: how much of it (WHOLE, PART, PRESENT, ABSENT, VALUE, TREE). thing: a path, or a name
    such as "crontab of root". part: of a PART what it is called in the thing (an identifier, a
    marker), empty where states of one thing do not get in each other's way; of a VALUE the quality.
    source: of a WHOLE the file it is written from, of a TREE the folder (salt://). text: of a WHOLE
    what it is written from, of a PART what it adds, where that is known. suits: of a PART whether a
    text has it already. removes: a PART takes lines away. values: of a VALUE those that it is
    content with.

    >>> def owns(fun, name, text="", **_):
    ...     yield Claim(PART, name, suits=lambda whole: text in whole)
    """

    extent: str
    thing: str
    part: str = ""
    source: str = ""
    text: str | None = None
    suits: Callable[[str], bool] | None = None
    removes: bool = False
    values: tuple[str, ...] = ()


class Trap(Record):
    """What compiles and is probably not meant: a state module yields it in `traps(fun, name,
    **arguments)`, for `runner check`.

    argument: the one that is meant. message: what it does. hint: what to write. of_values: it is so
    with the pillar and the grains of this machine.
    """

    argument: str
    message: str
    hint: str
    of_values: bool = False


def edits(argument: str = "name", default: str = "") -> Callable[..., Iterator[Claim]]:
    """The `owns` of a module whose functions edit a file. argument: its path; default: the path
    where that is not given.

    >>> owns = edits("conf_file", "/etc/logrotate.conf")
    """
    return _owning(PART, argument, default)


def writes(argument: str = "name") -> Callable[..., Iterator[Claim]]:
    """The `owns` of a module whose functions write the whole of a file that an argument names."""
    return _owning(WHOLE, argument)


def makes(argument: str = "name") -> Callable[..., Iterator[Claim]]:
    """The `owns` of a module whose functions make a path that an argument names."""
    return _owning(PRESENT, argument)


def _owning(extent: str, argument: str, default: str = "") -> Callable[..., Iterator[Claim]]:
    def owns(fun: str, name: str, **arguments: object) -> Iterator[Claim]:
        path = {"name": name, **arguments}.get(argument) or default
        if isinstance(path, str) and path.startswith("/"):
            yield Claim(extent, path.rstrip("/"))

    return owns
