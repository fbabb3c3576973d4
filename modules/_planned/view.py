# SPDX-License-Identifier: Apache-2.0
"""What commands of a dry run see: the planned files, laid over the machine's in a mount namespace
that only the command has. What it writes there is gone with it.

It takes the right to mount (root's, outside of a locked container). Elsewhere commands see the
machine as it is, and the engine takes that into account.
"""

from __future__ import annotations

# os in this file: it lays the view over the machine
import ctypes
import errno
import operator
import os
import stat as bits
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from shutil import copyfileobj, rmtree  # a child of another root has none to find

from modules import _paths
from modules._planned.files import Entry, Later, PlannedFiles
from modules._planned.overlay import planned_machine
from modules.file._paths.walk import PATH_ONLY, resolved
from modules.file._rights import has_capability
from runner.api import Record, StateFailed, here

NEW_MOUNTS = 1 << 17  # unshare(2)
SYS_ADMIN = 21  # capabilities(7): who has it may mount
BIND, RECURSIVE, PRIVATE = 4096, 1 << 14, 1 << 18  # mount(2)
# of the file system below: no set-user-ID programs, no devices, no programs
RESTRICTIONS = os.ST_NOSUID | os.ST_NODEV | os.ST_NOEXEC
NOWHERE = "/proc/self/nowhere"  # a path where nothing is
MOST_BYTES, MOST_ENTRIES = 64 << 20, 5_000  # that are laid over the machine
MOST_BASE_BYTES, MOST_BASE_FILES = 2 << 30, 100_000  # of packages, made once for all commands


class Base:
    """Planned files that were made in a folder of the machine, as they lie below /, so that views
    need not make them for each command.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.packages = 0  # of how many packages it has the files
        self._made: dict[str, tuple[object, ...]] = {}  # what was made, by its path

    def copied(self) -> None:
        """Return nothing: another planned machine has other files."""
        return None

    def has(self, path: str, entry: Entry) -> bool:
        """Return whether it has what is planned at a path."""
        made = self._made.get(path, ())
        return bool(made) and all(map(operator.is_, made, _state_of(entry)))

    def under(self, path: str) -> Base:
        """Return what can lie under a folder's overlay: no layer may hold another one (ELOOP)."""
        return NO_BASE if f"{self.folder}/".startswith(f"{path}/") else self

    def lies_at(self, path: str) -> bool:
        """Return whether it has anything at a path."""
        return bool(self._made) and os.path.lexists(self.folder + path)

    def names(self, path: str) -> list[str]:
        """Return what it has in a folder."""
        at = self.folder + path
        return os.listdir(at) if self._made and os.path.isdir(at) else []

    def make(self, entry: Entry, path: str, room: list[int]) -> None:
        """Make the files that are planned in a folder. room: bytes and files that may be made."""
        for name, child in entry.names.items():
            at = os.path.join(path, name)
            if child is None or (child.is_real and not child.names) or self.has(at, child):
                continue
            if child.is_dir:
                self.make(child, at, room)
            elif child.is_file and isinstance(child.contents, bytes | Later):
                room[0] -= child.size
                room[1] -= 1
                if min(room) < 0:
                    raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), at)
                self._make_file(child, at)

    def _make_file(self, entry: Entry, path: str) -> None:
        target = self.folder + path
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with suppress(FileNotFoundError):
            os.unlink(target)
        mode = bits.S_IMODE(entry.bits)
        if isinstance(entry.contents, Later):
            source = entry.contents.stored(whole=True).path
            at = os.stat(source)
            if (at.st_uid, at.st_gid) != (entry.uid, entry.gid):
                os.chown(source, entry.uid, entry.gid)
            if bits.S_IMODE(at.st_mode) != mode:
                os.chmod(source, mode)
            os.link(source, target)
        elif isinstance(entry.contents, bytes):
            with open(target, "xb") as file:
                file.write(entry.contents)
            os.chown(target, entry.uid, entry.gid)
            os.chmod(target, mode)
        self._made[path] = _state_of(entry)


NO_BASE = Base("")


def _state_of(entry: Entry) -> tuple[object, ...]:
    """What tells a planned file from another one, and from itself when it is altered."""
    return entry, entry.bits, entry.uid, entry.gid, entry.contents


