# SPDX-License-Identifier: Apache-2.0
"""Names of addresses as they are."""

from __future__ import annotations

from collections.abc import Iterator

from modules import hosts
from runner.api import Resource

ROLE = "network"


# what each installation has: this machine itself, and groups of machines
OWN = ("127.0.0.1", "127.0.1.1", "::1", "fe00::0", "ff00::0", "ff02::1", "ff02::2", "ff02::3")


def resources(name: str | None) -> Iterator[Resource]:
    """The names in /etc/hosts with their addresses."""
    lines = [line for line in hosts.lines() if line.ip]
    for host in dict.fromkeys(host_name for line in lines for host_name in line.names):
        if name in (None, host):
            addresses = list(dict.fromkeys(line.ip for line in lines if host in line.names))
            own = {*addresses} <= {*OWN}
            yield Resource(
                "host.present", host, {"ip": addresses}, shipped=own, files=(hosts.PATH,)
            )
