# SPDX-License-Identifier: Apache-2.0
"""Temporary files and folders, which whoever asks for them removes."""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Callable

from runner.api import here


def file(suffix: str = "", prefix: str = "tmp", parent: str | None = None) -> str:
    """The path of a new, empty file; in a dry run of one that could be made.

    {{ salt['temp.file'](suffix='.pem') }}
    """
    return _made(_file, suffix, prefix, parent)


def dir(suffix: str = "", prefix: str = "tmp", parent: str | None = None) -> str:
    """The path of a new, empty folder; in a dry run of one that could be made.

    {% set folder = salt['temp.dir']() %}
    """
    return _made(tempfile.mkdtemp, suffix, prefix, parent)


def _made(
    make: Callable[[str, str, str | None], str], suffix: str, prefix: str, parent: str | None
) -> str:
    """The path of what is made; in a dry run of nothing."""
    if not here.dry:  # dry: templates ask for it, which no changer lets them
        return make(suffix, prefix, parent)
    return os.path.join(parent or tempfile.gettempdir(), f"{prefix}{secrets.token_hex(4)}{suffix}")


def _file(suffix: str, prefix: str, parent: str | None) -> str:
    handle, path = tempfile.mkstemp(suffix, prefix, parent)
    os.close(handle)
    return path
