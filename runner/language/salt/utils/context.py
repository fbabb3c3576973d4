# SPDX-License-Identifier: Apache-2.0
"""salt.utils.context: values that hold for a while."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any


class ContextDict(dict[str, Any]):
    """A mapping; `global_data` is what it was made with, `clone` a further one over it."""

    def __init__(self, threadsafe: bool = False, **data: Any) -> None:
        super().__init__(data)
        self.global_data = self

    def clone(self, **overrides: Any) -> ContextDict:
        """A copy with other values."""
        return ContextDict(**{**self, **overrides})


class NamespacedDictWrapper(MutableMapping[Any, Any]):
    """The mapping that lies below some keys of another one."""

    def __init__(self, d: Any, pre_keys: Any, override_name: str | None = None) -> None:
        self._whole = d
        self.pre_keys = [pre_keys] if isinstance(pre_keys, str) else list(pre_keys)

    def _dict(self) -> Any:
        below = self._whole
        for key in self.pre_keys:
            below = below[key]
        return below

    def __getitem__(self, key: Any) -> Any:
        return self._dict()[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._dict()[key] = value

    def __delitem__(self, key: Any) -> None:
        del self._dict()[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._dict())

    def __len__(self) -> int:
        return len(self._dict())

    def __repr__(self) -> str:
        return repr(self._dict())


@contextmanager
def func_globals_inject(func: Any, **overrides: Any) -> Iterator[None]:
    """Give a function other globals until the end of the block."""
    names = getattr(func, "__wrapped__", func).__globals__
    before = {name: names[name] for name in overrides if name in names}
    names.update(overrides)
    try:
        yield
    finally:
        for name in overrides:
            if name in before:
                names[name] = before[name]
            else:
                names.pop(name, None)
