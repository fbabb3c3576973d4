# SPDX-License-Identifier: Apache-2.0
"""SQLite, without the dates as values for which the package sqlite3 imports datetime."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import (
        SQLITE_BUSY,
        SQLITE_LOCKED,
        Connection,
        Cursor,
        DatabaseError,
        Error,
        IntegrityError,
        OperationalError,
        ProgrammingError,
        connect,
        register_adapter,
    )
else:
    try:
        from _sqlite3 import *  # noqa: F403
    except ImportError:  # a Python that was built otherwise
        from sqlite3 import *  # noqa: F403

__all__ = [
    "SQLITE_BUSY",
    "SQLITE_LOCKED",
    "Connection",
    "Cursor",
    "DatabaseError",
    "Error",
    "IntegrityError",
    "OperationalError",
    "ProgrammingError",
    "connect",
    "register_adapter",
]

# what SQLite knows itself: for types without, Python asks each value for methods that it has not
register_adapter(bytes, bytes)
register_adapter(type(None), {None: None}.get)
