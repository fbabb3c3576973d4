"""The sum of the archive that a folder was filled from, kept in the cache: a later one of another sum is noticed."""

from __future__ import annotations

import os

from modules._kept import keep
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
    keep(_record(name), found)
