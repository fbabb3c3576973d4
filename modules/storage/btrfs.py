# SPDX-License-Identifier: Apache-2.0
"""Subvolumes and properties of btrfs.

What a state does within a file system is done in a mount namespace of its own, where the whole file
system is mounted: nothing is left mounted, however it ends. A look mounts one that nobody uses
read-only and without replaying its log, so that it does not change.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from modules import cmd
from modules._machine.processes import Completed, needs
from modules._texts.lines import one_line, plain_name
from modules.mount import active_mounts
from modules.storage import blockdev
from runner.api import CommandFailed, Record, StateFailed, changer, for_states, here

NEEDS_PROGRAM = "btrfs"  # without it templates find no function of this module
PROPERTIES = {"ro": "read-only status", "label": "label", "compression": "compression"}
# mounts $3 at $2 with the options $4, to read or to write ($1), enters it, and runs the rest there
_ENTER = """
mount --make-rprivate /
if test "$1" = read; then
    for log in rescue=nologreplay nologreplay; do # by the age of the kernel
        mount -t btrfs -o "$4,ro,$log" -- "$3" "$2" 2>/dev/null && break
    done
    mountpoint -q -- "$2" || mount -t btrfs -o "$4,ro,rescue=nologreplay" -- "$3" "$2" || exit 90
else
    # no link that somebody puts there meanwhile leads anywhere; before Linux 5.10 there is no such
    # option
    mount -t btrfs -o "$4,nosymfollow" -- "$3" "$2" 2>/dev/null ||
        mount -t btrfs -o "$4" -- "$3" "$2" || exit 90
fi
cd "$2"; shift 4
exec "$@"
"""
# a path must not lead out of the file system, by a link in it
_STAYS = 'case "$(realpath -m -- "./$1")" in "$(pwd -P)/$1") ;; *) exit 91;; esac\n'
_LOOK = (
    _STAYS
    + """
btrfs subvolume show -- "./$1" >/dev/null 2>&1 && echo subvolume
test -e "./$1" && echo present
lsattr -d -- "./$1" 2>/dev/null | cut -d' ' -f1
btrfs subvolume get-default .
"""
)
_CREATE = (
    _STAYS
    + """
