# SPDX-License-Identifier: Apache-2.0
"""How arrays and btrfs are tried: btrfs for real, mdadm by recorded answers on real devices, since
the kernel of the tests has no arrays.
"""

from __future__ import annotations

from typing import Any

from laws import Scenario
from loop_devices import A, B, C, on_disks

# a stand-in: /run/array is there while the array runs, /run/member while devices belong to one
MDADM = r"""
cat >/usr/local/sbin/mdadm <<'X'
#!/bin/sh
case "$*" in
'--detail --scan')
    test -e /run/array && echo 'ARRAY /dev/md0 metadata=1.2 name=machine:0 UUID=bd18:5f60'
    exit 0;;
'--examine --export '*) test -e /run/member && printf 'MD_LEVEL=raid1\nMD_UUID=bd18:5f60\n'
    test -e /run/member || { echo "mdadm: No md superblock detected on $3." >&2; exit 1; };;
'--detail '*) cat /run/detail;;
'--create '*'--level=1 '*'--raid-devices=2 '*|'--assemble '*)
    touch /run/array /run/member; ln -sf /dev/disk-a /dev/md0
    echo 'mdadm: array /dev/md0 started.' >&2;;
'--stop '*) rm -f /run/array; echo "mdadm: stopped $2" >&2;;
'--zero-superblock '*) rm -f /run/member;;
*) echo "mdadm: unrecognized: $*" >&2; exit 2;;
esac
X
chmod 755 /usr/local/sbin/mdadm
cat >/run/detail <<'X'
/dev/md0:
           Version : 1.2
        Raid Level : raid1
             State : clean

    Number   Major   Minor   RaidDevice State
       0       7        1        0      active sync   /dev/disk-b
       1       7        2        1      active sync   /dev/disk-c
X
"""
RUNS = "touch /run/array /run/member; ln -s /dev/disk-a /dev/md0; "
BTRFS = f"truncate -s 120M /run/images/b; losetup -c {B}; mkfs.btrfs -q -L disk {B}; "
WITHIN = f"{BTRFS} mount {B} /mnt; btrfs subvolume create /mnt/one; btrfs quota enable /mnt; "
LINK = f"{WITHIN} ln -s /etc /mnt/link; umount /mnt"


def on(function: str, prepare: str = "", **args: Any) -> Scenario:
    return on_disks(function, MDADM + prepare, **args)


def array(function: str, prepare: str = "", **args: Any) -> Scenario:
    return on(f"raid.{function}", prepare, name="/dev/md0", **args)


SCENARIOS = [
    array("present level=1 chunk=64 run=true force=true", devices=[B, C]),
    array("present level=1", "touch /run/member", devices=[B, C]),
    array("present level=1", f"mkfs.ext4 -q {B}", devices=[B, C], fails="holds ext4: it is over"),
    array("present level=7", devices=[B, C], fails="7 is no level of RAID"),
    array("assembled", "touch /run/member", devices=[B, C]),
    array("assembled", devices=[B, C], fails="mix of members of an array and others"),
    array("absent", RUNS),
    array("absent", f"{RUNS} mkfs.ext4 -q {A}; mount {A} /mnt", fails="mounted at /mnt"),
    on(
        "btrfs.subvolume_created name=@/var device=LABEL=disk set_default=true copy_on_write=false",
        BTRFS,
    ),
    on(
        "btrfs.subvolume_created name=one/two qgroupids=[1/1]",
        f"{WITHIN} btrfs qgroup create 1/1 /mnt",
        device=B,
    ),
    on(
        "btrfs.subvolume_created name=one set_default=true force_set_default=false",
        WITHIN,
        plans=False,
        device=B,
    ),
    on("btrfs.subvolume_created name=link/x", LINK, device=B, fails="leads out of its file"),
    on("btrfs.subvolume_created name=../x", BTRFS, device=B, fails="no path within a file"),
    on("btrfs.subvolume_created name=x", device=A, fails="has no btrfs"),
    on("btrfs.subvolume_deleted name=one commit=true", WITHIN, device=B),
    on("btrfs.properties name=one ro=true use_default=true", WITHIN, device=B),
    on("btrfs.properties label=other", BTRFS, name=B, device=B),
]
