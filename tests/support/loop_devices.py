# SPDX-License-Identifier: Apache-2.0
"""Loop devices of a throw-away machine: /dev/disk-a (32 MB), -b and -c (64 MB), empty, and LVM
that works without the kernel's device-mapper.

A process of the machine holds each open, and it is detached already: it goes with the machine.
"""

from __future__ import annotations

from typing import Any

from laws import Scenario
from starting import starts, waits

A, B, C = "/dev/disk-a", "/dev/disk-b", "/dev/disk-c"
SCRIPT = (
    r"""
mknod /dev/loop-control c 10 237
for i in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do mknod /dev/loop$i b 7 $i; done
mkdir -p /run/images
for disk in a:32M b:64M c:64M; do
    export image=/run/images/${disk%:*}
    truncate -s ${disk#*:} $image
    """
    + waits("losetup --find --show $image >/run/device")
    + r"""
    export device=$(cat /run/device)
    blockdev --setrw $device # a machine that was killed may have left it otherwise
    """
    + starts("exec <$device; echo >/run/held; exec sleep 1000", ready="test -e /run/held")
    + r"""
    rm /run/held
    losetup -d $device
    ln -s $device /dev/disk-${disk%:*}
done
for device in /dev/loop[0-9]*; do # others belong to others
    for disk in a b c; do test /dev/disk-$disk -ef $device && continue 2; done
    rm $device
done
mkdir -p /etc/lvm
cat >/etc/lvm/lvm.conf <<X
global { activation = 0 }
devices { use_devicesfile = 0 obtain_device_list_from_udev = 0 }
activation { udev_sync = 0 udev_rules = 0 }
X
"""
)


def on_disks(
    function: str, prepare: str = "", plans: bool = True, fails: str | None = None, **args: Any
) -> Scenario:
    """A scenario in a machine that has the disks. prepare: what comes after they are made."""
    return Scenario(
        function,
        args,
        plans=plans,
        fails=fails,
        machine=True,
        layer="volumes",
        prepare=SCRIPT + prepare,
    )
