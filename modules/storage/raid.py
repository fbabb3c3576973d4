# SPDX-License-Identifier: Apache-2.0
"""Software RAID, by mdadm."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

from modules import _paths, cmd, file
from modules._machine.processes import Completed, needs
from modules._texts.lines import one_line, plain_name
from modules.storage import blockdev
from runner.api import CommandFailed, StateFailed, cached_look, changer, for_states

NEEDS_PROGRAM = "mdadm"  # without it templates find no function of this module
MEMBER = "linux_raid_member"  # what a device holds that is in an array
CONFIGURATIONS = ("/etc/mdadm/mdadm.conf", "/etc/mdadm.conf")
FLAGS = ("force", "run", "readonly", "assume-clean", "write-mostly", "failfast")


@cached_look("volumes")
def list_() -> dict[str, dict[str, str]]:
    """The arrays that run, by their devices: uuid, name, metadata, ...

    {{ salt['raid.list']() | json }}
    """
    arrays = {}
    for line in _mdadm("--detail", "--scan").stdout.splitlines():
        words = line.split()
        if len(words) > 1 and words[0] == "ARRAY":
            pairs = (word.partition("=") for word in words[2:])
            described = {key.lower(): value for key, mark, value in pairs if mark}
            arrays[words[1]] = {"device": words[1], **described}
    return arrays


def detail(device: str = "/dev/md0") -> dict[str, Any]:
    """Return what mdadm says of an array that runs; its members by their numbers.

    {{ salt['raid.detail']('/dev/md0')['State'] }}
    """
    path = plain_name(device, "the array")
    if not _paths.exists(path):
        raise CommandFailed(f"Device {device} doesn't exist!")
    answer: dict[str, Any] = {"members": {}}
    for line in _checked(_mdadm("--detail", path)).stdout.splitlines():
        key, colon, value = line.partition(" : ")
        member = re.fullmatch(r"\s*(\d+|-)\s+(\d+)\s+(\d+)\s+(\d+|-)\s+(.*?)\s+(/\S+)", line)
        if colon:
            answer[key.strip()] = value.strip()
        elif member:
            names = ("number", "major", "minor", "raiddevice", "state", "device")
            answer["members"][member[4]] = dict(zip(names, member.groups(), strict=True))
    return answer


def examine(device: str, quiet: bool = False) -> dict[str, str]:
    """Return what a member says of its array; empty where it is none. quiet: accepted.

    {{ salt['raid.examine']('/dev/sdb1') }}
    """
    done = _mdadm("--examine", "--export", plain_name(device, "the device"))
    pairs = (line.partition("=") for line in done.stdout.splitlines())
    return {key: value for key, mark, value in pairs if mark} if not done.retcode else {}


@for_states
def array(name: str) -> dict[str, str] | None:
    """The array of a device, whichever link to it is named; None where it does not run."""
    real = _paths.realpath(name)
    for device, described in list_().items():
        if device == name or (_paths.exists(name) and _paths.realpath(device) == real):
            return described
    return None


@for_states
def creation(
    name: str, level: object, devices: Sequence[str], options: Mapping[str, object]
) -> list[str]:
    """Return the command that makes an array. Raises StateFailed for a level that is none."""
    text = str(level).lower()
    if not re.fullmatch(r"(raid)?(0|1|4|5|6|10)|linear|stripe|mirror", text):
        raise StateFailed(f"{level} is no level of RAID: 0, 1, 4, 5, 6, 10 and linear are")
    given = {**options}
    count = given.pop("raid-devices", None)
    if count is None:
        count = len(devices) - int(str(given.get("spare-devices", 0)))
    words = ["mdadm", "--create", plain_name(name, "the array"), f"--level={text}"]
    words += [f"--metadata={one_line(given.pop('metadata', 'default'), 'metadata')}"]
    words += [f"--raid-devices={count}", *option_words(given)]
    return [*words, *(plain_name(device, "the device") for device in devices)]


@for_states
def option_words(options: Mapping[str, object]) -> list[str]:
    """Return options of an SLS as those of mdadm: `chunk: 256` is `--chunk=256`. Raises StateFailed
    for a name that is none.
    """
    words = []
    for name, value in options.items():
        option = name.replace("_", "-")
        if not re.fullmatch(r"[a-z]+(-[a-z]+)*", option):
            raise StateFailed(f"{name!r} is no option of mdadm")
        if option in FLAGS or value is True:
            words += [f"--{option}"] if value not in (False, None) else []
        else:
            words.append(f"--{option}={one_line(value, name)}")
    return words


@for_states
@changer(touches=["volumes"])
def carry_out(words: Sequence[str]) -> str:
    """Run a command of mdadm: what it says. Raises CommandFailed for what it refuses."""
    done = _checked(cmd.execute(list(words)))
    return (done.stdout.strip() or done.stderr).strip()


def create(
    name: str,
    level: str | int,
    devices: Sequence[str],
    metadata: str = "default",
    test_mode: bool = False,
    **options: Any,
) -> str:
    """Make an array of devices that hold nothing; what mdadm says.

    devices: or `missing`. test_mode: return the command instead. options: those of mdadm,
    `chunk=256`; run and force overwrite what the devices hold.
    """
    words = creation(name, level, devices, {"metadata": metadata, **options})
    if test_mode:
        return " ".join(words)
    for device in devices:
        if device != "missing":
            blockdev.refuse_full(blockdev.resolve(device), bool(options.get("force")))
    return carry_out([*words, *([] if options.get("run") else ["--run"])])


def assemble(name: str, devices: Sequence[str], test_mode: bool = False, **options: Any) -> str:
    """Start an array of its members; what mdadm says. test_mode: return the command instead."""
    paths = [plain_name(device, "the device") for device in devices]
    words = ["mdadm", "--assemble", plain_name(name, "the array"), *option_words(options), *paths]
    return " ".join(words) if test_mode else carry_out(words)


def add(name: str, device: str) -> bool:
    """Add a device that holds nothing to an array."""
    target = blockdev.resolve(device)
    blockdev.refuse_full(target, False)
    carry_out(["mdadm", "--manage", plain_name(name, "the array"), "--add", target.path])
    return True


def destroy(device: str) -> bool:
    """Stop an array and let its members forget it: whether it is gone. An array that is in use is
    refused.
    """
    target = blockdev.resolve(device)
    blockdev.refuse_used(target)
    described = array(device) or {}
    members = [member["device"] for member in detail(target.path)["members"].values()]
    carry_out(["mdadm", "--stop", target.path])
    if members:
        carry_out(["mdadm", "--zero-superblock", *members])
    _forget(described.get("uuid", ""))
    return array(device) is None


@changer(touches=[])
def save_config() -> list[str]:
    """Have the arrays that run started at boot, by the configuration of mdadm: their lines."""
    path = next((path for path in CONFIGURATIONS if file.is_file(path)), CONFIGURATIONS[0])
    lines = [line for line in _mdadm("--detail", "--scan").stdout.splitlines() if line]
    present = file.text_to_edit(path)
    known = re.findall(r"^ARRAY .*?UUID=(\S+)", present, re.MULTILINE | re.IGNORECASE)
    more = [line for line in lines if not any(uuid in line for uuid in known)]
    if more:
        start = present if not present or present.endswith("\n") else f"{present}\n"
        file.makedirs(os.path.dirname(path))
        text = start + "".join(f"{line}\n" for line in more)
        file.write(path, text.encode("utf-8", "surrogateescape"))
    return lines


@changer(touches=[])
def _forget(uuid: str) -> None:
    for path in CONFIGURATIONS:
        if uuid and file.is_file(path):
            lines = file.text_to_edit(path).splitlines(True)
            remaining = [
                line for line in lines if not re.match(rf"ARRAY .*{re.escape(uuid)}", line)
            ]
            if remaining != lines:
                file.write(path, "".join(remaining).encode("utf-8", "surrogateescape"))


def _mdadm(*words: str) -> Completed:
    needs("mdadm", "mdadm")
    return cmd.probe(["mdadm", *words])


def _checked(done: Completed) -> Completed:
    if done.retcode:
        lines = done.error_text.splitlines()
        raise CommandFailed(
            "; ".join(line.removeprefix("mdadm: ") for line in lines) or "it failed"
        )
    return done


__func_alias__ = {"list_": "list"}
