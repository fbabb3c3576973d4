# SPDX-License-Identifier: Apache-2.0
"""Whether packages want this machine to be restarted."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from runner.api.restarts import ASKED, KERNEL, PACKAGES, QUESTIONS, YES
from runner.language.grains.files import output_of, text_of
from runner.model.paths import is_away

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

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
    written = [
        os.path.getmtime(f"{folder}/{name}")
        for folder in RPM
        if os.access(folder, os.R_OK)
        for name in os.listdir(folder)
        if name[0] != "." and not name.endswith("-shm")
    ]
    if not written:
        return False
    started = text_of("/proc/stat").partition("\nbtime ")[2].partition("\n")[0]
    if not started or max(written) <= int(started):
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
    return release.replace("-", ".").rpartition(".")[2]


def _numbers(release: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", release)]
