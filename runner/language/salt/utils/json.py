# SPDX-License-Identifier: Apache-2.0
"""salt.utils.json: Python's json, with what Salt adds."""

from __future__ import annotations

import json
from json import JSONDecodeError, JSONDecoder, JSONEncoder
from typing import Any


def _options(options: dict[str, Any]) -> dict[str, Any]:
    options.pop("_json_module", None)
    return {"ensure_ascii": False, **options}


def loads(s: str | bytes, **options: Any) -> Any:
    """The value of a JSON text."""
    options.pop("_json_module", None)
    return json.loads(s, **options)


def load(fp: Any, **options: Any) -> Any:
    """The value of a JSON file."""
    return loads(fp.read(), **options)


def dumps(obj: Any, **options: Any) -> str:
    """A value as JSON; other letters than ASCII's stay."""
    return json.dumps(obj, **_options(options))


def dump(obj: Any, fp: Any, **options: Any) -> None:
    """Write a value as JSON."""
    fp.write(dumps(obj, **options))


def find_json(s: str) -> Any:
    """The first JSON value in lines that say other things, too. Raises ValueError."""
    lines = s.splitlines()
    starts = [number for number, line in enumerate(lines) if line.lstrip().startswith(("{", "["))]
    for first in starts:
        text = "\n".join(lines[first:]).lstrip()
        try:
            return json.JSONDecoder().raw_decode(text)[0]
        except ValueError:
            continue
    raise ValueError("there is no JSON in it")
