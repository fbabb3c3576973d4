"""Services as they are."""

from __future__ import annotations

from collections.abc import Iterator

from modules import service
from runner.api import Resource


def resources(name: str | None) -> Iterator[Resource]:
    """Services: whether they run, and whether they start with the machine."""
    for each in service.get_all() if name is None else [name]:
        if each.endswith("@") or not service.available(each):
            continue
        if service.masked(each):
            yield Resource("service.masked", each)
            continue
        function = "service.running" if service.status(each) else "service.dead"
        yield Resource(function, each, {"enable": service.enabled(each)})
