# SPDX-License-Identifier: Apache-2.0
"""The file that says a key of the configuration: that of the machine, one that it includes, or that
of the pulled tree. A path or a command in it is meant from the folder of the main file.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

KEY = "said_in"  # of the settings: keys that the machine's main file does not say -> Said
Said = tuple[str, str]  # the file, and the folder that relative paths start at


def key_file(settings: Mapping[str, Any], key: str) -> str | None:
    """The file that says a key; None without a configuration."""
    said: Mapping[str, Said] = settings.get(KEY) or {}
    return said[key][0] if key in said else settings.get("conf_file")


def key_folder(settings: Mapping[str, Any], key: str) -> str:
    """The folder that relative paths of a key start at."""
    said: Mapping[str, Said] = settings.get(KEY) or {}
    return said[key][1] if key in said else str(settings.get("config_dir") or "/")
