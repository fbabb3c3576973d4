# SPDX-License-Identifier: Apache-2.0
"""config.get: the configuration, grains and pillar as one."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Mapping
from typing import Any

from modules.slsutil.merging import MISSING, merged, traverse
from runner.api import here


def get(
    key: str,
    default: Any = "",
    delimiter: str = ":",
    merge: str | bool | None = None,
    omit_opts: bool = False,
    omit_pillar: bool = False,
    omit_master: bool = False,
    omit_grains: bool = False,
) -> Any:
    """The first of configuration, grains and pillar that has a key.

    merge: "recurse" (or True) lays mappings of all that have it over each other, the configuration
    topmost; "overwrite" takes the first, as without it. A value `sdb://PROFILE/KEY` is read there.

        {{ salt['config.get']('nginx:lookup', {}) }}
    """
    sources = _sources(omit_opts, omit_grains, omit_pillar)
    values = [
        value for source in sources if (value := _value_in(source, key, delimiter)) is not MISSING
    ]
    if not values:
        return default
    if not merge or merge == "overwrite":
        return _resolved(values[0])
    result = values[-1]
    for value in reversed(values[:-1]):
        result = merged(result, value)
    return _resolved(result)


def _resolved(value: Any) -> Any:
    """A value, or what is at its address `sdb://...`."""
    is_address = isinstance(value, str) and value.startswith("sdb://")
    return here.call("sdb.get", value) if is_address else value


def _sources(omit_opts: bool, omit_grains: bool, omit_pillar: bool) -> list[Mapping[str, Any]]:
    candidates = ((omit_opts, here.opts), (omit_grains, here.grains), (omit_pillar, here.pillar))
    return [source for omitted, source in candidates if not omitted]


def _value_in(source: Any, key: str, delimiter: str) -> Any:
    first = key.split(delimiter)[0]
    if first in source:  # asked for by its name: a look at all grains would compute them all
        return traverse({first: source[first]}, key, MISSING, delimiter)
    return MISSING if source is here.grains else traverse(source, key, MISSING, delimiter)


def option(
    value: str,
    default: Any = "",
    omit_opts: bool = False,
    omit_grains: bool = False,
    omit_pillar: bool = False,
    omit_master: bool = False,
    wildcard: bool = False,
) -> Any:
    """The first of configuration, grains and pillar that has a top-level key.

    wildcard: `value` is a glob; a mapping of all keys that match, the configuration's topmost.
    """
    sources = _sources(omit_opts, omit_grains, omit_pillar)
    if not wildcard:
        return next((source[value] for source in sources if value in source), default)
    matching = {
        key: source[key]
        for source in reversed(sources)
        for key in source
        if fnmatch.fnmatchcase(str(key), value)
    }
    return matching or default


def merge(
    value: str,
    default: Any = "",
    omit_opts: bool = False,
    omit_master: bool = False,
    omit_pillar: bool = False,
) -> Any:
    """A top-level key of the configuration and the pillar; of two mappings both, key by key, the
    first one topmost.
    """
    values = [
        source[value]
        for source in _sources(omit_opts, True, omit_pillar)
        if source.get(value) is not None
    ]
    if len(values) == 2 and all(isinstance(content, Mapping) for content in values):
        return {**values[1], **values[0]}
    return values[0] if values else default


def dot_vals(value: str) -> dict[str, Any]:
    """The keys of pillar and configuration that begin with a word and a dot (`mysql.host`)."""
    return {
        key: source[key]
        for source in (here.pillar, here.opts)
        for key in source
        if str(key).startswith(f"{value}.")
    }


def items() -> dict[str, Any]:
    """The configuration."""
    return dict(here.opts)


def valid_fileproto(uri: str) -> bool:
    """Return whether a file can be fetched from such an address."""
    return re.match("(salt|file|https?|ftp|s3|swift)://?", uri) is not None


def backup_mode(backup: str = "") -> Any:
    """The way to keep old files: the one given, else that of the configuration."""
    return backup or option("backup_mode")


def manage_mode(mode: str | int | None) -> str | None:
    """A file mode as four digits.

    {{ salt['config.manage_mode'](644) }} is 0644
    """
    if mode is None:
        return None
    return str(mode).removeprefix("0o").lstrip("0").rjust(4, "0")
