# SPDX-License-Identifier: Apache-2.0
"""A pillar as one line of text, for a run that does not compile its own (`--pillar-stdin`)."""

from __future__ import annotations

import json
import math
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from runner.model.plain_values import text_of

SECRETS = "__secrets__"  # a key of such a pillar: values to hide, whatever their own keys are
GRAINS = "__grains__"  # another one: grains that this machine is given, as by its configuration
NO_GRAINS: Mapping[str, Any] = MappingProxyType({})
_TO_ESCAPE = re.compile(r"[^\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]")


def line(
    pillar: Mapping[Any, Any], secrets: Iterable[str] = (), grains: Mapping[str, Any] = NO_GRAINS
) -> str:
    """The line: JSON where JSON can say it, else YAML, which has other keys than texts, and bytes.

    >>> line({"a": "x\\ny", 80: [True, None, b"1"]})
    '{"a": "x\\\\ny", 80: [true, null, !!binary "MQ=="]}'
    """
    more = {**({SECRETS: [*secrets]} if secrets else {}), **({GRAINS: grains} if grains else {})}
    return _written({**pillar, **more})


def _written(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_written(key)}: {_written(value[key])}' for key in value)}}}"
    if isinstance(value, list | tuple | set | frozenset):
        items = sorted(value, key=str) if isinstance(value, set | frozenset) else value
        return f"[{', '.join(map(_written, items))}]"
    if value is None or isinstance(value, bool | int):
        return json.dumps(value)
    if isinstance(value, float):
        return repr(float(value)) if math.isfinite(value) else _not_finite(value)
    if isinstance(value, bytes):
        return f'!!binary "{b64encode(value).decode()}"'
    return _TO_ESCAPE.sub(_escaped, json.dumps(text_of(value), ensure_ascii=False))


def _not_finite(value: float) -> str:
    return ".nan" if math.isnan(value) else ".inf" if value > 0 else "-.inf"


def _escaped(match: re.Match[str]) -> str:
    """A letter that YAML does not read as it is; one beyond 16 bits is read by both."""
    code = ord(match[0])
    return match[0] if code > 0xFFFF else f"\\u{code:04x}"
