# SPDX-License-Identifier: Apache-2.0
"""The pillar, as templates and states ask for it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from modules import _paths
from modules._texts import filter_by as _filter_by
from modules.slsutil.merging import MISSING, combined, traverse
from runner.api import RunnerError, here


def get(
    key: Any,
    default: Any = MISSING,
    merge: bool = False,
    merge_nested_lists: bool | None = None,
    delimiter: str = ":",
    pillarenv: str | None = None,
    saltenv: str | None = None,
) -> Any:
    """The value of a key, nested ones as `a:b`.

    default: what to return when it is not there ("" without one). merge: lay the value over the
    default. merge_nested_lists: join nested lists while merging (without it: as pillar_merge_lists
    says). pillarenv, saltenv: taken as this run's. Raises RunnerError for a missing key with
    pillar_raise_on_missing.

        {{ salt['pillar.get']('nginx:port', 80) }}
    """
    if key is None:
        hint = "the value is none: give it one, or ask for it with `{% if %}` first"
        raise RunnerError("pillar.get: a key is a text, not none", hint=hint)
    value = traverse(here.pillar, key, MISSING, delimiter)
    if value is MISSING:
        if default is MISSING and here.opts.get("pillar_raise_on_missing"):
            hint = (
                f"pillar_raise_on_missing is set: give it a default, `salt['pillar.get']({key!r},"
                " DEFAULT)`"
            )
            raise RunnerError(f"Pillar key not found: {key}", hint=hint)
        return "" if default is MISSING else default
    if merge and isinstance(default, Mapping) and isinstance(value, Mapping):
        lists = (
            here.opts.get("pillar_merge_lists")
            if merge_nested_lists is None
            else merge_nested_lists
        )
        return combined(
            default, value, here.opts.get("pillar_source_merging_strategy") or "smart", bool(lists)
        )
    if merge and isinstance(default, list) and isinstance(value, list):
        return [*default, *(item for item in value if item not in default)]
    return value


def items(*args: str, pillarenv: str | None = None, saltenv: str | None = None) -> dict[str, Any]:
    """The whole pillar, or its top-level keys of these names."""
    return (
        {key: here.pillar[key] for key in args if key in here.pillar} if args else dict(here.pillar)
    )


data = items


def raw(key: str | None = None) -> Any:
    """A top-level key of the pillar, or all of it."""
    return here.pillar.get(key, {}) if key else dict(here.pillar)


def item(
    *keys: str,
    default: Any = "",
    delimiter: str = ":",
    pillarenv: str | None = None,
    saltenv: str | None = None,
) -> dict[str, Any]:
    """Several keys at once; options as those of get."""
    return {key: traverse(here.pillar, key, default, delimiter) for key in keys}


def keys(key: str, delimiter: str = ":") -> list[str]:
    """The keys of a mapping in the pillar. Raises RunnerError when there is none."""
    value = traverse(here.pillar, key, MISSING, delimiter)
    if value is MISSING:
        raise RunnerError(f"Pillar key not found: {key}")
    if not isinstance(value, Mapping):
        raise RunnerError(f"Pillar value in key {key} is not a dict")
    return list(value)


def ls(*args: str) -> list[str]:
    """The top-level keys of the pillar; of names these names, as with Salt, whether there are such
    keys or not.
    """
    return list(args or items())


def fetch(key: str, default: Any = MISSING, delimiter: str = ":") -> Any:
    """Like get, without merging."""
    return get(key, default, delimiter=delimiter)


def filter_by(
    lookup_dict: Mapping[str, Any],
    pillar: str,
    merge: Mapping[str, Any] | None = None,
    default: str = "default",
    base: str | None = None,
) -> Any:
    """The entry of a mapping that a value of the pillar selects; the arguments are those of
    grains.filter_by.

    {{ salt['pillar.filter_by']({'web': {'port': 80}, 'default': {'port': 8}}, 'role').port }}
    """
    return _filter_by.by_value(lookup_dict, get(pillar, None), merge, default, base)


def file_exists(path: str, saltenv: str | None = None) -> bool:
    """Return whether a file is below the pillar's roots (of one environment).

    {% if salt['pillar.file_exists']('hosts/' ~ grains.id ~ '.sls') %}
    """
    roots = here.opts.get("pillar_roots") or {}
    folders = [
        folder
        for env, roots_of_env in roots.items()
        if saltenv in (None, env)
        for folder in roots_of_env
    ]
    return bool(path) and any(_paths.isfile(os.path.join(folder, path)) for folder in folders)


def obfuscate(*args: str) -> dict[str, Any]:
    """The pillar (or its top-level keys of these names) with the types of the values in place of
    them.
    """
    types: dict[str, Any] = _types(items(*args))
    return types


def _types(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _types(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [_types(member) for member in value]
    return f"<{type(value).__name__}>"
