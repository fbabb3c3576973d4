# SPDX-License-Identifier: Apache-2.0
"""Mounts, and the lines of fstab that bring them back."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal

from modules import file, mount
from runner.api import (
    AbsolutePath,
    Check,
    Done,
    FilePath,
    Line,
    Name,
    NameOrEmpty,
    NonEmptyLine,
    OneOrMany,
    Pattern,
    Plan,
    Planned,
    StateFailed,
    folders_above,
    here,
)
from runner.api.claims import PART, Claim
from runner.api.offline import at_boot, offline_as, offline_with
from runner.api.opposite import Opposite, Removal
from states._mount import (
    IGNORED,
    INVISIBLE,
    OF_SWAP,
    SHOWN_AS,
    PendingMount,
    back_to_default,
    former_options,
    missing_options,
    told_at_boot,
)
from states._tools import explained

Device = Annotated[
    str, Pattern(r"/.*|(PART)?(UUID|LABEL)=.+", "a path, or UUID=, LABEL=, PARTUUID= or PARTLABEL=")
]
Options = Annotated[
    OneOrMany[Line],
    Check(
        lambda opts: (
            "there is a quote that nothing closes" if ",".join(opts).count('"') % 2 else None
        ),
        "mount takes what is in double quotes as one option, and passes over an open one",
    ),
]
FsType = Annotated[str, Pattern(r"[!-~]+", "a type without spaces")]  # a column of fstab


# what need not be mounted though fstab has it: until somebody asks, or where the device is away
_WAITS = frozenset(("noauto", "nofail", "x-systemd.automount"))
_TOLD = {
    "new": "Added new entry to the fstab.",
    "changed": "Updated the entry in the fstab.",
    "kept": "Entry already exists in the fstab.",
}
ABOUT_ONE_FILE = {
    "mounted": "device fstype mkmnt opts dump pass_num config persist mount match_on",
    "fstab_present": (
        "fs_file fs_vfstype fs_mntops fs_freq fs_passno mount_by config mount match_on not_change"
    ),
}


def its_file(name: str, config: str = mount.FSTAB, mount_: bool = True, **_: object) -> str:
    """The table, where nothing is mounted and nobody is told of a new line."""
    return "" if mount_ or mount.is_told(config) else config


@offline_as(lambda where: None)  # what is mounted there is another system's
def _present(where: str) -> mount.Mounted | None:
    """What is mounted at a folder."""
    return mount.active_mounts().get(where)


def _mounted_at_boot(
    name: str,
    device: str,
    fstype: str,
    opts: str | Sequence[str] | None = None,
    persist: bool = True,
    **_: object,
) -> str:
    return told_at_boot(device, name, fstype, opts) if persist else ""


@file.validated
@at_boot(_mounted_at_boot)
@offline_with(mount_=None)
def mounted(
    name: AbsolutePath,
    device: Name,
    fstype: FsType,
    mkmnt: bool = False,
    opts: Options | None = None,
    dump: int = 0,
    pass_num: int = 0,
    config: FilePath = mount.FSTAB,
    persist: bool = True,
    mount_: bool = True,
    user: Name | None = None,
    match_on: OneOrMany[Line] | None = None,
    device_name_regex: list[Line] | None = None,
    extra_mount_invisible_options: list[Line] | None = None,
    extra_mount_invisible_keys: list[Line] | None = None,
    extra_mount_ignore_fs_keys: dict[Line, list[Line]] | None = None,
    extra_mount_translate_options: dict[Line, Line] | None = None,
    hidden_opts: OneOrMany[Line] | None = None,
    bind_mount_copy_active_opts: bool = True,
) -> Planned:
    """Make sure that a device is mounted, and stays so.

    name: The folder.
    device: What is mounted: a device, UUID=, LABEL=, host:/path, or a folder for a bind mount.
    fstype: The type of the file system, such as `ext4`, `nfs` or `bind`.
    mkmnt: Create the folder where it is missing.
    opts: The options, as a text or a list; without them `defaults`. What is mounted with others is
      mounted again with these.
    dump: The fifth column of fstab: whether dump saves it.
    pass_num: The sixth column of fstab: when it is checked at the start, 0 for never.
    config: The file that `persist` writes to.
    persist: Write the line to fstab.
    mount: False only writes the line.
    user: The user who mounts it; without it the caller.
    match_on: The columns that tell the line of fstab to change: of `name` (the folder), `device`
      and `fstype`, or `auto` (the device; of tmpfs and the like the folder).
    device_name_regex: Regular expressions; where one matches the start of what is mounted there,
      another device starts no remount.
    extra_mount_invisible_options: Options that the kernel does not show, so that they start no
      remount.
    extra_mount_invisible_keys: The keys of options `key=value` that the kernel does not show.
    extra_mount_ignore_fs_keys: The keys of options that do not count, by the type of the file
      system.
    extra_mount_translate_options: Options that the kernel shows under another name, each with this
      name.
    hidden_opts: Further options that start no remount.
    bind_mount_copy_active_opts: ignored; a bind mount has its own options.

        /srv/data:
          mount.mounted:
            - device: /dev/sdb1
            - fstype: ext4
            - mkmnt: True
    """
    said = mount.parsed_options(opts or ())
    options = [mount.unescaped(option) for option in said]  # a\040b, as fstab has it
    hidden = {*INVISIBLE, *(hidden_opts or ()), *(extra_mount_invisible_options or ())}
    ignored = {**IGNORED, **(extra_mount_ignore_fs_keys or {})}
    hidden |= {*(extra_mount_invisible_keys or ()), *ignored.get(fstype, ())}
    names = {**SHOWN_AS, **(extra_mount_translate_options or {})}
    shown = [names.get(option, option) for option in options]
    where = file.real_path(name)
    present = _present(where)
    other = (
        present is not None
        and _is_path(device)
        and not mount.is_of(where, present, device)
        and not _is_accepted(present.device, device_name_regex or ())
    )
    keys = mount.match_keys(match_on or "name", fstype)
    entry = mount.FstabEntry(
        device, mount.bare(name), fstype, tuple(options), str(dump), str(pass_num)
    )
    named = mount.matching(entry, config)
    old = named[0] if persist and named else None
    differing: list[str] = []
    bound = [*options, "bind"] if fstype == "bind" else options
    if present is not None and not other:
        former = former_options(present, shown, old.opts) if old else []
        surplus = [*mount.further_flags(name, device, bound), *former]
        differing = missing_options(present, shown, hidden)
        differing += [option for option in surplus if mount.key_of(option) not in hidden]
    folder = not file.is_dir(name)
    if mount_ and folder and not mkmnt:
        raise StateFailed(
            f"Mount directory is not present: {name}; `mkmnt: true` makes it",
            missing=("file", name),
        )
    mounts = mount_ and present is None
    away = mount.let_be_away(name, device, fstype, bound) if mounts else None
    if mounts and not away:
        file.real_path(name)  # through no link of somebody else
    line = _fstab_change(entry, config, keys) if persist else "kept"
    state: Literal["there", "made", "missing"] = (
        "there" if not folder else "made" if mkmnt else "missing"
    )
    when = f"once {device} is there, as nofail has it" if away else "at boot"
    wanted = None if away else mount_
    plan = PendingMount(name, wanted, present is None, other, differing, state, line, persist, when)
    told = [_TOLD[line]] if persist else []
    if not plan.changes:
        return Done(" ".join([plan.already, *told]), missing=away.missing if away else ())
    mounting = plan.changes.keys() - {"persist"}
    yield Plan(plan.changes, plan.comment, provides=[("file", name)], reacted_by=mounting)
    if plan.makes_folder:
        file.makedirs(name)
    done = _mount(plan, entry, user, old.opts if old else ())
    if line != "kept":
        mount.put_entry(entry, config, keys)
    return Done(" ".join([done, *told]) if persist else done.rstrip("."), plan.changes)


def _mount(
    plan: PendingMount, entry: mount.FstabEntry, user: str | None, former: Sequence[str]
) -> str:
    """former: the options in fstab so far."""
    fstype = "" if entry.fstype == "bind" else entry.fstype
    binds = entry.fstype == "bind" and "bind" not in entry.opts
    opts = ["bind", *entry.opts] if binds else entry.opts
    if plan.unmounts_first:
        mount.umount(plan.name)
    if plan.mounts:
        try:
            mount.mount(plan.name, entry.device, fstype, opts, user)
        except StateFailed as failure:
            raise StateFailed(failure.message, changes={}, missing=failure.missing) from None
        return "Target was successfully mounted."
    if plan.remounts:
        return _remount(plan, entry.device, fstype, opts, former)
    return plan.already


def _remount(
    plan: PendingMount, device: str, fstype: str, opts: Sequence[str], former: Sequence[str]
) -> str:
    where = file.real_path(plan.name)
    lost = former_options(mount.active_mounts()[where], opts, former)
    mount.remount(plan.name, device, fstype, [*back_to_default(fstype, lost), *opts])
    kept = former_options(mount.active_mounts()[where], opts, former)
    rest = f"; {','.join(kept)} stays until it is mounted anew." if kept else ""
    return plan.already.removesuffix(".") + rest if rest else plan.already


def _is_path(device: str) -> bool:
    """Return whether a device is named by its path: others (UUID=, labels, hosts) are not
    compared.
    """
    return device.startswith("/") and "://" not in device


def _is_accepted(device: str, patterns: Sequence[str]) -> bool:
    """Return whether what is mounted may stay, although it is another device."""
    try:
        return any(re.match(pattern, device) for pattern in patterns)
    except re.error as problem:
        raise StateFailed(f"device_name_regex: {problem}") from None


def _fstab_change(entry: mount.FstabEntry, config: str, keys: Sequence[str]) -> str:
    """The change that fstab needs: new, changed or kept. keys: the columns that tell the line."""
    old = mount.matching(entry, config, keys)
    return "new" if not old else "kept" if old[0].line == entry.line else "changed"


@file.validated
def unmounted(
    name: AbsolutePath,
    device: Name | None = None,
    config: FilePath = mount.FSTAB,
    persist: bool = False,
    user: Name | None = None,
) -> Planned:
    """Make sure that nothing is mounted at a folder.

    name: The folder.
    device: Unmount only this device.
    config: The file that `persist` removes the line from.
    persist: Remove the line from fstab, too.
    user: ignored; whoever mounted it.

        /mnt/old:
          mount.unmounted:
            - persist: True
    """
    where = file.real_path(name)
    present = _present(where)
    is_mounted = present is not None and (device is None or mount.is_of(where, present, device))
    drops = persist and bool(mount.lines_of(name, device, config))
    if not is_mounted and not drops:
        return "Target was already unmounted" + (". fstab entry not found" if persist else "")
    changes = ({"umount": True} if is_mounted else {}) | ({"persist": "purged"} if drops else {})
    purged = (
        f"Mount point {name} is unmounted but needs to be purged from {config} to be made"
        " persistent"
    )
    yield Plan(
        changes,
        f"Mount point {name} is mounted but should not be" if is_mounted else purged,
        provides=[("no mount", where)] if is_mounted else [],
    )
    if is_mounted:
        mount.umount(name)
    if drops:
        mount.drop_entry(name, device, config)
    done = "Target was successfully unmounted" if is_mounted else "Target was already unmounted"
    return done + (". Removed target from fstab" if drops else "")


def _swapped_at_boot(
    name: str, persist: bool = True, config: str = mount.FSTAB, **_: object
) -> Planned:
    """`swap` of a system that does not run."""
    done = _activated(name)
    if not persist:
        return f"Swap {name} is not activated: this system does not run"
    line = mount.FstabEntry(name, "none", "swap")
    if mount.matching(line, config, OF_SWAP):
        return done
    yield Plan({"persist": "new"}, f"Swap {name} is set to be added to the fstab")
    mount.put_entry(line, config, OF_SWAP)
    return f"{done}. Added new entry to the fstab."


def _activated(name: str, persist: bool = True, **_: object) -> str:
    return told_at_boot(name, "none", "swap", None) if persist else ""


@file.validated
@at_boot(_activated)
@offline_as(_swapped_at_boot)
def swap(name: Device, persist: bool = True, config: FilePath = mount.FSTAB) -> Planned:
    """Make sure that a device or file is swapped to.

    name: The device or file, prepared by mkswap; also its UUID= or LABEL=.
    persist: Write the line to fstab.
    config: The file that `persist` writes to.

        /swapfile:
          mount.swap: []
    """
    device = name if name.startswith("/") else mount.device_of(name)
    on = bool({name, device, file.real_path(device or name)} & set(mount.swaps()))
    line = mount.FstabEntry(name, "none", "swap")
    persists = not persist or bool(mount.matching(line, config, OF_SWAP))
    if on and persists:
        return f"Swap {name} already active"
    if not on and not (device and file.lexists(device)):
        raise StateFailed(
            f"Swap {name} failed to activate: it does not exist", missing=("file", name)
        )
    steps = [*([] if persists else ["added to the fstab"]), *([] if on else ["activated"])]
    comment = f"Swap {name} is set to be {' and to be '.join(steps)}"
    changes = ({} if on else mount.swap_facts(device or name)) | (
        {} if persists else {"persist": "new"}
    )
    yield Plan(changes, comment)
    if not on:
        with explained(f"Swap {name} failed to activate", changes={}):
            mount.swapon(device or name)
    if not persists:
        mount.put_entry(line, config, OF_SWAP)
    done = f"Swap {name} already active" if on else f"Swap {name} activated"
    now = changes if on else changes | mount.swap_facts(device or name)
    return Done(done if persists else f"{done}. Added new entry to the fstab.", now)


def _written(
    name: str,
    fs_file: str,
    fs_vfstype: str,
    fs_mntops: str | Sequence[str] | None = None,
    mount_by: str | None = None,
    **_: object,
) -> str:
    return told_at_boot(_device(name, mount_by), fs_file, fs_vfstype, fs_mntops)


def _device(name: str, mount_by: str | None) -> str:
    return name if mount_by in (None, "device") else f"{str(mount_by).upper()}={name}"


@file.validated
@at_boot(_written)
@offline_with(mount_=False)
def fstab_present(
    name: NonEmptyLine,
    fs_file: NonEmptyLine,
    fs_vfstype: FsType,
    fs_mntops: Options | None = None,
    fs_freq: int = 0,
    fs_passno: int = 0,
    mount_by: Line | None = None,
    config: FilePath = mount.FSTAB,
    mount_: bool = True,
    match_on: OneOrMany[Line] | None = None,
    not_change: bool = False,
    fs_mount: bool = True,
) -> Planned:
    """Make sure that fstab has a line, and that it is mounted. Swap is told by its device.

    name: The device, the first column.
    fs_file: The folder, the second column.
    fs_vfstype: The type of the file system, the third column.
    fs_mntops: The options, the fourth column; without them `defaults`.
    fs_freq: The fifth column: whether dump saves it.
    fs_passno: The sixth column: when it is checked at the start, 0 for never.
    mount_by: What stands in front of the name: `device` (as it is), `label`, `uuid`, `partlabel` or
      `partuuid`.
    config: The file, instead of /etc/fstab.
    mount: False does not mount a new line at once.
    match_on: As of mount.mounted.
    not_change: Leave a line that differs.
    fs_mount: Another name of mount; both have to be true.

        /dev/sdb1:
          mount.fstab_present:
            - fs_file: /srv/data
            - fs_vfstype: ext4
    """
    device = _device(name, mount_by)
    entry = mount.FstabEntry(
        device,
        mount.bare(fs_file),
        fs_vfstype,
        tuple(map(mount.unescaped, mount.parsed_options(fs_mntops or ()))),
        str(fs_freq),
        str(fs_passno),
    )
    own = OF_SWAP if fs_vfstype == "swap" else "name"  # swap has no folder
    keys = mount.match_keys(match_on or own, fs_vfstype)
    line = _fstab_change(entry, config, keys)
    lacks = mount_ and fs_mount and fs_vfstype != "swap" and not mount.is_mounted(fs_file)
    if line != "new" and lacks and _WAITS.isdisjoint(entry.opts):
        here.warn(f"nothing is mounted at {fs_file}: `mount.mounted` mounts what fstab has already")
    if line == "kept" or (line == "changed" and not_change):
        return f"{fs_file} entry was already in {config}."
    mounts = lacks and line == "new"
    word = "written in" if line == "new" else "updated in"
    comment = f"{fs_file} entry will be {word} {config}." + (
        f"\nWill mount {device} on {fs_file}" if mounts else ""
    )
    changes: dict[str, Any] = {"persist": "new" if line == "new" else "change"}
    yield Plan(changes, comment)
    mount.put_entry(entry, config, keys)
    done = f"{fs_file} entry {'added' if line == 'new' else 'updated'} in {config}."
    if mounts:
        try:
            mount.mount(fs_file, device, fs_vfstype, entry.opts)
        except StateFailed as failure:
            problem = failure.message.removeprefix(f"mount: {fs_file}: ")
            raise StateFailed(
                f"{done}\nError while mounting  {fs_file}: {problem}",
                changes=changes,
                missing=failure.missing,
            ) from None
    return done


@file.validated
def fstab_absent(
    name: NonEmptyLine,
    fs_file: NonEmptyLine,
    mount_by: Line | None = None,
    config: FilePath = mount.FSTAB,
) -> Planned:
    """Make sure that fstab does not have a line.

    name, fs_file, mount_by, config: As of mount.fstab_present.

        /dev/sdb1:
          mount.fstab_absent:
            - fs_file: /srv/data
    """
    device = _device(name, mount_by)
    if not mount.lines_of(fs_file, device, config):
        return f"{fs_file} entry is already missing in {config}."
    yield Plan({"persist": "removed"}, f"{fs_file} entry will be removed from {config}.")
    mount.drop_entry(fs_file, device, config)
    return f"{fs_file} entry removed from {config}."


REACTS = ("mounted",)


@offline_as(lambda name, **_: f"{name} is not remounted")
def mod_watch(
    name: AbsolutePath,
    sfun: Line,
    device: NameOrEmpty = "",
    fstype: Line = "",
    opts: OneOrMany[Line] | None = None,
) -> Planned:
    """Mount again with the same options when what is watched changed."""
    if sfun not in REACTS:
        return f"Watch not supported in {sfun} at this time"
    if not mount.is_mounted(name):
        return f"{name} is not remounted"
    yield Plan({"mount": True}, f"{name} would be remounted")
    mount.remount(
        name, device, "" if fstype == "bind" else fstype, mount.parsed_options(opts or ())
    )
    return f"{name} remounted"


def owns(
    fun: str, name: str, persist: object = None, config: str = mount.FSTAB, **_: object
) -> Iterator[Claim]:
    """Some of fstab."""
    if fun in ("mounted", "swap", "fstab_present") and persist is not False:
        yield Claim(PART, config)


def autorequire(name: str, mkmnt: bool = False, **_: object) -> Iterator[tuple[str, str]]:
    """A mount comes after the folder that it is mounted on, and after the mounts above it."""
    if name.startswith("/"):
        yield "file", name
        yield from (("mount", folder) for folder in folders_above(name))


def _mounts(
    name: str, device: object = None, persist: object = True, **arguments: Any
) -> Iterator[Removal]:
    """A mount goes with its line in fstab, if the state wrote one."""
    given: dict[str, Any] = {key: arguments[key] for key in ("config", "user") if key in arguments}
    yield Removal(name, {"device": device, "persist": persist} | given)


DECIDES = {"mounted": "device fstype opts"}
TOLD_APART_BY = "config"
OPPOSITE = {"mounted": Opposite("unmounted", things=_mounts)}
