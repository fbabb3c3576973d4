# SPDX-License-Identifier: Apache-2.0
"""Values from YAML as Salt hands them to templates: mappings that keep their order where they are
written again.
"""

from __future__ import annotations

from collections import OrderedDict

from runner.model.places import PlacedList, PlacedMap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def ordered(value: Any, known: dict[int, Any] | None = None) -> Any:
    """A copy without places. What an alias shares stays shared."""
    if type(value) not in (PlacedMap, PlacedList, OrderedDict, list):
        return value
    known = {} if known is None else known
    if id(value) in known:
        return known[id(value)]
    made: Any = OrderedDict() if isinstance(value, dict) else []
    known[id(value)] = made
    if isinstance(value, dict):
        made.update((key, ordered(item, known)) for key, item in value.items())
    else:
        made.extend(ordered(item, known) for item in value)
    return made


def as_said(written: Mapping[str, Any], used: Mapping[str, Any]) -> dict[str, Any]:
    """Values that were made from what an SLS says, with its mappings in their order; `used` says
    which.
    """
    return {
        name: ordered(written[name]) if name in written and written[name] == value else value
        for name, value in used.items()
    }
