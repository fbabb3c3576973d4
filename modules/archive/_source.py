# SPDX-License-Identifier: Apache-2.0
"""The file of an archive: what was listed is what is unpacked."""

from __future__ import annotations

import io
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

from modules import _paths
from modules.file._look import opened
from modules.file._paths.walk import others_write
from runner.api import for_states, here


@for_states
@contextmanager
def source(path: str) -> Iterator[IO[bytes]]:
    """An archive opened for reading; a failure names no link of others, no pipe and no device."""
    with io.BufferedReader(opened(path)) as file:
        yield file


@contextmanager
def fixed(path: str) -> Iterator[IO[bytes]]:
    """An archive that nobody else can write to while it is read: the file itself, or a private copy
    of it.
    """
    with source(path) as file:
        if not others_write(_paths.stat_of(file)):
            yield file
            return
        with tempfile.TemporaryFile(dir=here.scratch()) as copy:
            shutil.copyfileobj(file, copy)
            copy.seek(0)
            yield copy


def identity(file: IO[bytes]) -> tuple[Any, ...]:
    """The identity of an open file: it changes when the file is another one, or written to."""
    at = _paths.stat_of(file)
    return (at.st_dev, at.st_ino, at.st_size, at.st_mtime_ns, at.st_ctime_ns)


def name_of(file: IO[bytes]) -> str:
    """A path for the programs that are started meanwhile, of the open file itself."""
    return f"/proc/{os.getpid()}/fd/{file.fileno()}"
