# SPDX-License-Identifier: Apache-2.0
"""Prints docs/differences-from-salt.md, made of the rows with a ★ of the register,
tests/differences-from-salt.md.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

REGISTER = Path(__file__).parent.parent / "tests/differences-from-salt.md"
HEAD = """# Differences from Salt

What may bite you when you come from Salt 3008. Each is deliberate. All others, with reasons and
tests, are in `tests/differences-from-salt.md` of the project; `runner doc --missing` lists what
runner does not have.
"""
FEW = 3  # rows that make no section
TABLE = "\n## {}\n\n| what | Salt | runner |\n|---|---|---|\n"


def page(register: str) -> str:
    """The page, from the register's text."""
    parts = {
        part.partition("\n")[0]: [
            "| {} | {} | {} |\n".format(*row)
            for row in re.findall(r"^\| ★ (.+?) \| (.+?) \| (.+) \| .+ \| .+ \|$", part, re.M)
        ]
        for part in register.split("\n## ")[1:]
    }
    rest = [row for rows in parts.values() if len(rows) < FEW for row in rows]
    of_size = {title: rows for title, rows in parts.items() if len(rows) >= FEW}
    tables = {**of_size, "Elsewhere": rest}
    return HEAD + "".join(TABLE.format(title) + "".join(rows) for title, rows in tables.items())


if __name__ == "__main__":
    sys.stdout.write(page(REGISTER.read_text()))
