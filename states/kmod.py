"""Modules of the kernel."""

from __future__ import annotations

from modules import kmod
from runner.api import OPEN, Name, Plan, Planned, StateFailed


def present(name: Name, persist: bool = False, mods: list[Name] | None = None) -> Planned:
    """Make sure that kernel modules are loaded.

    name: one module; mods: several. persist: at each start, too.

        br_netfilter:
          kmod.present:
            - persist: True

    Behaviour: Salt 3008's kmod.present.
    """
    wanted = mods or [name]
    missing = [each for each in wanted if not kmod.is_loaded(each)]
    unkept = [each for each in wanted if persist and each not in kmod.mod_list(only_persist=True)]
    label = f"Kernel module{'s' if mods else ''} {', '.join(wanted)}"
    if not missing and not unkept:
        return f"{label} {'are' if mods else 'is'} already present"
    unknown = [each for each in missing if not kmod.is_available(each)]
    if unknown:
        told = (
            f"Kernel module{'s' if mods else ''} {', '.join(unknown)} {'are' if mods else 'is'}"
            " unavailable"
        )
        raise StateFailed(told, missing=("module", unknown[0]))
    changed = dict.fromkeys(dict.fromkeys([*missing, *unkept]), "loaded")
    yield Plan(changed, f"{label} {'are' if mods else 'is'} set to be loaded", provides=OPEN)
    for each in missing:
        try:
            kmod.load(each)
        except StateFailed as failure:
            raise StateFailed(
                f"Error loading kernel module {each}: {failure.message}", changes={}
            ) from None
    if unkept:
        kmod.persist(unkept)
    return f"Loaded kernel module{'s' if mods else ''} {', '.join(changed)}"


def absent(
    name: Name, persist: bool = False, comment: bool = True, mods: list[Name] | None = None
) -> Planned:
    """Make sure that kernel modules are not loaded.

    name: one module; mods: several. persist: not at the next start, either. comment: accepted; the
    line goes.

        floppy:
          kmod.absent: []

    Behaviour: Salt 3008's kmod.absent.
    """
    wanted = mods or [name]
    loaded = [each for each in wanted if kmod.is_loaded(each)]
    kept = [each for each in wanted if persist and each in kmod.mod_list(only_persist=True)]
    label = f"Kernel module{'s' if mods else ''} {', '.join(wanted)}"
    if not loaded and not kept:
        return f"{label} {'are' if mods else 'is'} already removed"
    changed = dict.fromkeys(dict.fromkeys([*loaded, *kept]), "removed")
    yield Plan(changed, f"{label} {'are' if mods else 'is'} set to be removed")
    for each in loaded:
        try:
            kmod.remove(each)
        except StateFailed as failure:
            raise StateFailed(
                f"Error removing kernel module {each}: {failure.message}", changes={}
            ) from None
    if kept:
        kmod.persist(kept, keep=False)
    return f"Removed kernel module{'s' if mods else ''} {', '.join(changed)}"
