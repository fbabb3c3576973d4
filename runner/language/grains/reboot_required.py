# SPDX-License-Identifier: Apache-2.0
"""Whether packages want this machine to be restarted."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from runner.api.restarts import ASKED, KERNEL, PACKAGES
from runner.model.paths import is_away

MODULES = "/lib/modules"
CONTAINERS = ("/run/systemd/container", "/.dockerenv", "/run/.containerenv")


def reboot_required(grains: Mapping[str, Any]) -> dict[str, bool]:
    """A package asks for it, or the kernel that runs is gone or older than an installed one."""
    return {"reboot_required": bool(why())}


def why() -> str:
    """Return what wants this machine to be restarted; empty for nothing."""
    if os.path.exists(ASKED):
        return PACKAGES
    own_kernel = not is_away() and not any(map(os.path.exists, CONTAINERS))
    return KERNEL if own_kernel and _is_old(os.uname().release) else ""


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
