# SPDX-License-Identifier: Apache-2.0
"""What iptables-save writes, as data."""

from __future__ import annotations

import shlex
from typing import Any

_NAMES = {  # options of a listed rule -> what Salt calls them
    "A": "append",
    "p": "protocol",
    "s": "source",
    "d": "destination",
    "j": "jump",
    "i": "in-interface",
    "o": "out-interface",
    "m": "match",
    "g": "goto",
    "f": "fragment",
    "sport": "source_port",
    "dport": "destination_port",
    "sports": "source-ports",
    "dports": "destination-ports",
}
Rules = dict[str, dict[str, dict[str, Any]]]


def parsed(text: str) -> Rules:
    """The rules that iptables-save wrote: {table: {chain: its policy, counters and rules}}."""
    tables: Rules = {}
    table: dict[str, dict[str, Any]] = {}
    for line in text.splitlines():
        if line.startswith("*"):
            table = tables.setdefault(line[1:].strip(), {})
        elif line.startswith(":"):
            name, policy, counters = line[1:].split()[:3]
            packets, _, size = counters.strip("[]").partition(":")
            table[name] = {
                "policy": policy,
                "packet count": packets,
                "byte count": size,
                "rules": [],
                "rules_comment": {},
            }
        elif line.startswith(("-A ", "[")):
            options = _options(line[line.index("-A ") :])
            chain = table[options.pop("append")[0]]
            chain["rules"].append(options)
            if "comment" in options:
                chain["rules_comment"][options["comment"][0]] = options
    return tables


def _options(line: str) -> dict[str, list[str]]:
    """The options of a rule, each with its values; `! ` begins a negated one."""
    options: dict[str, list[str]] = {}
    negated, values, name = False, [""], ""
    for word in shlex.split(line):
        if word == "!":
            negated = True
        elif word.startswith("-") and len(word) > 1 and not word[1].isdigit():
            name = word.lstrip("-")
            values = options.setdefault(_NAMES.get(name, name), [])
            values.append("! " if negated else "")
            negated = False
        else:
            values[-1] += ("" if values[-1] in ("", "! ") else " ") + word
    return options
