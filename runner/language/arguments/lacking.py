# SPDX-License-Identifier: Apache-2.0
"""Arguments of Salt's state functions that those of runner lack, or take and ignore: what becomes
of each (lacking.txt).

A row is for some functions and some arguments, both with globs; the first row that is for an
argument says what becomes of it. tests/runner/language/test_lacking_arguments.py holds the rows
against what Salt and runner have.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import cache

from runner.model import text_tables
from runner.model.records import Record

IGNORED = "ignored"  # Salt ignores it too, or it says nothing on one Linux machine; with the reason
REFUSED = "refused"  # it would mean something; with what to write instead
RENAMED = "renamed"  # an older name; with today's
LACKING, TAKEN = "lacking", "taken"  # the sections


class Row(Record):
    """What becomes of some arguments of some functions."""

    functions: str
    arguments: str
    becomes: str
    text: str


@cache
def rows(section: str = LACKING) -> tuple[Row, ...]:
    """The rows of a section, in their order."""
    table = text_tables.rows("runner.language.arguments", "lacking.txt")
    return tuple(Row(*cells) for name, cells in table if name == section)


@cache
def row(function: str, argument: str) -> Row | None:
    """The row of an argument that Salt's function has; None where nothing is known of it."""
    return next((found for found in rows() if _is_for(found, function, argument)), None)


def _is_for(row: Row, function: str, argument: str) -> bool:
    return fits(function, row.functions) and fits(argument, row.arguments)


def fits(word: str, globs: str) -> bool:
    return any(fnmatchcase(word, glob) for glob in globs.split())
