# SPDX-License-Identifier: Apache-2.0
"""From a path to a folder that is held open and a name in it, without following what somebody else
has put on the way.

`link_of_others` says which links are followed only to what their owner owns.
"""

from __future__ import annotations

# os in this file: walks by descriptors
import errno
import os
import pwd
import stat as bits

from modules import _paths
from modules._planned.overlay import overlay
from runner.api import MOST_LINKS, Record, StateFailed, link_of_others
from runner.api import others_write as others_write

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NONBLOCK
PATH_ONLY = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC


class Link(Record):
    """A link of somebody else on the way, whose owner has to own what it leads to."""

    path: str
    says: str
    owner: int


class Resolved(Record):
    """Where a path leads. folder: a descriptor, which the caller closes; name: in it; path: the
    same without links.

    owner: whose the object has to be, because a link of this user led to it; -1: anybody's.
    """

    folder: int
    name: str
    path: str
    owner: int = -1


def resolved(path: str, follow: bool = False) -> Resolved:
    """Open the folder of a path. follow: a link at the end of the path, too.

    Raises OSError where a folder is missing, and StateFailed for a link that is not to be followed.
    """
    if not path.startswith("/"):
        path = os.path.join(os.getcwd(), path)
    above, _, name = path.rpartition("/")
    if name not in ("", ".", ".."):
        folder = _directly(above or "/")
        if folder is not None:
            if not (follow and _is_link(folder, name)):
                return Resolved(folder, name, path)
            os.close(folder)
    return Walk(path).to_end(follow)


def _directly(folder: str) -> int | None:
    """A folder whose path has no link in it, opened; None where it has one, or where /proc cannot
    tell.
    """
    try:
        handle = os.open(folder, FOLDER)
    except PermissionError:
        return None  # it may still be passed through
    try:
        if os.readlink(f"/proc/self/fd/{handle}") == folder:
            return handle
    except OSError:
        pass
    os.close(handle)
    return None


def _is_link(folder: int, name: str) -> bool:
    try:
        return bits.S_ISLNK(os.lstat(name, dir_fd=folder).st_mode)
    except FileNotFoundError:
        return False


class Walk:
    """The way from / down a path, a name at a time."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._pending: list[str | Link] = [*names_of(path)]
        self._links = 0
        self._at: list[str] = []  # the names of the folders that lead to where it is
        self._folder = os.open("/", FOLDER)

    def to_end(self, follow: bool) -> Resolved:
        """Go to the folder of the last name. Raises OSError as the system does."""
        try:
            while self._pending:
                step = self._pending[-1]
                if isinstance(step, Link):
                    self._pending.pop()
                    refuse_unless(step, os.fstat(self._folder).st_uid)
                elif step == "..":
                    self._pending.pop()
                    self._enter(os.open("..", FOLDER, dir_fd=self._folder), self._at[:-1])
                elif self._is_last() and not (follow and _is_link(self._folder, step)):
                    return self._ended(step)
                else:
                    self._descend(step)
            return self._ended(".")
        except BaseException:
            os.close(self._folder)
            raise

    def rest(self) -> str:
        """The path without links, where a folder is missing from some place on."""
        names = self._at.copy()
        for step in reversed([step for step in self._pending if isinstance(step, str)]):
            names = names[:-1] if step == ".." else [*names, step]
        return "/" + "/".join(names)

    def _is_last(self) -> bool:
        return sum(isinstance(step, str) for step in self._pending) == 1

    def _ended(self, name: str) -> Resolved:
        links = [link for link in self._pending if isinstance(link, Link)]
        self._pending.clear()
        path = "/" + "/".join([*self._at, *([] if name == "." else [name])])
        if not links:
            return Resolved(self._folder, name, path)
        try:
            owner = os.lstat(name, dir_fd=self._folder).st_uid
        except FileNotFoundError:
            owner = os.fstat(self._folder).st_uid  # who may create it there
        for link in links:
            refuse_unless(link, owner)
        return Resolved(self._folder, name, path, owner)

    def _descend(self, name: str) -> None:
        """Enter a folder, or put what a link says in the place of its name."""
        try:
            below = os.open(name, FOLDER | os.O_NOFOLLOW, dir_fd=self._folder)
        except OSError as problem:
            if problem.errno not in (errno.ELOOP, errno.ENOTDIR, errno.EACCES):
                raise
            below = os.open(name, PATH_ONLY, dir_fd=self._folder)
            at = os.fstat(below)
            if bits.S_ISLNK(at.st_mode):
                try:
                    self._follow(name, below, at)
                finally:
                    os.close(below)
                return
            if not bits.S_ISDIR(at.st_mode):
                os.close(below)
                raise
        self._pending.pop()
        self._enter(below, [*self._at, name])

    def _enter(self, folder: int, at: list[str]) -> None:
        os.close(self._folder)
        self._folder = folder
        self._at = at

    def _follow(self, name: str, link: int, at: os.stat_result) -> None:
        self._links += 1
        if self._links > MOST_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), self._path)
        says = os.readlink("", dir_fd=link)
        path = "/" + "/".join([*self._at, name])
        self._pending.pop()
        if link_of_others(at, os.fstat(self._folder)):
            self._pending.append(Link(path, says, at.st_uid))
        self._pending += names_of(says)
        if says.startswith("/"):
            self._enter(os.open("/", FOLDER), [])


def names_of(path: str) -> list[str]:
    """The names of a path, the last one first."""
    return [name for name in reversed(path.split("/")) if name not in ("", ".")]


def refuse_unless(link: Link, owner: int) -> None:
    """Raise StateFailed for a link of somebody else to what is not theirs."""
    if owner == link.owner:
        return
    whose = _name_of(link.owner)
    raise StateFailed(
        f"{link.path} is a symbolic link of {whose} to {link.says}, which is not {whose}'s: it is"
        " not followed (remove it, or make it root's with chown -h)",
        missing=("file", link.path),
    )


def _name_of(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def real_path(path: str) -> str:
    """The path without symbolic links; it need not exist. Raises StateFailed for a link that is not
    to be followed.
    """
    if not path.startswith("/"):
        path = os.path.join(os.getcwd(), path)
    if (planned := overlay()) is not None:
        return planned.real_path(path)
    walk = Walk(path)
    try:
        target = walk.to_end(follow=True)
    except FileNotFoundError:
        return walk.rest()
    except OSError:  # a file where a folder should be, a loop, a folder that is not ours to enter
        return os.path.realpath(path)
    os.close(target.folder)
    return target.path


def others_replace(path: str) -> bool:
    """Return whether somebody but root and the caller can put something else in the place of a
    path, or of a folder above.
    """
    path = real_path(path)
    trusted = (0, os.geteuid())
    while path != "/":
        at, path = _paths.lstat(path), os.path.dirname(path)
        above = _paths.stat(path)
        sticky = above.st_mode & bits.S_ISVTX and above.st_uid in trusted and at.st_uid in trusted
        if others_write(above) and not sticky:
            return True
    return False
