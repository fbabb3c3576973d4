# SPDX-License-Identifier: Apache-2.0
"""Disks and configuration files for real: what their tools say at the end."""

from __future__ import annotations

import json
from typing import Any

from debian import Debian
from loop_devices import SCRIPT

LAYER = "volumes"
EDITS = """
hosts:
  augeas.change:
    - lens: Hosts.lns
    - changes:
      - set /files/etc/hosts/*[canonical='localhost']/alias me
      - defvar new /files/etc/hosts/seven
      - ins 05 after "/files/etc/hosts/*[canonical='localhost']"
      - set /files/etc/hosts/05/ipaddr 10.0.0.7
      - set /files/etc/hosts/05/canonical "seven"
    - unless: grep seven /etc/hosts
new:
  augeas.change:
    - context: /files/etc/new.conf
    - lens: Simplevars.lns
    - changes: [set a "it's", clear nothing/here, rm nothing]
"""
REFUSED = """
no lens:
  augeas.change:
    - context: /files/usr/local/plain
    - changes: [set a 1]
both at once:
  augeas.change:
    - lens: Hosts.lns
    - changes: [set /files/etc/hosts/1/alias x, set /files/etc/hosts/1/canonical "a b"]
save:
  augeas.change:
    - changes: [set /augeas/save newfile]
load:
  augeas.change:
    - changes: [load /etc/shadow]
lens:
  augeas.change:
    - context: /files/etc/hosts
    - lens: x; save
    - changes: [set 1/alias x]
nothing:
  augeas.change:
    - context: /files/etc/hosts
"""
VOLUMES = """
first disk: {lvm.pv_present: [name: /dev/disk-b, dataalignment: 1m]}
second disk: {lvm.pv_present: [name: /dev/disk-c]}
vg0: {lvm.vg_present: [devices: [/dev/disk-b, /dev/disk-c], physicalextentsize: 8m]}
data: {lvm.lv_present: [vgname: vg0, size: 20M]}
three: {lvm.lv_present: [vgname: vg0, extents: 3]}
part: {lvm.lv_present: [vgname: vg0, extents: 10%VG, pv: /dev/disk-b]}
small: {blockdev.formatted: [name: /dev/disk-a, fs_type: ext4]}
"""
NO_VOLUMES = """
no lv: {lvm.lv_absent: [names: [data, three, part], vgname: vg0]}
no vg: {lvm.vg_absent: [name: vg0]}
no pv: {lvm.pv_absent: [names: [/dev/disk-b, /dev/disk-c]]}
"""
SUBVOLUME = """
'@/var':
  btrfs.subvolume_created: [device: /dev/disk-b, copy_on_write: False]
"""
# what is refused, in dry runs as in real ones: state, arguments, why
DANGEROUS = (
    ("blockdev.formatted", "name: /dev/disk-a, fs_type: xfs, force: True", "mounted at /mnt"),
    ("blockdev.formatted", "name: /run/images/a, fs_type: xfs", "used by /dev/loop"),
    ("blockdev.formatted", "name: /etc/passwd, fs_type: vfat", "holds data: it is overwritten"),
    ("blockdev.formatted", "name: /dev/disk-b, force: True", "in the volume group vg0"),
    ("blockdev.formatted", "name: /dev/null", "is no block device"),
    ("blockdev.formatted", "name: /dev/disk-a, fs_type: ../x", "Invalid fs_type"),
    ("blockdev.tuned", "name: /dev/disk-a, read-ahead: x", "expected a number of sectors"),
    ("lvm.pv_present", "name: /dev/disk-a", "mounted at /mnt"),
    ("lvm.pv_present", "name: /dev/nowhere", "/dev/nowhere does not exist"),
    ("lvm.pv_absent", "name: /dev/disk-c", "it is in the volume group vg0"),
    ("lvm.vg_present", "name: vg1, devices: /dev/disk-b", "is part of vg0"),
    ("lvm.vg_present", "name: vg0, devices: '/dev/disk-b,/dev/disk-a'", "is not present"),
    ("lvm.vg_absent", "name: vg0", "it has the logical volumes data"),
    ("lvm.lv_present", "name: data, vgname: vg0, size: 8M", "option 'force' must be True"),
    ("lvm.lv_present", "name: big, vgname: vg0, size: 9T", "insufficient free space"),
    ("lvm.lv_present", "name: bad, vgname: vg0, size: lots", "Size lots is invalid"),
    ("lvm.lv_present", "name: bad, vgname: vg0, extents: 1, bogus: 1", "unrecognized option"),
    ("lvm.lv_present", "name: bad, vgname: nowhere, size: 1", "nowhere does not exist"),
)


