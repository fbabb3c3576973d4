# SPDX-License-Identifier: Apache-2.0
"""salt.utils.immutabletypes: data that cannot be changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any


class ImmutableDict(Mapping[Any, Any]):
    """A mapping that stays as it is."""

    def __init__(self, obj: Mapping[Any, Any]) -> None:
        self._data = {key: freeze(value) for key, value in obj.items()}

    def __getitem__(self, key: Any) -> Any:
        return self._data[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def copy(self) -> dict[Any, Any]:
        """A mapping that can be changed."""
        return dict(self._data)


class ImmutableList(Sequence[Any]):
    """A list that stays as it is."""

    def __init__(self, obj: Sequence[Any]) -> None:
        self._data = [freeze(item) for item in obj]

    def __getitem__(self, index: Any) -> Any:
        return self._data[index]

    def __len__(self) -> int:
        return len(self._data)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, list | ImmutableList) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def copy(self) -> list[Any]:
        """A list that can be changed."""
        return list(self._data)


def freeze(obj: Any) -> Any:
    """Data whose mappings, lists and sets stay as they are."""
    if isinstance(obj, dict):
        return ImmutableDict(obj)
    if isinstance(obj, list):
        return ImmutableList(obj)
    return frozenset(obj) if isinstance(obj, Set) and not isinstance(obj, frozenset) else obj
