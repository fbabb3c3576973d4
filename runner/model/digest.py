# SPDX-License-Identifier: Apache-2.0
"""The hash functions of runner's own records.

They are those of `hashlib`, which loads all of OpenSSL at its import: as much as thirty modules
here.
"""

from __future__ import annotations

from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

try:
    from _blake2 import blake2b as blake2b
except ImportError:  # a Python that was built otherwise
    from hashlib import blake2b as blake2b

SHORT = 4096  # bytes; what has more is hashed faster by OpenSSL


def sha256(data: bytes) -> str:
    """The SHA-256 of data, in hexadecimal digits."""
    if len(data) > SHORT:
        import hashlib

        return hashlib.sha256(data).hexdigest()
    return str(_sha256()(data).hexdigest())


@cache
def _sha256() -> Callable[[bytes], Any]:
    for name in ("_sha256", "_sha2", "hashlib"):  # until Python 3.11, from 3.12 on, any
        try:
            function: Callable[[bytes], Any] = __import__(name).sha256
        except (ImportError, AttributeError):
            continue
        return function
    raise ImportError("hashlib")
