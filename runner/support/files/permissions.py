# SPDX-License-Identifier: Apache-2.0
"""Other users who can write what a run trusts: the configuration, the trees, and the folders of
runner's own files.
"""

from __future__ import annotations

import grp
import os
import pwd
import stat
import struct
from contextlib import suppress
from functools import cache

from runner.model.errors import REFUSED, CompileError, Diagnostic, RunnerError
from runner.model.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_LINKS = 40  # as the kernel has it
MOST_SHOWN = 10  # warnings of one run


def others_write(folder: os.stat_result) -> bool:
    """Return whether somebody but root and the caller can put something into a folder."""
    is_others = folder.st_uid and folder.st_uid != os.geteuid()
    return bool(is_others or folder.st_mode & 0o022)


def link_of_others(link: os.stat_result, folder: os.stat_result) -> bool:
    """Return whether a symbolic link in a folder is followed only to what belongs to the link's
    owner.

    This is the rule for all links on the way to a file that is named to runner, as the kernel's
    fs.protected_symlinks has it for sticky folders: root works in folders that other users can
    write to (homes, /tmp, /var/www), and a link that one of them has put there may lead only to
    what is theirs. Links of root and of the caller, and links in folders that nobody else can
    write to, are followed anywhere. `files/links.py` goes by it for the files that runner itself
    opens, `modules/file/_paths/walk.py` for those that states change.
    """
    return link.st_uid not in (0, os.geteuid()) and others_write(folder)


class Flaw(Record):
    """A way for others than root and the caller to change a path. owner: 0 when it is rightly
    owned.
    """

    path: str
    owner: int = 0
    link: bool = False

    @property
    def message(self) -> str:
        return f"others can write {self.path}{self._owner_word}"

    @property
    def trusted(self) -> str:
        """The message for something that a run reads."""
        return f"others can write {self.path}, which this run trusts{self._owner_word}"

    @property
    def _owner_word(self) -> str:
        return f" (it belongs to user {self.owner})" if self.owner else ""

    @property
    def remedy(self) -> str:
        """The command that mends it."""
        if not self.owner:
            return f"chmod go-w {self.path}"
        return f"chown {'-h ' if self.link else ''}{os.geteuid() or 'root'} {self.path}"


def flaw(
    path: str,
    status: os.stat_result,
    target: int | str,
    passed: bool = False,
    owners: tuple[int, ...] = (),
) -> Flaw | None:
    """The flaw that lets others change a file or folder; None where only root and the caller can.

    status: its lstat. target: its descriptor or path, for the ACL. passed: it is a folder on the
    way, where it is enough that others cannot replace what is not theirs, as in /tmp. owners: whom
    it may belong to, too.
    """
    link = stat.S_ISLNK(status.st_mode)
    passed = passed and stat.S_ISDIR(status.st_mode)
    if status.st_uid not in (0, os.geteuid(), *owners) and not (
        passed and status.st_uid in _owners_of_all()
    ):
        return Flaw(path, status.st_uid, link)
    if link or (passed and status.st_mode & stat.S_ISVTX):
        return None
    if status.st_mode & stat.S_IWOTH or (
        status.st_mode & stat.S_IWGRP and _group_can_write(status.st_gid, target)
    ):
        return Flaw(path)
    return None


@cache
def _owners_of_all() -> set[int]:
    """The owners of / and /proc: root, or in a user namespace `nobody`, who stands for it there (of
    /proc alone where / was composed by the caller).
    """
    owners = {os.stat("/").st_uid}
    with suppress(OSError):  # a chroot without it
        owners.add(os.stat("/proc").st_uid)
    return owners


# ---------------------------------------------------------------- groups and ACLs

_USER, _GROUP_OF_FILE, _GROUP, _MASK = 0x02, 0x04, 0x08, 0x10  # tags of the entries of a POSIX ACL
_WRITE = 2


def _group_can_write(group: int, target: int | str) -> bool:
    """Return whether the group's write bit, with an ACL its mask, lets anybody else write."""
    entries = _acl(target)
    if not entries:
        return not _is_private(group)
    mask = next((bits for tag, bits, _ in entries if tag == _MASK), 7)
    for tag, bits, number in entries:
        if not bits & mask & _WRITE:
            continue
        if tag == _USER and number not in (0, os.geteuid()):
            return True
        if tag in (_GROUP_OF_FILE, _GROUP) and not _is_private(
            group if tag == _GROUP_OF_FILE else number
        ):
            return True
    return False


