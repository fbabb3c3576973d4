# SPDX-License-Identifier: Apache-2.0
"""Bounds for YAML: texts that nest too deeply, aliases that unfold to far too much or contain
themselves.
"""

from __future__ import annotations

import re
from typing import Any

import yaml

LEVELS = 200  # of nesting; a stack of Python's and of libyaml's ends somewhere above
# nodes of one document, aliases counted as often as they stand: more is an alias bomb
LIMIT = 2_000_000

SAFE_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class OutOfBounds(yaml.MarkedYAMLError):
    """A text that is YAML, but too much of it."""


def plain(text: str) -> Any:
    """The value of a YAML text without places, in bounds. Raises yaml.YAMLError or ValueError."""
    check_depth(text)
    loader = SAFE_LOADER(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None
        _count(node)
        return loader.construct_document(node)
    finally:
        loader.dispose()


def check_depth(text: str) -> None:
    """Raise OutOfBounds for a text that nests too deeply, before anything recursive sees it."""
    if len(text) > LEVELS and _may_be_deep(text):
        level = 0
        for event in yaml.parse(text, Loader=SAFE_LOADER):
            if isinstance(event, yaml.CollectionStartEvent):
                level += 1
                if level > LEVELS:
                    problem = f"the YAML is nested too deeply (more than {LEVELS} levels)"
                    raise OutOfBounds(problem=problem, problem_mark=event.start_mark)  # type: ignore[arg-type]
            elif isinstance(event, yaml.CollectionEndEvent):
                level -= 1


def _may_be_deep(text: str) -> bool:
    """A level needs a mark, and that is a bracket or needs a column (a list may stand in its
    key's).
    """
    if sum(map(text.count, "[{-:?")) < LEVELS:
        return False
    brackets = _open(text)
    if brackets < LEVELS // 2 and not _WIDE.search(text):
        return False
    widest = max((len(indent) for indent in re.findall(r"^[ \-?:]+", text, re.M)), default=0)
    return brackets + 2 * widest >= LEVELS


def _open(text: str) -> int:
    """An upper bound of the brackets that are open at once: a line that closes what it opens, for
    sure, adds nothing to others.
    """
    brackets = text.count("[") + text.count("{")
    if brackets < LEVELS // 2:
        return brackets
    left = most = 0
    for line in text.split("\n"):
        opened = line.count("[") + line.count("{")
        if opened > line.count("]") + line.count("}") or "'" in line or '"' in line or "#" in line:
            left += opened
        else:
            most = max(most, opened)
    return left + most + 1  # the first line may have a bracket that is none


_WIDE = re.compile(rf"^[ \-?:]{{{LEVELS // 4}}}", re.M)


def _count(top: yaml.Node) -> None:
    """Count the nodes as if aliases were written out."""
    sizes: dict[int, int | None] = {}  # None: under way
    todo = [(top, False)]
    while todo:
        node, done = todo.pop()
        inner = _inside(node)
        if done:
            size = 1 + sum(sizes[id(child)] or 0 for child in inner)
            sizes[id(node)] = size
            if size > LIMIT:
                raise OutOfBounds(problem=UNFOLDED, problem_mark=node.start_mark)
        elif id(node) not in sizes:
            sizes[id(node)] = None
            todo.append((node, True))
            for child in inner:
                if sizes.get(id(child), 0) is None:
                    raise OutOfBounds(problem=CIRCLE, problem_mark=child.start_mark)
                todo.append((child, False))


UNFOLDED = "the aliases of this document unfold to far too much"
CIRCLE = "this contains itself: an alias is inside of what it names"


def _inside(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [child for pair in node.value for child in pair]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []
