# SPDX-License-Identifier: Apache-2.0
"""Networks of Docker and Podman."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from modules.containers import docker
from modules.containers.docker import forms
from runner.api import CommandFailed, Done, Line, Name, OneOrMany, Plan, Planned, StateFailed, here
from runner.api.kinds import comes_after
from states._tools import explained
from states.containers._docker import ENGINE, OwnName, refuse_without_driver

Json = dict[str, Any]
Pairs = dict[str, Any] | list[Any] | Line


def present(
    name: OwnName,
    skip_translate: OneOrMany[Line] | bool | None = None,
    ignore_collisions: bool = False,
    validate_ip_addrs: bool = True,
    containers: OneOrMany[Name] | None = None,
    reconnect: bool = True,
    driver: Line | None = None,
    driver_opts: Pairs | None = None,
    options: Pairs | None = None,
    internal: bool = False,
    labels: Pairs | None = None,
    enable_ipv6: bool = False,
    attachable: bool | None = None,
    scope: Line | None = None,
    ingress: bool | None = None,
    ipam: dict[str, Any] | None = None,
    ipam_driver: Line | None = None,
    ipam_opts: Pairs | None = None,
    ipam_pools: list[dict[str, Any]] | None = None,
    subnet: Line | None = None,
    iprange: Line | None = None,
    gateway: Line | None = None,
    aux_addresses: Pairs | None = None,
) -> Planned:
    """Make sure that there is a network as declared: one that differs is replaced.

    name: The name of the network.
    skip_translate: ignored; options of a network have one form.
    ignore_collisions: ignored; options of a network have one name.
    validate_ip_addrs: Check that addresses are addresses.
    containers: The containers that are to be on it; those of them that run are connected.
    reconnect: Connect the containers of a network that is replaced to the new one.
    driver: The driver; without it `bridge`.
    driver_opts: Options of the driver, as mappings or as KEY=VALUE.
    options: Another name of driver_opts.
    internal: Give it no way out.
    labels: The labels of the network.
    enable_ipv6: Give it IPv6, too.
    attachable: Containers may be connected to this network of a swarm.
    scope: How far it reaches: `local`, `swarm`, `global`.
    ingress: Make it the network of a swarm that brings connections in.
    ipam: All about addresses as the engine's API has it, instead of the arguments below.
    ipam_driver: The driver that gives addresses out.
    ipam_opts: Options of ipam_driver.
    ipam_pools: Several sets of subnet, iprange, gateway and aux_addresses.
    subnet: The network of its addresses.
    iprange: The part of the subnet that containers get addresses of.
    gateway: The address of the router.
    aux_addresses: Addresses that containers do not get, by name.

        web:
          docker_network.present:
            - subnet: 10.50.0.0/24
            - gateway: 10.50.0.1
            - containers: [proxy]

    Behaviour: Salt 3007's docker_network.present; nothing is made for a comparison.
    """
    pool = {
        "subnet": subnet,
        "iprange": iprange,
        "gateway": gateway,
        "aux_addresses": aux_addresses,
    }
    try:
        pools = [_pool(item, validate_ip_addrs) for item in ipam_pools or [] if item]
        own = _pool(pool, validate_ip_addrs)
        wanted = {
            "Driver": driver,
            "Options": forms.pairs(driver_opts or options),
            "Internal": internal,
            "Labels": forms.labels(labels),
            "EnableIPv6": enable_ipv6,
            "Attachable": attachable,
            "Scope": scope,
            "Ingress": ingress,
            "IPAM": ipam
            or _ipam(ipam_driver, forms.pairs(ipam_opts), [*pools, *([own] if own else [])]),
        }
    except ValueError as problem:
        raise StateFailed(str(problem)) from None
    if ipam and (pools or own or ipam_driver or ipam_opts):
        raise StateFailed("Cannot mix the 'ipam' argument with any of the IPAM config arguments.")
    return (yield from _ensure(name, wanted, containers, reconnect))


def _pool(given: Mapping[str, Any], checked: bool) -> Json:
    """A set of addresses as the API has it; empty where none is given."""
    result: Json = {}
    for key, value in given.items():
        field, form = _POOL.get(str(key), ("", forms.text))
        if not field:
            raise ValueError(
                f"a pool of addresses has no {key!r}; it has: subnet, iprange, gateway,"
                " aux_addresses"
            )
        if value is not None:
            result[field] = form(value) if checked or form is forms.pairs else forms.text(value)
    return result


_POOL: dict[str, tuple[str, Any]] = {
    "subnet": ("Subnet", forms.subnet),
    "iprange": ("IPRange", forms.subnet),
    "ip_range": ("IPRange", forms.subnet),
    "gateway": ("Gateway", forms.address),
    "aux_addresses": ("AuxiliaryAddresses", forms.pairs),
    "aux_address": ("AuxiliaryAddresses", forms.pairs),
}


def _ipam(driver: str | None, options: dict[str, str], pools: list[Json]) -> Json:
    return {"Driver": driver or "default", "Options": options, "Config": pools}


def _ensure(name: str, wanted: Json, containers: list[str] | None, reconnect: bool) -> Planned:
    network = docker.find_network(name)
    changes: Json = {}
    different = _differences(wanted, network) if network else {}
    if network is None:
        changes["created"] = True
    elif different:
        changes = {name: different, "recreated": True}
    attached: Json = (network or {}).get("Containers") or {}
    kept = {} if different or not network else attached
    moved = attached if different and reconnect and containers is None else {}
    to_connect = {
        **{key: item["Name"] for key, item in moved.items()},
        **{key: item for key, item in _running(containers or []).items() if key not in kept},
    }
    for key, title in to_connect.items():
        verb = "reconnected" if key in attached else "connected"
        changes.setdefault(verb, []).append(title)
    lost = [item["Name"] for key, item in attached.items() if different and key not in to_connect]
    if lost:
        changes["disconnected"] = lost
    if not changes:
        return f"Network '{name}' already exists, and is configured as specified"
    if network is None or different:
        refuse_without_driver("Network", wanted["Driver"])
    yield Plan(changes, _comment(network, different), provides=[("docker_network", name)])
    comment = f"Network '{name}' already exists, and is configured as specified"
    endpoints = {key: _endpoint(key, name) for key in moved}
    if network is None or different:
        comment = _recreate(name, wanted, network)
    for key in to_connect:
        docker.connect_container_to_network(key, name, **endpoints.get(key, {}))
    return Done(comment, changes)


def _comment(network: Json | None, different: Json) -> str:
    if different:
        return "Network would be recreated with new config"
    return "Containers would be connected to the network" if network else "Network will be created"


def _differences(wanted: Json, network: Json) -> Json:
    """Return what of a network is not as declared, old and new."""
    result = {}
    for key in ("Driver", "Options", "Internal", "Labels", "EnableIPv6", "Attachable", "Scope"):
        neutral = wanted[key] is None or (key == "Options" and not wanted[key])
        if not neutral and (wanted[key] or None) != (network.get(key) or None):
            result[key] = {"old": network.get(key), "new": wanted[key]}
    ipam, there = wanted["IPAM"], network.get("IPAM") or {}
    pools = [_filled(pool) for pool in there.get("Config") or []]
    own = [_filled(pool) for pool in ipam.get("Config") or []]
    given = own or any("IPRange" in pool for pool in pools)
    if given and [_only(pool, own, at) for at, pool in enumerate(pools)] != own:
        result["IPAM"] = {"old": pools, "new": own}
    return result


def _filled(pool: Json) -> Json:
    """A pool without what is empty; Podman has no word for a range in Docker's form."""
    return {key: value for key, value in pool.items() if value}


