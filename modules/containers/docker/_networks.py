# SPDX-License-Identifier: Apache-2.0
"""Networks and volumes: Salt's functions to look at them and to change them."""

from __future__ import annotations

from typing import Any

from modules.containers.docker._engine import ask, engine, find, no_such
from runner.api import changer

Json = dict[str, Any]


# ---------------------------------------------------------------- networks


def look(name: str) -> Json | None:
    """Return what the engine knows of a network; None where there is none."""
    network: Json | None = find("inspect_network", name)
    return network


def inspect_network(network_id: str) -> Json:
    """Return what the engine knows of a network. Raises CommandFailed where there is none.

    {{ salt['docker.inspect_network']('web').IPAM.Config | json }}
    """
    network = look(network_id)
    if network is None:
        raise no_such("network", network_id)
    return network


def networks(names: list[str] | None = None, ids: list[str] | None = None) -> list[Json]:
    """The networks. names, ids: those only.

    {{ salt['docker.networks'](names=['web']) | json }}
    """
    answer: list[Json] = ask("networks", names=names, ids=ids)
    return answer


def connected(name: str, verbose: bool = False) -> Any:
    """The names of the containers on a network. verbose: with their addresses.

    {{ salt['docker.connected']('web') | json }}
    """
    containers = inspect_network(name).get("Containers") or {}
    result = {
        str(item["Name"]): {**{k: v for k, v in item.items() if k != "Name"}, "Id": key}
        for key, item in containers.items()
        if item.get("Name")
    }
    return result if verbose else list(result)


def reported_name(name: str) -> str:
    """The name under which containers have a network: Podman reports its `bridge` as `podman`."""
    return "podman" if name == "bridge" and engine() == "podman" else name


@changer(touches=[])
def create_network(
    name: str,
    driver: str | None = None,
    driver_opts: Json | None = None,
    ipam: Json | None = None,
    internal: bool = False,
    labels: Json | None = None,
    enable_ipv6: bool = False,
    attachable: bool | None = None,
    scope: str | None = None,
    ingress: bool | None = None,
) -> Json:
    """Create a network; its ID. ipam: Driver, Options and Config, as the engine's API has them."""
    answer: Json = ask(
        "create_network",
        name,
        driver=driver,
        options=driver_opts,
        ipam=ipam,
        internal=internal,
        labels=labels,
        enable_ipv6=enable_ipv6,
        attachable=attachable,
        scope=scope,
        ingress=ingress,
    )
    return answer


@changer(touches=[])
def remove_network(network_id: str) -> bool:
    """Remove a network, which no container uses."""
    ask("remove_network", network_id)
    return True


@changer(touches=[])
def connect_container_to_network(container: str, net_id: str, **kwargs: Any) -> bool:
    """Connect a container to a network. kwargs: aliases, links, ipv4_address, ipv6_address, ..."""
    ask("connect_container_to_network", container, net_id, **kwargs)
    return True


@changer(touches=[])
def disconnect_container_from_network(container: str, network_id: str) -> bool:
    """Disconnect a container from a network."""
    ask("disconnect_container_from_network", container, network_id)
    return True


# ---------------------------------------------------------------- volumes


def look_volume(name: str) -> Json | None:
    """Return what the engine knows of a volume; None where there is none."""
    volume: Json | None = find("inspect_volume", name)
    return volume


def inspect_volume(name: str) -> Json:
    """Return what the engine knows of a volume. Raises CommandFailed where there is none.

    {{ salt['docker.inspect_volume']('data').Mountpoint }}
    """
    volume = look_volume(name)
    if volume is None:
        raise no_such("volume", name)
    return volume


def volumes(filters: Json | None = None) -> Json:
    """The volumes, under Volumes. filters: of the API ({'dangling': True}).

    {{ salt['docker.volumes']().Volumes | json }}
    """
    answer: Json = ask("volumes", filters=filters)
    return answer


@changer(touches=[])
def create_volume(name: str, driver: str | None = None, driver_opts: Json | None = None) -> Json:
    """Create a volume; what the engine knows of it."""
    answer: Json = ask("create_volume", name, driver, driver_opts)
    return answer


@changer(touches=[])
def remove_volume(name: str) -> bool:
    """Remove a volume, which no container uses."""
    ask("remove_volume", name)
    return True
