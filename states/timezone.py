# SPDX-License-Identifier: Apache-2.0
"""The time zone of the machine."""

from __future__ import annotations

from modules import file, timezone
from runner.api import NonEmptyLine, Plan, Planned, StateFailed

DECIDES = {"system": "* name utc"}


def dry_run_check(plan: Plan, name: str, **arguments: object) -> None:
    """Raise StateFailed when the caller may not change the zone."""
    if "timezone" in plan.changes:
        file.refuse_put("/etc/localtime")


@file.validated
def system(name: NonEmptyLine, utc: bool = True) -> Planned:
    """Make sure that the machine is in a time zone.

    name: The zone, such as Europe/Berlin.
    utc: Whether the hardware clock keeps UTC.

        Europe/Berlin:
          timezone.system: []

    Behaviour: Salt 3008's timezone.system; /etc/localtime is a link, and is replaced whole.
    """
    if not timezone.zone_exists(name):
        raise StateFailed(
            f"Unable to compare desired timezone '{name}' to system timezone:"
            f" {timezone.unknown_zone(name)}",
            missing=("file", f"{timezone.ZONES}/{name}"),
        )
    wrong_zone = not timezone.zone_compare(name)
    wrong_clock = utc != (timezone.get_hwclock() == "UTC")
    if not wrong_zone and not wrong_clock:
        return (
            f"Timezone {name} already set, UTC already set to {name}"
            if utc
            else f"Timezone {name} already set"
        )
    changes = ({"timezone": name} if wrong_zone else {}) | ({"utc": utc} if wrong_clock else {})
    comments = [f"Timezone {name} needs to be set"] if wrong_zone else []
    comments += [f"UTC needs to be set to {utc}"] if wrong_clock else []
    yield Plan(changes, ", ".join(comments))
    if wrong_zone:
        timezone.set_zone(name)
    if wrong_clock:
        timezone.set_hwclock("UTC" if utc else "localtime")
    done = [f"Set timezone {name}"] if wrong_zone else []
    return ", ".join([*done, *([f"Set UTC to {utc}"] if wrong_clock else [])])
