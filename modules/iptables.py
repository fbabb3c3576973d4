"""The kernel's packet filter, with iptables and ip6tables."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from modules import cmd, file
from runner.api import CommandFailed, StateFailed, changer

# Salt's short names for options
NAMES = {"if": "in-interface", "of": "out-interface", "proto": "protocol", "rtable": "table"}
# options that only a match module has; it is loaded when the rule does not load it itself
MATCHES = {
    **{
        "dports": "multiport",
        "sports": "multiport",
        "ports": "multiport",
        "comment": "comment",
        "ctstate": "conntrack",
    },
    **{"limit": "limit", "limit-burst": "limit", "mac-source": "mac", "src-range": "iprange", "dst-range": "iprange"},
    **{"match-set": "set", "uid-owner": "owner", "gid-owner": "owner", "state": "state", "icmp-type": "", "name": ""},
}
FIRST = ("protocol", "source", "destination", "in-interface", "out-interface")


def program(family: str, name: str = "") -> str:
    """The program for ipv4 or ipv6. name: what is added to it (-save, -restore). Raises CommandFailed without one."""
    found = cmd.which(f"{'ip6tables' if family == 'ipv6' else 'iptables'}{name}")
    if found is None:
        raise CommandFailed("iptables is not installed", lacks=("command", "iptables"))
    return found


def rule(given: Mapping[str, Any]) -> list[str]:
    """The words of a rule from the names of iptables' long options (and Salt's own: connstate, match, jump).

    >>> rule({"proto": "tcp", "dport": 22, "jump": "ACCEPT"})
    ['--protocol', 'tcp', '--jump', 'ACCEPT', '--dport', '22']
    """
    options = {NAMES.get(key, key).replace("_", "-"): value for key, value in given.items() if value is not None}
    if "connstate" in options:
        options["state"] = options.pop("connstate")
    words = [word for key in FIRST if key in options for word in _option(key, options.pop(key))]
    matches = _listed(options.pop("match", []))
    wanted = [MATCHES[key] for key in options if MATCHES.get(key) and MATCHES[key] not in matches]
    words += [word for each in [*matches, *dict.fromkeys(wanted)] for word in ("--match", each)]
    for key in ("jump", "goto"):
        words += _option(key, options.pop(key)) if key in options else []
    return words + [word for key, value in options.items() for word in _option(key, value)]


def _listed(value: Any) -> list[str]:
    parts = value if isinstance(value, list) else str(value).split(",")
    return [str(part).strip() for part in parts if str(part).strip()]


def _option(key: str, value: Any) -> list[str]:
    """`--key value`; negated for `! value` or `not value`; without a value for an empty one."""
    if isinstance(value, list):
        value = " ".join(map(str, value)) if key == "match-set" else ",".join(map(str, value))
    text = str(value).strip()
    negated = text.startswith("!") or text.lower().startswith("not ")
    text = text.lstrip("!").strip() if text.startswith("!") else text[4:].strip() if negated else text
    parts = text.split() if key == "match-set" else [text] if text else []
    return [*(["!"] if negated else []), f"--{key}", *parts]


def has_rule(family: str, table: str, chain: str, words: Sequence[str]) -> bool:
    """Whether a chain has a rule. Raises StateFailed for a rule that iptables does not understand."""
    done = cmd.probe([program(family), "--wait", "--table", table, "--check", chain, *words])
    if done.retcode == 2:
        raise StateFailed(f"iptables does not understand the rule {shlex.join(words)}: {done.stderr.splitlines()[0]}")
    return done.retcode == 0


def listed(family: str, table: str, chain: str | None = None) -> list[str] | None:
    """What iptables -S tells of a table or a chain; None where there is no such chain."""
    done = cmd.probe([program(family), "--wait", "--table", table, "--list-rules", *([chain] if chain else [])])
    return done.stdout.splitlines() if done.retcode == 0 else None


@changer(touches=[])
def change(family: str, table: str, *words: str) -> None:
    """Change a table. Raises CommandFailed with what iptables says."""
    done = cmd.probe([program(family), "--wait", "--table", table, *words])
    if done.retcode:
        raise CommandFailed(done.stderr.strip() or done.stdout.strip())


def save(family: str, to: str | None = None) -> str:
    """Write the rules to a file (only while changing): to, or the one read at the start. Answers with its path."""
    path = to or f"/etc/iptables/rules.{'v6' if family == 'ipv6' else 'v4'}"
    done = cmd.probe([program(family, "-save")])
    file.makedirs(os.path.dirname(path))
    file.write(path, f"{done.stdout}\n".encode())
    return path
