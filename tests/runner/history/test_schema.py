# SPDX-License-Identifier: Apache-2.0
"""A new history is what the oldest one becomes."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from runner.history.schema import MIGRATIONS, SCHEMA

TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
INDEXES = "SELECT name, tbl_name, sql FROM sqlite_master WHERE type = 'index' ORDER BY rowid"


def structure(script: str) -> list[object]:
    with closing(sqlite3.connect(":memory:")) as database:
        database.executescript(script)
        found: list[object] = database.execute(INDEXES).fetchall()
        for (table,) in database.execute(TABLES).fetchall():
            for pragma in ("table_xinfo", "index_list", "foreign_key_list"):
                found.append((table, database.execute(f"PRAGMA {pragma}({table})").fetchall()))
        found += sorted(database.execute("PRAGMA table_list"))
    return found


def test_a_new_history_has_what_the_migrations_make() -> None:
    assert structure(SCHEMA) == structure(";".join(MIGRATIONS))
