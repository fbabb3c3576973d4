# SPDX-License-Identifier: Apache-2.0
"""salt.utils.yaml: PyYAML, with Salt's defaults and runner's bounds."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import yaml
from yaml import SafeDumper, SafeLoader, YAMLError, parser, scanner

from runner.language.filters.serial import plain as _ordinary
from runner.support.yaml.limits import plain

__all__ = ["SafeDumper", "SafeLoader", "YAMLError", "parser", "scanner"]
SaltYamlSafeLoader = SafeLoader


def safe_load(stream: Any, Loader: Any = None) -> Any:
    """The value of a YAML text or file."""
    text = stream.read() if hasattr(stream, "read") else stream
    return plain(text.decode() if isinstance(text, bytes) else text)


load = safe_load


class SafeOrderedDumper(SafeDumper):
    """Writes ordered mappings in their order, others sorted; flat values on one line."""


def _in_order(dumper: Any, data: OrderedDict[Any, Any]) -> Any:
    return dumper.represent_mapping("tag:yaml.org,2002:map", list(data.items()))


SafeOrderedDumper.add_representer(OrderedDict, _in_order)
OrderedDumper = SafeOrderedDumper


def dump(data: Any, stream: Any = None, **options: Any) -> Any:
    """A value as YAML."""
    options.pop("Dumper", None)
    given = {"default_flow_style": None, "allow_unicode": True, **options}
    text = yaml.dump(_ordinary(data, ordered=True), Dumper=SafeOrderedDumper, **given)
    return text if stream is None else stream.write(text) and None


def safe_dump(data: Any, stream: Any = None, **options: Any) -> Any:
    """A value as YAML, without the mark at the end of a document."""
    text = dump(data, **options).removesuffix("...\n")
    return text if stream is None else stream.write(text) and None
