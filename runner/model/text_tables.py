# SPDX-License-Identifier: Apache-2.0
"""Texts that lie beside the code that reads them, and tables of words and sentences in them.

A line of a table is a row, whose cells ` | ` parts; `# --- NAME` begins a section, other `#` are
remarks. `$NAME = TEXT` names a text that later ones have as `$NAME`, or as `$NAME(WORDS)` with
words for its `{}`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def text_beside(package: str, name: str) -> str:
    """A file in a package of our own, as `importlib.resources` finds it: that imports forty
    modules. The package is imported already.
    """
    module: Any = sys.modules[package]
    text: str = module.__loader__.get_data(f"{module.__path__[0]}/{name}").decode()
    return text


def rows(package: str, name: str) -> Iterator[tuple[str, list[str]]]:
    """The rows of a file of a package, each with its section."""
    texts: dict[str, str] = {}

    def named(match: re.Match[str]) -> str:
        text = texts.get(match[1])
        return match[0] if text is None else text.replace("{}", match[2]) if match[2] else text

    section = ""
    for line in text_beside(package, name).splitlines():
        if line.startswith("# ---"):
            section = line.split()[-1]
        elif line and not line.startswith("#"):
            text = re.sub(r"(?<!^)\$([a-z_]+)(?:\(([^()]*)\))?", named, line)
            definition = re.fullmatch(r"\$([a-z_]+) = (.*)", text)
            if definition:
                texts[definition[1]] = definition[2]
            else:
                yield section, re.split(r" ?\| ", text)
