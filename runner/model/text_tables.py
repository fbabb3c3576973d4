# SPDX-License-Identifier: Apache-2.0
"""Tables of words and sentences, which lie as text beside the code that reads them.

A line is a row, whose cells ` | ` parts; `# --- NAME` begins a section, other `#` are remarks.
`$NAME = TEXT` names a text that later ones have as `$NAME`, or as `$NAME(WORDS)` with words for its
`{}`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any


def rows(package: str, name: str) -> Iterator[tuple[str, list[str]]]:
    """The rows of a file of a package, each with its section."""
    loader: Any = sys.modules[package].__loader__  # `importlib.resources` imports forty modules
    table: str = loader.get_data(f"{sys.modules[package].__path__[0]}/{name}").decode()
    texts: dict[str, str] = {}

    def named(match: re.Match[str]) -> str:
        text = texts.get(match[1])
        return match[0] if text is None else text.replace("{}", match[2]) if match[2] else text

    section = ""
    for line in table.splitlines():
        if line.startswith("# ---"):
            section = line.split()[-1]
        elif line and not line.startswith("#"):
            text = re.sub(r"(?<!^)\$([a-z_]+)(?:\(([^()]*)\))?", named, line)
            definition = re.fullmatch(r"\$([a-z_]+) = (.*)", text)
            if definition:
                texts[definition[1]] = definition[2]
            else:
                yield section, re.split(r" ?\| ", text)
