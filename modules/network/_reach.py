# SPDX-License-Identifier: Apache-2.0
"""This machine's names, and whether others can be reached."""

from __future__ import annotations

import re
import socket
from typing import Any

from modules import cmd
from modules._machine.processes import needs
from modules._machine.resolver import resolve
from modules._texts.lines import plain_name
from runner.api import CommandFailed, changer, here

FAMILIES = {"ipv4": 4, "ipv6": 6}


def get_hostname() -> str:
    """The name of this machine."""
    return socket.gethostname()


def get_fqdn() -> str:
    """The full name of this machine, as the grain has it."""
    return str(here.grains.get("fqdn", ""))


def fqdns() -> dict[str, list[str]]:
    """All full names of this machine, as the grain has them."""
    return {"fqdns": list(here.grains.get("fqdns") or ())}


def connect(
    host: str,
    port: int | str | None = None,
    proto: str = "tcp",
    timeout: float = 5,
    family: str | None = None,
) -> dict[str, Any]:
    """Check whether a host takes connections at a port; {result, comment}.

    proto: tcp or udp (where only an answer counts). timeout: seconds. family: ipv4 or ipv6 only.

        {{ salt['network.connect']('db.example.com', 5432).result }}
    """
    for what, value in (("host", host), ("port", port)):
        if not value:
            return {"result": False, "comment": f"Required argument, {what}, is missing."}
    kind = "udp" if proto == "udp" else "tcp"
    at = f"on {kind} port {port}"
    addresses = resolve(host, FAMILIES.get(family or ""))
    if not addresses:
        return {"result": False, "comment": f"Unable to resolve host {host} {at}"}
    address = addresses[0]
    try:
        _connect(address, int(port or 0), kind, float(timeout))
    except (OSError, ValueError, OverflowError):
        return {"result": False, "comment": f"Unable to connect to {host} ({address}) {at}"}
    return {"result": True, "comment": f"Successfully connected to {host} ({address}) {at}"}


def _connect(address: str, port: int, kind: str, timeout: float) -> None:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM if kind == "udp" else socket.SOCK_STREAM) as line:
        line.settimeout(timeout)
        line.connect((address, port))
        if kind == "udp":
            line.send(b"")
            line.recv(1)


def ping(host: str, timeout: float | None = None, return_boolean: bool = False) -> str | bool:
    """The output of ping for a host; with return_boolean whether it answered. timeout: seconds to
    wait for each answer.
    """
    argv = ["ping", "-c", "4", *(["-W", str(int(timeout))] if timeout else []), "--", host]
    done = cmd.probe(argv, timeout=60)
    return done.retcode == 0 if return_boolean else done.stdout


def traceroute(host: str) -> list[dict[str, Any]]:
    """The way to a host: count, hostname, ip, and ms1 to ms3 of each step; what does not answer is
    `*`.

    runner call network.traceroute example.com
    """
    needs("traceroute", "traceroute")
    done = cmd.probe(["traceroute", "--", plain_name(host, "the host")], timeout=120)
    if done.retcode:
        raise CommandFailed(f"traceroute: {done.error_text}")
    steps = (line.split() for line in done.stdout.splitlines()[1:])
    return [_step(words) for words in steps if words and words[0].isdigit()]


def _step(words: list[str]) -> dict[str, Any]:
    """A line of traceroute: number, name (address), and three times; a host that answers later has
    its name later.
    """
    names = [
        word for word in words[1:] if word[0] not in "(!*" and word != "ms" and not _is_time(word)
    ]
    addresses = [word.strip("()") for word in words if word.startswith("(")]
    times = [float(word) if _is_time(word) else None for word in words[1:] if _counts(word)]
    step: dict[str, Any] = {
        "count": int(words[0]),
        "hostname": names[0] if names else "*",
        "ip": addresses[0] if addresses else "*",
    }
    return step | {f"ms{number}": time for number, time in enumerate(times[:3], 1)}


def _is_time(word: str) -> bool:
    return re.fullmatch(r"\d+\.\d+", word) is not None


def _counts(word: str) -> bool:
    return word == "*" or _is_time(word)


@changer(touches=())
def wol(mac: str, bcast: str = "255.255.255.255", destport: int = 9) -> bool:
    """Wake a machine up by a packet to all (Wake on LAN). Raises CommandFailed for what is no
    hardware address, and when the packet cannot be sent.

    mac: its hardware address. bcast: the broadcast address of its network. destport: the port.

        runner call network.wol 02:fc:00:00:00:05
    """
    digits = re.sub(r"[:.-]", "", str(mac))
    if not re.fullmatch(r"[0-9A-Fa-f]{12}", digits):
        raise CommandFailed(f"{mac!r} is not a hardware address: expected 6 pairs of digits")
    packet = b"\xff" * 6 + bytes.fromhex(digits) * 16
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
            line.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
            line.sendto(packet, (bcast, int(destport)))
    except (OSError, ValueError, OverflowError) as problem:
        raise CommandFailed(f"{bcast} port {destport}: {problem}") from None
    return True


def dig(host: str) -> str:
    """The output of dig for a name."""
    return cmd.probe(["dig", "+time=3", "+tries=1", "--", host], timeout=15).stdout
