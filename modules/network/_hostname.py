# SPDX-License-Identifier: Apache-2.0
"""The name of this machine, and where it is kept."""

from __future__ import annotations

import os

from modules import cmd, file, hosts
from modules._texts.lines import plain_name
from runner.api import FormerState, StateFailed, changer, for_states
from runner.api.offline import offline_as

NAME = "/etc/hostname"
OWN = "127.0.1.1"  # where Debian keeps the name of a machine without an address of its own


def kept_hostname() -> str:
    """The name that the machine starts with; empty where none is kept.

    {{ salt['network.kept_hostname']() }}
    """
    lines = (
        file.read_bytes(NAME).decode("utf-8", "replace").splitlines() if file.is_file(NAME) else []
    )
    return next((line.strip() for line in lines if line.strip() and not line.startswith("#")), "")


def keep_hostname(hostname: str) -> None:
    """Keep a name for the next start, and have /etc/hosts know it instead of the old one."""
    hostname = plain_name(hostname, "the name of the machine")
    old = kept_hostname()
    file.write(NAME, f"{hostname}\n".encode(), mode=None if file.is_file(NAME) else "0644")
    names = tuple(dict.fromkeys((hostname, hostname.partition(".")[0])))
    known = hosts.lines()
    if any(hostname in line.names for line in known):
        return
    stale = {old, old.partition(".")[0]}
    others = tuple(
        host for line in known if line.ip == OWN for host in line.names if host not in stale
    )
    hosts.write(hosts.with_names(known, OWN, (*names, *others)))


@for_states
@for_states
def former_hostname(*_: object) -> FormerState:
    """The running name of this machine as undo restores it."""
    return FormerState("hostname", "running", {"value": os.uname().nodename})


def _keep(hostname: str) -> bool:
    keep_hostname(hostname)
    return True


@changer(before=former_hostname)
@offline_as(_keep)
def mod_hostname(hostname: str) -> bool:
    """Give the machine a name, now and for the next start. Raises StateFailed when the system
    refuses it.
    """
    keep_hostname(hostname)
    done = cmd.execute(["hostname", "--", hostname])
    if done.retcode:
        raise StateFailed(f"the name cannot be set: {done.error_text}")
    return True
