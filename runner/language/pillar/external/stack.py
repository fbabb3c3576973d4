# SPDX-License-Identifier: Apache-2.0
"""The external pillar stack: YAML templates that see the pillar and each other, laid on each other.

    ext_pillar:
      - stack: /srv/stack/stack.cfg

A configuration file is a template that lists files (globs, beside it). A mapping or list says with
`__` how it goes together with the one below it: merge-last (what holds without it), merge-first,
remove, overwrite. Behaviour: Salt's documentation.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from runner.language.pillar.external.tools import Tools
from runner.model.errors import RenderError, RunnerError

STRATEGIES = ("merge-last", "merge-first", "remove", "overwrite")


def look(tools: Tools, pillar: Mapping[str, Any], settings: Any) -> dict[str, Any]:
    """The data of the files that this machine's configuration files list."""
    stack: dict[str, Any] = {}
    for config in _configs(settings, tools, pillar):
        if os.path.isfile(config):
            for path in _listed(config, tools, pillar, stack):
                stack = _overlay(path, tools, pillar, stack, config)
    return stack


def _configs(settings: Any, tools: Tools, pillar: Mapping[str, Any]) -> Iterator[str]:
    if isinstance(settings, str):
        yield os.path.join(tools.folder, settings)
    elif isinstance(settings, list):
        for item in settings:
            yield from _configs(item, tools, pillar)
    elif isinstance(settings, Mapping):
        for place, choices in settings.items():
            kind, _, path = str(place).partition(":")
            whole = {"pillar": pillar, "grains": tools.grains, "opts": tools.opts}.get(kind)
            if whole is None or not isinstance(choices, Mapping):
                hint = (
                    "write\n    - stack:\n        pillar:role:\n          web: /srv/stack/web.cfg"
                )
                raise tools.problem(f"the external pillar stack does not know {place!r}", hint)
            value = _traverse(whole, path)
            chosen = [value] if isinstance(value, str) else value if isinstance(value, list) else []
            yield from (
                config
                for one in chosen
                if one in choices
                for config in _configs(choices[one], tools, pillar)
            )
    else:
        raise tools.problem(
            f"the external pillar stack takes the path of its configuration, not {settings!r}"
        )


def _traverse(data: Any, path: str, default: Any = None, delimiter: str = ":") -> Any:
    for part in path.split(delimiter) if path else ():
        if not isinstance(data, Mapping) or part not in data:
            return default
        data = data[part]
    return data


def _names(
    tools: Tools, pillar: Mapping[str, Any], stack: Mapping[str, Any], config: str
) -> dict[str, Any]:
    own = {"traverse": _traverse, "cfg_path": config}
    return {
        **tools.names,
        "minion_id": tools.id,
        "pillar": pillar,
        "stack": stack,
        "__stack__": own,
    }


def _listed(
    config: str, tools: Tools, pillar: Mapping[str, Any], stack: Mapping[str, Any]
) -> Iterator[str]:
    """The files that a configuration file lists."""
    folder = os.path.dirname(config)
    tools.seen(config)
    rendered = tools.template(config, folder, _names(tools, pillar, stack, config))
    try:
        listed = tools.data(rendered)
    except RunnerError:
        listed = None
    for item in listed if isinstance(listed, list) else rendered.text.splitlines():
        if str(item).strip():
            yield from sorted(
                path
                for path in glob.glob(os.path.join(folder, str(item).strip()))
                if os.path.isfile(path)
            )


def _overlay(
    path: str, tools: Tools, pillar: Mapping[str, Any], stack: dict[str, Any], config: str
) -> dict[str, Any]:
    """The stack with one more file on it."""
    tools.seen(path)
    rendered = tools.template(path, os.path.dirname(config), _names(tools, pillar, stack, config))
    data = tools.data(rendered)
    if not isinstance(data, dict):
        if data:
            raise RenderError("a file of a stack is a mapping", rendered.source(1, 1))
        return stack
    problem = partial(_unknown, rendered.source(1, 1))
    merged: dict[str, Any] = _mapping(stack, data, problem)
    return merged


def _unknown(place: Any, strategy: Any) -> RenderError:
    return RenderError(
        f"stack has no strategy {strategy!r}", place, f"it has {', '.join(STRATEGIES)}"
    )


# ---------------------------------------------------------------- merging


def _mapping(old: dict[str, Any], new: Mapping[str, Any], problem: Any) -> dict[str, Any]:
    """A mapping laid over another one, as its `__` says."""
    strategy = new.get("__", "merge-last")
    if strategy not in STRATEGIES:
        raise problem(strategy)
    values = {key: value for key, value in new.items() if key != "__"}
    if strategy == "remove":
        return {key: value for key, value in old.items() if key not in values}
    if strategy == "overwrite":
        return {key: _clean(value) for key, value in values.items()}
    made = dict(old)
    for key, value in values.items():
        made[key] = (
            _value(old[key], value, strategy == "merge-first", problem)
            if key in old
            else _clean(value)
        )
    return made


def _value(old: Any, new: Any, first: bool, problem: Any) -> Any:
    """Two values of one key. first: the one below wins."""
    if first:
        old, new = _clean(new), old
    if isinstance(old, dict) and isinstance(new, Mapping):
        return _mapping(old, new, problem)
    if isinstance(old, list) and isinstance(new, list):
        return _list(old, new, problem)
    return _clean(new)


def _list(old: list[Any], new: list[Any], problem: Any) -> list[Any]:
    strategy, items = _strategy(new)
    if strategy not in STRATEGIES:
        raise problem(strategy)
    if strategy == "overwrite":
        return items
    if strategy == "remove":
        return [item for item in old if item not in items]
    return items + old if strategy == "merge-first" else old + items


def _strategy(values: list[Any]) -> tuple[str, list[Any]]:
    """The merge strategy that a list names in its first item, and its other items."""
    if values and isinstance(values[0], Mapping) and "__" in values[0]:
        return values[0]["__"], values[1:]
    return "merge-last", values


def _clean(value: Any) -> Any:
    """A value without the words that say how to merge it. The items of a list are taken as they
    are, as Salt does.
    """
    if isinstance(value, Mapping):
        return {key: _clean(item) for key, item in value.items() if key != "__"}
    return _strategy(value)[1] if isinstance(value, list) else value
