# SPDX-License-Identifier: Apache-2.0
"""Software RAID."""

from __future__ import annotations

from typing import Annotated

from modules.storage import blockdev, raid
from modules.storage.blockdev import Device
from runner.api import AbsolutePath, Done, Line, Name, Named, Plan, Planned, StateFailed
from runner.api.kinds import comes_after
from states._rights import only_root
from states._tools import explained

dry_run_check = only_root("mdadm")


def _names_option(name: str) -> bool:
    return name.isascii() and name.replace("-", "").replace("_", "").isalpha() and name.islower()


Option = Annotated[bool | int | Line, Named(_names_option)]


def present(
    name: AbsolutePath,
    level: Line,
    devices: list[Name],
    force: bool = False,
    run: bool = True,
    **options: Option,
) -> Planned:
    """Make sure that there is an array, and that it runs; members of one are assembled.

    Any other argument is an option of mdadm: chunk, metadata, spare-devices, ...

    name: The device of the array.
    level: The level: 0, 1, 4, 5, 6, 10 or linear.
    devices: The devices that it is made of; `missing` for one that is added later.
    force: Whatever the devices hold is overwritten; without it, only devices that hold nothing are
      taken, and those in use never.
    run: Ignored; nobody is asked.

        /dev/md0:
          raid.present:
            - level: 5
            - devices: [/dev/sdb, /dev/sdc, /dev/sdd]
            - chunk: 256

    Behaviour: Salt 3008's raid.present, which overwrites what the devices hold with `run`.
    """
    words = raid.creation(name, level, devices, options)
    if raid.array(name):
        return f"Raid {name} already present"
    found = [blockdev.resolve(device) for device in devices if device != "missing"]
    arrays = {device.name: raid.examine(device.path).get("MD_UUID", "") for device in found}
    if any(arrays.values()):
        return (yield from _assembled(name, found, arrays))
    for device in found:
        blockdev.refuse_full(device, force)
    paths = {device.name: device.path for device in found}
    words = raid.creation(name, level, [paths.get(d, "missing") for d in devices], options)
    return (
        yield from _started(name, found, [*words, "--run", *(["--force"] if force else [])], True)
    )


def assembled(name: AbsolutePath, devices: list[Name], **options: Option) -> Planned:
    """Make sure that an array that was made before runs.

    Any other argument is an option of mdadm.

    name: The device of the array.
    devices: The devices that it consists of.

        /dev/md0:
          raid.assembled:
            - devices: [/dev/sdb, /dev/sdc]

    Behaviour: raid.present of members, which makes no array.
    """
    if raid.array(name):
        return f"Raid {name} already present"
    found = [blockdev.resolve(device) for device in devices]
    arrays = {device.name: raid.examine(device.path).get("MD_UUID", "") for device in found}
    return (yield from _assembled(name, found, arrays, raid.option_words(options)))


def _assembled(
    name: str, devices: list[Device], arrays: dict[str, str], options: list[str] | None = None
) -> Planned:
    strangers = [device for device, uuid in arrays.items() if not uuid]
    if strangers:
        raise StateFailed(
            f"Devices are a mix of members of an array and others: {', '.join(strangers)}"
        )
    if len(set(arrays.values())) > 1:
        raise StateFailed(f"Devices are members of several arrays: {', '.join(arrays)}")
    for device in devices:
        blockdev.refuse_used(device)
    paths = [device.path for device in devices]
    words = ["mdadm", "--assemble", name, *(options or []), *paths]
    return (yield from _started(name, devices, words, False))


def _started(name: str, devices: list[Device], words: list[str], new: bool) -> Planned:
    verb = "created" if new else "assembled"
    yield Plan(
        {"uuid": name},
        f"Raid will be {verb} with: {' '.join(words)}",
        provides=[("raid", name), ("file", name)],
    )
    for device in devices:
        blockdev.unchanged(device)
    with explained(f"Raid {name} failed to be {verb}"):
        raid.carry_out(words)
    described = raid.array(name)
    if described is None:
        raise StateFailed(f"Raid {name} failed to be {verb}.")
    raid.save_config()
    return Done(f"Raid {name} {verb}.", {"uuid": described.get("uuid", "")})


def absent(name: AbsolutePath) -> Planned:
    """Make sure that there is no such array; what is in it is lost.

    name: The device of the array. One that is in use is left alone.

        /dev/md0:
          raid.absent: []
    """
    if raid.array(name) is None:
        return f"Raid {name} already absent"
    blockdev.refuse_used(blockdev.resolve(name))
    yield Plan({"removed": name}, f"Raid {name} is set to be destroyed")
    with explained(f"Raid {name} failed to be destroyed"):
        gone = raid.destroy(name)
    if not gone:
        raise StateFailed(f"Raid {name} failed to be destroyed")
    return f"Raid {name} has been destroyed"


autorequire = comes_after("An array comes after the program that makes it.", ("pkg", "mdadm"))
