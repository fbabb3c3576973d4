"""Routes of an interface: scripts that ifup and ifdown run."""

from __future__ import annotations

import ipaddress
import os
from typing import Any

from modules import file, ip
from runner.api import Line, Name, OneOrMany, Plan, Planned, StateFailed
from states.file._diff import unified

KEYS = ("name", "ipaddr", "netmask", "gateway", "metric")


def routes(
    name: Name,
    routes: OneOrMany[dict[Line, Line | int | float | bool | None]] | None = None,
    noifupdown: bool = False,
    require_reboot: bool = False,
) -> Planned:
    """Make sure that an interface has routes: ifup sets them, ifdown removes them.

    name: the interface. routes: each with ipaddr (an address or `default`), netmask (or a length in
    ipaddr), gateway, metric and a name; without any the scripts go. noifupdown or require_reboot:
    leave those of an interface that is up alone until it comes up again.

        eth0:
          network.routes:
            - routes:
              - name: office
                ipaddr: 10.2.0.0
                netmask: 255.255.255.0
                gateway: 10.1.0.3

    Behaviour: Salt 3008's network.routes on a Debian.
    """
    wanted = [(str(route.get("name", "route")), _words(name, route)) for route in routes or []]
    scripts = (
        {way: ip.script(name, verb, wanted) for way, verb in (("up", "add"), ("down", "del"))}
        if wanted
        else {}
    )
    old, new = ip.get_routes(name), "".join(scripts.values())
    if old == new:
        return f"Interface {name} routes are up to date."
    word = "added" if not old else "updated" if new else "removed"
    difference = unified(old.encode(), new.encode())
    shown = f"Added interface {name} routes." if word == "added" else difference
    comment = f"Interface {name} routes are set to be {word}"
    yield Plan(
        {"network_routes": shown}, f"{comment}." if word == "added" else f"{comment}:\n{difference}"
    )
    acts = ip.is_up(name) and not noifupdown and not require_reboot
    if acts and file.is_file(ip.SCRIPTS["down"].format(name)):
        ip.run_routes(name, "down")
    for way, path in ip.SCRIPTS.items():
        _write_script(path.format(name), scripts.get(way))
    if acts and scripts:
        ip.run_routes(name, "up")
    return f"Interface {name} routes {word}."


def _write_script(path: str, content: str | None) -> None:
    if content is None:
        if file.lexists(path):
            file.remove(path)
        return
    if not file.is_dir(os.path.dirname(path)):
        file.makedirs(os.path.dirname(path), mode="0755")
    file.write(path, content.encode(), mode="0755")


def _words(iface: str, route: dict[str, Any]) -> str:
    """The words of ip(8) for a route, less the interface."""
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
        via = f" via {ipaddress.ip_address(str(route['gateway']))}" if route.get("gateway") else ""
        metric = f" metric {int(route['metric'])}" if route.get("metric") is not None else ""
    except ValueError as error:
        raise StateFailed(
            f"Interface {iface}: the route {route.get('name', target)!r} is none: {error}"
        ) from None
    return f"{target}{via}{metric}"