class View(Record):
    """The planned files, to be laid over the machine's. top: what is planned for names in / itself:
    nothing can be laid over that, so that another one takes its place. folders: the outermost ones
    in which something is planned. below: what is mounted below those. room: an empty folder. base:
    what has been made of the files.
    """

    top: Mapping[str, Entry | None]
    folders: tuple[tuple[str, Entry], ...]
    below: tuple[str, ...]
    room: str
    base: Base

    @property
    def variables(self) -> dict[str, str]:
        """What a program needs to take the planned folders for a part of their file system."""
        return {"GIT_DISCOVERY_ACROSS_FILESYSTEM": "1"}

    def entering(
        self, cwd: str | None, user: int | None, group: int | None, groups: list[int] | None
    ) -> Callable[[], None]:
        """Return what a new process does to see it, before it becomes another user, a command."""
        mount = _libc().mount

        def enter() -> None:
            _checked(_libc().unshare(NEW_MOUNTS))
            _checked(mount(None, b"/", None, RECURSIVE | PRIVATE, None))
            _checked(mount(b"tmpfs", os.fsencode(self.room), b"tmpfs", 0, b"mode=0700"))
            umask = os.umask(0)
            if self.top:
                os.chroot(_other_top(self.top, f"{self.room}/top"))
            kept = [(path, _opened(path)) for path in self.below]
            for number, (path, entry) in enumerate(self.folders):
                os.mkdir(f"{self.room}/work{number}")
                _put(entry, path, f"{self.room}/upper{number}", self.base.under(path))
            os.umask(umask)
            os.chdir(self.room)  # which may be covered itself
            made = self._opened_base()
            for number, (path, _) in enumerate(self.folders):
                own = f"upperdir=upper{number},workdir=work{number}"
                folder = _opened(path)
                flags = os.fstatvfs(folder).f_flag & RESTRICTIONS
                lower = _by(folder)
                if path in made:
                    lower = f"{_by(made[path])}:{lower}"
                options = f"lowerdir={lower},{own}".encode()
                _checked(mount(b"overlay", _by(folder).encode(), b"overlay", flags, options))
            for path, handle in kept:
                _bind(_by(handle), _by(_opened(path)))
            os.chdir(cwd or "/")  # as root, like Popen
            if groups is not None:
                os.setgroups(groups)
            if group is not None:
                os.setregid(group, group)
            if user is not None:
                os.setreuid(user, user)

        return enter

    def _opened_base(self) -> dict[str, int]:
        """What the base has of each folder, before an overlay over the base lies between."""
        return {
            path: os.open(self.base.folder + path, PATH_ONLY)
            for path, _ in self.folders
            if self.base.under(path).names(path)
        }


def planned_view(files: PlannedFiles) -> View | None:
    """The planned files for a command that is to see them; None where they cannot be laid over the
    machine.
    """
    machine = planned_machine()
    made_for = (files.changes, here.chunk)  # the state's scratch folder goes with it
    # a state that was looked at for its prereq has another folder at its turn
    is_gone = machine.view is not None and not os.path.isdir(machine.view.room)
    if machine.view_made_for != made_for or is_gone:
        machine.view_made_for, machine.view = made_for, _made(files)
    return machine.view


def _made(files: PlannedFiles) -> View | None:
    if not has_capability(SYS_ADMIN):
        return None
    top = {
        name: entry
        for name, entry in files.root.names.items()
        if _differs(entry, f"/{name}") and not (entry and _stays(entry, f"/{name}"))
    }
    folders = tuple(_covered(files.root, "/"))
    base = _base(files)
    if base is None or not _fit(folders, top, base):
        return None
    view = View(top, folders, _mounts_below(folders), here.scratch(), base)
    # mounts succeed or fail by what they cover, not by what lies there
    laid = tuple((path, bool(base.names(path))) for path, _ in folders)
    covers = (tuple(top), laid, view.below)
    works = planned_machine().view_works
    if (folders or top) and covers not in works:
        try:
            subprocess.run(["true"], preexec_fn=view.entering(None, None, None, None), check=True)
        except (OSError, subprocess.SubprocessError):
            return None
        works.add(covers)
    return view


def _base(files: PlannedFiles) -> Base | None:
    """What was made of the planned files when packages came to them; None where that is too much,
    or one of them cannot be read.
    """
    machine = planned_machine()
    packages = len(machine.packages)
    if not packages:
        return NO_BASE
    base = machine.base = machine.base or Base(files.scratch())
    if base.packages != packages:
        try:
            base.make(files.root, "/", [MOST_BASE_BYTES, MOST_BASE_FILES])
        except (OSError, StateFailed):
            return None
        base.packages = packages
    return base


def _covered(entry: Entry, path: str) -> Iterator[tuple[str, Entry]]:
    """The outermost folders in which something is planned; / is not one of them."""
    if path != "/" and (
        not entry.is_real
        or any(_differs(child, os.path.join(path, name)) for name, child in entry.names.items())
    ):
        yield path, entry
        return
    for name, child in entry.names.items():
        # not in a folder that has gone since: the scratch folder of a state before
        inner = os.path.join(path, name)
        if child is not None and _stays(child, inner) and os.path.isdir(inner):
            yield from _covered(child, inner)


def _stays(entry: Entry, path: str) -> bool:
    """Return whether a folder is the one that is there, whatever is planned for it."""
    return entry.is_dir and entry.origin == path


