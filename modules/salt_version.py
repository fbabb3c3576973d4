# SPDX-License-Identifier: Apache-2.0
"""The version of Salt whose language this is, compared with a release by its name."""

from __future__ import annotations

from runner.api import CommandFailed, here

# in the order of the elements; from Neon on a release is 2990 and the number of its element
_OLD = ("2014.1", "2014.7", "2015.5", "2015.8", "2016.3", "2016.11", "2017.7", "2018.3", "2019.2")
_NAMES = tuple(
    """
    hydrogen helium lithium beryllium boron carbon nitrogen oxygen fluorine neon sodium magnesium
    aluminium silicon phosphorus sulfur chlorine argon potassium calcium scandium titanium vanadium
    """.split()
)


def get_release_number(name: str) -> str | None:
    """The number of a release; null where none has that name.

    {{ salt['salt_version.get_release_number']('Phosphorus') }}
    """
    if not isinstance(name, str):
        raise CommandFailed("'name' argument must be a string")
    if name.lower() not in _NAMES:
        return None
    number = _NAMES.index(name.lower())
    return _OLD[number] if number < len(_OLD) else str(2991 + number)


def equal(name: str) -> bool:
    """Return whether this is the language of a release.

    {% if salt['salt_version.equal']('Argon') %}
    """
    return _compared(name) == 0


def greater_than(name: str) -> bool:
    """Return whether this is the language of a later release.

    {% if salt['salt_version.greater_than']('Phosphorus') %}
    """
    return _compared(name) == 1


def less_than(name: str) -> bool:
    """Return whether this is the language of an earlier release.

    {% if salt['salt_version.less_than']('Phosphorus') %}
    """
    return _compared(name) == -1


def _compared(name: str) -> int | None:
    """-1, 0 or 1; None for a name that no release has."""
    number = get_release_number(name)
    if number is None:
        return None
    release = [int(part) for part in number.split(".")]
    own = [int(part) for part in here.grains["saltversioninfo"]][: len(release)]
    return (own > release) - (own < release)
