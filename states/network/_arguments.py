# SPDX-License-Identifier: Apache-2.0
"""Arguments that several functions of network have."""

from __future__ import annotations

import ipaddress
import re
from typing import Annotated

from runner.api import Check

LABEL = r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"


def _is_hostname(value: str) -> str | None:
    if len(value) > 64 or not re.fullmatch(rf"{LABEL}(\.{LABEL})*", value):
        return (
            "expected the name of a machine: letters, digits and hyphens between dots, at most 64"
        )
    return None


def _is_address(value: str) -> str | None:
    try:
        ipaddress.ip_interface(value)
    except ValueError:
        return "expected an IP address, with its length behind a slash or without"
    return None


def _is_mask(value: str) -> str | None:
    try:
        ipaddress.ip_network(f"0.0.0.0/{value}")
    except ValueError:
        return "expected a netmask such as 255.255.255.0 or 24"
    return None


Address = Annotated[str, Check(_is_address)]
Hostname = Annotated[str, Check(_is_hostname)]
Netmask = Annotated[str, Check(_is_mask)]
