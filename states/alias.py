# SPDX-License-Identifier: Apache-2.0
"""The targets of mail for a name (/etc/aliases)."""

from __future__ import annotations

from typing import Annotated

from modules import aliases, file
from runner.api import NotEmpty, Plan, Planned, Trimmed
from runner.api.claims import edits

owns = edits("", "/etc/aliases")
ABOUT_ONE_FILE = {"present": "target", "absent": ""}
its_file = aliases.PATH
DECIDES = {"present": "target"}
OPPOSITE = {"present": "absent"}
Alias = Annotated[Trimmed, NotEmpty()]


def dry_run_check(plan: Plan, name: str, target: str = "") -> None:
    """Raise StateFailed when the caller may not change the aliases."""
    file.refuse_put(aliases.PATH)


@file.validated
def present(name: Alias, target: Alias) -> Planned:
    """Make sure that mail for a name goes to a target.

    name: The alias.
    target: An address, a file, a pipe, or several with commas between them.

        root:
          alias.present:
            - target: zoe@example.com
    """
    if aliases.get_target(name) == target:
        return f"Alias {name} already present"
    yield Plan({"alias": name}, f"Alias {name} -> {target} is set to be added")
    aliases.set_target(name, target)
    return f"Set email alias {name} -> {target}"


@file.validated
def absent(name: Alias) -> Planned:
    """Make sure that there is no such alias.

    name: The alias.

        webmaster:
          alias.absent: []
    """
    if not aliases.get_target(name):
        return f"Alias {name} already absent"
    yield Plan({"alias": name}, f"Alias {name} is set to be removed")
    aliases.rm_alias(name)
    return f"Removed alias {name}"
