"""One run at a time: a lock around compile and run, freed by the kernel when its holder dies."""

from __future__ import annotations

import fcntl
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from runner.errors import RunnerError


class Locked(RunnerError):
    """Another run holds the lock."""

    code = "locked"


@contextmanager
def held(state_dir: str) -> Iterator[None]:
    """Hold the lock of a state folder.

    Raises Locked, which says who holds it (process, command, since when), and RunnerError when there can be no lock.
    """
    path = os.path.join(state_dir, "lock")
    try:
        os.makedirs(state_dir, mode=0o700, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        hint = "--cachedir DIR keeps it elsewhere"
        raise RunnerError(f"there can be no lock: {path}: {error.strerror}", hint=hint) from None
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(descriptor, 4096, 0).decode(errors="replace").strip()
            raise Locked(f"another run is under way: {holder or 'it has not said who it is'}") from None
        words = " ".join([os.path.basename(sys.argv[0]), *sys.argv[1:]])
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"process {os.getpid()} since {time.strftime('%F %T')}: {words}\n".encode(), 0)
        yield
    finally:
        os.close(descriptor)
