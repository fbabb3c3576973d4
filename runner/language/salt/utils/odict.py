# SPDX-License-Identifier: Apache-2.0
"""salt.utils.odict: ordered mappings."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any


class DefaultOrderedDict(OrderedDict[Any, Any]):
    """An ordered mapping that makes what it lacks."""

    def __init__(
        self, default_factory: Callable[[], Any] | None = None, *args: Any, **items: Any
    ) -> None:
        super().__init__(*args, **items)
        self.default_factory = default_factory

    def __missing__(self, key: Any) -> Any:
        if self.default_factory is None:
            raise KeyError(key)
        self[key] = value = self.default_factory()
        return value
