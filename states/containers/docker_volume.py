# SPDX-License-Identifier: Apache-2.0
"""Volumes of Docker and Podman."""

from __future__ import annotations

from typing import Any

from modules.containers import docker
from modules.containers.docker import forms
from runner.api import Done, Line, Name, Plan, Planned, StateFailed
from runner.api.kinds import comes_after
from states._tools import explained
from states.containers._docker import ENGINE, OwnName, refuse_without_driver

DECIDES = {"present": "driver"}


def present(
    name: OwnName,
    driver: Line | None = None,
    driver_opts: dict[str, Any] | list[Any] | Line | None = None,
    force: bool = False,
) -> Planned:
    """Make sure that there is a volume.

    name: As of docker_volume.absent.
    driver: The engine's own (local) where none is given.
    driver_opts: Options of the driver, as mappings or as KEY=VALUE; they count when the volume is
      made.
    force: Replace a volume of another driver; what is in it is lost.

        data:
          docker_volume.present:
            - driver_opts:
              - type: tmpfs
              - device: tmpfs
    """
    try:
        options = forms.pairs(driver_opts) or None
    except ValueError as problem:
        raise StateFailed(f"driver_opts: {problem}") from None
    volume = docker.find_volume(name)
    if volume is None:
        refuse_without_driver("Volume", driver)
        yield Plan(
            {"created": name},
            f"The volume '{name}' will be created",
            provides=[("docker_volume", name)],
        )
        return Done(f"Volume '{name}' created", {"created": _create(name, driver, options)})
    if driver is None or volume["Driver"] == driver:
        return f"Volume '{name}' already exists."
    if not force:
        raise StateFailed(
            f"Driver for existing volume '{name}' ('{volume['Driver']}') does not match specified"
            f" driver ('{driver}') and force is False"
        )
    refuse_without_driver("Volume", driver)
    changes = {"removed": True, "created": name}
    yield Plan(changes, f"The volume '{name}' will be replaced by one with the driver {driver}")
    with explained(f"Failed to remove volume '{name}'", changes={}):
        docker.remove_volume(name)
    return Done(f"Volume '{name}' replaced", {**changes, "created": _create(name, driver, options)})


def _create(name: str, driver: str | None, options: dict[str, str] | None) -> dict[str, Any]:
    with explained(f"Failed to create volume '{name}'", changes={}):
        made = docker.create_volume(name, driver, options)
    return {key: made[key] for key in ("Name", "Driver", "Mountpoint") if key in made}


def absent(name: Name, driver: Line | None = None) -> Planned:
    """Make sure that there is no such volume: what is in it is lost.

    name: The name of the volume.
    driver: Ignored; a volume is found by its name.

        old data:
          docker_volume.absent:
            - name: data
    """
    if docker.find_volume(name) is None:
        return f"Volume '{name}' already absent"
    yield Plan({"removed": name}, f"The volume '{name}' will be removed")
    with explained(f"Failed to remove volume '{name}'", changes={}):
        docker.remove_volume(name)
    return f"Removed volume '{name}'"


autorequire = comes_after("A volume comes after the engine.", *ENGINE)
