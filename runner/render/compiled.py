"""Compiled templates on disk, in a folder that only the caller can write."""

from __future__ import annotations

import hashlib
import os
import stat
import sys
from contextlib import suppress

import jinja2
from jinja2.bccache import Bucket


class FolderCache(jinja2.BytecodeCache):
    """One file for each content, options and version."""

    def __init__(self, folder: str, version: str) -> None:
        self._folder = folder
        self._version = f"{version}-{jinja2.__version__}-{sys.version_info[:2]}"

    def get_cache_key(self, name: str, filename: str | None = None) -> str:
        return hashlib.sha256(f"{self._version}-{name}-{filename}".encode()).hexdigest()[:40]

    def load_bytecode(self, bucket: Bucket) -> None:
        with suppress(OSError), open(os.path.join(self._folder, bucket.key), "rb") as file:
            bucket.load_bytecode(file)

    def dump_bytecode(self, bucket: Bucket) -> None:
        target = os.path.join(self._folder, bucket.key)
        temporary = f"{target}.{os.getpid()}"
        with suppress(OSError):
            with open(temporary, "wb", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
                bucket.write_bytecode(file)
            os.replace(temporary, target)


def cache(folder: str, version: str) -> FolderCache | None:
    """The cache in a folder; None when the folder cannot be trusted: what is loaded from it is run."""
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        found = os.lstat(folder)
    except OSError:
        return None
    own = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o022
    return FolderCache(folder, version) if own else None
