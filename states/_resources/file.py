# SPDX-License-Identifier: Apache-2.0
"""Paths as they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from modules import file
from runner.api import Resource, StateFailed
from states._resources import _unpackaged

ROLE = "files"
LARGEST = 64 * 1024  # bytes of contents that are shown
LARGEST_SOURCE = 1024 * 1024  # of a file that is put beside the SLS
MOST_IN_ALL = 64 * 1024 * 1024  # of all of them
HIDES = "the contents are not shown and stay as they are"
DEVICES = {"pipe": "p", "char": "c", "block": "b"}


def resources(name: str | None) -> Iterator[Resource]:
    """A path: what it is, its owner, mode and contents (text of up to 64 KiB); without a name what
    no package brought, or brought otherwise, below the directories of configuration.
    """
    if name is not None:
        yield from _at(name)
        return
    room = MOST_IN_ALL
    for path, remark in _unpackaged.paths():
        try:
            listed = [*_at(path)] if path else [Resource("", "")]
        except StateFailed as failure:
            listed = [Resource("", path, note=failure.message)]
        for item in listed:
            room -= len(item.source or b"")
            source = item.source if room > 0 else None
            note = f"{item.name or 'files'}: {remark}" if remark else item.note
            yield item._replace(note=note, source=source)


def _at(name: str) -> Iterator[Resource]:
    if not name.startswith("/"):
        raise StateFailed(f"{name} is not an absolute path")
    path = name.rstrip("/") or "/"
    stat = file.seen(path, follow=False)
    if stat is None:
        yield Resource("file.absent", path)
        return
    owner = {"user": stat.user or stat.uid, "group": stat.group or stat.gid}
    if stat.type == "link":
        yield Resource("file.symlink", path, {"target": file.readlink(path), **owner})
    elif stat.type == "dir":
        yield Resource("file.directory", path, {**owner, "mode": stat.mode})
    elif stat.type in DEVICES:
        numbers = (
            dict(zip(("major", "minor"), file.device(path), strict=True))
            if stat.type != "pipe"
            else {}
        )
        kind = {"ntype": DEVICES[stat.type], **numbers}
        yield Resource("file.mknod", path, {**kind, **owner, "mode": stat.mode})
    elif stat.type == "file":
        contents, note, source = _contents(path, stat.size)
        arguments = {**owner, "mode": stat.mode, **contents}
        yield Resource("file.managed", path, arguments, note, source=source)
    else:
        raise StateFailed(f"{path} is a {stat.type}: no state manages that")


def _contents(path: str, size: int) -> tuple[dict[str, Any], str, bytes | None]:
    """The arguments that say what is in a file, a remark, and its bytes where they are few."""
    if size > LARGEST_SOURCE:
        return {"replace": False}, f"{size} bytes: {HIDES}", None
    try:
        data = file.read_bytes(path)
    except StateFailed as failure:
        return {"replace": False}, f"{failure.message}: {HIDES}", None
    if size > LARGEST:
        return {"replace": False}, f"{size} bytes: {HIDES}", data
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text or text.startswith("__slot__:"):
        return {"replace": False}, f"{size} bytes that are no text: they stay as they are", data
    if "\r" in text:
        return {"replace": False}, f"CR LF at the ends of its lines: {HIDES}", data
    end = {} if not text or text.endswith("\n") else {"contents_newline": False}
    return {"contents": text, **end}, "", data
