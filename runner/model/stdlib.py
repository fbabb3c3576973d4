# SPDX-License-Identifier: Apache-2.0
"""What every run needs of Python's library, without the modules that import more than it uses.

`re`, `threading`, `signal`, `json` and `hashlib` take longer than all that a run does here. Their
parts that are written in C are here as they are, and the few others in the lines that a run needs
of them. A type checker sees Python's own.
"""

from __future__ import annotations

import fnmatch
import hashlib
import re
import sys
from _thread import _local as Local
from _thread import allocate_lock as Lock
from _thread import get_ident
from functools import cache
from zlib import crc32  # a tenth of a hash

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal as signals
    from collections.abc import Callable, Iterable
    from contextvars import ContextVar
    from contextvars import copy_context as copy_context
    from hashlib import blake2b
    from json import dumps
    from re import Pattern
    from re import compile as pattern
    from typing import Any, NoReturn
else:
    import _signal as signals  # its numbers are no members of an enum
    from _contextvars import ContextVar
    from _contextvars import copy_context as copy_context

    try:
        from _blake2 import blake2b
    except ImportError:  # a Python that was built otherwise
        from hashlib import blake2b

    try:
        from _json import encode_basestring_ascii, make_encoder
    except ImportError:
        from json import dumps
    else:

        def _refused(value: Any) -> NoReturn:
            raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")

        _written = make_encoder(
            None, _refused, encode_basestring_ascii, None, ": ", ", ", False, False, True
        )

        def dumps(value: Any) -> str:
            return "".join(_written(value, 0))

    # ------------------------------------------------------------ re

    class pattern:
        """A regular expression that is compiled when it is first used: compiling one takes as long
        as importing a module, and a run imports hundreds that it does not use.
        """

        def __init__(self, text: str, flags: int = 0) -> None:
            self._text, self._flags = text, flags

        def __getattr__(self, name: str) -> Any:
            compiled: Pattern[str] = re.compile(self._text, self._flags)
            for method in ("findall", "finditer", "fullmatch", "match", "search", "split", "sub"):
                setattr(self, method, getattr(compiled, method))  # asked without this, from now on
            return getattr(compiled, name)


def like(names: Iterable[str], glob: str) -> list[str]:
    """Those of some names that a glob matches, letters as they are."""
    return [name for name in names if fnmatch.fnmatchcase(name, glob)]


__all__ = [
    "ContextVar",
    "Local",
    "Lock",
    "blake2b",
    "checksum",
    "digest_of",
    "digest_of_text",
    "dumps",
    "get_ident",
    "in_main_thread",
    "like",
    "pattern",
    "sha256",
    "signals",
]

# ---------------------------------------------------------------- hashlib, which loads OpenSSL

SHORT = 4096  # bytes; what has more is hashed faster by OpenSSL


def sha256(data: bytes) -> str:
    """The SHA-256 of data, in hexadecimal digits."""
    if len(data) > SHORT:
        return hashlib.sha256(data).hexdigest()
    return str(_sha256()(data).hexdigest())


def checksum(body: bytes | memoryview) -> bytes:
    """Of what this version of Python wrote: another one may not be able to read it."""
    return crc32(body, sys.hexversion).to_bytes(4)


def digest_of(data: bytes) -> bytes:
    """Of what a result was made from, or of the result."""
    made: bytes = blake2b(data, digest_size=16).digest()
    return made


def digest_of_text(text: str) -> bytes:
    return digest_of(text.encode("utf-8", "surrogatepass"))


@cache
def _sha256() -> Callable[[bytes], Any]:
    for name in ("_sha256", "_sha2", "hashlib"):  # until Python 3.11, from 3.12 on, any
        try:
            function: Callable[[bytes], Any] = __import__(name).sha256
        except (ImportError, AttributeError):
            continue
        return function
    raise ImportError("hashlib")


# ---------------------------------------------------------------- threading

_FIRST = get_ident()


def in_main_thread() -> bool:
    """Return whether this is the main thread, which alone gets signals."""
    threading = sys.modules.get("threading")
    return get_ident() == (threading.main_thread().ident if threading else _FIRST)
