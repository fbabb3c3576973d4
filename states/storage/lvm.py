# SPDX-License-Identifier: Apache-2.0
"""Physical volumes, volume groups and logical volumes of LVM."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from modules.storage import blockdev, lvm
from modules.storage.blockdev import Device
from runner.api import (
    AbsolutePath,
    Done,
    Line,
    Name,
    Named,
    NameOrEmpty,
    Plan,
    Planned,
    StateFailed,
)
from states._rights import only_root
from states._tools import explained

DECIDES = {"lv_present": "size extents"}
TOLD_APART_BY = "vgname"
MEANS = {"size": lvm.bytes_of}

dry_run_check = only_root("lvm")

MEMBER = "LVM2_member"  # what a device holds that is a physical volume


def _names_option(name: str) -> bool:
    return name.isascii() and name.isalpha() and name.islower()


Option = Annotated[bool | int | Line, Named(_names_option)]


def pv_present(name: AbsolutePath, force: bool = False, **options: Option) -> Planned:
    """Make sure that a device is a physical volume.

    Any other argument is an option of pvcreate: dataalignment, metadatasize, ...

    name: The device.
    force: Overwrite whatever it holds; without it only a device that holds nothing is taken, and
      one that is in use never.

        /dev/sdb:
          lvm.pv_present: []

    Behaviour: Salt 3008's lvm.pv_present, which overwrites what the device holds.
    """
    device = blockdev.resolve(name)
    if device.path in lvm.physical_volumes():
        return f"Physical Volume {name} already present"
    blockdev.refuse_full(device, force)
    words = [*lvm.option_words(options), *(["--yes"] if force else []), device.path]
    failed = f"Failed to create Physical Volume {name}"
    if not force:  # a trial would for ever find anew what it only pretends to wipe
        _try_out(failed, ["pvcreate", *words])
    yield Plan(
        {"created": {name: {}}},
        f"Physical Volume {name} is set to be created",
        provides=[("lvm_pv", device.path)],
    )
    blockdev.unchanged(device)
    said = _carry_out(failed, ["pvcreate", *words])
    created = {**lvm.pvdisplay(device.path), "Output from pvcreate": said}
    return Done(f"Created Physical Volume {name}", {"created": created})


def pv_absent(name: AbsolutePath) -> Planned:
    """Make sure that a device is no physical volume.

    name: The device. One that is in a volume group is left alone.

        /dev/sdb:
          lvm.pv_absent: []
    """
    path = _path(name)
    present = lvm.physical_volumes().get(path)
    if present is None:
        return f"Physical Volume {name} does not exist"
    failed = f"Failed to remove Physical Volume {name}"
    if present.group:
        raise StateFailed(
            f"{failed}: it is in the volume group {present.group}",
            missing=[("no lvm_vg", present.group), *_volumes_gone(present.group)],
        )
    yield Plan({"removed": name}, f"Physical Volume {name} is set to be removed")
    said = _carry_out(failed, ["pvremove", path])
    return Done(f"Removed Physical Volume {name}", {"removed": said})


def vg_present(
    name: Name, devices: list[Name] | Name | None = None, force: bool = False, **options: Option
) -> Planned:
    """Make sure that there is a volume group, with devices in it.

    Any other argument is an option of vgcreate: physicalextentsize, ...

    name: The group.
    devices: The physical volumes, as a list or separated by commas; others that it has stay.
    force: Overwrite whatever a device holds that is no physical volume yet.

        vg0:
          lvm.vg_present:
            - devices: [/dev/sdb, /dev/sdc]

    Behaviour: Salt 3008's lvm.vg_present, which overwrites what the devices hold.
    """
    names = devices.split(",") if isinstance(devices, str) else devices or []
    wanted = [blockdev.resolve(device.strip()) for device in names]
    if name in lvm.volume_groups():
        return (yield from _extended(name, wanted))
    failed = f"Failed to create Volume Group {name}"
    if not wanted:
        raise StateFailed(f"{failed}: no devices are named")
    for device in wanted:
        _refuse_other_group(failed, device)
        blockdev.refuse_full(device, force, own=[MEMBER])
    paths = [device.path for device in wanted]
    words = ["vgcreate", *lvm.option_words(options), *(["--yes"] if force else []), name, *paths]
    if all(path in lvm.physical_volumes() for path in paths):
        _try_out(failed, words)
    yield Plan(
        {"created": {name: {}}},
        f"Volume Group {name} is set to be created",
        provides=[("lvm_vg", name)],
    )
    for device in wanted:
        blockdev.unchanged(device)
    said = _carry_out(failed, words)
    created = {**lvm.vgdisplay(name), "Output from vgcreate": said}
    return Done(f"Created Volume Group {name}", {"created": created})


def _extended(name: str, wanted: list[Device]) -> Planned:
    """Add the devices to a volume group that it does not have."""
    comments, missing = [f"Volume Group {name} already present"], []
    for device in wanted:
        present = lvm.physical_volumes().get(device.path)
        if present is None:
            text = "\n".join([*comments, f"pv {device.name} is not present"])
            raise StateFailed(text, missing=("lvm_pv", device.path))
        _refuse_other_group("\n".join(comments), device, name)
        if present.group:
            comments.append(f"{device.name} is part of Volume Group")
        else:
            missing.append(device)
    if not missing:
        return "\n".join(comments)
    words = ["vgextend", name, *(device.path for device in missing)]
    failed = f"{missing[0].name} could not be added"
    _try_out(failed, words)
    yield Plan(
        {device.name: f"added to {name}" for device in missing},
        "\n".join([*comments, *(f"{d.name} is set to be added to {name}" for d in missing)]),
    )
    for device in missing:
        blockdev.unchanged(device)
    _carry_out(failed, words)
    return "\n".join(comments)


def vg_absent(name: Name) -> Planned:
    """Make sure that there is no such volume group.

    name: The group. One that has logical volumes is left alone: lvm.lv_absent removes them.

        vg0:
          lvm.vg_absent: []

    Behaviour: Salt 3008's lvm.vg_absent, which removes the logical volumes with it.
    """
    present = lvm.volume_groups().get(name)
    if present is None:
        return f"Volume Group {name} already absent"
    failed = f"Failed to remove Volume Group {name}"
    volumes = [volume for group, volume in lvm.logical_volumes() if group == name]
    if present.volumes:
        raise StateFailed(
            f"{failed}: it has the logical volumes {', '.join(volumes)}; lvm.lv_absent removes one",
            missing=_volumes_gone(name),
        )
    yield Plan(
        {"removed": name},
        f"Volume Group {name} is set to be removed",
        provides=[("no lvm_vg", name)],
    )
    said = _carry_out(failed, ["vgremove", name])
    return Done(f"Removed Volume Group {name}", {"removed": said})


def lv_present(
    name: Name,
    vgname: Name | None = None,
    size: Line | None = None,
    extents: Line | None = None,
    snapshot: Name | None = None,
    pv: NameOrEmpty = "",
    thinvolume: bool = False,
    thinpool: bool = False,
    force: bool = False,
    resizefs: bool = False,
    **options: Option,
) -> Planned:
    """Make sure that there is a logical volume, of a size.

    Any other argument is an option of lvcreate: stripes, stripesize, ...

    name: The volume.
    vgname: The volume group; of a thin volume `group/pool`.
    size: The size in megabytes, or with a suffix (s, k, m, g, t, p).
    extents: The size in extents instead; with a percentage (50%FREE) only a new volume gets it.
    snapshot: Make a snapshot of this volume.
    pv: The physical volume that it lies on.
    thinvolume: Make a thin volume.
    thinpool: Make a pool of thin volumes.
    force: Accept that it becomes smaller, and wipe old signatures in a new one.
    resizefs: Grow or shrink its file system with it.

        data:
          lvm.lv_present:
            - vgname: vg0
            - size: 10G
            - resizefs: True

    Behaviour: Salt 3008's lvm.lv_present; sizes are rounded up to extents, as LVM does.
    """
    if vgname is None:
        raise StateFailed("vgname: which volume group is it in?")
    group = lvm.volume_groups().get(vgname.partition("/")[0])
    if group is None:
        raise StateFailed(
            f"Volume Group {vgname.partition('/')[0]} does not exist",
            missing=("lvm_vg", vgname.partition("/")[0]),
        )
    present = lvm.logical_volumes().get((group.name, name))
    if present is None:
        words = lvm.creation(
            name, vgname, size, extents, snapshot, pv or None, thinvolume, thinpool, force, options
        )
        failed = f"Failed to create Logical Volume {name}"
        _try_out(f"{failed}. Error", words)
        path = lvm.path_of(vgname, name)
        yield Plan(
            {"created": {path: {}}},
            f"Logical Volume {name} is set to be created",
            provides=[("lvm_lv", path), ("file", path)],
        )
        said = _carry_out(f"{failed}. Error", words)
        created = {**lvm.lvdisplay(path), "Output from lvcreate": said}
        return Done(f"Created Logical Volume {name}", {"created": created})
    return (yield from _resized(present, group.extent, size, extents, force, resizefs))


def _resized(
    present: lvm.LogicalVolume,
    extent: int,
    size: str | None,
    extents: str | None,
    force: bool,
    resizefs: bool,
) -> Planned:
    """Give a logical volume that exists its size."""
    name = present.name
    if extents is not None and "%" in extents:
        return f"Logical Volume {name} already present, {extents} won't be resized."
    if size is not None:
        wanted = -(-lvm.bytes_of(size) // extent) * extent
    elif extents is not None and extents.isdigit():
        wanted = int(extents) * extent
    else:
        return f"Logical Volume {name} already present"
    if wanted == present.size:
        return f"Logical Volume {name} already present"
    if wanted < present.size and not force:
        raise StateFailed("To reduce a Logical Volume option 'force' must be True.")
    path = f"{present.group}/{name}"
    words = lvm.resizing(path, f"{wanted}b", None, force, resizefs)
    failed = f"Failed to resize Logical Volume {name}.\nError"
    _try_out(failed, words)
    yield Plan(
        {"resized": {"old": present.size, "new": wanted}},
        f"Logical Volume {name} is set to be resized",
    )
    said = _carry_out(failed, words)
    return Done(f"Resized Logical Volume {name}", {"resized": {"Output from lvresize": said}})


def lv_absent(name: Name, vgname: Name | None = None) -> Planned:
    """Make sure that there is no such logical volume; what is in it is lost.

    name: The volume.
    vgname: The volume group. A volume that is in use is left alone.

        data:
          lvm.lv_absent:
            - vgname: vg0
    """
    if vgname is None:
        raise StateFailed("vgname: which volume group is it in?")
    present = lvm.logical_volumes().get((vgname, name))
    if present is None:
        return f"Logical Volume {name} already absent"
    failed = f"Failed to remove Logical Volume {name}"
    if present.is_open:
        user = blockdev.user_of(blockdev.resolve(lvm.path_of(vgname, name))) or "in use"
        raise StateFailed(f"{failed}: it is {user}")
    yield Plan(
        {"removed": name},
        f"Logical Volume {name} is set to be removed",
        provides=[("no lvm_lv", f"{vgname}/{name}")],
    )
    said = _carry_out(failed, ["lvremove", "--yes", f"{vgname}/{name}"])
    return Done(f"Removed Logical Volume {name}", {"removed": said})


# ---------------------------------------------------------------- what they share


def _path(name: str) -> str:
    """A device's path without links, where there is one; its own otherwise."""
    try:
        return blockdev.resolve(name).path
    except StateFailed as failure:
        if failure.missing:
            return name
        raise