def _acl(target: int | str) -> list[tuple[int, int, int]]:
    """The entries (tag, bits, number) of the access ACL of a file; none when it has none."""
    try:
        data = os.getxattr(target, "system.posix_acl_access")
    except (OSError, ValueError):
        return []
    return list(struct.iter_unpack("<HHI", data[4:])) if (len(data) - 4) % 8 == 0 else []


@cache
def _is_private(group: int) -> bool:
    """Return whether a group has no other members than root and the caller: root's, or the caller's
    own by its name.
    """
    if group == 0:
        return True
    try:
        members_of, caller = grp.getgrgid(group), pwd.getpwuid(os.geteuid())
    except KeyError:
        return False
    return members_of.gr_name == caller.pw_name and not set(members_of.gr_mem) - {
        "root",
        caller.pw_name,
    }


# ---------------------------------------------------------------- what a run reads


class Watch:
    """Checks each file that a run reads, and the folders and links on the way: each once."""

    def __init__(self, strict: bool = False) -> None:
        """strict: refuse what others can write, instead of a warning."""
        self._strict = strict
        self._known: dict[
            str, tuple[str, Flaw | None]
        ] = {}  # path -> where it really is, and what is wrong there
        self._flaws: dict[str, Flaw] = {}
        self._reported = 0

    def read(self, path: str) -> None:
        """Look at a file before it is read. Raises RunnerError where that is strict and others can
        write it.
        """
        self._judge(path if path.startswith("/") else os.path.abspath(path))

    @property
    def files(self) -> Iterable[str]:
        """What was read, with the folders and links on the way."""
        return self._known.keys()

    def root(self, path: str) -> None:
        """Look at a folder whose files are read by their names: nobody else may add one either."""
        real = self._judge(os.path.abspath(path))
        try:
            status = os.stat(real)
        except OSError:
            return
        if status.st_mode & stat.S_ISVTX and (problem := flaw(real, status, real)):
            self._note(problem)

    def _judge(self, path: str) -> str:
        real, problem = self._followed(path, 0)
        if problem and self._strict:
            raise RunnerError(problem.trusted, hint=problem.remedy, code=REFUSED)
        return real

    def _note(self, problem: Flaw) -> None:
        self._flaws.setdefault(problem.path, problem)
        if self._strict:
            raise RunnerError(problem.trusted, hint=problem.remedy, code=REFUSED)

    def problems(self) -> list[Diagnostic]:
        """A warning for each thing that others can write, since this was asked last."""
        flaws = list(self._flaws.values())[self._reported :]
        self._reported += len(flaws)
        warnings = [
            Diagnostic(flaw.trusted, None, flaw.remedy, REFUSED, "warning")
            for flaw in flaws[:MOST_SHOWN]
        ]
        if len(flaws) > MOST_SHOWN:
            last = warnings.pop()
            warnings.append(
                last._replace(message=f"{last.message} (and {len(flaws) - MOST_SHOWN} more)")
            )
        return warnings

    def refuse(self) -> None:
        """Raise CompileError where that is strict and others can write something: who asked for a
        file may have taken the refusal for one that is not there.
        """
        if self._strict and self._flaws:
            raise CompileError(warning._replace(severity="error") for warning in self.problems())

    def _followed(self, path: str, links: int) -> tuple[str, Flaw | None]:
        """The real path of a path, and the first entry on the way that others can write."""
        known = self._known.get(path)
        if known is None:
            known = self._known[path] = self._looked_at(path, links)
        return known

    def _looked_at(self, path: str, links: int) -> tuple[str, Flaw | None]:
        folder, _, name = path.rpartition("/")
        folder = folder or "/"
        above, problem = ("/", None) if folder == path else self._followed(folder, links)
        if name == "..":
            return os.path.dirname(above), problem
        real = above if name in ("", ".") else f"/{name}" if above == "/" else f"{above}/{name}"
        try:
            status = os.lstat(real)
        except (OSError, ValueError):
            return real, problem
        if problem is None:  # below a folder that others can write, nothing more is to be said
            problem = flaw(real, status, real, passed=True)
            if problem:
                self._flaws[real] = problem
        if stat.S_ISLNK(status.st_mode) and links < MOST_LINKS:
            real, behind = self._followed(os.path.join(above, os.readlink(real)), links + 1)
            problem = problem or behind
        return real, problem


def names_of(path: str) -> list[str]:
    """The names of a path, the last one first."""
    return [name for name in reversed(path.split("/")) if name not in ("", ".")]
