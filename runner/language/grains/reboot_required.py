# SPDX-License-Identifier: Apache-2.0
"""Whether packages want this machine to be restarted."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Mapping
from typing import Any

from runner.api.restarts import ASKED, KERNEL, PACKAGES, QUESTIONS, YES
from runner.language.grains.files import output_of, text_of
from runner.model.paths import is_away

MODULES = "/lib/modules"
RPM = ("/var/lib/rpm", "/usr/lib/sysimage/rpm")
CONTAINERS = ("/run/systemd/container", "/.dockerenv", "/run/.containerenv")


def reboot_required(grains: Mapping[str, Any]) -> dict[str, bool]:
    """A package asks for it, or the kernel that runs is gone or older than an installed one."""
    return {"reboot_required": bool(why())}


def why() -> str:
    """Return what wants this machine to be restarted; empty for nothing."""
    if os.path.exists(ASKED):
        return PACKAGES
    own_kernel = not is_away() and not any(map(os.path.exists, CONTAINERS))
    if own_kernel and _is_old(os.uname().release):
        return KERNEL
    return PACKAGES if not is_away() and _libraries_ask() else ""


def _libraries_ask() -> bool:
    """Return whether dnf says so. That takes a second: it is asked where a package was changed
    since the kernel has started.
    """
    started = re.search(r"^btime (\d+)$", text_of("/proc/stat"), re.MULTILINE)
    databases = (path for folder in RPM for path in glob.glob(f"{folder}/*"))
    written = [os.path.getmtime(path) for path in databases if not path.endswith("-shm")]
    if started is None or max(written, default=0) <= int(started[1]):
        return False
    return any(YES in output_of(*words) for words in QUESTIONS)


def _is_old(running: str) -> bool:
    names = os.listdir(MODULES) if os.path.isdir(MODULES) else []
    installed = [name for name in names if os.path.exists(f"{MODULES}/{name}/modules.dep")]
    alike = [name for name in installed if _flavour(name) == _flavour(running)]
    if running not in installed:
        return bool(alike)
    return any(_numbers(name) > _numbers(running) for name in alike)


def _flavour(release: str) -> str:
    """amd64, lts, x86_64: kernels of another one are no newer ones."""
    return re.split(r"[-.]", release)[-1]


def _numbers(release: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", release)]
