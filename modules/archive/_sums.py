"""The sum of the archive that a folder was filled from, kept in the cache: a later one of another sum is noticed."""

from __future__ import annotations

import hashlib
import os

from modules.file._hash import get_hash
from runner.api import fetcher, here


def _record(name: str) -> str:
    return os.path.join(here.cache_dir, "archives", hashlib.sha256(os.fsencode(name)).hexdigest())


def is_new(path: str, name: str) -> bool:
    """Whether the archive at a path is another one than that which filled the folder; False where none is known."""
    try:
        with open(_record(name), encoding="ascii") as file:
            return file.read() != get_hash(path)
    except FileNotFoundError:
        return False


@fetcher
def keep_sum(path: str, name: str) -> None:
    """Note that the folder holds what is in the archive at a path."""
    record, found = _record(name), get_hash(path)
    os.makedirs(os.path.dirname(record), mode=0o700, exist_ok=True)
    new = f"{record}.{os.getpid()}"
    with open(new, "w", encoding="ascii") as file:
        file.write(found)
    os.replace(new, record)
