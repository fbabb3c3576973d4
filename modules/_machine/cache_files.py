# SPDX-License-Identifier: Apache-2.0
"""Small files that modules keep in the cache folder."""

from __future__ import annotations

import os

from runner.api import fetcher, here


@fetcher
def save_text(path: str, text: str, mode: int = 0o600) -> str:
    """Write a text whole (nobody sees a half of it, nor do others read it) below the cache folder:
    its whole path.
    """
    *below, name = path.split("/")
    folder = here.cache_folder(*below)
    folder.write(name, text.encode(), mode)
    return os.path.join(folder.path, name)


def keep_text(path: str, text: str) -> None:
    """Write a text as `save_text` does, for the runs that follow: a dry run leaves them nothing."""
    if not here.dry:  # dry: a fetcher has no stand-in
        save_text(path, text)


def load_text(path: str) -> str | None:
    """A text that was kept below the cache folder; None where there is none. Raises OSError and
    ValueError.
    """
    *below, name = path.split("/")
    try:
        return here.cache_folder(*below, make=False).read(name).decode()
    except FileNotFoundError:
        return None
