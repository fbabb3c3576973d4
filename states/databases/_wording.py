# SPDX-License-Identifier: Apache-2.0
"""What results say of the things of servers, as Salt's do."""

from __future__ import annotations

from runner.api.kinds import WANTED, Wording


def making(verb: str, made: str, changes: str) -> Wording:
    """What results say of a new thing. verb, made: create, created."""
    return Wording(
        "{Title} is already present",
        f"{{Title}} is set to be {made}",
        f"The {{title}} has been {made}",
        f"Failed to {verb} {{title}}",
        {"{name}": changes},
    )


CREATED = making("create", "created", "Present")
UPDATED = making("update", "updated", "")._replace(changes={"{name}": WANTED})
REMOVED = Wording(
    "{Title} is not present, so it cannot be removed",
    "{Title} is set to be removed",
    "{Title} has been removed",
    "{Title} failed to be removed",
    {"{name}": "Absent"},
)