def _volumes_gone(group: str) -> list[tuple[str, str]]:
    """The facts of which a pending plan may make a group removable."""
    volumes = (volume for of, volume in lvm.logical_volumes() if of == group)
    return [("no lvm_lv", f"{group}/{volume}") for volume in volumes]


def _refuse_other_group(failed: str, device: Device, name: str = "") -> None:
    present = lvm.physical_volumes().get(device.path)
    if present and present.group not in ("", name):
        raise StateFailed(f"{failed}\n{device.name} is part of {present.group}")


def _try_out(failed: str, words: list[str]) -> None:
    """Raise StateFailed for what LVM would refuse."""
    with explained(failed):
        lvm.try_out(words)


def _carry_out(failed: str, words: list[str]) -> str:
    with explained(failed):
        return lvm.carry_out(words)


def autorequire(
    name: str,
    devices: list[str] | str | None = None,
    vgname: str | None = None,
    size: object = None,
    extents: object = None,
    **_: object,
) -> Iterator[tuple[str, str]]:
    """Volumes come after LVM's programs, their devices and their group."""
    yield "pkg", "lvm2"
    for device in devices.split(",") if isinstance(devices, str) else devices or ():
        yield "lvm", device
    if vgname and (size is not None or extents is not None):  # not one that is to go
        yield "lvm", vgname.partition("/")[0]
