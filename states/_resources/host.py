"""Names of addresses as they are."""

from __future__ import annotations

from collections.abc import Iterator

from modules import hosts
from runner.api import Resource


def resources(name: str | None) -> Iterator[Resource]:
    """The names in /etc/hosts with their addresses."""
    lines = [line for line in hosts.lines() if line.ip]
    for host in dict.fromkeys(host_name for line in lines for host_name in line.names):
        if name in (None, host):
            yield Resource(
                "host.present",
                host,
                {"ip": list(dict.fromkeys(li.ip for li in lines if host in li.names))},
            )
