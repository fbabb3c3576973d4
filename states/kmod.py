# SPDX-License-Identifier: Apache-2.0
"""Modules of the kernel."""

from __future__ import annotations

import re
from functools import partial

from modules import file, kmod
from runner.api import OPEN, Name, Plan, Planned, StateFailed
from runner.api.offline import at_boot, offline_as
from states._tools import explained

OPPOSITE = {"present": "absent"}


def _kept(
    name: str,
    persist: bool = False,
    comment: bool = True,
    mods: list[str] | None = None,
    loads: bool = True,
    **_: object,
) -> Planned:
    """What keeps modules loaded or not, of a system that does not run."""
    label, wanted = _label(name, mods), mods or [name]
    for module in wanted:
        if not re.fullmatch(r"[\w.-]+", module):
            raise StateFailed(f"{label} is unavailable: {module!r} is not the name of one")
    kept = kmod.mod_list(only_persist=True)
    differing = [module for module in wanted if persist and (module in kept) is not loads]
    done = _loaded(name, True, mods) if loads else f"{label} not loaded at boot"
    if not differing:
        return done if persist else f"{label} not touched: this system does not run"
    yield Plan(dict.fromkeys(differing, "loaded" if loads else "removed"), done)
    kmod.persist(differing, keep=loads, comment=comment)
    return done


def _loaded(name: str, persist: bool = False, mods: list[str] | None = None, **_: object) -> str:
    return f"{_label(name, mods)} loaded at boot" if persist else ""


def _label(name: str, mods: list[str] | None) -> str:
    return f"Kernel module{'s' if mods else ''} {', '.join(mods or [name])}"


@file.validated
@at_boot(_loaded)
@offline_as(_kept)
def present(name: Name, persist: bool = False, mods: list[Name] | None = None) -> Planned:
    """Make sure that kernel modules are loaded.

    name: The module.
    persist: Have them loaded at each start, too.
    mods: Several modules instead.

        br_netfilter:
          kmod.present:
            - persist: True
    """
    wanted = mods or [name]
    missing = [module for module in wanted if not kmod.is_loaded(module)]
    unkept = [
        module for module in wanted if persist and module not in kmod.mod_list(only_persist=True)
    ]
    label = _label(name, mods)
    if not missing and not unkept:
        return f"{label} {'are' if mods else 'is'} already present"
    unknown = [module for module in missing if not kmod.is_available(module)]
    if unknown:
        problem = _label(unknown[0], unknown if mods else None)
        raise StateFailed(
            f"{problem} {'are' if mods else 'is'} unavailable", missing=("module", unknown[0])
        )
    changed = dict.fromkeys(dict.fromkeys([*missing, *unkept]), "loaded")
    yield Plan(changed, f"{label} {'are' if mods else 'is'} set to be loaded", provides=OPEN)
    for module in missing:
        with explained(f"Error loading kernel module {module}", changes={}):
            kmod.load(module)
    if unkept:
        kmod.persist(unkept)
    return f"Loaded kernel module{'s' if mods else ''} {', '.join(changed)}"


@file.validated
@offline_as(partial(_kept, loads=False))
def absent(
    name: Name, persist: bool = False, comment: bool = True, mods: list[Name] | None = None
) -> Planned:
    """Make sure that kernel modules are not loaded.

    name: The module.
    persist: Have them not loaded at the next start, either.
    comment: With persist, turn the line that loads the module into a comment; false removes it.
    mods: Several modules instead.

        floppy:
          kmod.absent: []
    """
    wanted = mods or [name]
    loaded = [module for module in wanted if kmod.is_loaded(module)]
    persistent = [
        module for module in wanted if persist and module in kmod.mod_list(only_persist=True)
    ]
    label = _label(name, mods)
    if not loaded and not persistent:
        return f"{label} {'are' if mods else 'is'} already removed"
    changed = dict.fromkeys(dict.fromkeys([*loaded, *persistent]), "removed")
    yield Plan(changed, f"{label} {'are' if mods else 'is'} set to be removed")
    for module in loaded:
        with explained(f"Error removing kernel module {module}", changes={}):
            kmod.remove(module)
    if persistent:
        kmod.persist(persistent, keep=False, comment=comment)
    return f"Removed kernel module{'s' if mods else ''} {', '.join(changed)}"
