# SPDX-License-Identifier: Apache-2.0
"""What mount and swapon will refuse, in their words: for dry runs.

Each raises StateFailed; what only the kernel knows is not here.
"""

from __future__ import annotations

import errno
import os
import stat as bits
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

from modules import _paths, cmd
from modules import user as users
from modules.file._contents import limits
from runner.api import Fact, StateFailed

SIGNATURES = (b"SWAPSPACE2", b"SWAP-SPACE")
# packages of Debian with the programs that file systems are mounted by: the kernel alone cannot
HELPED_BY = {
    **dict.fromkeys(("nfs", "nfs4"), "nfs-common"),
    "glusterfs": "glusterfs-client",
    "davfs": "davfs2",
    "ecryptfs": "ecryptfs-utils",
}


def refuse_mount(
    name: str,
    device: str | None,
    fstype: str = "",
    opts: Sequence[str] = ("defaults",),
    user: str | None = None,
    util: str = "mount",
) -> None:
    """Raise StateFailed for what mount would not mount."""
    if user and not users.info(user):
        raise StateFailed(
            f"runuser: user {user} does not exist or the user entry does not contain all the"
            " required fields",
            missing=("user", user),
        )
    if not _paths.exists(name):
        raise _refusal(name, "mount point does not exist.", ("file", name))
    refuse_without_root(name, util)
    if not device or util != "mount":
        return
    refuse_without_helper(name, fstype, opts)
    if lacking := lacking_source(name, device, fstype, opts):
        raise lacking


def lacking_source(name: str, device: str, fstype: str, opts: Sequence[str]) -> StateFailed | None:
    """What mount says of what it would mount where that is not there."""
    bind = bool({"bind", "rbind"} & {*opts})
    if not bind and not _needs_device(fstype):
        return None
    tag, equals, value = device.partition("=")
    if equals and tag in ("UUID", "LABEL", "PARTUUID", "PARTLABEL"):
        if not cmd.probe(["findfs", device]).stdout.strip():
            return _refusal(name, f"can't find {device}.", ("label", value))
    elif not _paths.exists(device) and ":" not in device:
        return _refusal(name, f"special device {device} does not exist.", ("file", device))
    elif bind and _paths.isdir(name) and not _paths.isdir(device):
        reason = f"mount(2) system call failed: {os.strerror(errno.ENOTDIR)}."
        return _refusal(name, reason, ("file", device))
    return None


def refuse_without_helper(name: str, fstype: str, opts: Sequence[str]) -> None:
    """Raise StateFailed where the program is missing that mounts such a file system. The words of
    mount depend on the kernel, and name neither.
    """
    package = HELPED_BY.get(fstype)
    if package and not {"bind", "rbind"} & {*opts} and not _has_helper(fstype):
        program = f"/sbin/mount.{fstype}"
        why = f"{program} is missing: it comes with {package}"
        raise StateFailed(f"mount: {name}: {why}", missing=[("file", program), ("pkg", package)])


def _has_helper(fstype: str) -> bool:
    return any(_paths.exists(f"{folder}/mount.{fstype}") for folder in ("/sbin", "/usr/sbin"))


def refuse_without_root(name: str, util: str = "mount") -> None:
    """Raise StateFailed where only root may mount, or `umount`; what mounts by a program
    of its own may not need root.
    """
    words = {"mount": "use mount", "umount": "unmount"}
    if os.geteuid() and util in words:
        why = f"{util}: {name}: must be superuser to {words[util]}."
        raise StateFailed(why, missing=("right", name))


def refuse_umount(name: str, path: str, mounts: Iterable[str]) -> None:
    """Raise StateFailed for a mount that is in use. path: its folder, through links. mounts: the
    folders of all mounts.
    """
    below = f"{path.rstrip('/')}/"
    inner = next((other for other in mounts if other != path and other.startswith(below)), None)
    if inner:
        raise StateFailed(
            f"umount: {name}: target is busy.\n{inner} is mounted in it",
            missing=("no mount", inner),
        )
    user, used = next((use for use in _used() if f"{use[1]}/".startswith(below)), ("", ""))
    if user:
        program = _paths.of_kernel(f"/proc/{user}/comm").strip()
        raise StateFailed(
            f"umount: {name}: target is busy.\nprocess {user} ({program}) uses {used}",
            missing=[("processes", "ended"), ("check", "processes")],
        )


def _used() -> Iterator[tuple[str, str]]:
    """The processes with the paths that each keeps in use, of those that see the same mounts."""
    with suppress(OSError):
        own = os.readlink("/proc/self/ns/mnt")
        for pid in filter(str.isdigit, os.listdir("/proc")):
            with suppress(OSError):
                if os.readlink(f"/proc/{pid}/ns/mnt") == own:
                    links = [f"/proc/{pid}/{name}" for name in ("cwd", "root", "exe")]
                    links += [f"/proc/{pid}/fd/{name}" for name in os.listdir(f"/proc/{pid}/fd")]
                    used = map(_paths.readlink, links)
                    yield from ((pid, path) for path in used if path[0] == "/")


def refuse_swapon(name: str, priority: int | None = None) -> None:
    """Raise StateFailed for a file or a device without the mark of mkswap, and a file with
    holes.
    """
    if _paths.source(_paths.realpath(name)) is None:
        return
    at = _paths.stat(name)
    warning = ""
    if at.st_mode & 0o077:
        mode = bits.S_IMODE(at.st_mode)
        wanted = "0600" if at.st_gid == 0 or bits.S_ISREG(at.st_mode) else "0660"
        warning = f"swapon: {name}: insecure permissions {mode:04o}, {wanted} suggested.\n"
    if bits.S_ISREG(at.st_mode) and limits.needed(at) < at.st_size:
        raise StateFailed(
            f"{warning}swapon: {name}: skipping - it appears to have holes.", missing=("file", name)
        )
    size = os.sysconf("SC_PAGE_SIZE")
    try:
        with _paths.open_bytes(name) as file:
            first = file.read(size)
    except OSError:
        return
    if not first[: size - 10] or first[size - 10 :] not in SIGNATURES:
        raise StateFailed(
            f"{warning}swapon: {name}: read swap header failed (`mkswap {name}` makes it swap"
            " space, and what it holds is lost)",
            missing=("file", name),
        )


def _refusal(name: str, reason: str, missing: Fact) -> StateFailed:
    return StateFailed(f"mount: {name}: {reason}", missing=missing)


def _needs_device(fstype: str) -> bool:
    """Return whether mount itself looks for the device of a file system: not where the kernel has
    none for it, nor where a program of its own mounts it.
    """
    if not fstype or fstype.startswith(("fuse", "none", "auto", "overlay")):
        return not fstype or fstype.startswith("auto")
    known = _paths.of_kernel("/proc/filesystems").splitlines()
    return bool(known) and f"nodev\t{fstype}" not in known and not _has_helper(fstype)
