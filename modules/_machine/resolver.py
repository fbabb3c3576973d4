# SPDX-License-Identifier: Apache-2.0
"""Addresses of names, asked of the system's resolver and never for long."""

from __future__ import annotations

import ipaddress

from modules import cmd
from runner.api import CommandFailed

SECONDS = 5


def is_address(text: str) -> bool:
    """Return whether a text is an IPv4 or IPv6 address."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def resolve(host: str, version: int | None = None) -> list[str]:
    """The addresses of a name or of an address itself, in the resolver's order. version: 4 or 6
    only.

    A program asks, not the C library in this process: its waiting could not be cut short. Where
    only the loopback interface has an address, it answers nothing unless told not to look at that.
    """
    if is_address(host):
        return [host] if version in (None, ipaddress.ip_address(host).version) else []
    database = {None: "ahosts", 4: "ahostsv4", 6: "ahostsv6"}[version]
    done = cmd.probe(["getent", "--", database, host], timeout=SECONDS)
    if done.timed_out:
        return []
    if not done.stdout:
        done = cmd.probe(["getent", "--no-addrconfig", "--", database, host], timeout=SECONDS)
    addresses = dict.fromkeys(line.split()[0] for line in done.stdout.splitlines() if line.strip())
    return [
        address
        for address in addresses
        if is_address(address.partition("%")[0]) and not (version == 6 and _mapped(address))
    ]


def _mapped(text: str) -> bool:
    """Return whether an IPv6 address only stands for an IPv4 one."""
    return text.startswith("::ffff:") and "." in text


def query(name: str, kind: str, nameserver: str | None = None) -> list[str]:
    """The records of a kind that dig finds, a line each; none when nobody answers.

    Raises CommandFailed when dig is not there, or when there is no such name server.
    """
    where = [f"@{nameserver}"] if nameserver else []
    options = ["-x", name] if kind == "PTR" and is_address(name) else ["-q", name, "-t", kind]
    done = cmd.probe(
        ["dig", "+short", "+time=2", "+tries=2", *where, *options], timeout=SECONDS * 2
    )
    if done.retcode not in (0, 9) and not done.timed_out:  # 9: no answer
        raise CommandFailed(f"dig: {done.error_text}")
    lines = [] if done.timed_out else done.stdout.splitlines()
    return [line for line in lines if line.strip() and not line.startswith(";")]
