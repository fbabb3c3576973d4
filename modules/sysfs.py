# SPDX-License-Identifier: Apache-2.0
"""Attributes of the kernel and of devices in /sys."""

from __future__ import annotations

# os in this file: below /sys, which nobody plans
import os
import stat
from collections.abc import Sequence
from typing import Any

from modules._texts.lines import one_line
from runner.api import CommandFailed, StateFailed, changer, lies_in

ROOT = "/sys"
# what changes nothing by being read nor needs to be read: it is no attribute
IGNORED = ("uevent", "modalias")


def target(key: str, full: bool = True) -> str | bool:
    """The real path of a key, or only its last part; false when there is none. Raises CommandFailed
    for a key that leads out of /sys.

    {{ salt['sysfs.target']('class/net/eth0') }}
    """
    path = os.path.realpath(_path(key))
    _refuse_elsewhere(key, path)
    if not os.path.exists(path):
        return False
    return path if full else os.path.basename(path)


def _path(key: str) -> str:
    text = str(key)
    if "\0" in text:
        raise CommandFailed(f"{text!r} is not a key below {ROOT}")
    return text if text.startswith(f"{ROOT}/") else os.path.join(ROOT, text.lstrip("/"))


def _refuse_elsewhere(key: str, path: str) -> None:
    if not lies_in(path, ROOT):
        raise CommandFailed(f"{key!r} is not a key below {ROOT}")


def attr(key: str, value: Any = None) -> Any:
    """Return what read answers for a key; with a value what write answers.

    {{ salt['sysfs.attr']('class/net/eth0/mtu') }}
    """
    path = target(key)
    if path is False or os.path.isdir(str(path)):
        return path
    return read(key) if value is None else write(key, value)


def read(key: str | Sequence[str], root: str = "") -> Any:
    """The value of a key: a number, a text, or a mapping where each line of it names one; false
    when there is none or it cannot be read. A list of keys answers a mapping.

    root: the keys are below this one.

        {{ salt['sysfs.read'](['enabled', 'defrag'], 'kernel/mm/transparent_hugepage') }}
    """
    if not isinstance(key, str):
        values = {name: read(os.path.join(root, name)) for name in key}
        return {os.path.basename(name): value for name, value in values.items()}
    path = target(os.path.join(root, key))
    if path is False or os.path.isdir(str(path)):
        return path
    try:
        with open(str(path), encoding="utf-8", errors="replace") as attribute:
            text = attribute.read(1 << 20).strip()
    except OSError:
        return False
    return _value(text)


def _value(text: str) -> Any:
    lines = text.splitlines()
    if len(lines) > 1 and all("=" in line for line in lines):
        return {name: _value(value) for name, _, value in (line.partition("=") for line in lines)}
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return lines if len(lines) > 1 else text


def write(key: str, value: Any) -> bool:
    """Set the value of a key. Raises StateFailed when there is none, and when the kernel refuses
    the value.

    runner call sysfs.write kernel/mm/transparent_hugepage/enabled madvise
    """
    path = target(key)
    if path is False:
        raise StateFailed(f"there is no {key!r} below {ROOT}", missing=("file", _path(key)))
    _set(str(path), one_line(value, f"the value of {key}"))
    return True


@changer
def _set(path: str, value: str) -> None:
    try:
        handle = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            os.write(handle, value.encode("utf-8", "surrogateescape"))
        finally:
            os.close(handle)
    except OSError as problem:
        raise StateFailed(f"{path} does not take this value: {problem.strerror}") from None


def interfaces(root: str) -> dict[str, list[str]]:
    """The keys below one that can be read (r), written (w), or both (rw). Raises
    StateFailed for what is no folder.

    {{ salt['sysfs.interfaces']('block/sda/queue').rw }}
    """
    top = target(root)
    if top is False or not os.path.isdir(str(top)):
        raise StateFailed(f"{root!r} is no folder below {ROOT}")
    keys: dict[str, list[str]] = {"r": [], "w": [], "rw": []}
    for folder, _, names in os.walk(str(top)):
        for name in names:
            path = os.path.join(folder, name)
            mode = os.stat(path).st_mode if os.path.exists(path) else 0
            kind = ("r" if mode & stat.S_IRUSR else "") + ("w" if mode & stat.S_IWUSR else "")
            if kind and name not in IGNORED:
                keys[kind].append(os.path.relpath(path, str(top)))
    return {kind: names for kind, names in keys.items() if names}
