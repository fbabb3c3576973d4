# SPDX-License-Identifier: Apache-2.0
"""The network: the machine's name, interfaces, routes."""

from __future__ import annotations

from collections.abc import Iterator

from modules import ip
from states.network._managed import managed
from states.network._routes import routes
from states.network._system import system

PROVIDERS = ip.PROVIDERS
PACKAGES = ("ifupdown", "netplan.io", "network-manager", "NetworkManager", "systemd-networkd")


def autorequire(name: str, **_: object) -> Iterator[tuple[str, str]]:
    """An interface comes after the package of the tool that configures it."""
    for package in PACKAGES:
        yield "pkg", package
