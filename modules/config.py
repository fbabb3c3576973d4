"""config.get: the configuration, grains and pillar as one."""

from __future__ import annotations

from typing import Any

from modules._data import MISSING, merged, traverse
from runner.api import here


def get(
    key: str,
    default: Any = "",
    delimiter: str = ":",
    merge: str | bool | None = None,
    omit_opts: bool = False,
    omit_pillar: bool = False,
    omit_master: bool = False,
    omit_grains: bool = False,
) -> Any:
    """The first of configuration, grains and pillar that has a key.

    merge: "recurse" or "overwrite" lays all that have it over each other, the configuration topmost.

        {{ salt['config.get']('nginx:lookup', {}) }}
    """
    sources = [
        *([] if omit_opts else [here.opts]),
        *([] if omit_grains else [here.grains]),
        *([] if omit_pillar else [here.pillar]),
    ]
    found = [value for source in sources if (value := _in(source, key, delimiter)) is not MISSING]
    if not found:
        return default
    if not merge:
        return found[0]
    result = found[-1]
    for value in reversed(found[:-1]):
        result = merged(result, value, "overwrite" if merge == "overwrite" else "recurse")
    return result


def _in(source: Any, key: str, delimiter: str) -> Any:
    first = key.split(delimiter)[0]
    return traverse({first: source[first]}, key, MISSING, delimiter) if first in source else MISSING


def option(value: str, default: Any = "", **kwargs: Any) -> Any:
    """Like get."""
    return get(value, default)


def items() -> dict[str, Any]:
    """The configuration."""
    return dict(here.opts)
