# SPDX-License-Identifier: Apache-2.0
"""How swap files are tried."""

from __future__ import annotations

from laws import on_machine
from played_swap import PLAYED

MADE = "head -c 2M /dev/zero >/swap; chmod 600 /swap; mkswap /swap; "
ON = f"{MADE} swapon -- /swap; echo '/swap none swap defaults 0 0' >/etc/fstab; "
on = on_machine("swap.", before=PLAYED, name="/swap")
SCENARIOS = [
    on("file", size="1M"),
    on("file", size="3M", priority=7, config="/etc/fstab.swap"),
    on("file", MADE, size="2M", persist=False),
    on("file", ON, plans=False, size="2M"),
    on("file", ON, size="1M"),
    on("file", ON, size="2M", priority=5),
    on("file", f"{ON} chmod 644 /swap", size="2M"),
    on("file", "date >/swap", size="1M", fails="is no swap file, and is left alone"),
    on("file", "mkdir /swap", size="1M", fails="is no plain file"),
    on("file", size="900T", fails="MiB left"),
    on("file", size="1M", name="/tmp/swap", fails="others than root may write there"),
    on("file", size="1M", name="/nowhere/swap", fails="/nowhere does not exist"),
    on("absent", ON),
    on("absent", MADE, config="/etc/fstab.swap"),
    on("absent", plans=False),
    on("absent", "date >/swap", fails="is no swap file"),
]
