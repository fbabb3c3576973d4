# SPDX-License-Identifier: Apache-2.0
"""Modules of the kernel as they are."""

from __future__ import annotations

# os in this file: what this machine has, outside of runs
import glob
from collections.abc import Iterator

from modules import file, kmod
from runner.api import Resource

ROLE = "system"


def resources(name: str | None) -> Iterator[Resource]:
    """Modules that are loaded; all but those that a file loads at each start only by their name."""
    kept, configured = kmod.mod_list(only_persist=True), _configured()
    loaded = {module.replace("-", "_") for module in kmod.mod_list()}
    wanted = dict.fromkeys([*kept, *configured, *sorted(loaded)])
    seen: set[str] = set()
    for module in wanted if name is None else [name]:
        same = module.replace("-", "_")
        if same in seen:
            continue
        seen.add(same)
        if same not in loaded:
            if name is not None:
                yield Resource("kmod.absent", module)
            continue
        arguments = {"persist": True} if module in kept else {}
        files = (kmod.PERSISTENT,) if {*kept} and _all_loaded(kept, loaded) else ()
        shipped = module not in kept and module not in configured
        yield Resource("kmod.present", module, arguments, shipped=shipped, files=files)


def _all_loaded(kept: list[str], loaded: set[str]) -> bool:
    return {module.replace("-", "_") for module in kept} <= loaded


def _configured() -> list[str]:
    """The modules that somebody has loaded at each start."""
    modules = []
    for path in (*sorted(glob.glob("/etc/modules-load.d/*.conf")), kmod.OLD):
        text = file.read_bytes(path).decode("utf-8", "replace") if file.is_file(path) else ""
        modules += [line.split()[0] for line in text.splitlines() if line.split("#")[0].split()]
    return [module for module in modules if not module.startswith((";", "#"))]
