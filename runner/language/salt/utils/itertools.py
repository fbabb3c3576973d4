# SPDX-License-Identifier: Apache-2.0
"""salt.utils.itertools: parts of texts and files, one after another."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator
from typing import IO, Any


def split(orig: str, sep: str | None = None) -> Iterator[str]:
    """The parts of a text, as `str.split` has them; none of an empty one."""
    if sep is None:
        yield from orig.split()
    elif orig:
        yield from orig.split(sep)


def read_file(fh_: IO[Any], chunk_size: int = 1048576) -> Iterator[Any]:
    """The parts of an open file, which is closed at its end."""
    try:
        while chunk := fh_.read(chunk_size):
            yield chunk
    finally:
        fh_.close()


def fnmatch_multiple(candidates: Any, pattern: str) -> str | None:
    """The first of some texts that fits a glob."""
    return next((text for text in candidates if fnmatch.fnmatch(text, pattern)), None)


def match_multiple(candidates: Any, pattern: str) -> str | None:
    """The first of some texts that a regular expression fits from its beginning."""
    return next((text for text in candidates if re.match(pattern, text)), None)
