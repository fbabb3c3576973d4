"""Targets of top files, for templates."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping
from typing import Any

from runner.api import here


def compound(tgt: str, minion_id: str | None = None) -> bool:
    """Whether a compound expression means this machine."""
    return here.match(tgt, "compound")


def glob(tgt: str, minion_id: str | None = None) -> bool:
    """Whether a glob means this machine's ID."""
    return here.match(tgt, "glob")


def pcre(tgt: str, minion_id: str | None = None) -> bool:
    """Whether a regular expression means this machine's ID."""
    return here.match(tgt, "pcre")


def grain(tgt: str, delimiter: str = ":") -> bool:
    """Whether a grain has a value."""
    return here.match(tgt, "grain")


def pillar(tgt: str, delimiter: str = ":") -> bool:
    """Whether the pillar has a value."""
    return here.match(tgt, "pillar")


def ipcidr(tgt: str) -> bool:
    """Whether this machine has an address in a network."""
    return here.match(tgt, "ipcidr")


def filter_by(
    lookup: Mapping[str, Any],
    tgt_type: str = "compound",
    minion_id: str | None = None,
    merge: Mapping[str, Any] | None = None,
    merge_lists: bool = False,
    default: str = "default",
) -> Any:
    """The entry of a mapping whose key means this machine."""
    for key, value in lookup.items():
        fits = fnmatch.fnmatchcase(minion_id, key) if minion_id else here.match(key, tgt_type)
        if fits:
            return {**value, **merge} if merge else value
    return lookup.get(default)


def grain_pcre(tgt: str, delimiter: str = ":") -> bool:
    """Whether a grain matches a regular expression (`os:Deb.*`)."""
    return here.match(tgt, "grain_pcre")


def pillar_exact(tgt: str, delimiter: str = ":") -> bool:
    """Whether a value of the pillar is this one (`role:web`)."""
    return here.match(tgt, "pillar_exact")


def list_(tgt: Any, minion_id: str | None = None) -> bool:
    """Whether this machine is in a list of IDs."""
    return here.match(tgt if isinstance(tgt, str) else ",".join(tgt), "list")


__func_alias__ = {"list_": "list"}
