"""Services of systemd."""

from __future__ import annotations

import os
from collections.abc import Sequence

from modules import cmd
from runner.api import CommandFailed, changer, look_once

NAMES: tuple[str, ...] = ("systemd", "systemd_service")
ENABLED = ("enabled", "enabled-runtime", "static", "alias", "indirect", "generated", "transient")


def suits() -> bool:
    """Whether systemd runs this machine."""
    return os.path.isdir("/run/systemd/system")


def unit(name: str) -> str:
    """The name of the unit: `nginx` is nginx.service."""
    suffixes = (".service", ".socket", ".timer", ".mount", ".target", ".path", ".slice", ".scope", ".automount")
    return name if name.endswith(suffixes) else f"{name}.service"


@look_once("services")
def properties(name: str) -> dict[str, str]:
    """What systemd knows of a unit."""
    wanted = "LoadState,ActiveState,SubState,UnitFileState,NeedDaemonReload"
    done = cmd.probe(["systemctl", "show", f"--property={wanted}", "--", unit(name)])
    if done.retcode:
        raise CommandFailed(f"systemctl: {done.stderr.strip()}")
    return dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)


def available(name: str) -> bool:
    """Whether there is such a unit."""
    return properties(name).get("LoadState") in ("loaded", "masked")


def status(name: str) -> bool:
    """Whether a service runs."""
    return properties(name).get("ActiveState") in ("active", "activating", "reloading")


def enabled(name: str) -> bool:
    """Whether a service starts with the machine."""
    return properties(name).get("UnitFileState") in ENABLED


def masked(name: str) -> bool:
    """Whether a unit is masked."""
    return properties(name).get("LoadState") == "masked"


def names() -> list[str]:
    """The services that unit files define, templates left out."""
    wanted = ["--type=service", "--no-legend", "--no-pager", "--plain"]
    lines = cmd.probe(["systemctl", "list-unit-files", *wanted]).stdout.splitlines()
    units = [line.split()[0] for line in lines if line.strip()]
    return [unit.removesuffix(".service") for unit in units if not unit.endswith("@.service")]


@changer(touches=["services", "files"])
def act(name: str, action: str, options: Sequence[str] = ()) -> None:
    """Start, stop, restart, reload, enable, disable, mask, unmask a unit; units are read anew where they changed.

    Raises CommandFailed with the unit's last log lines.
    """
    if properties(name).get("NeedDaemonReload") == "yes":
        cmd.probe(["systemctl", "daemon-reload"])
    done = cmd.probe(["systemctl", action, *options, "--", unit(name)])
    if done.retcode:
        log = cmd.probe(["journalctl", "-n", "10", "--no-pager", "-o", "cat", "-u", unit(name)]).stdout.strip()
        raise CommandFailed("\n".join(part for part in (done.stderr.strip(), log) if part))


@changer(touches=["services"])
def reload_units() -> None:
    """Read all unit files anew."""
    cmd.probe(["systemctl", "daemon-reload"])
