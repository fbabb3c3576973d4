# SPDX-License-Identifier: Apache-2.0
"""YAML as SLS files and pillars are read: what a renderer makes of a text."""

from __future__ import annotations

from functools import cache
from typing import Any

from runner.api import RunnerError


def load(text: str) -> Any:
    """The data of a text. Raises RunnerError if it is not YAML, or for a key that appears twice in
    a mapping.
    """
    import yaml

    try:
        return yaml.load(text, Loader=_loader())
    except yaml.YAMLError as problem:
        raise RunnerError(str(problem)) from None


@cache
def _loader() -> Any:
    import yaml

    parent: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    class YamlLoader(parent):  # type: ignore[misc]
        """Dates stay texts, 010 is ten, a key stands once."""

    YamlLoader.yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in rules if tag != "tag:yaml.org,2002:timestamp"]
        for first, rules in parent.yaml_implicit_resolvers.items()
    }
    YamlLoader.add_constructor("tag:yaml.org,2002:int", _whole_number)
    YamlLoader.add_constructor("tag:yaml.org,2002:map", _mapping)
    return YamlLoader


def _whole_number(loader: Any, node: Any) -> Any:
    bare = node.value.lstrip("+-")
    if bare.startswith("0") and bare.strip("01234567_") == "" and bare != "0":
        node.value = node.value.replace(bare, bare.lstrip("0_") or "0")
    return loader.construct_yaml_int(node)


def _mapping(loader: Any, node: Any) -> dict[Any, Any]:
    from yaml.constructor import ConstructorError

    key_nodes = [key for key, _ in node.value if key.tag != "tag:yaml.org,2002:merge"]
    keys: set[Any] = set()
    for key_node in key_nodes:
        key = loader.construct_object(key_node, deep=True)
        # those are no keys at all, as the constructor will say
        if not isinstance(key, list | dict):
            if key in keys:
                raise ConstructorError(
                    "while constructing a mapping",
                    node.start_mark,
                    f"found conflicting ID '{key}'",
                    key_node.start_mark,
                )
            keys.add(key)
    loader.flatten_mapping(node)
    mapping: dict[Any, Any] = loader.construct_mapping(node, deep=True)
    return mapping
