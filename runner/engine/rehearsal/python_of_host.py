# SPDX-License-Identifier: Apache-2.0
"""This Python in a process that has got another root: its own files lie below a folder there."""

from __future__ import annotations

import ctypes
import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import runner
from runner.engine.rehearsal.namespaces import LIBC
from runner.support import own_modules

# what the C library itself looks for when it needs it: at the end of a thread, for names
LATE = ("libgcc_s.so.1", "libresolv.so.2", "libnss_files.so.2", "libnss_dns.so.2")
FILES, FILES_AND_SERVERS = b"files", b"files dns"
DATABASES = dict.fromkeys(
    ("passwd", "group", "shadow", "gshadow", "initgroups", "services", "protocols"), FILES
) | {"hosts": FILES_AND_SERVERS}


class Python:
    """What this Python needs of its machine. Made before the root is another one.

    What its extensions would look for later is loaded at once: there are other libraries, or none,
    in the image. Users and groups are those of files alone from now on, computers those of
    /etc/hosts and of name servers.
    """

    def __init__(self) -> None:
        _load_libraries()
        _ask_files()
        self._program = os.path.realpath(sys.executable)
        mapped = list(_mapped())
        self._libraries = sorted({os.path.dirname(path) for path in mapped})
        self._loader = next((path for path in mapped if _is_loader(path)), "")
        self.files = [*sys.path, self._program, *self._libraries]

    def move(self, folder: str, starter: str) -> None:
        """Find everything below a folder. starter: a script that is to be, which starts this
        Python from there.
        """
        sys.path[:] = [f"{folder}{path}" if path.startswith("/") else path for path in sys.path]
        sys.path_importer_cache.clear()
        own_modules.move(folder)
        runner.ROOT = f"{folder}{runner.ROOT}"
        own_modules.find_own_modules(runner.ROOT)
        words = [f"{folder}{self._program}"]
        if self._loader:
            libraries = ":".join(f"{folder}{path}" for path in self._libraries)
            options = ["--library-path", libraries, "--argv0", words[0]]
            words = [f"{folder}{self._loader}", *options, *words]
        Path(starter).write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
        os.chmod(starter, 0o755)
        sys.executable = starter


def _load_libraries() -> None:
    folders = (Path(path) for path in sys.path if path.startswith("/"))
    extensions = (str(file) for folder in folders for file in folder.glob("*.so"))
    for library in (*LATE, *extensions):
        with suppress(OSError):  # not every C library has it, or it lacks another one here, too
            ctypes.CDLL(library, mode=os.RTLD_LAZY)


def _ask_files() -> None:
    """Have no name service asked that is none of the image: not every C library asks others."""
    with suppress(AttributeError):
        for database, services in DATABASES.items():
            LIBC.__nss_configure_lookup(database.encode(), services)


def _mapped() -> Iterator[str]:
    """Yield the libraries that this process has loaded, and what has loaded them."""
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            _, slash, path = line.rstrip("\n").partition("/")
            if slash and ".so" in os.path.basename(path):
                yield f"/{path}"


def _is_loader(path: str) -> bool:
    return os.path.basename(path).startswith(("ld-linux", "ld-musl", "ld64", "ld-", "ld.so"))
