# SPDX-License-Identifier: Apache-2.0
"""Temporary files and folders, which whoever asks for them removes."""

from __future__ import annotations

import os
import secrets
import tempfile

from runner.api import here


def file(suffix: str = "", prefix: str = "tmp", parent: str | None = None) -> str:
    """The path of a new, empty file; in a dry run of one that could be made.

    {{ salt['temp.file'](suffix='.pem') }}
    """
    if here.dry:
        return _free(suffix, prefix, parent)
    handle, path = tempfile.mkstemp(suffix, prefix, parent)
    os.close(handle)
    return path


def dir(suffix: str = "", prefix: str = "tmp", parent: str | None = None) -> str:
    """The path of a new, empty folder; in a dry run of one that could be made.

    {% set folder = salt['temp.dir']() %}
    """
    if here.dry:
        return _free(suffix, prefix, parent)
    return tempfile.mkdtemp(suffix, prefix, parent)


def _free(suffix: str, prefix: str, parent: str | None) -> str:
    return os.path.join(parent or tempfile.gettempdir(), f"{prefix}{secrets.token_hex(4)}{suffix}")
