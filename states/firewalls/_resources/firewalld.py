# SPDX-License-Identifier: Apache-2.0
"""firewalld's zones and services as they are."""

from __future__ import annotations

# os in this file: what this machine has, outside of runs
import glob
import os
from collections.abc import Iterator
from typing import Any

from modules.firewalls import firewalld
from runner.api import Resource

ROLE = "firewall"
FOLDER = "/etc/firewalld"
LISTS = {
    "services": "services",
    "ports": "ports",
    "icmp-blocks": "block_icmp",
    "interfaces": "interfaces",
    "sources": "sources",
    "rich rules": "rich_rules",
}


def resources(name: str | None) -> Iterator[Resource]:
    """Services and zones; of the whole firewall those that somebody changed."""
    default = firewalld.default_zone()
    changed = {kind: _changed(kind) for kind in ("services", "zones")}
    for service in changed["services"] if name is None else [name]:
        if service in firewalld.get_services():
            about = {key: value for key, value in firewalld.service(service).items() if value}
            files = tuple(changed["services"].get(service, ()))
            yield Resource("firewalld.service", service, about, files=files)
    for zone in firewalld.list_zones() if name is None else [name]:
        if zone in firewalld.list_zones():
            yield _zone(zone, zone == default, changed["zones"].get(zone, []))


def _changed(kind: str) -> dict[str, list[str]]:
    """Return what somebody changed, with the files that say so."""
    changed: dict[str, list[str]] = {}
    for path in sorted(glob.glob(f"{FOLDER}/{kind}/*.xml*")):
        changed.setdefault(os.path.basename(path).partition(".xml")[0], []).append(path)
    return changed


def _zone(name: str, is_default: bool, files: list[str]) -> Resource:
    about = firewalld.zone(name)
    arguments: dict[str, Any] = {"default": True} if is_default else {}
    arguments |= {"masquerade": True} if about.get("masquerade") == ["yes"] else {}
    arguments |= {argument: about[key] for key, argument in LISTS.items() if about.get(key)}
    forwards = [_forward(forward) for forward in about.get("forward-ports", [])]
    arguments |= {"port_fwd": forwards} if forwards else {}
    shipped = not files and not (is_default and name != "public")
    return Resource("firewalld.present", name, arguments, shipped=shipped, files=tuple(files))


def _forward(text: str) -> str:
    """A forwarded port as states write it: `port=22:proto=tcp:toport=2222:toaddr=10.0.0.5`."""
    fields = dict(pair.partition("=")[::2] for pair in text.split(":", 3))
    keys = ("port", "toport", "proto", "toaddr")
    return ":".join(fields.get(key, "") for key in keys)
