# SPDX-License-Identifier: Apache-2.0
"""Looking up keys: what all levels say of one, put together as lookup_options ask."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

from runner.language.pillar.external.hiera import eyaml, merging
from runner.language.pillar.external.hiera.hierarchy import DataFile
from runner.language.pillar.external.hiera.merging import FIRST, UNIQUE, NotMergeable, Strategy
from runner.language.pillar.external.hiera.reading import read_yaml
from runner.language.pillar.external.hiera.variables import (
    MISSING,
    Scope,
    dug,
    interpolated,
    segments,
)
from runner.language.pillar.external.tools import Tools
from runner.model.errors import RenderError
from runner.model.places import Place, Untyped, key_place, value_place

OPTIONS = "lookup_options"
CLASSES = "classes"  # what hiera_include takes, which merges plain lists
_KINDS = {"String": str, "Integer": int, "Float": float, "Numeric": float}


class Lookups:
    """The keys of some files, the most specific one first. merge: how those are merged of which
    lookup_options say nothing, by globs of keys.
    """

    def __init__(
        self, files: list[DataFile], scope: Scope, tools: Tools, merge: Mapping[str, Any]
    ) -> None:
        self._scope, self._tools, self._merge = scope, tools, merge
        self._levels = [(file, _data(file, tools)) for file in files]
        self._known: dict[str, Any] = {}
        self._running: list[str] = []  # keys that are looked up for each other
        self._options, self._patterns = self._lookup_options()

    @property
    def keys(self) -> list[str]:
        """All keys."""
        found = dict.fromkeys(str(key) for _, data in self._levels for key in data)
        return [key for key in found if key != OPTIONS]

    def value(self, key: str) -> Any:
        """The value of a key; MISSING for one that is nowhere. Raises RunnerError."""
        if key not in self._known:
            self._known[key] = self._looked_up(key)
        return self._known[key]

    def _asked(self, dotted: str, place: Place) -> Any:
        """A value for an interpolation: of a key, or of what lies in it (`a.b.0`)."""
        root, *inner = segments(dotted, place)
        if root in self._running:
            chain = " -> ".join([*self._running[self._running.index(root) :], root])
            what = f"keys are looked up for each other: {chain}"
            raise RenderError(what, place.source, code="hiera")
        return dug(self.value(root), inner)

    def _looked_up(self, key: str) -> Any:
        strategy, convert, asked = self._settings(key)
        values: list[tuple[Any, Place]] = []
        self._running.append(key)
        try:
            for file, data in self._levels:
                if key not in data:
                    continue
                place = value_place(data, key, Place(Untyped(file.path), 1, 1))
                value = eyaml.decrypted(data[key], file, self._tools, place)
                values.append((interpolated(value, self._scope, self._asked, place), place))
                if strategy.name == "first" and key != CLASSES:
                    break
        finally:
            self._running.pop()
        if not values:
            return MISSING
        if key == CLASSES and not asked and all(_is_plain(value) for value, _ in values):
            strategy = UNIQUE
        try:
            value = merging.merged([value for value, _ in values], strategy)
        except NotMergeable as problem:
            what = f"{key} is {problem}"
            raise RenderError(what, values[0][1].source, asked, "hiera") from None
        return self._converted(value, convert, values[0][1])

    # -------------------------------------------------- lookup_options

    def _lookup_options(self) -> tuple[dict[str, Any], list[tuple[re.Pattern[str], Any]]]:
        """Return what the levels say of keys and patterns of keys; the most specific level wins."""
        whole: dict[str, tuple[Any, Place]] = {}
        for file, data in reversed(self._levels):
            place = Place(Untyped(file.path), 1, 1)
            options = data.get(OPTIONS) or {}
            if not isinstance(options, Mapping):
                what = "lookup_options is not a mapping"
                raise RenderError(what, value_place(data, OPTIONS, place).source, code="hiera")
            for key, value in options.items():
                whole[str(key)] = (value, key_place(options, key, place))
        plain = {key: value for key, value in whole.items() if not key.startswith("^")}
        patterns = []
        for key, (value, place) in whole.items():
            if key.startswith("^"):
                try:
                    patterns.append((re.compile(key), (value, place)))
                except re.error as error:
                    what = f"{key!r} is no regular expression: {error}"
                    raise RenderError(what, place.source, code="hiera") from None
        return plain, patterns

    def _settings(self, key: str) -> tuple[Strategy, Any, str]:
        """Return how values of a key are merged, what they are converted to, where that stands."""
        found = self._options.get(key) or next(
            (value for pattern, value in self._patterns if pattern.search(key)), None
        )
        if not found:
            globs = (glob for glob in self._merge if fnmatchcase(key, str(glob)))
            glob = next(globs, "")
            asked = f"merge of ext_pillar says so of {glob}" if glob else ""
            return (Strategy(self._merge[glob]) if glob else FIRST), None, asked
        options, place = found
        if not isinstance(options, Mapping) or set(options) - {"merge", "convert_to"}:
            what = f"lookup_options of {key} have `merge` and `convert_to`"
            raise RenderError(what, place.source, code="hiera")
        asked = f"lookup_options at {place.source}"
        return _strategy(options.get("merge"), place), options.get("convert_to"), asked

    def _converted(self, value: Any, kind: Any, place: Place) -> Any:
        """A value as `convert_to` asks; a Sensitive one is hidden."""
        kind = kind[0] if isinstance(kind, list) and len(kind) == 1 else kind
        if kind is None:
            return value
        if str(kind) == "Sensitive" or str(kind).startswith("Sensitive["):
            self._tools.hide(value)
            return value
        if str(kind) == "Boolean" and str(value).lower() in ("true", "false"):
            return str(value).lower() == "true"
        if str(kind) not in _KINDS or isinstance(value, Mapping | list):
            known = ", ".join([*_KINDS, "Boolean", "Sensitive"])
            what = f"the value cannot be converted to {kind}"
            raise RenderError(what, place.source, f"there are {known}", "hiera")
        try:
            return _KINDS[str(kind)](value)
        except (TypeError, ValueError):
            what = f"the value cannot be converted to {kind}"
            raise RenderError(what, place.source, code="hiera") from None


def _is_plain(value: Any) -> bool:
    """Return whether a value is a name, or a list of names."""
    return isinstance(value, str) or (
        isinstance(value, list) and all(isinstance(item, str) for item in value)
    )


def _strategy(merge: Any, place: Place) -> Strategy:
    options = dict(merge) if isinstance(merge, Mapping) else {"strategy": merge or "first"}
    name = str(options.pop("strategy", "first"))
    if name not in merging.STRATEGIES:
        hint = f"there are {', '.join(merging.STRATEGIES)}"
        raise RenderError(f"Hiera has no merge {name!r}", place.source, hint, "hiera")
    known = merging.DEEP_OPTIONS if name == "deep" else ()
    for option in options:
        if option not in known:
            what = f"the merge {name} has no option {option!r}"
            listed = f"it has {', '.join(known)}" if known else None
            raise RenderError(what, place.source, listed, "hiera")
    return Strategy(
        name,
        str(options.get("knockout_prefix") or ""),
        options.get("sort_merged_arrays") is True,
        options.get("merge_hash_arrays") is True,
    )


def _data(file: DataFile, tools: Tools) -> Mapping[str, Any]:
    """The mapping that a file holds; JSON is YAML, as far as numbers and places go."""
    data = read_yaml(file.path, tools)
    if data is None:
        return {}
    if not isinstance(data, Mapping):
        raise RenderError("a file of Hiera is a mapping", Place(Untyped(file.path), 1, 1).source)
    return data
