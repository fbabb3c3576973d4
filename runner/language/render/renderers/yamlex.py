# SPDX-License-Identifier: Apache-2.0
"""The yamlex renderer: YAML in which a key may come again, and `!aggregate` values add to the
earlier ones.

hosts: !aggregate [a]
hosts: !aggregate [b]     # hosts: [a, b]
hosts: !reset [c]         # hosts: [c]
"""

from __future__ import annotations

from typing import Any

from yaml.events import AliasEvent, ScalarEvent

from runner.model.aggregate_values import AggregateList, AggregateMap, joined
from runner.model.places import Document, PlacedMap, Value
from runner.support.yaml.load import EventReader, load_with, plain_tag

AGGREGATE, RESET = "!aggregate", "!reset"


def load(text: str, document: Document) -> Value:
    """The value of a text. Raises RenderError with the place as written."""
    return load_with(_MarkReader, text, document)


class _MarkReader(EventReader):
    """Reads the marks; a key that comes again is joined with the one before."""

    def value(self, event: Any) -> Value:
        if type(event) is not AliasEvent and event.tag in (AGGREGATE, RESET):
            event.mark, event.tag = event.tag, _unmarked(event)
        value = super().value(event)
        mark = getattr(self._typed(event), "mark", "")
        return _aggregate(value) if mark == AGGREGATE else value

    def again(self, made: PlacedMap, key: Value, value: Value, at: Any, event: Any) -> Value:
        return value if getattr(event, "mark", "") == RESET else joined(made[key], value)


def _unmarked(event: Any) -> str | None:
    """The tag of a value without its mark."""
    if not isinstance(event, ScalarEvent):
        return None
    return "tag:yaml.org,2002:str" if event.style else plain_tag(event.value)


def _aggregate(value: Value) -> Value:
    if isinstance(value, dict):
        return AggregateMap(value)
    if value is None:
        return AggregateList()
    return AggregateList(value if isinstance(value, list) else [value])
