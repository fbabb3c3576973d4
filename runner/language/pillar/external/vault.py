# SPDX-License-Identifier: Apache-2.0
"""The external pillar vault: secrets of a Vault or OpenBao server.

    ext_pillar:
      - vault: path=secret/roles/{pillar[roles]}

`vault` of the configuration says where the server is. Behaviour: the documentation of Salt's
extension, except that a server that cannot be asked stops the run.
"""

from __future__ import annotations

import itertools
import re
import string
from collections.abc import Mapping
from typing import Any

from runner.language.pillar.external.tools import Tools
from runner.language.pillar.merge import STRATEGIES, merge

OPTIONS = ("conf", "nesting_key", "merge_strategy", "merge_lists", "path")
_FIELD = re.compile(r"(minion|pillar|grains)((?:\[[^\[\]]+\])*)")


def look(tools: Tools, pillar: Mapping[str, Any], settings: Any) -> dict[str, Any]:
    """Return what the secrets at all paths say, those of later ones over it."""
    options = _options(tools, settings)
    strategy = options.get("merge_strategy")
    if strategy is not None and strategy not in STRATEGIES:
        raise tools.problem(
            f"the external pillar vault has no merge_strategy {strategy!r}",
            f"it has {', '.join(STRATEGIES)}",
        )
    strategy = str(strategy or tools.opts.get("pillar_source_merging_strategy") or "smart")
    lists = options.get("merge_lists")
    lists = bool(tools.opts.get("pillar_merge_lists") if lists is None else lists)
    data: dict[str, Any] = {}
    for path in _paths(tools, pillar, _path(tools, options)):
        data = merge(data, tools.vault(path), strategy, lists)
    key = options.get("nesting_key")
    return {str(key): data} if key else data


def _options(tools: Tools, settings: Any) -> dict[str, Any]:
    """The options by name: a path alone, a list of what Salt takes by its place, or a mapping."""
    if isinstance(settings, str):
        return {"conf": settings}
    if isinstance(settings, list) and len(settings) < len(OPTIONS):
        return dict(zip(OPTIONS, settings, strict=False))
    if not isinstance(settings, Mapping):
        raise tools.problem(
            f"the external pillar vault takes a path, not {settings!r}",
            "write\n    ext_pillar:\n      - vault: path=secret/app",
        )
    for name in settings:
        if name not in OPTIONS:
            raise tools.problem(
                f"the external pillar vault has no option {name!r}", f"it has {', '.join(OPTIONS)}"
            )
    return dict(settings)


def _path(tools: Tools, options: Mapping[str, Any]) -> str:
    """The pattern of paths: of `path`, or of `conf`, where `path=` stands before it or nothing."""
    words = str(options.get("path") or options.get("conf") or "").split()
    named = [word.removeprefix("path=") for word in words if word.startswith("path=")]
    path = named[0] if named else words[0] if len(words) == 1 and "=" not in words[0] else ""
    if not path.strip("/"):
        raise tools.problem(
            "the external pillar vault needs a path", "write\n      - vault: path=secret/app"
        )
    return path


def _paths(tools: Tools, pillar: Mapping[str, Any], pattern: str) -> list[str]:
    """The paths that a pattern stands for: one for each item of a list, and each key of a mapping,
    that it names. None when it names what is not there.
    """
    parts: list[list[str]] = []
    try:
        for text, field, form, conversion in string.Formatter().parse(pattern):
            parts.append([text])
            if field is not None:
                if form or conversion:
                    raise ValueError(f"what is {field!r}?")
                parts.append(_values(tools, pillar, field))
    except ValueError as error:
        raise tools.problem(
            f"the external pillar vault: {pattern!r} is no pattern of paths: {error}",
            "it may have {minion}, {grains[NAME]} and {pillar[NAME]}",
        ) from None
    return ["".join(words) for words in itertools.product(*parts)]


def _values(tools: Tools, pillar: Mapping[str, Any], field: str) -> list[str]:
    """Return what a field of a pattern stands for; nothing for one not there. Raises ValueError."""
    match = _FIELD.fullmatch(field)
    if not match or (match[1] == "minion") == bool(match[2]):
        raise ValueError(f"there is no {{{field}}}")
    value: Any = {"minion": tools.id, "pillar": pillar, "grains": tools.grains}[match[1]]
    for name in re.findall(r"\[([^\]]+)\]", match[2]):
        if isinstance(value, list) and name.isdigit() and int(name) < len(value):
            value = value[int(name)]
        elif isinstance(value, Mapping) and name in value:
            value = value[name]
        else:
            return []
    values = value if isinstance(value, list | Mapping) else [value]
    return [str(item) for item in values if isinstance(item, str | int | float)]
