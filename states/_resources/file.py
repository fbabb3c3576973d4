"""Paths as they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from modules import file
from runner.api import Resource, StateFailed

LARGEST = 64 * 1024  # bytes of contents that are shown
DEVICES = {"pipe": "p", "char": "c", "block": "b"}


def resources(name: str | None) -> Iterator[Resource]:
    """A path: what it is, its owner, mode and contents (text of up to 64 KiB)."""
    if name is None:
        raise StateFailed("paths are not listed; name one: `runner resource file /etc/motd`")
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
        contents, note = _contents(path, stat.size)
        yield Resource("file.managed", path, {**owner, "mode": stat.mode, **contents}, note)
    else:
        raise StateFailed(f"{path} is a {stat.type}: no state manages that")


def _contents(path: str, size: int) -> tuple[dict[str, Any], str]:
    if size > LARGEST:
        return {"replace": False}, f"{size} bytes: the contents are not shown and stay as they are"
    data = file.read_bytes(path)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text or text.startswith("__slot__:"):
        return {"replace": False}, f"{size} bytes that are no text: they stay as they are"
    return {
        "contents": text,
        **({} if not text or text.endswith("\n") else {"contents_newline": False}),
    }, ""
