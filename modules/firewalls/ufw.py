# SPDX-License-Identifier: Apache-2.0
"""The firewall of Ubuntu and Debian that is easy to set, with ufw."""

from __future__ import annotations

import re
import socket

from modules import cmd, file
from modules._machine.processes import Completed, needs
from modules._texts.lines import one_line, plain_name, split
from modules.firewalls import _own_network as own_network
from runner.api import CommandFailed, StateFailed, changer
from runner.api.offline import is_offline, offline_as

NEEDS_PROGRAM = "ufw"  # without it templates find no function of this module
SETTINGS = "/etc/ufw/ufw.conf"
DEFAULTS = "/etc/default/ufw"
# what /etc/default/ufw calls directions and policies
_DIRECTIONS = {"incoming": "INPUT", "outgoing": "OUTPUT", "routed": "FORWARD"}
_POLICIES = {"ACCEPT": "allow", "DROP": "deny", "REJECT": "reject"}
# ufw changes its files, and the rules in force where it is on; what it would start beside that is
# of the kernel that runs, or whatever the owner of the hooks has written. The program in their
# place is an own one: /bin/true may be busybox, which does what it is called.
_LOAD = f"""
mount -t tmpfs none /run && printf '#!/bin/sh\\n' >/run/nothing && chmod 755 /run/nothing || exit
for each in sysctl modprobe /etc/ufw/before.init /etc/ufw/after.init; do
    if path=$(command -v $each); then mount --bind /run/nothing "$path" || exit; fi
done
! grep -qi ^ENABLED=yes {SETTINGS} || (
    DATA_DIR=; . /lib/ufw/ufw-init-functions; ufw_start >/dev/null
)"""
_SWITCHES = {("enable",): "yes", ("disable",): "no"}
_RANGE = re.compile(r"\b(\d+)-(\d+)\b")  # as other firewalls have it
_PORTS = re.compile(r"(any|\d+(:\d+)?(,\d+(:\d+)?)*)(/[a-z]+)?")


def is_enabled() -> bool:
    """Return whether the firewall is switched on at the next start.

    {{ salt['ufw.is_enabled']() }}
    """
    return _setting(SETTINGS, "ENABLED") == "yes"


@offline_as(is_enabled)  # it is on when the system starts
def is_active() -> bool:
    """Return whether the firewall is on now.

    {{ salt['ufw.is_active']() }}
    """
    return status().startswith("Status: active")


def status() -> str:
    """The state of the firewall with its rules, as ufw prints it.

    {{ salt['ufw.status']() }}
    """
    return _checked(_ufw("status", "verbose")).stdout


def rules() -> list[str]:
    """The rules that were added, as the commands that add them.

    {{ salt['ufw.rules']() | json }}
    """
    lines = _checked(_ufw("show", "added")).stdout.splitlines()
    return [line.removeprefix("ufw ") for line in lines if line.startswith("ufw ")]


def applications() -> list[str]:
    """The names of applications whose ports ufw knows.

    {{ salt['ufw.applications']() | json }}
    """
    lines = _checked(_ufw("app", "list")).stdout.splitlines()
    return [line.strip() for line in lines if line.startswith("  ")]


def default_policy(direction: str) -> str:
    """Return what is done with packets that no rule decides: allow, deny or reject. Raises
    CommandFailed for an unknown direction. direction: incoming, outgoing or routed.

    {{ salt['ufw.default_policy']('incoming') }}
    """
    if direction not in _DIRECTIONS:
        raise CommandFailed(f"{direction!r} is no direction: incoming, outgoing or routed")
    value = _setting(DEFAULTS, f"DEFAULT_{_DIRECTIONS[direction]}_POLICY")
    return _POLICIES.get(value, value)


