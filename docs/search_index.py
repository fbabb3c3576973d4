# SPDX-License-Identifier: Apache-2.0
"""Prints the index that `runner doc WORDS` searches: a line for each state, function, key of the
configuration, word of the language and page of docs/, with what it is about.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

DOCS = Path(__file__).parent
LONGEST = 150  # characters of what something is about


def lines() -> Iterator[tuple[str, str, str]]:
    """(kind, name, what it is about)."""
    for kind, folder in (("state", "states"), ("function", "modules")):
        for path in sorted((DOCS / "reference" / folder).glob("*.md")):
            yield from _sections(kind, path, r"^## (\S+)\n\n(.+)")
    yield from _sections("key", DOCS / "reference/configuration.md", r"^### `(.+?)`\n\n(.+)")
    for path in sorted((DOCS / "reference/language").glob("*.md")):
        found = re.search(r"^# .+\n\n((?:.+\n)+)", path.read_text(), re.M)
        yield "word", path.stem, found[1] if found else ""
    for path in [*sorted(DOCS.glob("*.md")), DOCS / "reference/checks.md"]:
        text = path.read_text()
        title, *headings = re.findall(
            r"^#+ (.+)$", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), re.M
        )
        yield "page", f"docs/{path.relative_to(DOCS)}", f"{title}: {', '.join(headings)}"
    for path in sorted((DOCS.parent / "sls_examples").glob("*/init.sls")):
        parts = [file.stem for file in sorted(path.parent.glob("*.sls")) if file != path]
        yield "example", f"sls_examples/{path.parent.name}", f"SLS files {', '.join(parts)}"


def _sections(kind: str, path: Path, pattern: str) -> Iterator[tuple[str, str, str]]:
    for name, about in re.findall(pattern, path.read_text(), re.M):
        yield kind, name.replace("\\", ""), about if about[:1].isalpha() else ""


def index() -> str:
    """The whole index."""
    made = []
    for kind, name, about in lines():
        plain = re.sub(r"\]\([^)]*\)|[\[\]`*\\]", "", " ".join(about.split()))
        short = plain if kind == "page" else re.split(r"(?<=[.:;]) ", plain)[0][:LONGEST]
        made.append(f"{kind}\t{name}\t{short.rstrip('.:;')}\n")
    return "".join(made)


if __name__ == "__main__":
    sys.stdout.write(index())
