# SPDX-License-Identifier: Apache-2.0
"""rtnetlink(7): the kernel tells of links, addresses and routes."""

from __future__ import annotations

import socket
from contextlib import suppress

# RTMGRP_LINK, _IPV4_IFADDR, _IPV4_ROUTE, _IPV6_IFADDR, _IPV6_ROUTE
_GROUPS = 0x1 | 0x10 | 0x40 | 0x100 | 0x400


def opened() -> socket.socket | None:
    """What tells; None where the kernel has no such thing."""
    with suppress(OSError):
        kind = socket.SOCK_RAW | socket.SOCK_NONBLOCK
        channel = socket.socket(socket.AF_NETLINK, kind, socket.NETLINK_ROUTE)
        with suppress(OSError):
            channel.bind((0, _GROUPS))
            return channel
        channel.close()
    return None


def read(channel: socket.socket) -> None:
    """Take what was told, whatever it is; of more than there was room for the kernel tells, too."""
    while True:
        try:
            channel.recv(1 << 16)
        except BlockingIOError:
            return
        except OSError:
            continue
