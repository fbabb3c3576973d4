# SPDX-License-Identifier: Apache-2.0
"""firewalld: its zones and services, in the permanent configuration."""

from __future__ import annotations

from collections.abc import Sequence

from modules import cmd
from modules._processes import needs
from runner.api import CommandFailed, StateFailed, changer

NEEDS_PROGRAM = "firewall-cmd"  # without it templates find no function of this module
NOT_RUNNING = 252


def list_zones() -> list[str]:
    """The names of the zones.

    {{ salt['firewalld.list_zones']() | json }}
    """
    return _ask("--permanent", "--get-zones").split()


def default_zone() -> str:
    """The zone of interfaces that are in no other.

    {{ salt['firewalld.default_zone']() }}
    """
    return _ask("--get-default-zone").strip()


def get_services() -> list[str]:
    """The services that firewalld knows.

    {{ salt['firewalld.get_services']() | json }}
    """
    return _ask("--permanent", "--get-services").split()


def get_icmp_types() -> list[str]:
    """The kinds of ICMP that firewalld knows.

    {{ salt['firewalld.get_icmp_types']() | json }}
    """
    return _ask("--permanent", "--get-icmptypes").split()


def zone(name: str) -> dict[str, list[str]]:
    """The settings of a zone, by firewalld's own words: services, ports, sources, icmp-blocks, rich
    rules, ...

    {{ salt['firewalld.zone']('public').services | json }}
    """
    settings: dict[str, list[str]] = {}
    key = ""
    for line in _ask("--permanent", f"--zone={name}", "--list-all").splitlines():
        if line.startswith("\t"):
            settings.setdefault(key, []).append(line.strip())
        elif line.startswith("  "):
            key, _, values = line.strip().partition(":")
            settings[key] = values.split()
    return settings


def service(name: str) -> dict[str, list[str]]:
    """The ports and protocols of a service.

    {{ salt['firewalld.service']('http').ports | json }}
    """
    where = ["--permanent", f"--service={name}"]
    return {
        "ports": _ask(*where, "--get-ports").split(),
        "protocols": _ask(*where, "--get-protocols").split(),
    }


@changer
def change(options: Sequence[Sequence[str]]) -> bool:
    """Call firewall-cmd with each of some lists of options, then have firewalld take the
    configuration. Raises CommandFailed when one of them fails.
    """
    for words in (*options, ("--reload",)):
        done = cmd.execute(["firewall-cmd", *words])
        if done.retcode:
            raise CommandFailed(f"firewall-cmd {' '.join(words)}: {done.error_text}")
    return True


def _ask(*words: str) -> str:
    needs("firewall-cmd", "firewalld")
    done = cmd.probe(["firewall-cmd", *words])
    if done.retcode == NOT_RUNNING:
        raise StateFailed("firewalld is not running", missing=("service", "firewalld"))
    if done.retcode:
        raise StateFailed(f"firewall-cmd {' '.join(words)}: {done.error_text}")
    return done.stdout