def test_augeas(debian: Debian) -> None:
    debian.write("/usr/local/plain", "a=1\n")
    debian.tree(edits=EDITS, refused=REFUSED)
    dry = debian.results("sls", "edits", "--test")
    assert "+10.0.0.7\tseven\n" in dry["hosts"]["changes"]["diff"]
    assert debian.read("cat /etc/hosts; ls /etc/new.conf 2>&1 || true").startswith("127.0.0.1 loc")
    real = debian.results("sls", "edits")
    assert [result["changes"] for result in real.values()] == [
        result["changes"] for result in dry.values()
    ]
    lines = ["127.0.0.1 localhost me", "10.0.0.7\tseven", "127.0.1.1 machine", "a = it's"]
    assert debian.read("cat /etc/hosts /etc/new.conf").splitlines() == lines
    assert not any(result["changes"] for result in debian.results("sls", "edits").values())

    refused = debian.results("sls", "refused", code=2)
    assert "no lens reads /usr/local/plain" in refused["no lens"]["comment"]
    assert "Failed to match tree under /files/etc/hosts/1" in refused["both at once"]["comment"]
    assert "/augeas/save is not to be set" in refused["save"]["comment"]
    assert "Command load is not supported" in refused["load"]["comment"]
    assert "is no name of a lens" in refused["lens"]["comment"]
    assert "'changes' must be specified" in refused["nothing"]["comment"]
    assert debian.read("cat /etc/hosts").splitlines() == lines[:3]
    found = debian.read("runner", "call", "augeas.match", "/files/etc/hosts/*/ipaddr")
    assert "/files/etc/hosts/2/ipaddr: 10.0.0.7" in found


def images(machine: Debian) -> str:
    """Return what the disks hold, to the byte."""
    return machine.read("md5sum /run/images/* /etc/passwd")


def test_volumes(debian: Debian) -> None:
    debian.run(SCRIPT)
    dangers = "".join(
        f"danger {number}: {{{function}: [{arguments}]}}\n"
        for number, (function, arguments, _) in enumerate(DANGEROUS)
    )
    debian.tree(volumes=VOLUMES, dangers=dangers, no_volumes=NO_VOLUMES)
    before = images(debian)
    debian.runner("sls", "volumes", "--test")
    assert images(debian) == before
    debian.runner("sls", "volumes")
    sizes = debian.read("lvs --noheadings --units m -o lv_name,lv_size 2>/dev/null").split()
    assert dict(zip(sizes[::2], sizes[1::2], strict=True)) == {
        "data": "24.00m",
        "three": "24.00m",
        "part": "8.00m",
    }
    assert not any(result["changes"] for result in debian.results("sls", "volumes").values())

    debian.run("mount", "/dev/disk-a", "/mnt")
    before = images(debian)
    for words in (("--test",), ()):
        results = debian.results("sls", "dangers", *words, code=2)
        for number, (function, arguments, why) in enumerate(DANGEROUS):
            result = results[f"danger {number}"]
            assert result["result"] is False, (words, function, arguments)
            assert why in result["comment"], (words, result["comment"])
    debian.run("umount", "/mnt")
    assert images(debian).splitlines()[1:] == before.splitlines()[1:]

    debian.runner("sls", "no_volumes", "--test")
    debian.runner("sls", "no_volumes")
    assert debian.read("pvs 2>/dev/null") == ""
    assert debian.read("runner call disk.fstype /dev/disk-a") == "ext4"

    debian.run("truncate -s 120M /run/images/b; losetup -c /dev/disk-b; mkfs.btrfs -q /dev/disk-b")
    debian.tree(subvolume=SUBVOLUME)
    before = images(debian)
    debian.runner("sls", "subvolume", "--test")
    assert images(debian) == before, "a look does not replay the log"
    debian.runner("sls", "subvolume")
    debian.run("mount -o subvol=@/var /dev/disk-b /mnt; lsattr -d /mnt | grep -q C; umount /mnt")


