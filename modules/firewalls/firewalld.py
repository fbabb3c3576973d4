# SPDX-License-Identifier: Apache-2.0
"""firewalld: its zones and services, in the permanent configuration."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import overload

from modules import cmd
from modules._machine.processes import needs
from runner.api import StateFailed, changer, for_states
from runner.api.offline import is_offline

NEEDS_PROGRAM = "firewall-cmd"  # without it templates find no function of this module
NOT_RUNNING, NO_ZONE = 252, 112
RELOAD = ("--reload",)


def list_zones() -> list[str]:
    """The names of the zones.

    {{ salt['firewalld.list_zones']() | json }}
    """
    return get_zones()


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
    return _settings(_ask("--permanent", f"--zone={name}", "--list-all"))


@for_states
def find_zone(name: str, permanent: bool = True) -> dict[str, list[str]] | None:
    """The settings of a zone; None when there is none. permanent: as of firewalld.get_zones."""
    text = _ask(*_kept(permanent, name), "--list-all", absent=NO_ZONE)
    return None if text is None else _settings(text)


def _settings(text: str) -> dict[str, list[str]]:
    settings: dict[str, list[str]] = {}
    key = ""
    for line in text.splitlines():
        if line.startswith("\t"):
            settings.setdefault(key, []).append(line.strip())
        elif line.startswith("  "):
            key, _, values = line.strip().partition(":")
            settings[key] = values.split()
    return settings


@for_states
def refused(option: str, elements: Sequence[str]) -> str | None:
    """Return what firewalld says of elements that no zone can have; None where it takes them.

    option: How firewall-cmd calls them: rich-rule, port, ...
    """
    done = _query(["--permanent"], option, elements)
    return found[0] if (found := re.search(r"INVALID_\w+: .*", done.error_text)) else None


@for_states
def is_in_force(zone: str, option: str, elements: Sequence[str]) -> bool:
    """Return whether a zone has elements now, whatever its permanent configuration says."""
    done = _query([f"--zone={zone}"], option, elements)
    return not re.search(r"\bno$", done.stdout, re.MULTILINE)


def _query(where: Sequence[str], option: str, elements: Sequence[str]) -> cmd.Completed:
    asked = (f"--query-{option}={element}" for element in elements)
    return cmd.probe(_argv([*where, *asked]))


def service(name: str) -> dict[str, list[str]]:
    """The ports and protocols of a service.

    {{ salt['firewalld.service']('http').ports | json }}
    """
    return {"ports": get_service_ports(name), "protocols": get_service_protocols(name)}


def get_zones(permanent: bool = True) -> list[str]:
    """The names of the zones. permanent: of the kept configuration, else of the one in force.

    {{ salt['firewalld.get_zones']() | json }}
    """
    return _ask(*_kept(permanent), "--get-zones").split()


def get_interfaces(zone: str, permanent: bool = True) -> list[str]:
    """The interfaces that belong to a zone. permanent: as of firewalld.get_zones.

    {{ salt['firewalld.get_interfaces'](zone='public') | json }}
    """
    return _ask(*_kept(permanent, zone), "--list-interfaces").split()


def get_sources(zone: str, permanent: bool = True) -> list[str]:
    """The addresses that belong to a zone. permanent: as of firewalld.get_zones."""
    return _ask(*_kept(permanent, zone), "--list-sources").split()


def get_rich_rules(zone: str, permanent: bool = True) -> list[str]:
    """The rich rules of a zone. permanent: as of firewalld.get_zones."""
    return _ask(*_kept(permanent, zone), "--list-rich-rules").splitlines()


def list_services(zone: str | None = None, permanent: bool = True) -> list[str]:
    """The services that a zone lets in, or the zone of interfaces in no other. permanent: as of
    firewalld.get_zones.

    {{ salt['firewalld.list_services'](zone='public') | json }}
    """
    return _ask(*_kept(permanent, zone), "--list-services").split()


def list_ports(zone: str, permanent: bool = True) -> list[str]:
    """The ports that a zone lets in, such as 80/tcp. permanent: as of firewalld.get_zones."""
    return _ask(*_kept(permanent, zone), "--list-ports").split()


def get_service_ports(service: str, permanent: bool = True) -> list[str]:
    """The ports of a service. permanent: as of firewalld.get_zones."""
    return _ask("--permanent", f"--service={service}", "--get-ports").split()


def get_service_protocols(service: str, permanent: bool = True) -> list[str]:
    """The protocols of a service. permanent: as of firewalld.get_zones."""
    return _ask("--permanent", f"--service={service}", "--get-protocols").split()


def _kept(permanent: bool, zone: str | None = None) -> list[str]:
    where = [f"--zone={zone}"] if zone else []
    return ["--permanent", *where] if permanent else where


@changer
def change(options: Sequence[Sequence[str]]) -> bool:
    """Call firewall-cmd with each of some lists of options, then have firewalld take the
    configuration, which a system that does not run does when it starts. Raises CommandFailed when
    one of them fails.
    """
    for words in (*options, RELOAD):
        if is_offline() and words == RELOAD:
            continue
        argv = _argv(words)
        cmd.execute(argv).or_fail(shlex.join(argv))
    return True


def _argv(words: Sequence[str]) -> list[str]:
    if not is_offline():
        return ["firewall-cmd", *words]
    of_zone = any(word.startswith("--zone=") for word in words)
    names = {"--remove-service": "--remove-service-from-zone"} if of_zone else {}
    said = (word.partition("=") for word in words if word != "--permanent")
    return [
        "firewall-offline-cmd",
        *(f"{names.get(key, key)}{eq}{value}" for key, eq, value in said),
    ]


@overload
def _ask(*words: str) -> str: ...
@overload
def _ask(*words: str, absent: int) -> str | None: ...
def _ask(*words: str, absent: int = 0) -> str | None:
    """What firewall-cmd answers; None where it ends with the status `absent`."""
    argv = _argv(words)
    needs(argv[0], "firewalld")
    done = cmd.probe(argv)
    if done.retcode == NOT_RUNNING:
        raise StateFailed("firewalld is not running", missing=("service", "firewalld"))
    if done.retcode and done.retcode == absent:
        return None
    if done.retcode:
        raise StateFailed(f"firewall-cmd {' '.join(words)}: {done.error_text}")
    return done.stdout
