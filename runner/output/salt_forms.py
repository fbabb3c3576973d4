"""Salt's forms of answers for scripts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pprint import pformat
from typing import Any


def txt(data: Any) -> str:
    """A line for each line of an answer, behind the name of who gave it."""
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
    return [value for each in inner for value in _values(each)]


FORMS: dict[str, Callable[[Any], str]] = {
    "txt": txt,
    "raw": lambda data: f"{data!r}\n",
    "pprint": lambda data: f"{pformat(data)}\n",
    "newline_values_only": newline_values_only,
    "quiet": lambda data: "",
}
