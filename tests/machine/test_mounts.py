# SPDX-License-Identifier: Apache-2.0
"""Mounts for real: what the kernel says of them after each run."""

from __future__ import annotations

import json
from typing import Any

from debian import Debian

LOOPS = "cd /dev; test -e loop-control || mknod loop-control c 10 237; for i in $(seq 0 63); do"
LOOPS += " test -e loop$i || mknod loop$i b 7 $i; done; truncate -s 8M /image; mkfs.ext4 -q /image"


def settled(debian: Debian, place: str, **arguments: object) -> Any:
    """Return what a mount changes, in a dry run and in a real one; a second run changes nothing."""
    arguments |= {"name": place, "mkmnt": True}
    debian.tree(mounts=json.dumps({place: {"mount.mounted": [arguments]}}))
    dry = debian.results("sls", "mounts", "--test", code=None)[place]
    real = debian.results("sls", "mounts")[place]
    assert dry["changes"] == real["changes"]
    assert debian.results("sls", "mounts")[place]["changes"] == {}
    return real


def options(debian: Debian, place: str) -> set[str]:
    return {*debian.read("findmnt", "-no", "OPTIONS", place).split(",")}


def test_options_that_are_no_longer_wanted_are_gone(debian: Debian) -> None:
    place = "/mnt/options"

    def mounted(opts: str) -> Any:
        result = settled(debian, place, device="tmpfs", fstype="tmpfs", opts=opts)
        return result["changes"].get("umount")

    assert mounted("ro,noexec,nosuid,nodev,size=2M") is None
    changed = "Forced remount because options ({}) changed".format
    assert mounted("nosuid,size=2M") == changed("nodev,noexec,ro")
    assert options(debian, place) == {"rw", "nosuid", "relatime", "size=2048k"}
    assert mounted("noatime") == changed("noatime,nosuid,size=2048k")
    assert {"rw", "noatime"} <= options(debian, place)
    assert "size=2048k" not in options(debian, place)
    assert mounted("user") == changed("noatime")
    assert mounted("defaults") == changed("nodev,noexec,nosuid")
    assert {"rw", "relatime"} <= options(debian, place)
    debian.run("mount", "-o", "remount,nosuid", place)  # by somebody else
    assert mounted("defaults") == changed("nosuid")
    debian.run("umount", place)


def test_flags_that_a_mount_has_by_itself_stay(debian: Debian) -> None:
    debian.run("mkdir -p /mnt/source/folder; mount -t tmpfs -o noexec,nosuid x /mnt/source")
    debian.run("mkdir /mnt/source/folder")
    bound = {"device": "/mnt/source/folder", "fstype": "none"}
    assert settled(debian, "/mnt/view", opts="bind", **bound)["changes"]["mount"]
    assert {"noexec", "nosuid"} <= options(debian, "/mnt/view")
    assert settled(debian, "/mnt/view", opts="bind,nodev", **bound)["changes"]["umount"]
    assert "nodev" in options(debian, "/mnt/view")
    assert settled(debian, "/mnt/view", opts="bind", **bound)["changes"]["umount"]
    assert "nodev" not in options(debian, "/mnt/view")
    debian.run("umount /mnt/view /mnt/source")
    shm = options(debian, "/dev/shm")
    settled(debian, "/dev/shm", device="tmpfs", fstype="tmpfs", opts="defaults")
    assert options(debian, "/dev/shm") == shm


def test_a_bind_mount_of_another_folder_is_mounted_anew(debian: Debian) -> None:
    debian.run("mkdir /srv/one /srv/two; touch /srv/one/1 /srv/two/2; ln -s two /srv/link")
    settled(debian, "/mnt/bound", device="/srv/one", fstype="none", opts="bind")
    again = settled(debian, "/mnt/bound", device="/srv/link", fstype="none", opts="bind")
    assert again["changes"]["umount"] == "Forced unmount because devices don't match"
    assert debian.read("ls /mnt/bound") == "2"
    debian.run("umount /mnt/bound")


def test_an_image_stays_mounted(debian: Debian) -> None:
    debian.run(LOOPS)
    for given in ({}, {"opts": "loop"}, {"opts": "loop,commit=77"}):
        settled(debian, "/mnt/image", device="/image", fstype="ext4", **given)
    pid = debian.start("sleep", "1000", cwd="/mnt/image")
    busy = settled(debian, "/mnt/image", device="/image", fstype="ext4", opts="loop")
    assert "commit=77 stays until it is mounted anew" in busy["comment"]
    debian.run(f"kill {pid}")
    debian.until("umount /mnt/image")


def test_a_file_that_is_mounted_stays_though_its_text_is_planned(debian: Debian) -> None:
    debian.run("cd /srv && touch over under && mount --bind under over")
    debian.tree(
        own="""
/srv/over:
  file.managed: [contents: new]
gone:
  file.absent: [name: /srv/over]
"""
    )
    dry = debian.results("sls", "own", "--test", code=2)
    assert (dry["/srv/over"]["result"], dry["gone"]["result"]) == (None, False)
    real = debian.results("sls", "own", code=2)
    assert real["gone"]["comment"] == dry["gone"]["comment"]
    assert debian.read("cat /srv/under") == "new"
