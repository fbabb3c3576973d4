# SPDX-License-Identifier: Apache-2.0
"""Routes of an interface."""

from __future__ import annotations

import ipaddress
from typing import Any

from modules import file, ip
from modules.ip.configuration import Route
from runner.api import Line, Name, OneOrMany, Plan, Planned, StateFailed
from runner.api.offline import is_offline
from states.file._diff import unified

KEYS = ("name", "ipaddr", "netmask", "gateway", "metric")


@file.validated
def routes(
    name: Name,
    routes: OneOrMany[dict[Line, Line | int | float | bool | None]] | None = None,
    noifupdown: bool = False,
    require_reboot: bool = False,
) -> Planned:
    """Make sure that an interface has routes while it is up.

    The tool that is used is chosen as by network.managed; `provider` names another one.

    name: The interface.
    routes: The routes, each with ipaddr (an address or `default`), netmask (or a length in ipaddr),
      gateway, metric and a name; without any they go.
    noifupdown: Leave the routes of an interface that is up alone until it comes up again.
    require_reboot: The same as noifupdown.

        eth0:
          network.routes:
            - routes:
              - name: office
                ipaddr: 10.2.0.0
                netmask: 255.255.255.0
                gateway: 10.1.0.3

    Behaviour: Salt 3008's network.routes.
    """
    tool = ip.provider()
    old = tool.present_routes(name)
    new = tool.route_texts(name, [_route(name, route) for route in routes or []])
    if old == new:
        return f"Interface {name} routes are up to date."
    word = "added" if not old else "updated" if new else "removed"
    difference = unified(*("".join(texts.values()).encode() for texts in (old, new)))
    shown = f"Added interface {name} routes." if word == "added" else difference
    comment = f"Interface {name} routes are set to be {word}"
    tool.verify(name, old, new)
    yield Plan(
        {"network_routes": shown}, f"{comment}." if word == "added" else f"{comment}:\n{difference}"
    )
    acts = not is_offline() and tool.is_up(name) and not noifupdown and not require_reboot
    tool.configure(name, old, new, "routes" if acts else "")
    return f"Interface {name} routes {word}."


def _route(iface: str, route: dict[str, Any]) -> Route:
    unknown = sorted(set(route) - set(KEYS))
    if unknown:
        raise StateFailed(
            f"Interface {iface}: a route has no {unknown[0]!r}; it has {', '.join(KEYS)}"
        )
    target, mask = str(route.get("ipaddr", "")), route.get("netmask")
    try:
        if target != "default":
            target = str(
                ipaddress.ip_network(target if mask is None else f"{target}/{mask}", strict=False)
            )
        gateway = str(ipaddress.ip_address(str(route["gateway"]))) if route.get("gateway") else ""
        metric = str(int(route["metric"])) if route.get("metric") is not None else ""
    except ValueError as error:
        raise StateFailed(
            f"Interface {iface}: the route {route.get('name', target)!r} is none: {error}"
        ) from None
    return Route(str(route.get("name", "route")), target, gateway, metric)
