"""Services of systemd."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import Any

from modules import cmd, file
from runner.api import CommandFailed, cached_look, changer, here

NAMES: tuple[str, ...] = ("systemd", "systemd_service")
FEATURES = ("maskable",)
PROPERTIES = "LoadState,ActiveState,UnitFileState"
# where units lie, and where systemd leaves a trace of each start, each stop (units) and each reload
# (its generators')
FOLDERS = (
    "/etc/systemd/system",
    "/run/systemd/system",
    "/usr/local/lib/systemd/system",
    "/usr/lib/systemd/system",
    "/run/systemd/units",
    "/run/systemd",
)
ENABLED = ("enabled", "enabled-runtime", "static", "alias", "indirect", "generated", "transient")


def suits() -> bool:
    """Return whether systemd runs this machine."""
    return os.path.isdir("/run/systemd/system")


def unit(name: str) -> str:
    """The name of the unit: `nginx` is nginx.service."""
    suffixes = (
        ".service",
        ".socket",
        ".timer",
        ".mount",
        ".target",
        ".path",
        ".slice",
        ".scope",
        ".automount",
    )
    return name if name.endswith(suffixes) else f"{name}.service"


def properties(name: str) -> dict[str, str]:
    """The properties of a unit. One question for all services of the run, asked again when
    units change.
    """
    return _declared().get(unit(name)) or _show((unit(name),))[unit(name)]


@cached_look("services", *FOLDERS)
def _declared() -> dict[str, dict[str, str]]:
    names = dict.fromkeys(unit(chunk.name) for chunk in here.chunks if chunk.state == "service")
    if not names:
        return {}
    try:
        return _show(tuple(names))
    except CommandFailed:
        return {}  # one of the names is none: let its own state say so


@cached_look("services", *FOLDERS)
def _show(units: tuple[str, ...]) -> dict[str, dict[str, str]]:
    done = cmd.probe(["systemctl", "show", f"--property={PROPERTIES}", "--", *units])
    if done.retcode:
        raise CommandFailed(f"systemctl: {done.stderr.strip()}")
    blocks = done.stdout.strip().split("\n\n")
    return {
        name: dict(line.split("=", 1) for line in block.splitlines() if "=" in line)
        for name, block in zip(units, blocks, strict=True)
    }


def available(name: str) -> bool:
    """Return whether there is such a unit."""
    return properties(name).get("LoadState") in ("loaded", "masked")


def status(name: str) -> bool:
    """Return whether a service runs."""
    return properties(name).get("ActiveState") in ("active", "reloading")


def enabled(name: str) -> bool:
    """Return whether a service starts with the machine."""
    return properties(name).get("UnitFileState") in ENABLED


def masked(name: str, runtime: bool = False) -> bool:
    """Return whether a unit is masked, for good or (runtime) until the next start of the
    machine.
    """
    path = f"/{'run' if runtime else 'etc'}/systemd/system/{unit(name)}"
    return file.is_link(path) and file.readlink(path) == os.devnull


def names(*options: str) -> list[str]:
    """The services that systemctl lists, without their suffix."""
    done = cmd.probe(
        ["systemctl", *options, "--type=service", "--no-legend", "--plain", "--full", "--no-pager"]
    )
    return sorted(
        {
            line.split()[0].removesuffix(".service")
            for line in done.stdout.splitlines()
            if line.split()
        }
    )


def get_all() -> list[str]:
    """All services."""
    return sorted({*names("list-unit-files"), *names("list-units", "--all")})


def get_enabled() -> list[str]:
    """The services that start with the machine."""
    return names("list-unit-files", "--state=enabled,enabled-runtime")


def get_running() -> list[str]:
    """The services that run."""
    return names("list-units", "--state=running")


def get_static() -> list[str]:
    """The services that others start and that nobody can enable."""
    return names("list-unit-files", "--state=static")


def show(name: str) -> dict[str, Any]:
    """All properties of a unit; what systemctl puts in braces (ExecStart) as a mapping."""
    done = cmd.probe(["systemctl", "show", "--", unit(name)])
    if done.retcode:
        raise CommandFailed(f"systemctl: {done.stderr.strip()}")
    pairs = (line.partition("=") for line in done.stdout.splitlines() if "=" in line)
    return {key: _property(key, value) for key, _, value in pairs}


def _property(key: str, value: str) -> Any:
    if value.startswith("{"):
        pairs = (part.partition("=") for part in value.strip("{} ").split(" ; "))
        return {name.strip(): text.strip() for name, _, text in pairs}
    return value.split() if key in ("Before", "After", "Wants") else value


@changer(touches=["services", "files"])
def act(name: str, action: str, options: Sequence[str] = ()) -> None:
    """Start, stop, restart, reload, enable, disable, mask, unmask a unit; units are read anew where
    they changed.

    Raises CommandFailed with the unit's last log lines.
    """
    now = cmd.probe(
        ["systemctl", "show", "--property=NeedDaemonReload,SubState", "--", unit(name)]
    ).stdout.split()
    if "NeedDaemonReload=yes" in now:
        cmd.probe(["systemctl", "daemon-reload"])
    if action == "start" and "SubState=auto-restart" in now:
        action = "restart"  # a start would wait for its next attempt, which may be far away
    began = time.time()
    done = cmd.probe(["systemctl", action, *options, "--", unit(name)])
    if done.retcode:
        raise CommandFailed(done.stderr.strip() + log(name, began))


def log(name: str, since: float = 0) -> str:
    """A paragraph with the last lines that a unit wrote, or nothing. since: seconds since the
    epoch.
    """
    argv = [
        "journalctl",
        "-q",
        "-n",
        "10",
        "--no-pager",
        "-o",
        "cat",
        f"--since=@{since:.6f}",
        "-u",
        unit(name),
    ]
    cmd.probe(["journalctl", "--sync"], timeout=3)  # the last lines may still be on their way
    lines = cmd.probe(argv).stdout.strip()
    return f"\n\nThe last lines of its journal:\n{lines}" if lines else ""


@changer(touches=["services"])
def reload_units() -> None:
    """Read all unit files anew."""
    cmd.probe(["systemctl", "daemon-reload"])
