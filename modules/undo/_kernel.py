# SPDX-License-Identifier: Apache-2.0
"""What the kernel knows, as it was: parameters, modules, mounts, swap."""

from __future__ import annotations

from modules import kmod, mount, swap, sysctl
from modules.undo._kind import Future, State, one_by_one
from runner.api import folders_above

IN_MEMORY = ("tmpfs", "ramfs")


def _restore_mount(name: str, was: State, now: State) -> None:
    options = was.get("options", ())
    same = was and now and was["device"] == now["device"] and was["fstype"] == now["fstype"]
    if same:
        mount.remount(name, was["device"], was["fstype"], options)
        return
    if was and now and mount.shows(name, was["device"]):
        return  # it was called a bind mount of another that is there again
    if now:
        mount.umount(name)
    if was:
        mount.mount(name, was["device"], was["fstype"], options)


def _refused_mount(name: str, was: State, now: State, future: Future) -> str:
    if was and not now and (above := _empty_above(name, future)):
        return f"its folder was in {above}, which comes back empty"
    if was and "bind" in was["options"] and not future("path", was["device"]):
        return (
            f"it was a bind mount, and {was['device'] or 'what it showed'} is nowhere to be found"
        )
    return ""


def _empty_above(name: str, future: Future) -> str:
    """The mount above a folder that is made again and has lost what it held; empty: none."""
    for above in folders_above(name):
        made = future("mount", above)
        if made.get("fstype") in IN_MEMORY and not mount.former_state(above).state:
            return above
    return ""


def _restore_swap(name: str, was: State, now: State) -> None:
    if was:
        priority = int(was["priority"])  # a negative one is the kernel's own choice
        mount.swapon(name, priority if priority >= 0 else None)
    else:
        mount.swapoff(name)


SYSCTL = one_by_one(
    sysctl.former_state,
    lambda name, was, now: sysctl.assign(name, was["value"]),
    lambda name, was, now, future: "" if was and now else "the kernel has no such parameter",
)
MODULE = one_by_one(
    kmod.former_state, lambda name, was, now: (kmod.load if was["loaded"] else kmod.remove)(name)
)
MOUNT = one_by_one(mount.former_state, _restore_mount, _refused_mount)
SWAP = one_by_one(mount.former_swap, _restore_swap)
SWAP_FILE = one_by_one(
    swap.former_state,
    lambda name, was, now: swap.make(name, was["size"]) if was else swap.remove(name),
)
