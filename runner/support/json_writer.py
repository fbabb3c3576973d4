# SPDX-License-Identifier: Apache-2.0
"""JSON as `json.dumps` writes it, without the import of what reads it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from json import dumps
    from typing import Any, NoReturn
else:
    try:
        from _json import encode_basestring_ascii, make_encoder
    except ImportError:  # a Python that was built otherwise
        from json import dumps
    else:

        def _refused(value: Any) -> NoReturn:
            raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")

        _written = make_encoder(
            None, _refused, encode_basestring_ascii, None, ": ", ", ", False, False, True
        )

        def dumps(value: Any) -> str:
            return "".join(_written(value, 0))


__all__ = ["dumps"]
