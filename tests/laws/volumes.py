# SPDX-License-Identifier: Apache-2.0
"""How disks are tried: with real tools on loop devices. Without the kernel's device-mapper, LVM has
volumes that are not active.
"""

from __future__ import annotations

from loop_devices import A, B, C
from loop_devices import on_disks as on

GROUP = f"pvcreate {B}; vgcreate vg0 {B}; "
VOLUME = GROUP + "lvcreate -n data -L 20M vg0; "
READ_ONLY = f"blockdev --setro {A}"
EXT = f"mkfs.ext4 -q {A}; "


SCENARIOS = [
    on("blockdev.formatted", name=A, fs_type="ext4", inode_size=128, lazy_itable_init=True),
    on("blockdev.formatted", EXT, name=A, fs_type="vfat", fat=16, force=True),
    on("blockdev.formatted", EXT, name=A, fs_type="btrfs", fails="holds ext4: it is overwritten"),
    # the kernel keeps both settings of a loop device: what is set here does no harm
    on(
        "blockdev.tuned", f"blockdev --setro {A}", name=A, **{"read-ahead": 512, "read-only": False}
    ),
    on("lvm.pv_present", EXT, name=A, force=True, dataalignment="1m"),
    on("lvm.pv_absent", f"pvcreate {B}", name=B),
    on("lvm.vg_present", EXT, name="vg0", devices=[A, C], physicalextentsize="8m", force=True),
    on("lvm.vg_absent", GROUP, name="vg0"),
    on("lvm.lv_present", GROUP, name="data", vgname="vg0", size="21M", pv=B, readahead=256),
    on("lvm.lv_present", VOLUME, name="data", vgname="vg0", extents=2, force=True),
    on(
        "lvm.lv_present",
        VOLUME,
        name="snap",
        vgname="vg0",
        snapshot="data",
        size="4M",
        resizefs=True,
        fails="Can't create snapshot without using device-mapper",
    ),
    on(
        "lvm.lv_present",
        GROUP,
        name="thin",
        vgname="vg0",
        size=4,
        thinpool=True,
        thinvolume=True,
        fails="only one of thinvolume or thinpool",
    ),
    on("lvm.lv_absent", VOLUME, name="data", vgname="vg0"),
]
