# SPDX-License-Identifier: Apache-2.0
"""What packages of rpm need, told from what they require and provide.

A transaction is closed: what one of its packages requires, another one provides, or what is
installed. So the packages that take part, those that are installed and those that could be there
instead are compared here, condition by condition. A condition that cannot be told this way gets an
alternative that no package is: whoever reads it asks the solver.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from modules.pkg.package_manager import Need
from modules.pkg.rpm import packages as rpm
from runner.api import Record
from runner.api.versions import holds

UNKNOWN = Need((("",),), False)  # what a package needs that nothing is known of
_RICH = re.compile(r"\s+(?:and|or|if|else|with|without|unless)\s+")
_CONDITION = re.compile(r"(?P<name>\S+)(?:\s+(?P<relation>[<>]=?|=)\s+(?P<version>\S+))?")


class Dependencies(Record):
    """The dependencies of a package in rpm's words: `words >= 1.0`, `(a if b)`, `/bin/sh`."""

    provides: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    recommends: tuple[str, ...] = ()
    supplements: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


def conditions(packages: Iterable[Dependencies]) -> list[str]:
    """Return the names of all that packages require, recommend and supplement."""
    texts = {
        text
        for package in packages
        for text in (*package.requires, *package.recommends, *package.supplements)
    }
    return sorted({_bare(part) for text in texts for part in _parts(text)})


def undecided(
    names: Iterable[str],
    taking_part: Mapping[str, Dependencies],
    installed: Mapping[str, Dependencies],
) -> list[str]:
    """Return those conditions of which it counts what else would meet them: something that takes
    part does, under another name, or no one knows yet, as it is a file.
    """
    provided, there = _index(taking_part), _index(installed)
    return [
        name
        for name in names
        if name not in there
        and name not in taking_part
        and (name in provided or name.startswith("/"))
    ]


def resolve(
    taking_part: Mapping[str, Dependencies],
    available: Mapping[str, Dependencies],
    installed: Mapping[str, Dependencies],
) -> dict[str, list[Need]]:
    """Return the needs of the packages that take part in a transaction.

    available, installed: those packages among others that provide what `conditions` names.
    """
    resolver = _Resolver(taking_part, available, installed)
    needs = {name: resolver.needs(name) for name in taking_part}
    for name in taking_part:
        for supplemented, need in resolver.supplemented_by(name):
            needs[supplemented].append(need)
    return needs


class _Resolver:
    def __init__(
        self,
        taking_part: Mapping[str, Dependencies],
        available: Mapping[str, Dependencies],
        installed: Mapping[str, Dependencies],
    ) -> None:
        self._packages = taking_part
        self._around = [_index(packages) for packages in (taking_part, available, installed)]

    def needs(self, name: str) -> list[Need]:
        package = self._packages[name]
        needs = [need for text in package.requires for need in self._required(name, text)]
        return needs + [
            need for text in package.recommends for need in self._recommended(name, text)
        ]

    def _required(self, name: str, text: str) -> list[Need]:
        if text.startswith("rpmlib("):
            return []
        if text.startswith("("):
            return self._rich(name, text, False)
        here, elsewhere, installed = (_meeting(index, text) for index in self._around)
        if name in here or (installed and not here):
            return []
        if not here:  # a file that no list names, or a version that is not the newest one
            return [Need(((text,),), False)]
        return [Need(_preferred(text, [*here, *elsewhere, *installed]), False)]

    def _recommended(self, name: str, text: str) -> list[Need]:
        if text.startswith("("):
            return self._rich(name, text, True)
        here, elsewhere, installed = (_meeting(index, text) for index in self._around)
        if name in here or not here:
            return []
        return [Need(_preferred(text, [*here, *elsewhere, *installed]), True)]

    def _rich(self, name: str, text: str, weak: bool) -> list[Need]:
        """Return the needs by a condition of several parts: it is certain only where no package
        that takes part plays a role.
        """
        concerned = [other for other in self._in_parts(text) if other != name]
        if not concerned:
            return []
        return [Need(((text,),), weak), Need((tuple(concerned),), weak)]

    def supplemented_by(self, name: str) -> Iterator[tuple[str, Need]]:
        """Generate the packages that bring this one along because it supplements them."""
        for text in self._packages[name].supplements:
            certain = not text.startswith("(")
            for other in _meeting(self._around[0], text) if certain else self._in_parts(text):
                if other != name:
                    alternatives = ((name,),) if certain else ((text,), (name,))
                    yield other, Need(alternatives, True)

    def _in_parts(self, text: str) -> list[str]:
        """Return the packages taking part that provide a part of a condition, in any version."""
        bare = (_bare(part) for part in _parts(text))
        return list(
            dict.fromkeys(name for part in bare for name in _meeting(self._around[0], part))
        )


def _preferred(text: str, providing: list[str]) -> tuple[tuple[str, ...], ...]:
    """Return packages in the order of preference: the one of the condition's name is the first one
    where there are several; nothing says which one is taken where none has that name.
    """
    names = dict.fromkeys(providing)
    native = [name for name in names if rpm.split_name(name)[0] == name]
    several = native or list(names)
    own = _bare(text)
    first = own if own in several or len(several) > 1 else several[0]
    return ((first,), *((name,) for name in several if name != first))


_Index = Mapping[str, list[tuple[str, str]]]


def _index(packages: Mapping[str, Dependencies]) -> _Index:
    """Return what packages provide: name -> the packages, each with the text that says so."""
    index: dict[str, list[tuple[str, str]]] = {}
    for name, package in packages.items():
        for text in (*package.provides, *package.files):
            index.setdefault(_bare(text), []).append((name, text))
    return index


def _meeting(index: _Index, condition: str) -> list[str]:
    """Return the packages that meet a condition."""
    pairs = index.get(_bare(condition), ())
    return list(dict.fromkeys(name for name, text in pairs if _meets(text, condition)))


def _meets(provided: str, condition: str) -> bool:
    """Return whether what is provided meets a condition; without a version it meets any."""
    offer, wanted = _CONDITION.match(provided), _CONDITION.match(condition)
    if not offer or not wanted or offer["relation"] != "=" or not wanted["relation"]:
        return True
    return holds(rpm.compare(offer["version"], wanted["version"]), wanted["relation"])


def _bare(text: str) -> str:
    """Return the name in a condition, without the version."""
    return text.split(maxsplit=1)[0] if not text.startswith("/") else text


def _parts(text: str) -> list[str]:
    """Return the conditions that a condition consists of."""
    if not text.startswith("("):
        return [text]
    return [_balanced(part.strip().lstrip("(")) for part in _RICH.split(text)]


def _balanced(text: str) -> str:
    while text.endswith(")") and text.count(")") > text.count("("):
        text = text[:-1].rstrip()
    return text
