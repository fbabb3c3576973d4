# SPDX-License-Identifier: Apache-2.0
"""inotify(7), of the C library."""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from collections.abc import Iterator

from runner.model.records import Record

MODIFIED, ATTRIBUTES = 0x2, 0x4
MOVED_FROM, MOVED_TO, CREATED, DELETED = 0x40, 0x80, 0x100, 0x200
DELETED_ITSELF, MOVED_ITSELF = 0x400, 0x800
UNMOUNTED, OVERFLOW, IGNORED = 0x2000, 0x4000, 0x8000
FOLDER = 0x40000000  # what came or went is one
_DONT_FOLLOW, _MASK_ADD = 0x2000000, 0x20000000
NAMES = MOVED_FROM | MOVED_TO | CREATED | DELETED  # which names a folder has
GONE = DELETED_ITSELF | MOVED_ITSELF | UNMOUNTED | IGNORED
_HEAD = struct.Struct("iIII")  # watch, mask, cookie, length of the name


class Told(Record):
    """An event. watch: the number of what was watched; name: in it, if that is a folder."""

    watch: int
    mask: int
    name: str


class NoMoreWatches(Exception):
    """The kernel gives no more watches, or none at all."""


class Inotify:
    """Watches of files and folders. lack: why there are no more, where there are no more."""

    def __init__(self) -> None:
        self.lack = "fs.inotify.max_user_watches is too small"
        self._libc = ctypes.CDLL(None, use_errno=True)
        self.descriptor: int = self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        self._is_there = self.descriptor >= 0
        if not self._is_there:
            number = ctypes.get_errno()
            self.lack = f"there is no inotify: {os.strerror(number)}"
            if number == errno.EMFILE:
                self.lack = "fs.inotify.max_user_instances is too small"
            self.descriptor = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)  # it never tells

    def watch(self, path: str, mask: int) -> int | None:
        """The number of the watch of a path, where one may be already; None where nothing is there,
        or nobody may look. Raises NoMoreWatches.
        """
        if not self._is_there:
            raise NoMoreWatches
        name = os.fsencode(path)
        flags = mask | _DONT_FOLLOW | _MASK_ADD
        number: int = self._libc.inotify_add_watch(self.descriptor, name, flags)
        if number >= 0:
            return number
        if ctypes.get_errno() in (errno.ENOSPC, errno.ENOMEM):
            raise NoMoreWatches
        return None

    def forget(self, watch: int) -> None:
        """Do not watch something any more; nothing, where it is gone already."""
        self._libc.inotify_rm_watch(self.descriptor, watch)

    def events(self) -> Iterator[Told]:
        """Yield what has happened, without waiting."""
        while True:
            try:
                data = os.read(self.descriptor, 1 << 16)
            except BlockingIOError:
                return
            at = 0
            while at < len(data):
                watch, mask, _, length = _HEAD.unpack_from(data, at)
                at += _HEAD.size
                name = data[at : at + length].split(b"\0", 1)[0]
                at += length
                yield Told(watch, mask, os.fsdecode(name))

    def close(self) -> None:
        os.close(self.descriptor)
