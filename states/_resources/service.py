"""Services as they are."""

from __future__ import annotations

from collections.abc import Iterator

from modules import service
from runner.api import Resource


def resources(name: str | None) -> Iterator[Resource]:
    """Services: whether they run, and whether they start with the machine."""
    for unit in service.get_all() if name is None else [name]:
        if unit.endswith("@") or not service.available(unit):
            continue
        if service.masked(unit):
            yield Resource("service.masked", unit)
            continue
        function = "service.running" if service.status(unit) else "service.dead"
        yield Resource(function, unit, {"enable": service.enabled(unit)})
