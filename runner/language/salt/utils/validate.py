# SPDX-License-Identifier: Apache-2.0
"""salt.utils.validate: texts and paths that are what they should be."""

from __future__ import annotations

import os
import re
import socket
from types import ModuleType


def mac(addr: str) -> bool:
    """Return whether a text is a hardware address."""
    return re.fullmatch(r"([0-9a-fA-F]{1,2}[:-]){5}[0-9a-fA-F]{1,2}", addr) is not None


def ipv4_addr(addr: str) -> bool:
    """Return whether a text is an IPv4 address, with or without a prefix."""
    return _is_address(addr, socket.AF_INET, 32)


def ipv6_addr(addr: str) -> bool:
    """Return whether a text is an IPv6 address, with or without a prefix."""
    return _is_address(addr, socket.AF_INET6, 128)


def ip_addr(addr: str) -> bool:
    """Return whether a text is an address, with or without a prefix."""
    return ipv4_addr(addr) or ipv6_addr(addr)


def netmask(mask: str) -> bool:
    """Return whether a text is a mask of IPv4."""
    try:
        bits = int.from_bytes(socket.inet_pton(socket.AF_INET, mask), "big")
    except (OSError, TypeError):
        return False
    return "01" not in f"{bits:032b}"


def _is_address(addr: str, family: socket.AddressFamily, most: int) -> bool:
    address, slash, prefix = str(addr).partition("/")
    try:
        socket.inet_pton(family, address)
    except OSError:
        return False
    return not slash or (prefix.isdigit() and int(prefix) <= most)


def is_writeable(path: str, check_parent: bool = False) -> bool:
    """Return whether the caller may write a path, or (check_parent) make it."""
    if os.path.exists(path) or not check_parent:
        return os.access(path, os.W_OK)
    return os.access(os.path.dirname(path) or ".", os.W_OK)


def is_readable(path: str) -> bool:
    """Return whether the caller may read a path; of what is not there, True."""
    return not os.path.exists(path) or os.access(path, os.R_OK)


def is_executable(path: str) -> bool:
    """Return whether the caller may execute a path."""
    return os.path.isfile(path) and os.access(path, os.X_OK)


def _part(name: str, *functions: object) -> ModuleType:
    module = ModuleType(f"salt.utils.validate.{name}")
    module.__dict__.update({function.__name__: function for function in functions})  # type: ignore[attr-defined]
    return module


net = _part("net", mac, ipv4_addr, ipv6_addr, ip_addr, netmask)
path = _part("path", is_writeable, is_readable, is_executable)
