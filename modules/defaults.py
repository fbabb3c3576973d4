# SPDX-License-Identifier: Apache-2.0
"""Defaults of a formula, merged with what the pillar says."""

from __future__ import annotations

import copy
from typing import Any

from modules import _paths
from modules._texts import yaml
from modules.slsutil import merging
from runner.api import here


def merge(
    dest: Any, upd: Any, merge_lists: bool = False, in_place: bool = True, convert_none: bool = True
) -> Any:
    """Lay one mapping over another.

    merge_lists: join lists. in_place: change `dest` itself. convert_none: take None for an empty
    mapping. Raises TypeError for what is not a mapping.

        {% do salt['defaults.merge'](nginx, pillar.get('nginx')) %}
    """
    if dest is None and in_place:
        raise TypeError("nothing can be laid over None in place: give a mapping, or in_place=False")
    if convert_none:
        dest, upd = {} if dest is None else dest, {} if upd is None else upd
    return merging.update(dest if in_place else copy.deepcopy(dest), upd, lists=merge_lists)


def update(
    dest: Any,
    defaults: Any,
    merge_lists: bool = True,
    in_place: bool = True,
    convert_none: bool = True,
) -> Any:
    """Give each mapping below `dest` some defaults; arguments as those of merge. Raises TypeError
    for None that is to be updated in place.
    """
    if dest is None and in_place:
        raise TypeError(
            "nothing can be updated in place of None: give a mapping, or in_place=False"
        )
    target = dest if in_place else copy.deepcopy(dest or {})
    for name, value in target.items():
        target[name] = merge(
            defaults, value, merge_lists, in_place=False, convert_none=convert_none
        )
    return target


def deepcopy(source: Any) -> Any:
    """A copy that shares nothing."""
    return copy.deepcopy(source)


def get(key: str, default: Any = "") -> Any:
    """A value of a formula's own defaults.yaml or defaults.json, whatever the pillar says
    (`nginx:port`).

    default: what to return when the file has no such key, or there is no file.

        {{ salt['defaults.get']('nginx:port', 80) }}
    """
    formula = key.partition(":")[0]
    return (
        default
        if (own_defaults := _of_formula(formula)) is None
        else merging.traverse({formula: own_defaults}, key, default)
    )


def _of_formula(formula: str) -> Any:
    for ending in ("yaml", "json"):
        path = here.tree.find(f"{formula.replace('.', '/')}/defaults.{ending}", here.saltenv)
        if path:
            return yaml.load(_paths.read_text(path)) or {}
    return None