def _differs(entry: Entry | None, path: str) -> bool:
    """Return whether a name in a folder will stand for something else than it does."""
    if entry is None:
        return os.path.lexists(path)
    return not entry.is_real or entry.origin != path


def _fit(
    folders: tuple[tuple[str, Entry], ...], top: Mapping[str, Entry | None], base: Base
) -> bool:
    """Return whether the planned entries are not too many, and not too large, to be laid over the
    machine for each command.
    """
    pending = [(path, entry, base.under(path)) for path, entry in folders]
    pending += [(f"/{name}", entry, NO_BASE) for name, entry in top.items() if entry]
    number = size = 0
    while pending and number <= MOST_ENTRIES and size <= MOST_BYTES:
        path, entry, base = pending.pop()
        if not (entry.is_file and base.has(path, entry)):
            number += 1
            size += entry.size
        if entry.is_dir:
            names = entry.names if entry.origin in (None, path) else entry.listed()
            inside = ((name, entry.child(name)) for name in names)
            pending += [(os.path.join(path, name), child, base) for name, child in inside if child]
    return number <= MOST_ENTRIES and size <= MOST_BYTES


def _other_top(planned: Mapping[str, Entry | None], target: str) -> str:
    """Make a folder in which / has the names that are planned, with all else that is there."""
    os.mkdir(target)
    _bind(target, target)  # a mount point, as / is
    for name in {*os.listdir("/"), *planned}:
        path, at = f"/{name}", f"{target}/{name}"
        if name in planned:
            if entry := planned[name]:
                _put(entry, path, at)
        elif os.path.islink(path):
            os.symlink(os.readlink(path), at)
        else:
            if os.path.isdir(path):
                os.mkdir(at)
            else:
                os.close(os.open(at, os.O_CREAT | os.O_WRONLY))
            _bind(path, at)
    os.chmod(target, 0o755)
    return target


def _put(entry: Entry, path: str, target: str, base: Base = NO_BASE) -> None:
    """Make what is planned at a path in a folder of the overlay, above the base."""
    if entry.is_file and base.has(path, entry):
        return
    if entry.is_dir:
        os.mkdir(target)
        names = {*entry.names}
        if entry.origin != path:  # it is new, or was moved here with all in it
            names |= {*entry.listed(), *(os.listdir(path) if os.path.isdir(path) else ())}
        names |= {*base.names(path)}
        for name in names:
            inner, child = os.path.join(path, name), entry.child(name)
            if child is not None:
                _put(child, inner, os.path.join(target, name), base)
            elif os.path.lexists(inner) or base.lies_at(inner):
                os.mknod(os.path.join(target, name), bits.S_IFCHR, 0)  # hides what is there
    elif entry.is_link:
        os.symlink(entry.target, target)
    elif entry.is_file:
        with open(entry.opened(), "rb") as old, open(target, "xb") as new:
            copyfileobj(old, new)
    else:
        os.mknod(target, entry.bits, entry.device)
    with suppress(PermissionError):  # in a folder of a user's cache
        os.chown(target, entry.uid, entry.gid, follow_symlinks=False)
    if not entry.is_link:
        os.chmod(target, bits.S_IMODE(entry.bits))


def settle(folder: Entry) -> None:
    """Make what is planned in a folder of the cache in that folder itself, for programs that work
    there.
    """
    planned, below = folder.names, folder.origin or ""
    for name, entry in sorted(planned.items(), key=lambda item: item[1] is None):  # moves first
        path = os.path.join(below, name)
        if entry is not None and entry.is_dir and entry.origin == path:
            settle(entry)
            continue
        if entry is not None and entry.is_real and entry.origin == path:
            continue
        new = f"{path}.planned"
        if entry is not None:
            _put(entry, NOWHERE, new)
        if os.path.isdir(path) and not os.path.islink(path):
            rmtree(path)
        elif os.path.lexists(path):
            os.unlink(path)
        if entry is not None:
            os.rename(new, path)
    planned.clear()


def _mounts_below(folders: tuple[tuple[str, Entry], ...]) -> tuple[str, ...]:
    tops = tuple(f"{path}/" for path, _ in folders)
    below = sorted({point for point in _paths.mount_points() if point.startswith(tops)}, key=len)
    return tuple(
        point for point in below if not any(point.startswith(f"{other}/") for other in below)
    )


def _opened(path: str) -> int:
    """A descriptor of what is at a path, for mounts: nobody can have another path covered. Raises
    OSError, and StateFailed for a link of somebody else.
    """
    at = resolved(path)
    try:
        return os.open(at.name, PATH_ONLY, dir_fd=at.folder)
    finally:
        os.close(at.folder)


def _by(handle: int) -> str:
    return f"/proc/self/fd/{handle}"


def _bind(source: str, target: str) -> None:
    names = os.fsencode(source), os.fsencode(target)
    _checked(_libc().mount(*names, None, BIND | RECURSIVE, None))


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _checked(result: int) -> None:
    if result:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
