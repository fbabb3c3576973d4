# SPDX-License-Identifier: Apache-2.0
"""Salt's forms of answers for scripts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pprint import pformat
from typing import Any


def txt(data: Any) -> str:
    """Each line of an answer behind the name of who gave it."""
    if not isinstance(data, Mapping):
        return f"{data}\n"
    return "".join(
        f"{key}: {line}\n"
        for key, value in data.items()
        for line in str(value).splitlines() or [""]
    )


def newline_values_only(data: Any) -> str:
    """The values alone, each on a line."""
    return "".join(f"{value}\n" for value in _values(data))


def _values(data: Any) -> Iterable[Any]:
    if not isinstance(data, Mapping | list):
        return [data]
    inner = data.values() if isinstance(data, Mapping) else data
    return [value for item in inner for value in _values(item)]


def raw(data: Any) -> str:
    """The answer as Python writes it."""
    return f"{data!r}\n"


def pprint(data: Any) -> str:
    """The answer as Python writes it on several lines."""
    return f"{pformat(data)}\n"


def quiet(data: Any) -> str:
    """Nothing: the exit code says it."""
    return ""