def _only(pool: Json, own: list[Json], at: int) -> Json:
    """A pool without the gateway that the engine chose."""
    if at < len(own) and "Gateway" not in own[at]:
        return {key: value for key, value in pool.items() if key != "Gateway"}
    return pool


def _running(names: list[str]) -> dict[str, str]:
    """The containers of these names that run, by their IDs; others are warned of."""
    result, missing, stopped = {}, [], []
    for name in names:
        container = docker.find_container(name)
        if container is None:
            missing.append(name)
        elif docker.state_of(container) != "running":
            stopped.append(name)
        else:
            result[str(container["Id"])] = name
    if missing:
        here.warn(f"The following containers do not exist: {', '.join(missing)}.")
    if stopped:
        here.warn(f"The following containers are not running: {', '.join(stopped)}.")
    return result


def _endpoint(container: str, network: str) -> Json:
    """The names of a container on a network, to give them again."""
    there = (docker.find_container(container) or {}).get("NetworkSettings") or {}
    endpoint = (there.get("Networks") or {}).get(docker.reported_name(network)) or {}
    address = (endpoint.get("IPAMConfig") or {}).get("IPv4Address")
    result = {"aliases": endpoint.get("Aliases"), "links": endpoint.get("Links")}
    return {key: value for key, value in {**result, "ipv4_address": address}.items() if value}


def _recreate(name: str, wanted: Json, network: Json | None) -> str:
    """Make a network, in place of the one that there is."""
    try:
        if network is not None:
            _remove(network)
        ipam = wanted["IPAM"]
        docker.create_network(
            name,
            driver=wanted["Driver"] or "bridge",
            driver_opts=wanted["Options"],
            ipam=ipam if ipam["Config"] or ipam["Options"] or ipam["Driver"] != "default" else None,
            internal=wanted["Internal"],
            labels=wanted["Labels"],
            enable_ipv6=wanted["EnableIPv6"],
            attachable=wanted["Attachable"],
            scope=wanted["Scope"],
            ingress=wanted["Ingress"],
        )
    except CommandFailed as failure:
        raise StateFailed(
            f"Failed to create network '{name}': {failure.message}",
            changes={} if docker.find_network(name) or not network else {"removed": True},
        ) from None
    how = "created" if network is None else "was replaced with updated config"
    return f"Network '{name}' {how}"


def _remove(network: Json) -> list[str]:
    """Remove a network, from its containers first; their names."""
    names = []
    for key, item in (network.get("Containers") or {}).items():
        docker.disconnect_container_from_network(key, network["Name"])
        names.append(str(item["Name"]))
    docker.remove_network(network["Name"])
    return names


def absent(name: Name) -> Planned:
    """Make sure that there is no such network; its containers are disconnected first.

    name: The name of the network.

        old network:
          docker_network.absent:
            - name: web
    """
    network = docker.find_network(name)
    if network is None:
        return f"Network '{name}' already absent"
    attached = [str(item["Name"]) for item in (network.get("Containers") or {}).values()]
    yield Plan(
        {"removed": True, **({"disconnected": attached} if attached else {})},
        f"Network '{name}' will be removed",
    )
    with explained("Failed to remove network", changes={}):
        _remove(network)
    return f"Removed network '{name}'"


autorequire = comes_after("A network comes after the engine.", *ENGINE)

DECIDES = {"present": "driver internal enable_ipv6 attachable subnet iprange gateway"}
OPPOSITE = {"present": "absent"}
