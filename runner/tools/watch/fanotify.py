# SPDX-License-Identifier: Apache-2.0
"""Who has changed what, as far as fanotify(7) of the C library tells: only root is told."""

from __future__ import annotations

import ctypes
import os
import stat
import struct
from collections import OrderedDict
from collections.abc import Iterable
from contextlib import suppress

from runner.tools.watch.inotify import ATTRIBUTES, FOLDER, MODIFIED, NAMES

MOST = 1000  # paths that are remembered until somebody asks for them
# of fanotify_init: close on exec, do not block, as many marks as wanted, report folders and names
_INIT = 0x1 | 0x2 | 0x20 | 0xC00
# of fanotify_mark: no link is followed, the kernel may forget the inode
_ADD, _REMOVE, _FLUSH, _FLAGS = 0x1, 0x2, 0x80, 0x4 | 0x200
_IN_FOLDER = 0x8000000  # of a mask: what happens to the files in it, too
_HERE, _TO_COMPARE = -100, 0x200  # AT_FDCWD, AT_HANDLE_FID
_HEAD = struct.Struct("=IBBHQii")  # length, version, reserved, length of this, mask, fd, process
_INFO = struct.Struct("=BBHIIIi")  # kind, padding, length, file system (2), handle: length, type
_FOLDER_AND_NAME = 2

_Key = tuple[int, int, bytes]  # a folder: its file system, type and bytes of its handle


class _Handle(ctypes.Structure):
    _fields_ = [("length", ctypes.c_uint), ("type", ctypes.c_int), ("bytes", ctypes.c_char * 128)]


class Authors:
    """Processes that change what inotify watches, too. It never says that something has changed:
    where the kernel does not take part, nobody is named.
    """

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self.descriptor = -1
        with suppress(AttributeError):  # a C library without it
            self.descriptor = self._libc.fanotify_init(_INIT, os.O_RDONLY | os.O_CLOEXEC)
        self._folders: dict[_Key, str] = {}
        self._keys: dict[str, _Key] = {}
        self._masks: dict[str, int] = {}  # what is wanted of a path
        self._has_strays = False  # marks may be left at what has no path any more
        self._by: OrderedDict[str, str] = OrderedDict()  # path -> process

    def watch(self, path: str, mask: int) -> None:
        """Have processes named that do what a mask of inotify's says at a path."""
        if self.descriptor < 0:
            return
        name, wanted = os.fsencode(path), mask & (MODIFIED | ATTRIBUTES)
        self._forget(path)
        key = self._key(path, name)
        if key:
            self._keys[path], self._folders[key] = key, path
            wanted |= mask & NAMES | FOLDER | _IN_FOLDER
        if self._mark(_ADD, wanted, name):
            self._masks[path] = wanted

    def leave(self, path: str) -> None:
        """Name nobody any more for a path."""
        wanted = self._masks.pop(path, None)
        self._forget(path)
        if wanted is not None and not self._mark(_REMOVE, wanted, os.fsencode(path)):
            self._has_strays = True  # it was moved away, if it is not gone

    def of(self, paths: Iterable[str]) -> str:
        """Who has changed these since it was asked last: " by pid 12 (vim)"; nothing where nobody
        knows.
        """
        named = [self._by.pop(path) for path in paths if path in self._by]
        return f" by {' and '.join(sorted(set(named))[:2])}" if named else ""

    def read(self) -> None:
        """Note what has happened, while the processes may still be there."""
        while self.descriptor >= 0:
            try:
                data = os.read(self.descriptor, 1 << 16)
            except OSError:
                return
            at, is_wanted = 0, True
            while at < len(data):
                length, _, _, head, mask, _, pid = _HEAD.unpack_from(data, at)
                is_wanted &= self._note(data[at + head : at + length], mask, pid)
                at += length
            if self._has_strays and not is_wanted:
                self._mark_anew()

    def close(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)

    def _mark(self, how: int, mask: int, name: bytes) -> bool:
        wanted = ctypes.c_uint64(mask)
        return not self._libc.fanotify_mark(self.descriptor, how | _FLAGS, wanted, _HERE, name)

    def _mark_anew(self) -> None:
        """Leave all, and watch what is wanted: what has no path can only be left so."""
        self._libc.fanotify_mark(self.descriptor, _FLUSH, ctypes.c_uint64(0), _HERE, None)
        for path, wanted in self._masks.items():
            self._mark(_ADD, wanted, os.fsencode(path))
        self._has_strays = False

    def _note(self, info: bytes, mask: int, pid: int) -> bool:
        """Note who has done something; returns whether somebody wants to know of it."""
        if len(info) < _INFO.size:
            return True
        kind, _, end, low, high, length, type_ = _INFO.unpack_from(info)
        if kind != _FOLDER_AND_NAME:
            return True
        name_at = _INFO.size + length
        key = (low | high << 32, type_, info[_INFO.size : name_at])
        folder = self._folders.get(key)
        if folder is None:
            return False
        name = os.fsdecode(info[name_at:end].split(b"\0")[0])
        path = os.path.normpath(os.path.join(folder, name))
        if not mask & ~FOLDER & (self._masks.get(folder, 0) | self._masks.get(path, 0)):
            return False
        if pid > 0:  # none: it lives in another container
            self._by[path] = _named(pid)
            self._by.move_to_end(path)
            if len(self._by) > MOST:
                self._by.popitem(last=False)
        return True

    def _key(self, path: str, name: bytes) -> _Key | None:
        """What the kernel calls a folder; None for what is none."""
        handle, mount = _Handle(128), ctypes.c_int()
        found = (ctypes.byref(handle), ctypes.byref(mount))
        with suppress(OSError):
            is_folder = stat.S_ISDIR(os.lstat(path).st_mode)
            if is_folder and not self._libc.name_to_handle_at(_HERE, name, *found, _TO_COMPARE):
                bytes_ = ctypes.string_at(ctypes.addressof(handle) + 8, handle.length)
                return (os.statvfs(path).f_fsid, handle.type, bytes_)
        return None

    def _forget(self, path: str) -> None:
        key = self._keys.pop(path, None)
        if key and self._folders.get(key) == path:
            del self._folders[key]


def _named(pid: int) -> str:
    with suppress(OSError), open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as text:
        return f"pid {pid} ({text.read().rstrip()})"
    return f"pid {pid}"
