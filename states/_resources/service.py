# SPDX-License-Identifier: Apache-2.0
"""Services as they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from modules import service
from modules.service.unit import Unit
from runner.api import Resource

ROLE = "services"


def resources(name: str | None) -> Iterator[Resource]:
    """Services: whether they run, and whether they start with the machine."""
    if name is None:
        yield from (_resource(unit) for unit in service.units() if unit.available)
    elif service.available(name):
        yield _resource(
            Unit(
                name, True, service.status(name), service.enabled(name), service.masked(name), True
            )
        )


def _resource(unit: Unit) -> Resource:
    if unit.masked:
        suffix = "" if "." in unit.name else ".service"
        files = (f"/etc/systemd/system/{unit.name}{suffix}",)
        return Resource("service.masked", unit.name, shipped=not unit.changed, files=files)
    arguments: dict[str, Any] = {"enable": unit.enabled}
    if unit.enabled and not unit.running:  # it has done its work, or somebody stopped it
        return Resource("service.enabled", unit.name, shipped=not unit.changed)
    function = "service.running" if unit.running else "service.dead"
    return Resource(function, unit.name, arguments, shipped=not unit.changed)
