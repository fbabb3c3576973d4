# SPDX-License-Identifier: Apache-2.0
"""States and functions of Salt that runner lacks, and what to write instead (unsupported.txt):
errors and `runner doc --missing` say it.

A row names functions (`gpg.present`) or all of a module (`boto*.*`). A row of a function that
runner has by now is a mistake, which tests/runner/engine/test_missing.py reports.
"""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cache

from runner.model import text_tables

# sections: ELSEWHERE has states for other systems; WITHIN_A_RUN is what `runner call` knows, and a
# template or module.run does not
STATES, ELSEWHERE, FUNCTIONS, WITHIN_A_RUN = "state", "elsewhere", "function", "run"


@cache
def table(*sections: str) -> Mapping[str, str]:
    """What to write instead, by name."""
    rows = text_tables.rows("runner.engine.loader", "unsupported.txt")
    return {name: text for key, (names, text) in rows if key in sections for name in names.split()}


def of_state(name: str) -> str | None:
    """Return what to write instead of a state function; None where nothing is known of it."""
    return _advice(table(STATES, ELSEWHERE), name)


def of_function(name: str) -> str | None:
    """Return what to write instead of an execution function; None where nothing is known of it."""
    return _advice(table(FUNCTIONS), name)


def within_a_run(name: str) -> str | None:
    """As of_function, for a call that a template or module.run makes."""
    return table(WITHIN_A_RUN).get(name) or of_function(name)


def _advice(rows: Mapping[str, str], name: str) -> str | None:
    if name in rows:
        return rows[name]
    return next((advice for row, advice in rows.items() if fnmatchcase(name, row)), None)


def hint(name: str, lacks: str = "") -> str | None:
    """Return what to write instead of a state function that is not there; None where nothing is
    known of it. lacks: what else is there not.
    """
    instead = of_state(name)
    lacks = lacks or f"{name.partition('.')[0]} states"
    own = "; or bring your own in _states/ of the tree"
    return f"runner has no {lacks}: {instead}{own}" if instead else None
