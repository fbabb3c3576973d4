# SPDX-License-Identifier: Apache-2.0
"""ufw's rules as they are."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any

from modules.firewalls import ufw
from runner.api import Resource, StateFailed

ROLE = "firewall"
USUAL = {"incoming": "deny", "outgoing": "allow", "routed": "deny"}
FILES = tuple(f"/etc/ufw/{name}" for name in ("ufw.conf", "user.rules", "user6.rules"))
ACTIONS = ("allow", "deny", "limit", "reject")
# words of a rule, each with the argument that it is followed by the value of
_ARGUMENTS = {"on": "interface", "from": "source", "port": "port", "app": "port"}
_ARGUMENTS |= {"proto": "proto", "comment": "comment", "to": "destination"}


def resources(name: str | None) -> Iterator[Resource]:
    """Yield what is done by default, the rules by their port, and whether the firewall is on."""
    for direction, usual in USUAL.items():
        policy = ufw.default_policy(direction)
        if name in (None, direction):
            arguments = {"policy": policy}
            files = ("/etc/default/ufw",)
            shipped = policy == usual
            yield Resource("ufw.default", direction, arguments, shipped=shipped, files=files)
    rules = [_rule(line) for line in ufw.rules()]
    yield from (item for item in rules if name in (None, item.name))
    if name in (None, "firewall"):
        on = ufw.is_enabled()
        if on is ufw.is_active():
            function = "ufw.enabled" if on else "ufw.disabled"
            yield Resource(function, "firewall", shipped=not on, files=FILES)


def _rule(line: str) -> Resource:
    action, *words = shlex.split(line)
    label = f"ufw {line}"
    unknown = Resource("", label, note=f"{label}: no state of ufw says that: left out")
    if action not in ACTIONS or not words:
        return unknown
    arguments: dict[str, Any] = {}
    if words[0] in ("in", "out"):
        arguments |= {"direction": "out"} if words[0] == "out" else {}
        words = words[1:]
    if words and words[0] not in _ARGUMENTS:
        arguments["port"], *words = words
    if len(words) % 2 or any(word not in _ARGUMENTS for word in words[::2]):
        return unknown
    pairs = zip(words[::2], words[1::2], strict=True)
    arguments |= {_ARGUMENTS[word]: value for word, value in pairs if value != "any"}
    arguments.setdefault("port", "any")
    port = str(arguments.pop("port"))
    try:
        chosen = ("proto", "source", "destination", "interface", "direction", "comment")
        defaults = {"source": "any", "destination": "any", "direction": "in"}
        values: list[Any] = [arguments.get(key, defaults.get(key)) for key in chosen]
        same = ufw.has_rule(ufw.rule(action, port, *values))
    except StateFailed:
        same = False
    if not same:
        return unknown
    if arguments and port == "any":
        return Resource(f"ufw.{action}", label, {"port": port, **arguments})
    return Resource(f"ufw.{action}", port, arguments)
