# SPDX-License-Identifier: Apache-2.0
"""Differences of mappings, as modules of trees ask Salt for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

Path = tuple[Any, ...]
_SIDES = ("old", "new")
_NOTHING = "<_null_>"  # what a side that lacks a key has


class DictDiffer:
    """How the keys of two mappings differ, without a look into their values."""

    def __init__(self, current_dict: Mapping[Any, Any], past_dict: Mapping[Any, Any]) -> None:
        self.current_dict, self.past_dict = current_dict, past_dict
        self.set_current, self.set_past = set(current_dict), set(past_dict)
        self.intersect = self.set_current & self.set_past

    def added(self) -> set[Any]:
        return self.set_current - self.intersect

    def removed(self) -> set[Any]:
        return self.set_past - self.intersect

    def changed(self) -> set[Any]:
        return {key for key in self.intersect if self.past_dict[key] != self.current_dict[key]}

    def unchanged(self) -> set[Any]:
        return self.intersect - self.changed()


def diff(current_dict: Mapping[Any, Any], past_dict: Mapping[Any, Any]) -> DictDiffer:
    return DictDiffer(current_dict, past_dict)


def deep_diff(
    old: Mapping[Any, Any], new: Mapping[Any, Any], ignore: list[Any] | None = None
) -> dict[str, Any]:
    """Return what only one of two mappings has: `old` and `new`, where there is such."""
    only: dict[str, dict[Any, Any]] = {"old": {}, "new": {}}
    for key in [*old, *(key for key in new if key not in old)]:
        if key in (ignore or ()) or (key in old and key in new and old[key] == new[key]):
            continue
        if isinstance(old.get(key), Mapping) and isinstance(new.get(key), Mapping):
            inside = deep_diff(old[key], new[key])
            for side, values in only.items():
                values[key] = inside.get(side, {})
            continue
        for side, given in (("old", old), ("new", new)):
            if key in given:
                only[side][key] = given[key]
    return {side: values for side, values in only.items() if values}


class RecursiveDictDiffer:
    """How two mappings differ, with those in them: keys are joined by dots."""

    NONE_VALUE = _NOTHING

    def __init__(
        self,
        past_dict: Mapping[Any, Any],
        current_dict: Mapping[Any, Any],
        ignore_missing_keys: bool = True,
    ) -> None:
        """ignore_missing_keys: what the new mapping lacks is no difference."""
        self.past_dict, self.current_dict = past_dict, current_dict
        self.ignore_unset_values = True
        self._missing = not ignore_missing_keys
        self._diffs = self._compared(past_dict, current_dict)

    def _compared(self, old: Mapping[Any, Any], new: Mapping[Any, Any]) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        for key in new:
            if key not in old:
                found[key] = {"new": new[key], "old": _NOTHING}
            elif isinstance(new[key], Mapping) and isinstance(old[key], Mapping):
                if inside := self._compared(old[key], new[key]):
                    found[key] = inside
            elif new[key] != old[key]:
                found[key] = {"new": new[key], "old": old[key]}
        if self._missing:
            found |= {
                key: {"new": _NOTHING, "old": value} for key, value in old.items() if key not in new
            }
        return found

    @property
    def diffs(self) -> dict[Any, Any]:
        """Each key that differs with its `old` and its `new` value."""
        return self._diffs

    @property
    def new_values(self) -> dict[Any, Any]:
        return _side(self._diffs, "new")

    @property
    def old_values(self) -> dict[Any, Any]:
        return _side(self._diffs, "old")

    @property
    def changes_str(self) -> str:
        """The differences for people, a line each."""
        return "\n".join(_lines(self._diffs, ""))

    def added(self) -> list[str]:
        return self._keys(lambda one: one["old"] == _NOTHING)

    def removed(self) -> list[str]:
        return self._keys(lambda one: one["new"] == _NOTHING)

    def changed(self) -> list[str]:
        """Those that both have; with `ignore_unset_values` false also those that one lacks."""
        return self._keys(
            lambda one: not self.ignore_unset_values or _NOTHING not in (one["old"], one["new"])
        )

    def unchanged(self) -> list[str]:
        return list(_same(self.current_dict, self._diffs, ()))

    def _keys(self, chosen: Callable[[Mapping[str, Any]], bool]) -> list[str]:
        return sorted(_joined(path) for path, one in _flat(self._diffs, ()) if chosen(one))


def recursive_diff(
    past_dict: Mapping[Any, Any], current_dict: Mapping[Any, Any], ignore_missing_keys: bool = True
) -> RecursiveDictDiffer:
    return RecursiveDictDiffer(past_dict, current_dict, ignore_missing_keys)


def _is_leaf(value: Mapping[Any, Any]) -> bool:
    return value.keys() == {"old", "new"}


def _flat(diffs: Mapping[Any, Any], path: Path) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    for key, value in diffs.items():
        if _is_leaf(value):
            yield (*path, key), value
        else:
            yield from _flat(value, (*path, key))


def _side(diffs: Mapping[Any, Any], side: str) -> dict[Any, Any]:
    return {
        key: value[side] if _is_leaf(value) else _side(value, side) for key, value in diffs.items()
    }


def _lines(diffs: Mapping[Any, Any], indent: str) -> Iterator[str]:
    for key in sorted(diffs):
        value = diffs[key]
        if _is_leaf(value):
            sides = (value[side] for side in _SIDES)
            old, new = ("nothing" if one == _NOTHING else repr(one) for one in sides)
            yield f"{indent}{key} from {old} to {new}"
        else:
            yield f"{indent}{key}:"
            yield from _lines(value, f"{indent}  ")


def _same(values: Mapping[Any, Any], diffs: Mapping[Any, Any], path: Path) -> Iterator[str]:
    for key, value in values.items():
        differing = diffs.get(key, {})
        if isinstance(value, Mapping) and not _is_leaf(differing):
            yield from _same(value, differing, (*path, key))
        elif not differing:
            yield _joined((*path, key))


def _joined(path: Path) -> str:
    return ".".join(map(str, path))
