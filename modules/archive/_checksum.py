# SPDX-License-Identifier: Apache-2.0
"""The sum of the archive that a folder was filled from, kept in the cache: a later one of another
sum is noticed.
"""

from __future__ import annotations

import os

from modules._machine.cache_files import keep_text, load_text
from modules.file._contents.hash import hash_of
from runner.api import fetcher


def _record(name: str) -> str:
    return f"archives/{hash_of(os.fsencode(name))}"


def kept_sum(name: str) -> str:
    """The sum of the archive that filled a folder; empty where none is known."""
    return load_text(_record(name)) or ""


@fetcher
def keep_sum(name: str, digest: str) -> None:
    """Note the sum of the archive that a folder holds."""
    keep_text(_record(name), digest)
