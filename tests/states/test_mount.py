# SPDX-License-Identifier: Apache-2.0
"""Mounts: which line of fstab is meant, and what may stay mounted. Only looks, and a scratch
fstab.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from command import Machine
from harness import apply, look

from modules import mount
from runner.api import Done, Plan, StateFailed
from states.mount import fstab_absent, fstab_present, mounted, unmounted


def test_match_on_says_which_line_of_fstab_changes(tmp_path: Path) -> None:
    config = tmp_path / "fstab"
    config.write_text("/dev/vdx /old xfs defaults 0 0\n/dev/vdy /new xfs defaults 0 0\n")
    given: dict[str, Any] = {
        "name": "/dev/vdx",
        "fs_file": "/new",
        "fs_vfstype": "xfs",
        "mount_": False,
    }
    apply(fstab_present, **given, config=str(config), match_on="device")
    assert config.read_text().split()[:4] == ["/dev/vdx", "/new", "xfs", "defaults"]
    assert "/dev/vdy /new" in config.read_text()
    config.write_text("/dev/vdx /old xfs defaults 0 0\n/dev/vdy /new xfs defaults 0 0\n")
    apply(fstab_present, **given, config=str(config))
    assert "/dev/vdx /old" in config.read_text()
    assert "/dev/vdy" not in config.read_text(), "without it the folder says which"
    with pytest.raises(StateFailed, match="expected auto or some of name, device, fstype"):
        apply(fstab_present, **given, config=str(config), match_on=["opts"])
    swaps: dict[str, Any] = {"fs_file": "none", "fs_vfstype": "swap", "config": str(config)}
    config.write_text("/dev/vdx none swap defaults 0 0\n")
    apply(fstab_present, name="/dev/vdy", **swaps)
    for device in ("/dev/vdx", "/dev/vdy"):
        assert not isinstance(look(fstab_present, name=device, **swaps), Plan)


@pytest.mark.parametrize(
    ("fstype", "shown", "opts"),
    [
        ("ramfs", "rw,relatime", "size=1g"),
        ("nfs", "rw,relatime,proto=tcp", "tcp,nointr,port=2049"),
        ("fuse.sshfs", "rw,relatime", "reconnect,nonempty,delay_connect,transform_symlinks"),
        ("fuse.glusterfs", "rw,relatime", "direct-io-mode=disable,backup-volfile-servers=b:c"),
    ],
)
def test_what_the_kernel_shows_otherwise_or_not_starts_no_remount(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, fstype: str, shown: str, opts: str
) -> None:
    there = mount.Mounted("x", fstype, tuple(shown.split(",")))
    monkeypatch.setattr(mount, "active_mounts", lambda: {str(tmp_path): there})
    given = {"name": str(tmp_path), "device": "x", "fstype": fstype, "persist": False}
    assert not isinstance(look(mounted, **given, opts=opts), Plan)
    assert isinstance(look(mounted, **given, opts=f"{opts},ro"), Plan)


def test_another_device_may_be_mounted_that_a_regular_expression_matches() -> None:
    given: dict[str, Any] = {
        "name": "/proc",
        "device": "/dev/another",
        "fstype": "proc",
        "persist": False,
    }
    assert isinstance(look(mounted, **given), Plan)
    assert not isinstance(look(mounted, **given, device_name_regex=["pr.c"]), Plan)
    with pytest.raises(StateFailed, match="device_name_regex: "):
        look(mounted, **given, device_name_regex=["("])


def test_a_line_of_fstab_that_is_not_mounted_is_told(machine: Machine) -> None:
    more = "{fs_file: /srv/none}, {fs_vfstype: tmpfs}, {config: '{tmp}/fstab'}"
    machine.write(
        a=f"none: {{mount.fstab_present: [{more}, {{mount: false}}]}}\n",
        b=f"none: {{mount.fstab_present: [{more}]}}\n",
        c=f"none: {{mount.fstab_present: [{more}, {{fs_mntops: noauto}}]}}\n",
        d=f"none: {{mount.fstab_present: [{more}, {{fs_mntops: 'rw,nofail'}}]}}\n",
    )
    told = "nothing is mounted at /srv/none: `mount.mounted` mounts what fstab has already"
    (machine.folder / "fstab").touch()
    for name, warned in (("a", False), ("b", True), ("c", False), ("d", False)):
        (result,) = machine.results("sls", name).values()
        assert (told in result.get("warnings", ())) is warned, name


def test_what_nofail_lets_be_away_is_mounted_later(tmp_path: Path) -> None:
    """As mount does: with nofail it says nothing of a device that is not there."""
    config = tmp_path / "fstab"
    given: dict[str, Any] = {"name": str(tmp_path), "fstype": "ext4", "config": str(config)}
    for device in ("/dev/not-there", "UUID=not-there", "LABEL=not-there"):
        config.write_text("")
        with pytest.raises(StateFailed, match="not-there"):
            apply(mounted, **given, device=device)
        assert apply(mounted, **given, device=device, opts="ro,nofail").changes == {
            "persist": "new"
        }
        assert device in config.read_text()
        again = look(mounted, **given, device=device, opts="ro,nofail")
        later = f"{tmp_path} is mounted once {device} is there, as nofail has it."
        assert isinstance(again, Done)
        assert again.comment.startswith(later)


def test_a_slash_at_the_end_of_a_folder_in_fstab_makes_it_no_other(tmp_path: Path) -> None:
    config = tmp_path / "fstab"
    line = "server:/a /mnt/nfs/ nfs ro 0 0\n"
    given: dict[str, Any] = {"name": "/mnt/nfs", "config": str(config)}
    config.write_text(line)
    apply(mounted, **given, device="server:/b", fstype="nfs", opts="ro", mount_=False)
    assert config.read_text() == "server:/b\t\t/mnt/nfs\tnfs\tro\t0 0\n"
    config.write_text(line)
    apply(unmounted, **given, persist=True)
    assert config.read_text() == ""
    config.write_text(line)
    apply(fstab_absent, "server:/a", fs_file="/mnt/nfs", config=str(config))
    assert config.read_text() == ""
