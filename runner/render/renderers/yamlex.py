"""The yamlex renderer: YAML in which a key may come again, and `!aggregate` values add to the
earlier ones.

hosts: !aggregate [a]
hosts: !aggregate [b]     # hosts: [a, b]
hosts: !reset [c]         # hosts: [c]
"""

from __future__ import annotations

from typing import Any

from yaml.nodes import MappingNode, SequenceNode

from runner.model.aggregate_values import AggregateList, AggregateMap, joined
from runner.model.places import Document, PlacedMap, Value
from runner.yaml.load import Reader, load_with, plain_tag

AGGREGATE, RESET = "!aggregate", "!reset"


def load(text: str, document: Document) -> Value:
    """The value of a text. Raises RenderError with the place as written."""
    return load_with(_Reader, text, document)


class _Reader(Reader):
    """Reads the marks; a key that comes again is joined with the one before."""

    def value(self, node: Any) -> Value:
        if node.tag in (AGGREGATE, RESET):
            node.mark, node.tag = node.tag, _unmarked(node)
        value = super().value(node)
        return _aggregate(value) if getattr(node, "mark", "") == AGGREGATE else value

    def again(self, made: PlacedMap, key: Value, value: Value, at: Any, node: Any) -> Value:
        return value if getattr(node, "mark", "") == RESET else joined(made[key], value)


def _unmarked(node: Any) -> str:
    """The tag of a node without its mark."""
    if isinstance(node, MappingNode):
        return "tag:yaml.org,2002:map"
    if isinstance(node, SequenceNode):
        return "tag:yaml.org,2002:seq"
    return "tag:yaml.org,2002:str" if node.style else plain_tag(node.value)


def _aggregate(value: Value) -> Value:
    if isinstance(value, dict):
        return AggregateMap(value)
    if value is None:
        return AggregateList()
    return AggregateList(value if isinstance(value, list) else [value])
