"""Names of addresses as they are."""

from __future__ import annotations

from collections.abc import Iterator

from modules import hosts
from runner.api import Resource


def resources(name: str | None) -> Iterator[Resource]:
    """The names in /etc/hosts with their addresses."""
    lines = [line for line in hosts.lines() if line.ip]
    for each in dict.fromkeys(one for line in lines for one in line.names):
        if name in (None, each):
            yield Resource(
                "host.present",
                each,
                {"ip": list(dict.fromkeys(li.ip for li in lines if each in li.names))},
            )
