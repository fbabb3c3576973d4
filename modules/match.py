# SPDX-License-Identifier: Apache-2.0
"""Targets of top files, for templates."""

from __future__ import annotations

import copy
import fnmatch
import re
from collections.abc import Mapping, Sequence
from typing import Any

from modules.slsutil.merging import update
from runner.api import RunnerError, here


def compound(tgt: str, minion_id: str | None = None) -> bool:
    """Return whether a compound expression means this machine. minion_id: take this for the
    machine's ID.

    {% if salt['match.compound']('web* and G@os:Debian') %}
    """
    if not tgt:
        return False
    return here.match(tgt if minion_id is None else _with_id(tgt, minion_id), "compound")


def _with_id(expression: str, minion_id: str) -> str:
    """An expression with the answer (`*` or nobody) in place of each word that asks for the ID."""
    words = []
    for word in expression.split():
        if word in ("and", "or", "not", "(", ")"):
            words.append(word)
        elif word.startswith(("E@", "L@")):
            test = pcre if word.startswith("E@") else list_
            words.append("*" if test(word[2:], minion_id) else "L@")
        elif word[1:2] == "@" or word[2:3] == "@":
            words.append(word)
        else:
            words.append("*" if glob(word, minion_id) else "L@")
    return " ".join(words)


def glob(tgt: str, minion_id: str | None = None) -> bool:
    """Return whether a glob means this machine's ID (or another)."""
    return here.match(tgt, "glob") if minion_id is None else fnmatch.fnmatchcase(minion_id, tgt)


def pcre(tgt: str, minion_id: str | None = None) -> bool:
    """Return whether a regular expression means this machine's ID (or another)."""
    return here.match(tgt, "pcre") if minion_id is None else re.match(tgt, minion_id) is not None


def list_(tgt: str | Sequence[str], minion_id: str | None = None) -> bool:
    """Return whether this machine (or another) is in a list of IDs, given as a list or with
    commas.
    """
    names = tgt.split(",") if isinstance(tgt, str) else tgt
    return str(here.opts.get("id") if minion_id is None else minion_id) in names


def _data(kind: str, letter: str, tgt: str, delimiter: str) -> bool:
    if delimiter == ":":
        return here.match(tgt, kind)
    return here.match([f"{letter}{delimiter}@{tgt}"], "compound")  # type: ignore[arg-type]  # one word, even with spaces


def grain(tgt: str, delimiter: str = ":") -> bool:
    """Return whether a grain has a value (`os:Deb*`)."""
    return _data("grain", "G", tgt, delimiter)


def grain_pcre(tgt: str, delimiter: str = ":") -> bool:
    """Return whether a grain matches a regular expression (`os:Deb.*`)."""
    return _data("grain_pcre", "P", tgt, delimiter)


def pillar(tgt: str, delimiter: str = ":") -> bool:
    """Return whether the pillar has a value (`role:web*`)."""
    return _data("pillar", "I", tgt, delimiter)


def pillar_pcre(tgt: str, delimiter: str = ":") -> bool:
    """Return whether a value of the pillar matches a regular expression (`role:web.*`)."""
    return _data("pillar_pcre", "J", tgt, delimiter)


def ipcidr(tgt: str) -> bool:
    """Return whether this machine has an address in a network."""
    return here.match(tgt, "ipcidr")


def data(tgt: str) -> bool:
    """False: the data that a master can ask for are not here."""
    return False


def search_by(
    lookup: Mapping[str, Sequence[str]], tgt_type: str = "compound", minion_id: str | None = None
) -> list[str] | None:
    """The keys of a mapping one of whose targets means this machine; None for none.

    {{ salt['match.search_by']({'web': ['web*'], 'db': ['G@roles:db']}) }}
    """
    keys = [
        key
        for key, targets in lookup.items()
        if any(_matches(target, tgt_type, minion_id) for target in targets)
    ]
    return keys or None


def filter_by(
    lookup: Mapping[str, Any],
    tgt_type: str = "compound",
    minion_id: str | None = None,
    merge: Mapping[str, Any] | None = None,
    merge_lists: bool = False,
    default: str = "default",
) -> Any:
    """The entry of a mapping whose key is a target that means this machine.

    minion_id: take this for the machine's ID. merge: laid over what a target found. merge_lists:
    join lists then. default: the key to use when none fits. Raises RunnerError when `merge` is no
    mapping.

        {% set role = salt['match.filter_by']({'web*': 'web', 'default': 'other'}) %}
    """
    fitting = next((key for key in lookup if _matches(key, tgt_type, minion_id)), None)
    if fitting is None:
        return copy.deepcopy(lookup.get(default))
    return _copy_with(lookup[fitting], merge, merge_lists)


def _copy_with(entry: Any, merge: Mapping[str, Any] | None, lists: bool) -> Any:
    """A copy of what was found, with `merge` laid over it."""
    entry = copy.deepcopy(entry)
    if not merge or entry is None:
        return entry
    if not isinstance(merge, Mapping):
        raise RunnerError("filter_by merge argument must be a dictionary.")
    if not isinstance(entry, Mapping):
        raise RunnerError("filter_by: only a mapping can be merged with another")
    return update(entry, merge, lists=lists)


def ifelse(
    *pairs: Any,
    tgt_type: str = "compound",
    minion_id: str | None = None,
    merge: Mapping[str, Any] | None = None,
    merge_lists: bool = False,
) -> Any:
    """The value beside the first target that means this machine (or is True); the last argument
    when there is none.

    Options as those of filter_by. Raises RunnerError for an even number of arguments.

        {% set role = salt['match.ifelse']('web*', 'web', 'db*', 'db', 'other') %}
    """
    if len(pairs) % 2 == 0:
        raise RunnerError(
            "The ifelse function must have an odd number of arguments!",
            hint=(
                "pairs of a target and its value, then the value for all others: ifelse('web*',"
                " 1, 0)"
            ),
        )
    for target, value in zip(pairs[:-1:2], pairs[1::2], strict=True):
        if target is True or (isinstance(target, str) and _matches(target, tgt_type, minion_id)):
            return _copy_with(value, merge, merge_lists)
    return pairs[-1]


def _matches(target: str, kind: str, minion_id: str | None) -> bool:
    if minion_id is not None and kind in ("compound", "glob", "pcre", "list"):
        tests = {"compound": compound, "glob": glob, "pcre": pcre, "list": list_}
        return tests[kind](target, minion_id)
    return here.match(target, kind)


__func_alias__ = {"list_": "list"}
