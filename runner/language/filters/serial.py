# SPDX-License-Identifier: Apache-2.0
"""Filters between values and their texts: YAML, JSON, XML, Python."""

from __future__ import annotations

import json
import pprint
import re
import sys
import xml.dom.minidom
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from runner.model import json_text
from runner.support.yaml import load


def plain(value: Any, ordered: bool = False, shared: dict[int, Any] | None = None) -> Any:
    """Plain containers and texts, whatever the subclass, so that every dumper knows them.

    ordered: leave an `odict` one, so that its order is kept. shared: what was made of a container,
    by its id, so that one that stands in two places does so in the answer.
    """
    if type(value) in _SIMPLE:
        return value
    if shared is not None and id(value) in shared:
        return shared[id(value)]
    made = _plain(value, ordered, shared)
    if shared is not None and isinstance(made, dict | list | tuple):
        shared[id(value)] = made
    return made


def _plain(value: Any, ordered: bool, shared: dict[int, Any] | None) -> Any:
    if isinstance(value, dict) or isinstance(value, Mapping):  # noqa: SIM101
        made = {
            key if type(key) in _SIMPLE or isinstance(key, tuple) else plain(key, ordered): (
                item if type(item) in _SIMPLE else plain(item, ordered, shared)
            )
            for key, item in value.items()
        }
        return OrderedDict(made) if ordered and isinstance(value, OrderedDict) else made
    if isinstance(value, list | tuple):
        items = [plain(item, ordered, shared) for item in value]
        return tuple(items) if isinstance(value, tuple) else items
    if isinstance(value, set):
        return set(value)
    return str.__str__(value)[:] if isinstance(value, str) else value


_SIMPLE = frozenset([str, int, float, bool, type(None)])
_dumpers: list[Any] = []


def _dumper() -> Any:
    """A safe dumper that keeps the order of an `odict`."""
    if not _dumpers:
        import yaml

        base: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
        made: Any = type("Dumper", (base,), {})
        made.add_representer(
            OrderedDict,
            lambda dumper, value: dumper.represent_mapping("tag:yaml.org,2002:map", value.items()),
        )
        _dumpers.append(made)
    return _dumpers[0]


def to_yaml(value: Any, flow_style: bool = True) -> str:
    """YAML in flow style (`yaml(False)`: in block style) with sorted keys, without the
    end-of-document mark. Raises TypeError for what cannot be written as YAML.

    A mapping or list that stands in two places is written once and referred to (`&id001`,
    `*id001`), as Salt does.
    """
    import yaml

    try:
        text: str = yaml.dump(
            plain(value, True, {}),
            Dumper=_dumper(),
            default_flow_style=flow_style,
            allow_unicode=True,
        )
    except yaml.YAMLError as error:
        what = error.args[-1] if error.args else value
        raise TypeError(f"{what!r} cannot be written as YAML") from None
    return text.rstrip("\n").removesuffix("\n...")


def to_json(value: Any, sort_keys: bool = True, indent: int | None = None) -> str:
    """JSON with sorted keys."""
    return json.dumps(plain(value), sort_keys=sort_keys, indent=indent, ensure_ascii=False)


def tojson(value: Any, indent: int | None = None, **options: Any) -> str:
    """JSON that may stand in HTML; options as Python's json.dumps has them."""
    text = json.dumps(plain(value), indent=indent, **options)
    return (
        text.replace("<", "\\u003c")
        .replace(">", "\\u003e")
        .replace("&", "\\u0026")
        .replace("'", "\\u0027")
    )


def to_python(value: Any) -> str:
    """The value as Python would write it."""
    return pprint.pformat(plain(value, ordered=True)).strip()


def to_xml(value: Any) -> str:
    """XML of a mapping with one key: texts become attributes, mappings and lists elements. Raises
    ValueError for any other value.

    {{ {"tag": {"sub": [{"x": 1}, {"x": 2}]}} | xml }}
    """
    if not isinstance(value, Mapping) or len(value) != 1:
        raise ValueError("XML needs a mapping with one key, the outermost element")
    document = xml.dom.minidom.Document()
    for name, content in value.items():
        _element(document, document, name, content)
    return document.toprettyxml(indent=" ")


def _element(document: Any, parent: Any, name: str, content: Any) -> None:
    node = parent.appendChild(document.createElement(str(name)))
    if not isinstance(content, Mapping):
        if isinstance(content, list | tuple) or content is None:
            raise ValueError(f"the element {name} is neither a text nor a mapping")
        node.appendChild(document.createTextNode(str(content)))
        return
    for key, item in content.items():
        if isinstance(item, Mapping | list | tuple):
            for child in [item] if isinstance(item, Mapping) else item:
                _element(document, node, key, child)
        else:
            node.setAttribute(str(key), str(item))


def str_(value: Any) -> str:
    """The text itself."""
    return str(value)


def load_yaml(text: str) -> Any:
    """The value of a YAML text."""
    return load.load_plain(_text(text))


def load_json(text: str) -> Any:
    """The value of a JSON text."""
    return json_text.parse_json(_text(text))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"a text is required, not {type(value).__name__}")
    return str.__str__(value)


def yaml_dquote(text: Any) -> str:
    """A double-quoted YAML scalar."""
    import yaml

    plain = str.__str__(text) if isinstance(text, str) else str(text)
    written: str = yaml.safe_dump(plain[:], default_style='"', width=sys.maxsize)
    return written.removesuffix("\n")


def yaml_squote(text: Any) -> str:
    """A single-quoted YAML scalar."""
    return "'" + re.sub(r"\n+", "\\g<0>\n", str(text).replace("'", "''")) + "'"


def yaml_encode(value: Any) -> str:
    """A simple value as a YAML scalar. Raises TypeError for any other value."""
    if isinstance(value, str):
        return yaml_dquote(value)
    if value is not None and not isinstance(value, bool | int | float):
        raise TypeError(f"only simple values can be a YAML scalar, not {type(value).__name__}")
    return to_yaml(value)


def encoded_list(values: Any) -> list[Any]:
    """The items with all texts as bytes."""
    return [_encoded(item) for item in values]


def encoded_dict(values: Any) -> dict[Any, Any]:
    """The mapping with all texts as bytes."""
    return {_encoded(key): _encoded(item) for key, item in values.items()}


def _encoded(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, Mapping):
        return encoded_dict(value)
    return encoded_list(value) if isinstance(value, list | tuple) else value
