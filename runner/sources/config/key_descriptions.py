# SPDX-License-Identifier: Apache-2.0
"""What the manual says of each key of the configuration (keys.txt), those below others and of
modules among them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from runner.model.records import Record
from runner.model.text_tables import text_beside

MODULES = "Modules"  # their keys have dots; those of others lie below another key
REPOSITORIES = "Git repositories"
OF_REPOSITORIES = "of repositories"  # of all settings of git repositories, without their prefix


class Description(Record):
    """What the manual says of a key.

    example: YAML, with the key. default: in words, where it is no constant of the program; type:
    where its field does not say it.
    """

    group: str
    about: str
    example: str
    unit: str = ""
    default: str = ""
    type: str = ""


@cache
def _all() -> Mapping[str, Mapping[str, Description]]:
    """The pages by their groups, in the order of the reference."""
    groups: dict[str, dict[str, Description]] = {}
    text = text_beside("runner.sources.config", "keys.txt")
    _, *sections = text.split("\n# ---")
    for section in sections:
        head, *entries = section.split("\n= ")
        group = head.partition("\n")[0].lstrip("- ")
        groups[group] = {}
        for entry in entries:
            first, *lines = entry.strip("\n").split("\n")
            name, *facts = first.split(" | ")
            said = dict(fact.split(": ", 1) for fact in facts)
            about = " ".join(line for line in lines if not line.startswith("    "))
            example = "\n".join(line[4:] for line in lines if line.startswith("    "))
            groups[group][name] = Description(group, about, example, **said)
    return groups


@cache
def pages() -> Mapping[str, Description]:
    """What is said of each key, in the order of the reference."""
    return {
        name: page
        for group, keys in _all().items()
        if group != OF_REPOSITORIES
        for name, page in keys.items()
    }


def of_repositories() -> Mapping[str, Description]:
    """What is said of each setting of git repositories."""
    return _all()[OF_REPOSITORIES]
