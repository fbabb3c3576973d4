# SPDX-License-Identifier: Apache-2.0
"""`__salt__` of Python programs: what it gives of the pillar is the program's own, as plain
dictionaries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from runner.model.places import without_places


class PlainSalt(Mapping[str, Callable[..., Any]]):
    """Salt's functions. Those of `pillar` answer with copies, which `yaml.dump` writes as plain
    YAML.
    """

    def __init__(self, salt: Any) -> None:
        self._salt = salt

    def __getitem__(self, name: str) -> Callable[..., Any]:
        function: Callable[..., Any] = self._salt[name]
        return _copying(function) if name.startswith("pillar.") else function

    def __contains__(self, name: object) -> bool:
        return name in self._salt

    def __iter__(self) -> Iterator[str]:
        return iter(self._salt)

    def __len__(self) -> int:
        return len(self._salt)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._salt, name)
        return _SaltPillar(value) if name == "pillar" else value


class _SaltPillar:
    """`salt.pillar` of `salt.pillar.get(...)`."""

    def __init__(self, module: Any) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return _copying(getattr(self._module, name))


def _copying(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args, **kwargs: without_places(function(*args, **kwargs))
