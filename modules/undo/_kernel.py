# SPDX-License-Identifier: Apache-2.0
"""What the kernel knows, as it was: parameters, modules, mounts, swap."""

from __future__ import annotations

from modules import kmod, mount, swap, sysctl
from modules.undo._kind import Changes, Future, UndoKind

IN_MEMORY = ("tmpfs", "ramfs")


def _restore_parameters(changes: Changes) -> None:
    for name, (was, _) in changes.items():
        sysctl.assign(name, was["value"])


def _refused_parameters(changes: Changes, future: Future) -> dict[str, str]:
    return {
        name: "the kernel has no such parameter"
        for name, (was, now) in changes.items()
        if not (was and now)
    }


def _restore_modules(changes: Changes) -> None:
    for name, (was, _) in changes.items():
        (kmod.load if was["loaded"] else kmod.remove)(name)


def _restore_mounts(changes: Changes) -> None:
    for name, (was, now) in changes.items():
        options = was.get("options", ())
        same = was and now and was["device"] == now["device"] and was["fstype"] == now["fstype"]
        if same:
            mount.remount(name, was["device"], was["fstype"], options)
            continue
        if was and now and mount.shows(name, was["device"]):
            continue  # it was called a bind mount of another that is there again
        if now:
            mount.umount(name)
        if was:
            mount.mount(name, was["device"], was["fstype"], options)


def _refused_mounts(changes: Changes, future: Future) -> dict[str, str]:
    refused = {}
    for name, (was, now) in changes.items():
        if was and not now and (above := _empty_above(name, future)):
            refused[name] = f"its folder was in {above}, which comes back empty"
        elif was and "bind" in was["options"] and not future("path", was["device"]):
            shown = was["device"] or "what it showed"
            refused[name] = f"it was a bind mount, and {shown} is nowhere to be found"
    return refused


def _empty_above(name: str, future: Future) -> str:
    """The mount above a folder that is made again and has lost what it held; empty: none."""
    above = name.rstrip("/").rpartition("/")[0]
    while above:
        made = future("mount", above)
        if made.get("fstype") in IN_MEMORY and not mount.former_state(above).state:
            return above
        above = above.rpartition("/")[0]
    return ""


def _restore_swap(changes: Changes) -> None:
    for name, (was, _) in changes.items():
        if was:
            priority = int(was["priority"])  # a negative one is the kernel's own choice
            mount.swapon(name, priority if priority >= 0 else None)
        else:
            mount.swapoff(name)


def _restore_swap_files(changes: Changes) -> None:
    for name, (was, _) in changes.items():
        if was:
            swap.make(name, was["size"])
        else:
            swap.remove(name)


SYSCTL = UndoKind(
    lambda name: sysctl.former_state(name).state, _restore_parameters, _refused_parameters
)
MODULE = UndoKind(lambda name: kmod.former_state(name).state, _restore_modules)
MOUNT = UndoKind(lambda name: mount.former_state(name).state, _restore_mounts, _refused_mounts)
SWAP = UndoKind(lambda name: mount.former_swap(name).state, _restore_swap)
SWAP_FILE = UndoKind(lambda name: swap.former_state(name).state, _restore_swap_files)