def test_looks(debian: Debian) -> None:
    """The tools say of image files what they say of devices."""
    debian.run(
        "cd /run; truncate -s 300M x.img; mkfs.xfs -q x.img; truncate -s 8M e.img p.img;"
        " mkfs.ext4 -q -L data e.img; parted -s p.img mklabel gpt mkpart one ext4 1MiB 5MiB"
    )
    calls = {
        "xfs.info /run/x.img": {"data": {"bsize": "4096"}, "log": {"section": "internal log"}},
        "extfs.attributes /run/e.img": {"Filesystem volume name": "data"},
        "partition.list /run/p.img unit=B": {
            "info": {"partition table": "gpt"},
            "partitions": {"1": {"start": "1048576B", "name": "one"}},
        },
    }
    for line, expected in calls.items():
        answer = json.loads(debian.runner("call", *line.split(), "--out", "json").stdout)["local"]
        assert contains(answer, expected), answer
    for line in ("xfs.info", "extfs.attributes", "partition.list"):
        assert "error: " in debian.runner("call", line, "/etc/passwd", code=1).stderr


def contains(answer: Any, part: Any) -> bool:
    """Return whether an answer has a part of it, at any depth."""
    if isinstance(part, dict):
        return all(key in answer and contains(answer[key], part[key]) for key in part)
    return bool(answer == part)


ENCRYPTED = """
image: {file.managed: [name: /etc/keys/data, contents: 'key "of" a file', mode: '0600',
  makedirs: true]}
made: {luks.present: [name: /srv/image, key_file: /etc/keys/data, label: data, iter_time: 10]}
more: {luks.key: [name: /srv/image, passphrase: "{{ pillar['rescue'] }}", iter_time: 10,
  by_key_file: /etc/keys/data]}
last: {luks.key: [name: /srv/image, passphrase: "{{ pillar['more'] }}", iter_time: 10,
  by_passphrase: "{{ pillar['rescue'] }}"]}
"""
SPYING = r"""
printf '#!/bin/sh\necho "$*" >>/srv/words; exec /sbin/cryptsetup "$@"\n' >/usr/local/sbin/cryptsetup
chmod 755 /usr/local/sbin/cryptsetup; truncate -s 20M /srv/image
"""


def test_an_encrypted_device_and_its_keys(debian: Debian) -> None:
    secrets = {"rescue": "hard to guess", "more": "harder to guess"}
    debian.run(SPYING)
    debian.write("/srv/runner/pillar/top.sls", "base: {'*': [keys]}")
    debian.write("/srv/runner/pillar/keys.sls", json.dumps(secrets))
    debian.tree(encrypted=ENCRYPTED)
    foreseen = debian.results("sls", "encrypted", "--test")
    assert {result["result"] for result in foreseen.values()} == {None}
    assert not debian.read("wipefs --parsable /srv/image"), "a dry run changes nothing"
    made = debian.runner("sls", "encrypted", "-v")
    again = debian.runner("sls", "encrypted", "-v")
    assert "4 unchanged" in again.stdout
    opens = "cryptsetup open --test-passphrase /srv/image --key-file"
    for word in secrets.values():
        debian.run(f"printf '{word}' | {opens} -")
        found = debian.run(f"grep -rl '{word}' /srv/words /var/lib/runner", code=1)
        assert not found.stdout and word not in made.stdout + made.stderr + again.stdout
    debian.run(f"{opens} /etc/keys/data")
    undone = json.loads(debian.runner("undo", "--out", "json", code=None).stdout)["local"]
    assert undone["unknown"], "what was there is encrypted: nothing brings it back"
    debian.run("cryptsetup isLuks /srv/image; rm -r /srv/runner/pillar")
