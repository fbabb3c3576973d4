# SPDX-License-Identifier: Apache-2.0
"""The arguments of every state."""

from __future__ import annotations

from runner.model.chunk import COMMAND_GUARDS, GUARDS
from runner.model.global_arguments import GLOBAL_ARGUMENTS, GUARD


def test_guards_are_those_of_the_table() -> None:
    rows = {name: row for name, row in GLOBAL_ARGUMENTS.items() if row.stage is GUARD}
    assert (*rows,) == GUARDS
    takes_commands = rows["onlyif"].schema
    assert tuple(name for name in GUARDS if rows[name].schema is takes_commands) == COMMAND_GUARDS
