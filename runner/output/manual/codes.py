# SPDX-License-Identifier: Apache-2.0
"""The codes of `runner check`, each with an example that gives it and with what is right."""

from __future__ import annotations

import re

from runner.model.text_tables import text_beside
from runner.output.manual import __name__ as _PACKAGE

NAME = "checks"  # of the page


def page() -> str:
    """All of them, as Markdown."""
    return text_beside(_PACKAGE, f"{NAME}.md")


def part(name: str) -> str | None:
    """What the page says of one code, or all of it by the name of the page."""
    if name == NAME:
        return page()
    found = re.search(rf"^### `{re.escape(name)}`\n\n(.*?)(?=^##|\Z)", page(), re.M | re.S)
    return f"# {name}\n\n{found[1]}" if found else None
