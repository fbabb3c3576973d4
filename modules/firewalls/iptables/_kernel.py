# SPDX-License-Identifier: Apache-2.0
"""Rules of the packet filter as states write them, and the programs that set them."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from modules import cmd, file
from modules._machine.processes import Completed
from modules._planned.overlay import planned_machine, tell_otherwise
from modules._texts.lines import plain_name
from modules.firewalls import _own_network as own_network
from modules.firewalls import ipset
from runner.api import CommandFailed, StateFailed, Unforeseen, changer, for_states
from runner.api.offline import is_offline

# options that only a match module has; it is loaded when the rule does not load it itself
MATCHES = {
    "ctstate": "conntrack",
    "limit": "limit",
    "limit-burst": "limit",
    "mac-source": "mac",
    "src-range": "iprange",
    "dst-range": "iprange",
    "uid-owner": "owner",
    "gid-owner": "owner",
}
# what belongs to the target and stands behind it (iptables-extensions(8))
_OF_TARGETS = """
add-set and-mark and-tos checksum-fill clamp-mss-to-pmtu clustermac ctevents ctmask del-set
ecn-tcp-remove exist expevents gateway hash-init hashmode hl-dec hl-inc hl-set hmark-dport-mask
hmark-mod hmark-offset hmark-proto-mask hmark-rnd hmark-sport-mask hmark-spi-mask hmark-src-prefix
hmark-tuple led-always-blink led-delay led-trigger-id local-node log-ip-options log-level log-prefix
log-tcp-options log-tcp-sequence log-uid nflog-group nflog-prefix nflog-range nflog-threshold nfmask
on-ip on-port or-mark or-tos persistent queue-balance queue-bypass queue-cpu-fanout queue-num random
random-fully rateest-ewmalog rateest-interval rateest-name reject-with restore restore-mark save
save-mark selctx set-class set-dscp set-dscp-class set-mark set-mss set-tos set-xmark strip-options
timeout to to-destination to-port to-ports to-source total-nodes tproxy-mark ttl-dec ttl-inc ttl-set
type ulog-cprange ulog-nlgroup ulog-prefix ulog-qthreshold xor-mark xor-tos
"""
OF_TARGETS = frozenset(_OF_TARGETS.split())
OF_TWO = ("add-set", "del-set")  # their value is two words


def program(family: str, name: str = "") -> str:
    """The program for ipv4 or ipv6. name: what is added to it (-save, -restore). Raises
    CommandFailed without one.
    """
    path = cmd.which(f"{'ip6tables' if family == 'ipv6' else 'iptables'}{name}")
    if path is None:
        raise CommandFailed("iptables is not installed", missing=("command", "iptables"))
    return path


def rule(options: Mapping[str, Any]) -> str:
    """A rule from the names of iptables' options (and Salt's own: proto, if, of, connstate, match,
    jump).

    >>> rule({"jump": "ACCEPT", "proto": "tcp", "dport": 22, "comment": "come in"})
    '-p tcp --dport 22 -m comment --comment "come in" --jump ACCEPT'
    """
    left = {key: value for key, value in options.items() if value is not None}
    words = [_option("-i", left.pop("if"))] if "if" in left else []
    words += [_option("-o", left.pop("of"))] if "of" in left else []
    protocols = [_option("-p", left.pop(key)) for key in ("proto", "protocol") if key in left]
    matches = _as_list(left.pop("match", []))
    words += [*protocols[:1], *_matched(matches, left), *_always_first(matches, left)]
    jump = [_option("--jump", left.pop("jump"))] if "jump" in left else []
    last = sorted(key for key in left if key in OF_TARGETS)
    behind = [
        _joined(f"--{key}", _quoted(str(left.pop(key)), "'\"\\" if key in OF_TWO else " "))
        for key in last
    ]
    for key, value in left.items():
        needed = MATCHES.get(key)
        words += [f"-m {needed}"] if needed and needed not in matches else []
        matches += [needed] if needed else []
        words.append(_option(f"{'-' if len(key) == 1 else '--'}{key}", value))
    return " ".join([*words, *jump, *behind])


def _matched(matches: list[str], left: dict[str, Any]) -> list[str]:
    """The modules that a rule loads by itself, with what stands beside them."""
    words = []
    for match in matches:
        words.append(f"-m {match}")
        if match == "recent" and "name_" in left:
            words.append(_option("--name", left.pop("name_")))
    sets = left.pop("match-set", [])
    for name in sets if isinstance(sets, list) else [sets]:
        words += ["-m set", _option("--match-set", name)]
    return words


def _always_first(matches: list[str], left: dict[str, Any]) -> list[str]:
    """States, ports and the comment."""
    words = []
    states = [left.pop(key) for key in ("connstate", "state") if key in left]
    if states:
        words += [*([] if "state" in matches else ["-m state"]), _option("--state", states[0])]
    words += [_option(f"--{key}", left.pop(key)) for key in ("dport", "sport") if key in left]
    for key in ("dports", "sports", "ports"):
        if key in left:
            words += [
                *([] if {"multiport", "-m multiport"} & {*matches, *words} else ["-m multiport"]),
                _option(f"--{key}", left.pop(key)),
            ]
    if "comment" in left:
        words += [] if "comment" in matches else ["-m comment"]
        words.append(f"--comment {_quoted(str(left.pop('comment')))}")
    return words


def _as_list(value: Any) -> list[str]:
    parts = value if isinstance(value, list) else str(value).split(",")
    return [str(part).strip() for part in parts if str(part).strip()]


def _option(key: str, value: Any) -> str:
    """An option with its value; negated for `! value` or `not value`, in a list of one of them;
    without a value for an empty one.
    """
    words = [str(word).strip() for word in (value if isinstance(value, list) else [value])]
    plain = [re.sub(r"^(!|not\s)\s*", "", word, flags=re.IGNORECASE) for word in words]
    negated = "! " if plain != words else ""
    text = ",".join(plain)
    if len(text) > 1 and text[0] == text[-1] in "'\"":
        return f"{negated}{key} {text}"  # in quotes of its own, as for a shell
    return negated + _joined(key, _quoted(text, "'\"\\"))


def _joined(key: str, text: str) -> str:
    return f"{key} {text}".rstrip() if text != '""' else key


def _quoted(text: str, when: str = "") -> str:
    """A text in quotes; when: only if it holds one of these."""
    if when and not any(character in text for character in when):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def command(
    family: str, table: str, action: str, chain: str, rule: str = "", position: object = ""
) -> str:
    """The command that changes a chain, as it is shown. action: -A, -I, ..."""
    return f"{program(family)} --wait -t {table} {action} {chain} {position} {rule}"


def has_rule(family: str, table: str, chain: str, rule: str) -> bool:
    """Return whether a chain has a rule. Raises StateFailed for a rule that iptables does not
    understand.
    """
    words = ["--table", *_place(table), "--check", *_place(chain), *shlex.split(rule)]
    done = run(family, [program(family), "--wait", *words])
    if done.retcode == 2:
        lacks = re.search(r"Set (\S+) doesn't exist", done.stderr)
        raise StateFailed(done.stderr.splitlines()[0], missing=lacks and ("ipset", lacks[1]))
    return done.retcode == 0


def _place(name: str | None) -> list[str]:
    """The name of a table or a chain as a word; none without one."""
    return [plain_name(name, "the name of a table or a chain")] if name else []


def rules(family: str, table: str, chain: str | None = None) -> list[str]:
    """The rules of a table or a chain."""
    return [line for line in listed(family, table, chain) or () if line.startswith("-A ")]


def listed(family: str, table: str, chain: str | None = None) -> list[str] | None:
    """The output of iptables -S for a table or a chain; None where there is no such chain. Raises
    StateFailed when iptables fails otherwise.
    """
    words = ["--table", *_place(table), "--list-rules", *_place(chain)]
    done = run(family, [program(family), "--wait", *words])
    if "ermission denied" in done.stderr:
        raise StateFailed(done.stderr.strip().splitlines()[0])
    return done.stdout.splitlines() if done.retcode == 0 else None


def _plan(family: str, table: str, *words: str) -> None:
    if is_offline():
        raise Unforeseen(table)
    argv = [program(family), "--wait", "--table", *_place(table), *words]
    done = own_network.with_planned(_loads(family), argv, program(family, "-save"))
    if done.retcode:
        raise CommandFailed(done.error_text)
    planned_machine().rules[program(family)] = done.stdout
    tell_otherwise(*(os.path.basename(program(family, name)) for name in ("", "-save")))


def _loads(family: str) -> dict[str, str]:
    """The rules as they will be and their sets, by the commands that read them; where they cannot
    be tried, no look can, either.
    """
    planned = planned_machine().rules
    if program(family) not in planned:
        planned[program(family)] = cmd.probe([program(family, "-save")]).stdout
    return {ipset.RESTORE: ipset.in_force(), program(family, "-restore"): planned[program(family)]}


@changer(touches=[], planned=_plan, planned_touches=[])
def change(family: str, table: str, *words: str) -> None:
    """Change a table; on a system that does not run in the file of rules. Raises CommandFailed with
    what iptables says.
    """
    keep = f"{program(family, '-save')} | grep -v '^#'"  # without dates
    done = run(family, [program(family), "--wait", "--table", *_place(table), *words], keep)
    if done.retcode:
        raise CommandFailed(done.error_text)
    if is_offline():
        _write(saved_at(family), done.stdout)


@for_states
def run(family: str, argv: Sequence[str], keep: str = "") -> Completed:
    """What a program says of the rules in force; of a system that does not run, of those which it
    will start with. keep: as of own_network.with_kept.
    """
    if not planned_machine().rules.keys().isdisjoint((program(family), "ipset")):
        return own_network.with_planned(_loads(family), argv, keep)
    if not is_offline():
        return cmd.probe(argv)
    load = own_network.loading(saved_at(family), program(family, "-restore"))
    return own_network.with_kept(f"{ipset.LOAD} && {load}", argv, keep)


def saved_at(family: str) -> str:
    """The file of rules that is read at the start."""
    return f"/etc/iptables/rules.{'v6' if family == 'ipv6' else 'v4'}"


def is_saved(family: str, path: str) -> bool:
    """Return whether a file has the rules that are set now."""
    saved = file.read_bytes(path).decode("utf-8", "replace") if file.is_file(path) else ""
    return _without_counters(saved) == _without_counters(
        run(family, [program(family, "-save")]).stdout
    )


def _without_counters(saved: str) -> list[str]:
    """Saved rules without dates and counters."""
    return [
        line.partition(" [")[0] for line in saved.splitlines() if line and not line.startswith("#")
    ]


@for_states
def write_saved(family: str, path: str) -> str:
    """Write the rules to a file (only while changing)."""
    _write(path, run(family, [program(family, "-save")]).stdout)
    return f'Wrote 1 lines to "{path}"'


def _write(path: str, text: str) -> None:
    file.makedirs(os.path.dirname(path))
    file.write(path, f"{text}\n".encode())