set -e
name=$1; shift
mkdir -p -- "$(dirname -- "./$name")"
exec btrfs subvolume create "$@" "./$name"
"""
)
_WITH = _STAYS + 'shift; exec "$@"'
_CHANGE = _STAYS + 'path=$1; shift; exec "$@" "./$path"'


class Subvolume(Record):
    """A path of a file system. exists: it is a subvolume; occupied: something else is there.
    copies_on_write, default: as they are named.
    """

    exists: bool
    occupied: bool
    copies_on_write: bool
    default: bool


@for_states
def find_device(name: str) -> blockdev.Device:
    """The device of a path or a tag (UUID=..., LABEL=...). Raises StateFailed where there is none,
    and for one without a btrfs.
    """
    needs("btrfs", "btrfs-progs")
    path = one_line(name, "the device")
    if re.match(r"(UUID|LABEL|PARTUUID|PARTLABEL)=", path):
        path = cmd.probe(["findfs", path]).stdout.strip()
        if not path:
            raise StateFailed(f"there is no device with {name}")
    device = blockdev.resolve(path)
    if "btrfs" not in blockdev.contents_of(device):
        raise StateFailed(f"{name} has no btrfs", missing=("btrfs", device.path))
    return device


@for_states
def path_within(name: str) -> str:
    """The path of a subvolume, below the top of its file system. Raises StateFailed for one that is
    none.
    """
    path = one_line(name, "the subvolume").strip("/")
    if not path or any(part in ("", ".", "..") for part in path.split("/")):
        raise StateFailed(f"{name!r} is no path within a file system")
    return path


@for_states
def look(device: blockdev.Device, path: str) -> Subvolume:
    """Return what is at a path of a file system."""
    done = _checked(_within(device, ["sh", "-c", _LOOK, "sh", path], writes=False), path)
    lines = done.stdout.splitlines()
    attributes = next((line for line in lines if re.fullmatch(r"[-a-zA-Z]{10,}", line)), "")
    return Subvolume(
        "subvolume" in lines,
        "present" in lines and "subvolume" not in lines,
        "C" not in attributes,
        any(line.startswith("ID ") and line.endswith(f" path {path}") for line in lines),
    )


@for_states
@changer(touches=["volumes"])
def create(device: blockdev.Device, path: str, qgroupids: Sequence[str] = ()) -> None:
    """Make a subvolume, with the directories above it. Raises CommandFailed."""
    words = [word for group in qgroupids for word in ("-i", plain_name(group, "qgroupids"))]
    _checked(_within(device, ["sh", "-c", _CREATE, "sh", path, *words]), path)


@for_states
@changer(touches=["volumes"])
def change(device: blockdev.Device, path: str, *words: str) -> None:
    """Run a program within a file system, on a path of it. Raises CommandFailed."""
    _checked(_within(device, ["sh", "-c", _CHANGE, "sh", path, *words]), path)


@for_states
def properties_of(device: blockdev.Device, path: str, default: bool = False) -> dict[str, str]:
    """The properties of a path of a file system, or of the device itself: its label.

    default: the path begins in the default subvolume.
    """
    if not path:
        words = ["btrfs", "property", "get", "-t", "device", device.path]
        done = _checked(cmd.probe(words), device.name)
    else:
        words = ["sh", "-c", _WITH, "sh", path, "btrfs", "property", "get", f"./{path}"]
        done = _checked(_within(device, words, writes=False, default=default), path)
    pairs = (line.partition("=") for line in done.stdout.splitlines())
    return {key: value for key, mark, value in pairs if mark}


@for_states
@changer(touches=["volumes"])
def set_properties(
    device: blockdev.Device, path: str, values: Mapping[str, str], default: bool = False
) -> None:
    """Set properties; arguments as those of `properties_of`. Raises CommandFailed."""
    for name, value in values.items():
        if not path:
            words = ["btrfs", "property", "set", "-t", "device", blockdev.unchanged(device)]
            _checked(cmd.execute([*words, name, value]), device.name)
        else:
            words = ["btrfs", "property", "set", f"./{path}", name, value]
            words = ["sh", "-c", _WITH, "sh", path, *words]
            _checked(_within(device, words, default=default), path)


def _within(
    device: blockdev.Device, words: Sequence[str], writes: bool = True, default: bool = False
) -> Completed:
    """Run a program at the top of a file system."""
    used = any(mounted.device == device.path for mounted in active_mounts().values())
    options = "nosuid,nodev" if default else "nosuid,nodev,subvolid=5"
    how = "write" if writes or used else "read"
    enter = ["unshare", "--mount", "sh", "-c", _ENTER, "sh", how, here.scratch()]
    return cmd.probe([*enter, blockdev.unchanged(device), options, *words])


def _checked(done: Completed, path: str) -> Completed:
    if done.retcode == 91:
        raise CommandFailed(f"{path} leads out of its file system")
    if done.retcode:
        lines = (done.error_text or "it failed").splitlines()
        raise CommandFailed("; ".join(line.removeprefix("ERROR: ") for line in lines))
    return done


# ---------------------------------------------------------------- Salt's functions


def version() -> dict[str, str]:
    """The version of btrfs-progs.

    {{ salt['btrfs.version']()['btrfs-progs'] }}
    """
    text = _btrfs("--version").splitlines()[0]
    return {"btrfs-progs": text.rpartition(" ")[2].removeprefix("v")}


def properties(obj: str, type: str | None = None, set: str | None = None) -> dict[str, str]:
    """The properties of a path or a device: ro, label, compression. type: what it is taken for:
    subvol, filesystem, inode, device. set: accepted when empty; btrfs.properties of an SLS sets.

    {{ salt['btrfs.properties']('/srv') }}
    """
    if set:
        raise StateFailed("set: the state btrfs.properties sets properties")
    kind = ["-t", plain_name(type, "type")] if type else []
    text = _btrfs("property", "get", *kind, plain_name(obj, "the path"))
    pairs = (line.partition("=") for line in text.splitlines())
    return {key: value for key, mark, value in pairs if mark}


def subvolume_exists(path: str) -> bool:
    """Return whether a path is a subvolume.

    {{ salt['btrfs.subvolume_exists']('/srv/data') }}
    """
    needs("btrfs", "btrfs-progs")
    return not cmd.probe(["btrfs", "subvolume", "show", plain_name(path, "the path")]).retcode


def subvolume_list(path: str) -> list[dict[str, str]]:
    """The subvolumes of a mounted file system: id, gen, top level, path.

    {{ salt['btrfs.subvolume_list']('/') | json }}
    """
    text = _btrfs("subvolume", "list", plain_name(path, "the path"))
    found = (
        re.match(r"ID (\d+) gen (\d+) top level (\d+) path (.*)", x) for x in text.splitlines()
    )
    names = ("id", "gen", "top level", "path")
    return [dict(zip(names, match.groups(), strict=True)) for match in found if match]


def subvolume_show(path: str) -> dict[str, dict[str, str]]:
    """Return what btrfs says of a subvolume, by its name.

    {{ salt['btrfs.subvolume_show']('/srv/data') | json }}
    """
    lines = _btrfs("subvolume", "show", plain_name(path, "the path")).splitlines()
    pairs = (line.partition(":") for line in lines[1:])
    return {lines[0].strip(): {key.strip().lower(): value.strip() for key, _, value in pairs}}


def subvolume_get_default(path: str) -> dict[str, str]:
    """The default subvolume of a mounted file system: its id and name.

    {{ salt['btrfs.subvolume_get_default']('/') }}
    """
    text = _btrfs("subvolume", "get-default", plain_name(path, "the path")).strip()
    words = text.split()
    return {"id": words[1], "name": text.rpartition(" path ")[2] if " path " in text else words[-1]}


def _btrfs(*words: str) -> str:
    needs("btrfs", "btrfs-progs")
    return _checked(cmd.probe(["btrfs", *words]), words[-1]).stdout