def rule(
    action: str,
    port: str,
    proto: str | None = None,
    source: str = "any",
    destination: str = "any",
    interface: str | None = None,
    direction: str = "in",
    comment: str | None = None,
) -> list[str]:
    """The words of the command that adds a rule. Raises CommandFailed when port and proto name
    different protocols. port: also with a protocol (22/tcp), or the name of a service or of an
    application.

    >>> " ".join(rule("allow", "22/tcp"))
    'allow in from any to any port 22 proto tcp'
    """
    if comment and "'" in comment:
        raise CommandFailed(f"comment: ufw takes none with an apostrophe: {comment}")
    port = _RANGE.sub(r"\1:\2", port)
    words = [plain_name(action, "action"), _word(direction, "direction")]
    words += ["on", _word(interface, "interface")] if interface else []
    words += ["from", _word(source, "source"), "to", _word(destination, "destination")]
    if _PORTS.fullmatch(port) or _is_service(port.partition("/")[0]):
        number, _, of_port = port.partition("/")
        if of_port and proto and of_port != proto:
            raise CommandFailed(f"{port} and proto {proto}: which protocol is meant?")
        words += ["port", number] if number != "any" else []
        proto = of_port or proto
    else:
        words += ["app", plain_name(port, "port")]
    words += ["proto", _word(proto, "proto")] if proto else []
    return [*words, "comment", one_line(comment, "comment")] if comment else words


def _word(value: str, what: str) -> str:
    """A value that is one word for ufw. Raises CommandFailed for another."""
    text = plain_name(value, what)
    if not text or text.split() != [text]:
        raise CommandFailed(f"{what}: {value!r} is not one word")
    return text


def _is_service(name: str) -> bool:
    """Return whether /etc/services has a name."""
    try:
        socket.getservbyname(name)
    except (OSError, UnicodeError, ValueError):
        return False
    return True


def has_rule(words: list[str]) -> bool:
    """Return whether a rule was added, by ufw's own dry run. Raises StateFailed for one that ufw
    refuses.
    """
    done = _ufw("--dry-run", *words)
    if done.retcode:
        missing = ("ufw application", words[-1]) if "find a profile" in done.stderr else None
        raise StateFailed(_reason(done), missing=missing)
    last = re.findall(r"^(Skipping|Rules?) ", done.stdout, re.MULTILINE)
    return "Skipping" in last and not set(last) - {"Skipping"}


@changer(touches=[])
def change(*words: str) -> str:
    """Have ufw change something: what it says. Raises CommandFailed with why it does not."""
    if is_offline() and words in _SWITCHES:
        return _switch(_SWITCHES[words])
    asks = ["--force"] if words[0] == "enable" else []  # whether ssh may be cut off
    done = _ufw(*asks, *words)
    if done.retcode:
        raise CommandFailed(_reason(done))
    return done.stdout.strip()


def _switch(value: str) -> str:
    """Switch it on or off for the boot alone: ufw would set parameters of the kernel, too."""
    text = file.text_to_edit(SETTINGS)
    line = f"ENABLED={value}"
    text, found = re.subn(r"^ENABLED=.*", line, text, flags=re.MULTILINE)
    text = text if found else f"{text}\n{line}\n"
    file.write(SETTINGS, text.encode("utf-8", "surrogateescape"))
    return line


def _ufw(*words: str) -> Completed:
    needs("ufw", "ufw")
    if is_offline():
        return own_network.with_kept(_LOAD, ["ufw", *words])
    return cmd.probe(["ufw", *words])


def _checked(done: Completed) -> Completed:
    if done.retcode:
        raise StateFailed(_reason(done))
    return done


def _reason(done: Completed) -> str:
    """Return what ufw says against it, without its warnings."""
    lines = done.error_text.splitlines()
    errors = [line for line in lines if line.startswith("ERROR: ")] or lines[:1] or ["ufw failed"]
    return "; ".join(line.removeprefix("ERROR: ") for line in errors)


def _setting(path: str, key: str) -> str:
    """A value of one of ufw's own files. Raises StateFailed without the file."""
    needs("ufw", "ufw")
    if not file.is_file(path):
        raise StateFailed(f"there is no {path}: ufw is not whole", missing=("file", path))
    value = ""
    for line in split(file.text_to_edit(path)):
        name, _, text = line.partition("=")
        value = text.strip().strip("\"'") if name.strip() == key else value
    return value
