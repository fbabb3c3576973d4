# SPDX-License-Identifier: Apache-2.0
"""Tells what looks ask the machine for, at the seams that they go through.

The seams are given another value for that, which notes what it is asked and asks the one that was
there; what goes to the kernel, to programs and to servers is told by Python itself (PEP 578). Who
does not watch has nothing of it. Only the loader imports this.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from glob import has_magic
from types import ModuleType
from typing import Any

from modules import _accounts, _paths
from modules._planned.overlay import KERNELS
from modules.file import _look
from modules.file._paths import place

# (path, folder, tree, program or server; its name). A folder is one whose names are asked for, a
# tree one with all that is below.
Note = Callable[[str, str], None]
# of this process, and of the first one, which stays as long as the machine runs
_LASTING = ("/proc/self/fd/", "/proc/self/status", "/proc/1/")


@contextmanager
def told(note: Note, api: ModuleType) -> Iterator[None]:
    """Have each look tell what it asks for. api: what looks at what kept answers go by."""
    patterns = set[str]()

    def path(asked: Any, *_: Any, **__: Any) -> None:
        if asked not in patterns:
            _note_path(note, "path", asked)

    def folder(asked: Any, *_: Any, **__: Any) -> None:
        if has_magic(asked):
            patterns.add(asked)
        _note_path(note, "folder", asked)

    def tree(asked: Any, *_: Any, **__: Any) -> None:
        _note_path(note, "tree", asked)

    def found(name: str, path: str | None = None) -> None:
        for each in (path or os.environ.get("PATH", os.defpath)).split(":"):
            _note_path(note, "path", os.path.join(each, name))

    taps: list[tuple[ModuleType, str, Callable[..., None]]] = [
        (_paths, "_planned", path),
        (_paths, "listdir", folder),
        (_paths, "glob", folder),
        (_paths, "walk", tree),
        (_paths, "which", found),
        (_accounts, "is_planned", path),
        (_look, "_opened", path),
        (place, "place", path),
        (api, "_stamp", folder),
    ]
    before = [(module, name, getattr(module, name)) for module, name, _ in taps]
    try:
        for (module, name, tell), (*_, inner) in zip(taps, before, strict=True):
            setattr(module, name, _telling(inner, tell))
        with _audited(note):
            yield
    finally:
        for module, name, inner in before:
            setattr(module, name, inner)


def _telling(inner: Callable[..., Any], tell: Callable[..., None]) -> Callable[..., Any]:
    @functools.wraps(inner)
    def call(*args: Any, **kwargs: Any) -> Any:
        tell(*args, **kwargs)
        return inner(*args, **kwargs)

    return call


def _note_path(note: Note, kind: str, asked: Any) -> None:
    """Note a path, of a pattern the folders that what it means depends on."""
    asked = os.fspath(asked)
    if not isinstance(asked, str) or not asked.startswith("/"):
        return
    if kind == "folder" and has_magic(asked):
        names = asked.strip("/").split("/")
        fixed = next(number for number, name in enumerate(names) if has_magic(name))
        kind = "tree" if fixed < len(names) - 1 else "folder"
        note(kind, "/" + "/".join(names[:fixed]))
        return
    note(kind, asked if ".." in asked else os.path.normpath(asked))


# ---------------------------------------------------------------- what Python tells

_notes: list[Note] = []  # who is told now; a hook of Python's stays for good


@contextmanager
def _audited(note: Note) -> Iterator[None]:
    if not _notes:
        sys.addaudithook(_hear)
    _notes.append(note)
    try:
        yield
    finally:
        _notes[-1] = _nobody


def _nobody(kind: str, name: str) -> None:
    return None


def _hear(event: str, args: tuple[Any, ...]) -> None:
    if event in ("open", "os.listdir", "os.scandir"):
        path = args[0]
        if isinstance(path, str) and path.startswith(KERNELS):
            if not path.startswith(_LASTING):
                _notes[-1]("path", path)
    elif event == "subprocess.Popen":
        _notes[-1]("program", _command([os.fsdecode(word) for word in args[1]]))
    elif event == "socket.connect":
        _notes[-1]("server", str(args[1]))


def _command(argv: list[str]) -> str:
    """The program of a command line, with the units that systemctl is asked about."""
    name = os.path.basename(argv[0])
    if name != "systemctl":
        return name
    units = argv[argv.index("--") + 1 :] if "--" in argv else argv[-1:]
    return " ".join([name, *units])
