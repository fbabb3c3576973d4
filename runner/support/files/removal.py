# SPDX-License-Identifier: Apache-2.0
"""Removing what may be a file, a link or a folder."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress


def remove(path: str) -> None:
    """Remove a file or folder, as far as that can be done."""
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            os.unlink(path)
