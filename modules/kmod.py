# SPDX-License-Identifier: Apache-2.0
"""Modules of the kernel."""

from __future__ import annotations

import os
from collections.abc import Sequence

from modules import cmd, file
from modules._planned.machine import merged_names
from modules._planned.overlay import planned_machine, tell_otherwise
from modules._texts.lines import encoded, plain_name, split
from runner.api import FormerState, changer, for_states, leave_pending
from runner.api.offline import of_running

PERSISTENT = "/etc/modules-load.d/salt_managed.conf"
OLD = "/etc/modules"


def mod_list(only_persist: bool = False) -> list[str]:
    """The loaded modules, or those that are loaded at each start."""
    if only_persist:
        return [line for line in _lines(_config()) if not line.startswith("#")]
    loaded = (line.split()[0] for line in _lines("/proc/modules"))
    return sorted(merged_names(loaded, planned_machine().kernel_modules))


def is_loaded(mod: str) -> bool:
    """Return whether a module is loaded."""
    return mod.replace("-", "_") in {module.replace("-", "_") for module in mod_list()}


def is_available(mod: str) -> bool:
    """Return whether a module could be loaded, or is part of the kernel."""
    return cmd.probe(["modprobe", "-n", "-q", "--", mod]).retcode == 0


def available() -> list[str]:
    """The modules that could be loaded."""
    done = cmd.probe(
        ["find", f"/lib/modules/{os.uname().release}", "-name", "*.ko*", "-printf", "%f\\n"]
    )
    return sorted({line.partition(".ko")[0] for line in done.stdout.splitlines()})


def _config() -> str:
    return PERSISTENT if file.is_dir("/etc/modules-load.d") else OLD


def _lines(path: str) -> list[str]:
    return [line.strip() for line in split(file.text_to_edit(path)) if line.strip()]


@for_states
def former_state(mod: str) -> FormerState:
    """A module of the kernel as undo restores it."""
    return FormerState("kernel module", mod, {"loaded": is_loaded(mod)})


def _plan(mod: str, is_loaded: bool) -> None:
    shown = mod.replace("-", "_")
    planned_machine().kernel_modules[shown] = is_loaded
    tell_otherwise(mod, shown)
    leave_pending()  # what the kernel then shows below /proc and /sys


@of_running
@changer(before=former_state, planned=lambda mod: _plan(mod, True), planned_touches=[])
def load(mod: str) -> None:
    """Load a module. Raises StateFailed when the kernel refuses it."""
    cmd.execute(["modprobe", "--", mod]).or_fail()


@of_running
@changer(before=former_state, planned=lambda mod: _plan(mod, False), planned_touches=[])
def remove(mod: str) -> None:
    """Unload a module. Raises StateFailed when it is in use."""
    cmd.execute(["modprobe", "-r", "--", mod]).or_fail()


def persist(mods: Sequence[str], keep: bool = True, comment: bool = False) -> None:
    """Load modules at each start, or no more. comment: what loads them no more becomes a comment,
    which the next time is one no longer.
    """
    path = _config()
    old = _lines(path)
    names = [plain_name(mod, "the module's name") for mod in mods]
    if keep:
        lines = [bare if (bare := line.lstrip("# \t")) in names else line for line in old]
        lines += [name for name in names if name not in lines]
    else:
        gone = [f"#{line}" if line in names and comment else line for line in old]
        lines = [line for line in gone if line not in names]
    file.write(path, encoded(lines), mode=None if old else "0644")
