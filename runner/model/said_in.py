# SPDX-License-Identifier: Apache-2.0
"""The file that says a key of the configuration: that of the machine, or of the pulled tree. A path
or a command in it is meant from the folder of that file.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

KEY = "said_in"  # of the settings: the tree's keys, each with its file


def key_file(settings: Mapping[str, Any], key: str) -> str | None:
    """The file that says a key; None without a configuration."""
    said: Mapping[str, str] = settings.get(KEY) or {}
    return said.get(key) or settings.get("conf_file")


def key_folder(settings: Mapping[str, Any], key: str) -> str:
    """The folder that relative paths of a key start at."""
    said: Mapping[str, str] = settings.get(KEY) or {}
    if key in said:
        return os.path.dirname(said[key])
    return str(settings.get("config_dir") or "/")
