# SPDX-License-Identifier: Apache-2.0
"""File systems of the types ext2, ext3 and ext4."""

from __future__ import annotations

from modules import cmd
from modules._machine.processes import needs
from modules._texts.lines import plain_name
from runner.api import CommandFailed

NEEDS_PROGRAM = "dumpe2fs"  # without it templates find no function of this module


def attributes(device: str, args: str | None = None) -> dict[str, str | list[str]]:
    """Return what the superblock of a file system says. args: one attribute, for it alone.

    {{ salt['extfs.attributes']('/dev/sda1')['Filesystem state'] }}
    """
    needs("dumpe2fs", "e2fsprogs")
    done = cmd.probe(["dumpe2fs", "-h", plain_name(device, "the device")])
    if done.retcode:
        raise CommandFailed(done.stderr.strip().rpartition("\n")[2])
    answer: dict[str, str | list[str]] = {}
    for line in done.stdout.splitlines():
        key, colon, value = line.partition(":")
        if colon and (args is None or key == args):
            text = value.strip()
            answer[key] = text.split() if key == "Filesystem features" else text
    return answer
