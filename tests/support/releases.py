# SPDX-License-Identifier: Apache-2.0
"""What the releases brought, as runner/model/releases.txt keeps it: a program of its own that adds
what came since, `python tests/support/releases.py VERSION`.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path

from runner.engine.loader.registry import Registry
from runner.model import releases
from runner.output.manual import pages
from runner.sources.config import key_manual

TABLE = Path(releases.__file__).with_name(releases.TABLE)


def names() -> set[str]:
    """All that has a release, as the table calls it."""
    library = Registry({})
    found = {f": {name}" for name in key_manual.keys()}  # noqa: SIM118 a function
    for module, functions in pages.contents(library).items():
        for function in functions:
            page = pages.state_page(library, f"{module}.{function}")
            found |= {page.name, *(f"{page.name} {each.name}" for each in page.arguments)}
    return found


def kept() -> dict[str, str]:
    """What the table has of it, with the release."""
    return {name: release for name, release in releases._kept().items() if name != ":"}


def section(version: str) -> str:
    """The lines of what no release has yet."""
    later: dict[str, list[str]] = defaultdict(list)
    for name in sorted(names() - kept().keys()):
        first, _, argument = name.partition(" ")
        later[first] += [argument] if argument else []
    lines = (" ".join([first, *arguments]) for first, arguments in sorted(later.items()))
    return "\n".join(["", f"## {version}", *lines, ""])


if __name__ == "__main__":
    with TABLE.open("a") as table:
        table.write(section(sys.argv[1]))
