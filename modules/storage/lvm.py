# SPDX-License-Identifier: Apache-2.0
"""Physical volumes, volume groups and logical volumes of LVM, by its own tools."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from modules import _paths, cmd
from modules._machine.processes import Completed, needs
from modules._texts.lines import one_line, plain_name
from modules.storage import blockdev
from runner.api import CommandFailed, Record, StateFailed, cached_look, changer, for_states

NEEDS_PROGRAM = "lvm"  # without it templates find no function of this module
TRIAL_SECONDS = 60
UNITS = {"b": 1, "s": 512, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40, "p": 1 << 50}
# the columns of `pvdisplay -c` and so on, as Salt names them
PV_COLUMNS = (
    "Physical Volume Device",
    "Volume Group Name",
    "Physical Volume Size (kB)",
    "Internal Physical Volume Number",
    "Physical Volume Status",
    "Physical Volume (not) Allocatable",
    "Current Logical Volumes Here",
    "Physical Extent Size (kB)",
    "Total Physical Extents",
    "Free Physical Extents",
    "Allocated Physical Extents",
)
VG_COLUMNS = (
    "Volume Group Name",
    "Volume Group Access",
    "Volume Group Status",
    "Internal Volume Group Number",
    "Maximum Logical Volumes",
    "Current Logical Volumes",
    "Open Logical Volumes",
    "Maximum Logical Volume Size",
    "Maximum Physical Volumes",
    "Current Physical Volumes",
    "Actual Physical Volumes",
    "Volume Group Size (kB)",
    "Physical Extent Size (kB)",
    "Total Physical Extents",
    "Allocated Physical Extents",
    "Free Physical Extents",
    "UUID",
)
LV_COLUMNS = (
    "Logical Volume Name",
    "Volume Group Name",
    "Logical Volume Access",
    "Logical Volume Status",
    "Internal Logical Volume Number",
    "Open Logical Volumes",
    "Logical Volume Size",
    "Current Logical Extents Associated",
    "Allocated Logical Extents",
    "Allocation Policy",
    "Read Ahead Sectors",
    "Major Device Number",
    "Minor Device Number",
)


class PhysicalVolume(Record):
    """A device that LVM uses. group: empty where it is in none."""

    path: str
    group: str


class VolumeGroup(Record):
    """A volume group. extent: bytes. volumes: the number of its logical volumes."""

    name: str
    extent: int
    volumes: int


class LogicalVolume(Record):
    """A logical volume. size: bytes. is_open: somebody uses it."""

    name: str
    group: str
    size: int
    is_open: bool


# ---------------------------------------------------------------- looks for states


@for_states
@cached_look("volumes")
def physical_volumes() -> dict[str, PhysicalVolume]:
    """The physical volumes by their paths, without links."""
    rows = _report("pvs", "pv_name,vg_name")
    return {_paths.realpath(path): PhysicalVolume(path, group) for path, group in rows}


@for_states
@cached_look("volumes")
def volume_groups() -> dict[str, VolumeGroup]:
    """The volume groups by their names."""
    rows = _report("vgs", "vg_name,vg_extent_size,lv_count")
    return {name: VolumeGroup(name, int(size), int(count)) for name, size, count in rows}


@for_states
@cached_look("volumes")
def logical_volumes() -> dict[tuple[str, str], LogicalVolume]:
    """The logical volumes by the names of their groups and their own."""
    rows = _report("lvs", "vg_name,lv_name,lv_size,lv_attr")
    return {
        (group, name): LogicalVolume(name, group, int(size), attributes[5:6] == "o")
        for group, name, size, attributes in rows
    }


@for_states
def try_out(words: Sequence[str]) -> None:
    """Have LVM try a command without making it so. Raises CommandFailed for what it refuses."""
    _checked(cmd.probe([words[0], "--test", *words[1:]], timeout=TRIAL_SECONDS))


@for_states
@changer(touches=["volumes"])
def carry_out(words: Sequence[str]) -> str:
    """Run a command of LVM: what it says. Raises CommandFailed for what it refuses."""
    return _checked(cmd.execute(list(words))).stdout.strip()


@for_states
def bytes_of(size: object) -> int:
    """The bytes of a size: megabytes, or with one of the suffixes s, k, m, g, t, p. Raises
    StateFailed for what is none.
    """
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([bskmgtp]?)b?", str(size).strip().lower())
    number = float(match[1]) * UNITS[match[2] or "m"] if match else 0
    if not number:
        raise StateFailed(f"Size {size} is invalid.")
    return int(number)


@for_states
def option_words(options: Mapping[str, object]) -> list[str]:
    """Return options of an SLS as those of LVM's programs: `stripes: 2` is `--stripes 2`. Raises
    StateFailed for a name that is none.
    """
    words: list[str] = []
    for name, value in options.items():
        if not re.fullmatch(r"[a-z]+", name):
            raise StateFailed(f"{name!r} is no option of LVM")
        text = one_line(value, name)
        flag = f"--{name}"
        if value is True or value is None:
            words.append(flag)
        elif value is not False:
            words.append(f"{flag}={text}")
    return words


@for_states
def creation(
    lvname: str,
    vgname: str,
    size: object = None,
    extents: object = None,
    snapshot: str | None = None,
    pv: str | None = None,
    thinvolume: bool = False,
    thinpool: bool = False,
    force: bool = False,
    options: Mapping[str, object] | None = None,
) -> list[str]:
    """Return the command that makes a logical volume. Raises StateFailed for what contradicts."""
    if (size is None) == (extents is None) and not (snapshot and size is None):
        raise StateFailed("Error: Please specify only one of size or extents")
    if thinvolume and thinpool:
        raise StateFailed("Error: Please set only one of thinvolume or thinpool to True")
    name, group = plain_name(lvname, "the logical volume"), plain_name(vgname, "the volume group")
    words = ["lvcreate"]
    if size is not None:
        bytes_of(size)
        words += ["-V" if thinvolume else "-L", str(size).strip()]
    elif extents is not None:
        words += ["-l", _extents(extents)]
    words += ["--thinpool" if thinpool else "-n", name]
    words += ["--thin"] if thinvolume else []
    words += ["--snapshot"] if snapshot else []
    words += option_words(options or {})
    words += ["--yes"] if force else []
    words.append(f"{group}/{plain_name(snapshot, 'the snapshot')}" if snapshot else group)
    return [*words, *([plain_name(pv, "pv")] if pv else [])]


@for_states
def resizing(
    path: str,
    size: object = None,
    extents: object = None,
    force: bool = False,
    resizefs: bool = False,
) -> list[str]:
    """Return the command that resizes a logical volume. Raises StateFailed for what is no size."""
    if (size is None) == (extents is None):
        raise StateFailed("Error: Please specify only one of size or extents")
    words = ["lvresize", *(["--resizefs"] if resizefs else []), *(["--force"] if force else [])]
    if size is not None:
        bytes_of(str(size).lstrip("+-"))
        words += ["-L", str(size).strip()]
    else:
        words += ["-l", _extents(extents)]
    return [*words, plain_name(path, "the logical volume")]


def _extents(extents: object) -> str:
    text = str(extents).strip()
    if not re.fullmatch(r"[+-]?[0-9]+(%[A-Za-z]+)?", text):
        raise StateFailed(f"extents: expected a number, or one with %VG, %FREE, ..., not {text!r}")
    return text


def _report(program: str, columns: str) -> list[list[str]]:
    """The rows of pvs, vgs or lvs, as columns. Raises StateFailed when it fails."""
    needs(program, "lvm2")
    words = ["--noheadings", "--nosuffix", "--units", "b", "--separator", "|", "-o", columns]
    done = _checked(cmd.probe([program, *words]))
    count = columns.count(",") + 1
    rows = [line.strip().split("|") for line in done.stdout.splitlines() if line.strip()]
    return [row for row in rows if len(row) == count]


def _checked(done: Completed) -> Completed:
    if done.retcode:
        lines = (line.strip() for line in f"{done.stderr}\n{done.stdout}".splitlines())
        text = "; ".join(line for line in lines if line and not _IDLE.match(line))
        raise CommandFailed(text or "it failed without a reason")
    return done


_IDLE = re.compile(r"TEST MODE|WARNING: (Activation disabled|Skipping zeroing)")

# ---------------------------------------------------------------- Salt's looks


def version() -> str:
    """The version of LVM.

    {{ salt['lvm.version']() }}
    """
    return fullversion().get("LVM version", "")


def fullversion() -> dict[str, str]:
    """Return what LVM says of its version, library and driver."""
    needs("lvm", "lvm2")
    pairs = (line.partition(":") for line in cmd.probe(["lvm", "version"]).stdout.splitlines())
    return {name.strip(): text.strip() for name, colon, text in pairs if colon}


def pvdisplay(
    pvname: str = "", real: bool = False, quiet: bool = False
) -> dict[str, dict[str, str]]:
    """Physical volumes by their devices. pvname: this one. real: the devices without links. quiet:
    accepted.

    {{ salt['lvm.pvdisplay']('/dev/sdb') | json }}
    """
    rows = _display("pvdisplay", pvname, PV_COLUMNS)
    if not real:
        return {row[PV_COLUMNS[0]]: row for row in rows}
    return {
        _paths.realpath(row[PV_COLUMNS[0]]): {
            **row,
            "Real Physical Volume Device": _paths.realpath(row[PV_COLUMNS[0]]),
        }
        for row in rows
    }


def vgdisplay(vgname: str = "", quiet: bool = False) -> dict[str, dict[str, str]]:
    """Volume groups by their names. vgname: this one. quiet: accepted.

    {{ salt['lvm.vgdisplay']('vg0') | json }}
    """
    return {row[VG_COLUMNS[0]]: row for row in _display("vgdisplay", vgname, VG_COLUMNS)}


def lvdisplay(lvname: str = "", quiet: bool = False) -> dict[str, dict[str, str]]:
    """Logical volumes by their paths. lvname: this one, /dev/vg0/data. quiet: accepted.

    {{ salt['lvm.lvdisplay']('/dev/vg0/data') | json }}
    """
    return {row[LV_COLUMNS[0]]: row for row in _display("lvdisplay", lvname, LV_COLUMNS)}


def _display(program: str, name: str, columns: tuple[str, ...]) -> list[dict[str, str]]:
    needs(program, "lvm2")
    done = cmd.probe([program, "-c", *([plain_name(name, "the name")] if name else [])])
    lines = (line.strip().split(":") for line in done.stdout.splitlines() if ":" in line)
    return [dict(zip(columns, line, strict=False)) for line in lines] if not done.retcode else []


# ---------------------------------------------------------------- Salt's changers


def _devices(devices: str | Sequence[str]) -> list[str]:
    names = devices.split(",") if isinstance(devices, str) else devices
    return [plain_name(name, "the device") for name in names]


def pvcreate(
    devices: str | Sequence[str], override: bool = True, force: bool = False, **options: object
) -> bool:
    """Make physical volumes: whether they are there then.

    devices: several, or separated by commas. override: those that are there already are no
    mistake. force: whatever a device holds is overwritten. options: those of pvcreate,
    `dataalignment=1m`.
    """
    names = [blockdev.resolve(name) for name in _devices(devices)]
    if override:
        names = [name for name in names if name.path not in physical_volumes()]
    for device in names:
        blockdev.refuse_full(device, force)
    if names:
        words = [*option_words(options), *(["--yes"] if force else [])]
        carry_out(["pvcreate", *words, *map(blockdev.unchanged, names)])
    return True


def pvremove(devices: str | Sequence[str], override: bool = True) -> bool:
    """Let devices be no physical volumes any more: whether that is so then.

    devices: several, or separated by commas. override: those that are none are no mistake.
    """
    names = [_paths.realpath(name) for name in _devices(devices)]
    if override:
        names = [name for name in names if name in physical_volumes()]
    if names:
        carry_out(["pvremove", *names])
    return True


def pvresize(devices: str | Sequence[str]) -> bool:
    """Let physical volumes fill their devices. devices: several, or separated by commas."""
    carry_out(["pvresize", *_devices(devices)])
    return True


def vgcreate(
    vgname: str, devices: str | Sequence[str], force: bool = False, **options: object
) -> dict[str, object]:
    """Make a volume group; what it is then. devices: several, or separated by commas. force:
    overwrite what the devices hold. options: those of vgcreate, `physicalextentsize=8m`.
    """
    paths = []
    for name in _devices(devices):
        device = blockdev.resolve(name)
        blockdev.refuse_full(device, force, own=["LVM2_member"])
        paths.append(device.path)
    name = plain_name(vgname, "the volume group")
    said = carry_out(["vgcreate", *option_words(options), name, *paths])
    return {**vgdisplay(name), "Output from vgcreate": said}


def vgextend(vgname: str, devices: str | Sequence[str], force: bool = False) -> str:
    """Add devices to a volume group. devices: several, or separated by commas. force: overwrite
    what they hold.
    """
    paths = []
    for name in _devices(devices):
        device = blockdev.resolve(name)
        blockdev.refuse_full(device, force, own=["LVM2_member"])
        paths.append(device.path)
    return carry_out(["vgextend", plain_name(vgname, "the volume group"), *paths])


def vgremove(vgname: str, force: bool = False) -> str:
    """Remove a volume group. force: with the logical volumes in it."""
    words = ["vgremove", *(["--yes"] if force else [])]
    return carry_out([*words, plain_name(vgname, "the volume group")])


def lvcreate(
    lvname: str,
    vgname: str,
    size: str | None = None,
    extents: str | int | None = None,
    snapshot: str | None = None,
    pv: str | None = None,
    thinvolume: bool = False,
    thinpool: bool = False,
    force: bool = False,
    **options: object,
) -> dict[str, object]:
    """Make a logical volume; what it is then.

    size: megabytes, or with a suffix. extents: their number, or 50%FREE. snapshot: of this volume.
    pv: on this device. thinvolume: in the pool that vgname names, vg0/pool. thinpool: such a pool.
    force: old signatures in it are wiped. options: those of lvcreate, `stripes=2`.
    """
    words = creation(
        lvname, vgname, size, extents, snapshot, pv, thinvolume, thinpool, force, options
    )
    said = carry_out(words)
    return {**lvdisplay(path_of(vgname, lvname)), "Output from lvcreate": said}


def lvremove(lvname: str, vgname: str, force: bool = True) -> str:
    """Remove a logical volume. force: although it is active."""
    words = ["lvremove", *(["--yes"] if force else [])]
    group = plain_name(vgname, "the volume group")
    return carry_out([*words, f"{group}/{plain_name(lvname, 'the logical volume')}"])


def lvresize(
    size: str | None = None,
    lvpath: str | None = None,
    extents: str | int | None = None,
    force: bool = False,
    resizefs: bool = False,
) -> dict[str, str]:
    """Give a logical volume a size. lvpath: /dev/vg0/data. extents: instead of a size. force:
    although it becomes smaller. resizefs: its file system, too.
    """
    words = resizing(lvpath or "", size, extents, force, resizefs)
    return {"Output from lvresize": carry_out(words)}


def lvextend(
    size: str | None = None,
    lvpath: str | None = None,
    extents: str | int | None = None,
    force: bool = False,
    resizefs: bool = False,
) -> dict[str, str]:
    """Make a logical volume larger; arguments as those of lvresize."""
    words = resizing(lvpath or "", size, extents, force, resizefs)
    return {"Output from lvextend": carry_out(["lvextend", *words[1:]])}


@for_states
def path_of(vgname: str, lvname: str) -> str:
    """The path of a logical volume; of a group that names a pool, vg0/pool, too."""
    return f"/dev/{vgname.partition('/')[0]}/{lvname}"
