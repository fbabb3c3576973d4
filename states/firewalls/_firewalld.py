# SPDX-License-Identifier: Apache-2.0
"""What tells the elements of firewalld's zones apart, however they are written."""

from __future__ import annotations

import re
import socket

_LOGS = ("log", "nflog", "audit")
_TOKEN = re.compile(r'([\w-]+)(=(?:"([^"]*)"|(\S*)))?')


def normal(key: str, text: str) -> object:
    """Return what two elements of a list have in common if firewalld takes them for the same one.

    key: How results call the list: ports, rich_rules, ...
    """
    return {"ports": _port, "rich_rules": _rule}.get(key, str)(text)


def _port(text: str) -> str:
    """`http/tcp` is 80/tcp, and so is 80-80/tcp."""
    ports, _, protocol = text.partition("/")
    first, _, last = ports.partition("-")
    if first == last:
        ports = first
    if not ports[:1].isdigit():
        try:
            ports = str(socket.getservbyname(ports, protocol))
        except (OSError, UnicodeError, ValueError):
            return text
    return f"{ports}/{protocol}"


def _rule(text: str) -> frozenset[tuple[str, frozenset[tuple[str, str]]]]:
    """The parts of a rich rule, with their settings: firewalld writes them in an order of its
    own.
    """
    parts: list[tuple[str, dict[str, str]]] = []
    for word, equals, quoted, plain in _TOKEN.findall(text):
        before, settings = parts[-1] if parts else ("", {})
        value = quoted or plain
        if word.lower() == "not" or (word == "invert" and value.lower() in ("true", "yes", "1")):
            settings["not"] = "yes"
        elif word == "limit":  # of what it stands behind, or else of what the rule does
            parts.append((f"limit of {before if before in _LOGS else 'action'}", {}))
        elif not equals:
            parts.append((word, {}))
        elif (before, word, value) != ("rule", "priority", "0"):
            limit = before.startswith("limit") and re.fullmatch(r"(\d+)/([smhd])[a-z]*", value)
            settings[word] = f"{limit[1]}/{limit[2]}" if limit else value
    return frozenset((word, frozenset(settings.items())) for word, settings in parts)
