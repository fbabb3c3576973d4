# SPDX-License-Identifier: Apache-2.0
"""Which init the files of a system have it started by, whether it runs or not."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

SYSTEMD = ("/usr/lib/systemd", "/lib/systemd")
BY_PROGRAM = {"systemd": "systemd", "runit-init": "runit", "openrc-init": "openrc"}


def init_of_files(exists: Callable[[str], bool], real_path: Callable[[str], str]) -> str:
    """Return the init that the files of a system speak of; `unknown` where none do. An image that
    has no init yet is systemd's where its units lie.
    """
    program = os.path.basename(real_path("/sbin/init"))
    if program in BY_PROGRAM:
        return BY_PROGRAM[program]
    if exists("/etc/s6-linux-init/current"):
        return "s6-svscan"
    if exists("/sbin/openrc") or exists("/usr/sbin/openrc"):
        return "openrc"
    if exists("/sbin/init"):
        return "sysvinit" if exists("/etc/inittab") else "unknown"
    return "systemd" if any(exists(f"{folder}/system") for folder in SYSTEMD) else "unknown"
