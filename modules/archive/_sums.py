"""The sum of the archive that a folder was filled from, kept in the cache: a later one of another sum is noticed."""

from __future__ import annotations

import os

from modules.file._hash import hash_of
from runner.api import fetcher, here


def _record(name: str) -> str:
    return os.path.join(here.cache_dir, "archives", hash_of(os.fsencode(name)))


def kept_sum(name: str) -> str:
    """The sum of the archive that filled a folder; empty where none is known."""
    try:
        with open(_record(name), encoding="ascii") as file:
            return file.read()
    except FileNotFoundError:
        return ""


@fetcher
def keep_sum(name: str, found: str) -> None:
    """Note the sum of the archive that a folder holds."""
    record = _record(name)
    os.makedirs(os.path.dirname(record), mode=0o700, exist_ok=True)
    new = f"{record}.{os.getpid()}"
    with open(new, "w", encoding="ascii") as file:
        file.write(found)
    os.replace(new, record)
