# SPDX-License-Identifier: Apache-2.0
"""Copies beside the files that are edited."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from modules import _paths
from modules.file._change import remove
from modules.file._contents.copy import copy
from modules.file._paths.walk import real_path
from modules.file._rights import refuse_rewrite
from modules.file._validation.validated import asked
from runner.api import for_states
from runner.api.durability import name_files


@for_states
@contextmanager
def backed_up(path: str, backup: str | bool) -> Iterator[None]:
    """Copy a file (what a link points to) beside it before it is edited; an edit that fails leaves
    no copy. backup: what the copy's name ends with, true for .bak; false and "" for no copy. Raises
    StateFailed for a file that cannot be written.
    """
    if not backup:
        yield
        return
    real = real_path(path)
    beside = real + (backup if isinstance(backup, str) else ".bak")
    refuse_rewrite(real)
    name_files(beside, own=True)
    is_new = not _paths.lexists(beside)
    with asked(None):  # it is what was there
        copy(real, beside, preserve=True)
    try:
        yield
    except Exception:
        if is_new:
            remove(beside)
        raise
