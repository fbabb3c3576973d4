"""Parameters of the kernel as they are."""

from __future__ import annotations

import glob
from collections.abc import Iterator
from typing import Any

from modules import sysctl
from runner.api import Resource


def resources(name: str | None) -> Iterator[Resource]:
    """A parameter of the kernel; without a name those that a configuration file keeps."""
    kept: dict[str, dict[str, str]] = {}  # parameter -> file -> value
    for path in (*sorted(glob.glob(f"{sysctl.FOLDER}/*.conf")), "/etc/sysctl.conf"):
        for key, value in sysctl.show(path).items():
            kept.setdefault(key.lstrip("-").replace("/", "."), {})[path] = " ".join(value.split())
    for each in sorted(kept) if name is None else [name]:
        value = sysctl.get(each)
        if value or each in kept:
            yield _parameter(each, value, kept.get(each, {}))


def _parameter(name: str, value: str, kept: dict[str, str]) -> Resource:
    files = [path for path, said in kept.items() if said == value]
    said: dict[str, Any] = {"value": int(value) if value.isdigit() else value}
    if files and sysctl.default_config() not in files:
        said["config"] = files[-1]
    elif not files:
        said["persist"] = False
    others = "; ".join(f"{path} says {text}" for path, text in kept.items() if text != value)
    return Resource("sysctl.present", name, said, others)
