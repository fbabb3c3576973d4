# SPDX-License-Identifier: Apache-2.0
"""Parameters of the kernel as they are."""

from __future__ import annotations

# os in this file: what this machine has, outside of runs
import glob
from collections.abc import Iterator
from typing import Any

from modules import pkg, sysctl
from runner.api import Resource

ROLE = "system"


def resources(name: str | None) -> Iterator[Resource]:
    """A parameter of the kernel; without a name those that a configuration file keeps."""
    configured: dict[str, dict[str, str]] = {}  # parameter -> file -> value
    for path in (*sorted(glob.glob(f"{sysctl.FOLDER}/*.conf")), "/etc/sysctl.conf"):
        for key, value in sysctl.show(path).items():
            configured.setdefault(key.lstrip("-").replace("/", "."), {})[path] = " ".join(
                value.split()
            )
    brought = pkg.shipped()
    owned = brought.paths if brought else {}
    files = {path for values in configured.values() for path in values if path not in owned}
    running = {key: sysctl.get(key) for key in configured if sysctl.exists(key)}
    # a file with a parameter that has another value now says more than states can
    odd = {
        path
        for key, values in configured.items()
        for path, value in values.items()
        if running.get(key) != value
    }
    for parameter in sorted(configured) if name is None else [name]:
        if not sysctl.exists(parameter):
            if name is None:
                note = f"{parameter}: the kernel has no such parameter now"
                yield Resource("", parameter, note=note, shipped=True)
            continue
        values = configured.get(parameter, {})
        own = {*values} & files - odd
        yield _parameter(
            parameter, running.get(parameter) or sysctl.get(parameter), values
        )._replace(files=tuple(own), shipped=name is None and not own)


def _parameter(name: str, value: str, configured: dict[str, str]) -> Resource:
    files = [path for path, text in configured.items() if text == value]
    arguments: dict[str, Any] = {"value": int(value) if value.isdigit() else value}
    if files and sysctl.default_config() not in files:
        arguments["config"] = files[-1]
    elif not files:
        arguments["persist"] = False
    others = "; ".join(f"{path} says {text}" for path, text in configured.items() if text != value)
    return Resource("sysctl.present", name, arguments, others)
