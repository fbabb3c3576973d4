# SPDX-License-Identifier: Apache-2.0
"""Files that are swapped to."""

from __future__ import annotations

import os

from modules import _paths, cmd, file, mount
from runner.api import FormerState, StateFailed, changer, for_states

SIGNATURE = b"SWAPSPACE2"  # which ends the first page
MIB = 1 << 20


@for_states
def size_of(name: str) -> int | None:
    """The bytes of a swap file; None where nothing is. Raises StateFailed for something else, which
    is left alone.
    """
    at = file.seen(name, follow=False)
    if at is None:
        return None
    if at.type != "file":
        raise StateFailed(f"{name} is no plain file, and is left alone")
    with _paths.open_bytes(name) as stream:
        first = stream.read(os.sysconf("SC_PAGE_SIZE"))
    if not first.endswith(SIGNATURE):
        raise StateFailed(f"{name} is no swap file, and is left alone: remove it, or name another")
    return at.size


def _former(name: str, size: int = 0) -> FormerState:
    """A swap file as undo restores it: of this size, and empty."""
    there = size_of(name)
    return FormerState("swap file", name, {} if there is None else {"size": there})


@for_states
def former_state(name: str) -> FormerState:
    """A swap file as undo restores it."""
    return _former(name)


@for_states
def refuse_make(name: str, size: int) -> None:
    """Raise StateFailed where no swap file can be made, or none that nobody else could swap."""
    folder = os.path.dirname(name)
    at = file.seen(folder)
    if at is None or at.type != "dir":
        raise StateFailed(f"{folder} does not exist", missing=("file", folder))
    if at.uid or at.bits & 0o022:
        raise StateFailed(f"{folder}: others than root may write there, who could read the memory")
    file.refuse_put(name)
    space = _paths.statvfs(folder)
    if space.f_bavail * space.f_frsize < size:
        raise StateFailed(
            f"{name} needs {size // MIB} MiB, and {folder} has"
            f" {space.f_bavail * space.f_frsize // MIB} MiB left"
        )


@changer(touches=["mounts", "files"], before=_former)
def make(name: str, size: int) -> None:
    """Make a swap file without holes, which only root can read; it takes its place when it is
    whole. Raises CommandFailed.
    """
    refuse_make(name, size)
    new = f"{os.path.dirname(name).rstrip('/')}/.{os.path.basename(name)}.runner-new"
    file.discard(new)
    try:
        _run("install", "-m", "600", "/dev/null", new)
        if mount.active_mounts()[mount.get_mount_from_path(name)].fstype == "btrfs":
            _run("chattr", "+C", new)  # it swaps to no file that it copies on writing
        count = f"count={size // MIB}"
        _run("dd", "if=/dev/zero", f"of={new}", "bs=1M", count, "conv=fsync", "status=none")
        _run("mkswap", "--", new)
        file.rename(new, name)
    except StateFailed:
        file.discard(new)
        raise


def _run(*argv: str) -> None:
    cmd.execute([*argv]).or_fail()


@changer(touches=["mounts", "files"], before=_former)
def remove(name: str) -> None:
    """Remove a swap file."""
    file.discard(name)
