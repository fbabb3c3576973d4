# SPDX-License-Identifier: Apache-2.0
"""salt.utils.atomicfile: files that are replaced whole."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any


@contextmanager
def atomic_open(filename: str, mode: str = "w") -> Iterator[IO[Any]]:
    """A file that takes the place of another one at the end of the block; with its mode and owner.
    Raises ValueError for a mode that does not write anew.
    """
    if mode not in ("w", "wb", "w+", "w+b"):
        raise ValueError(f"file mode {mode!r} not supported")
    descriptor, path = tempfile.mkstemp(prefix=".___atomic_write", dir=os.path.dirname(filename))
    held = os.dup(descriptor)  # others may swap what its path means, in a folder of theirs
    try:
        encoding = None if "b" in mode else "utf-8"
        with os.fdopen(descriptor, mode, encoding=encoding) as file:
            yield file
        if os.path.isfile(filename):
            former = os.stat(filename)
            with suppress(PermissionError):
                os.fchown(held, former.st_uid, former.st_gid)
            os.fchmod(held, stat.S_IMODE(former.st_mode))
        else:
            mask = os.umask(0)
            os.umask(mask)
            os.fchmod(held, 0o666 & ~mask)
        os.replace(path, filename)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(path)
        raise
    finally:
        os.close(held)
