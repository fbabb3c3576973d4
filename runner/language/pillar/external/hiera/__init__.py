# SPDX-License-Identifier: Apache-2.0
"""The external pillar hiera: the data of a hierarchy that was made for Puppet.

    ext_pillar:
      - hiera: /srv/control-repo/hiera.yaml

Each key of each level is looked up as Puppet's function lookup does, and becomes one of the pillar.
Behaviour: Puppet's documentation of Hiera 5, and its answers; docs/hiera.md says what is missing.
"""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Mapping
from typing import Any

from runner.language.pillar.external.hiera import hierarchy, lookup, merging, variables
from runner.language.pillar.external.tools import Tools

SEPARATOR = "::"
OPTIONS = ("config", "environment", "keys", "merge", "nesting_key", "scope", "split_keys")


def look(tools: Tools, pillar: Mapping[str, Any], settings: Any) -> dict[str, Any]:
    """All keys of the hierarchy with their values."""
    options = settings if isinstance(settings, Mapping) else {"config": settings}
    for name in options:
        if name not in OPTIONS:
            raise tools.problem(
                f"the external pillar hiera has no option {name!r}", f"it has {', '.join(OPTIONS)}"
            )
    config, more, globs = options.get("config"), options.get("scope") or {}, options.get("keys")
    if not isinstance(config, str) or not isinstance(more, Mapping):
        raise tools.problem(
            "the external pillar hiera takes the path of a hiera.yaml",
            "write\n    ext_pillar:\n      - hiera: /srv/hiera/hiera.yaml",
        )
    environment = str(options.get("environment") or "production")
    scope = variables.Scope(tools.id, environment, tools.grains, {"pillar": pillar, **more})
    path = os.path.join(tools.folder, config)
    merge = options.get("merge") or {}
    if not isinstance(merge, Mapping) or any(
        strategy not in merging.STRATEGIES for strategy in merge.values()
    ):
        what = f"{', '.join(merging.STRATEGIES[:-1])} or {merging.STRATEGIES[-1]}"
        raise tools.problem(
            "the external pillar hiera: `merge` has globs of keys, each with how it is merged",
            f"write `merge: {{'users*': hash}}`; there are {what}",
        )
    lookups = lookup.Lookups(hierarchy.data_files(path, tools, scope), scope, tools, merge)
    wanted = [globs] if isinstance(globs, str) else globs or ["*"]
    data = {
        key: lookups.value(key)
        for key in lookups.keys
        if any(fnmatch.fnmatchcase(key, str(glob)) for glob in wanted)
    }
    data = _split(data, tools) if options.get("split_keys") else data
    nesting_key = options.get("nesting_key")
    return {str(nesting_key): data} if nesting_key else data


def _split(data: Mapping[str, Any], tools: Tools) -> dict[str, Any]:
    """The values below the parts of their keys: `a::b: 1` as `a: {b: 1}`."""
    whole: dict[str, Any] = {}
    made = {id(whole)}  # mappings that are made of parts of keys; values are not written to
    for key in sorted(data):
        *parents, last = key.split(SEPARATOR)
        inner = whole
        for part in parents:
            inner = inner.setdefault(part, {})
            if id(inner) not in made and inner:
                raise tools.problem(
                    f"the external pillar hiera: {key} lies below {part}, which has a value itself",
                    "do without split_keys, or name other `keys`",
                )
            made.add(id(inner))
        inner[last] = data[key]
    return whole
