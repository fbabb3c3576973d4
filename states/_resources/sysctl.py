"""Parameters of the kernel as they are."""

from __future__ import annotations

import glob
from collections.abc import Iterator
from typing import Any

from modules import sysctl
from runner.api import Resource


def resources(name: str | None) -> Iterator[Resource]:
    """A parameter of the kernel; without a name those that a configuration file keeps."""
    configured: dict[str, dict[str, str]] = {}  # parameter -> file -> value
    for path in (*sorted(glob.glob(f"{sysctl.FOLDER}/*.conf")), "/etc/sysctl.conf"):
        for key, value in sysctl.show(path).items():
            configured.setdefault(key.lstrip("-").replace("/", "."), {})[path] = " ".join(
                value.split()
            )
    for parameter in sorted(configured) if name is None else [name]:
        value = sysctl.get(parameter)
        if value or parameter in configured:
            yield _parameter(parameter, value, configured.get(parameter, {}))


def _parameter(name: str, value: str, configured: dict[str, str]) -> Resource:
    files = [path for path, text in configured.items() if text == value]
    arguments: dict[str, Any] = {"value": int(value) if value.isdigit() else value}
    if files and sysctl.default_config() not in files:
        arguments["config"] = files[-1]
    elif not files:
        arguments["persist"] = False
    others = "; ".join(f"{path} says {text}" for path, text in configured.items() if text != value)
    return Resource("sysctl.present", name, arguments, others)
