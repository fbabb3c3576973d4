# SPDX-License-Identifier: Apache-2.0
"""Links that somebody else has put on the way to a file that the command line, the configuration or
a state names.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress

from runner.model.errors import REFUSED, RunnerError
from runner.support.files.permissions import MOST_LINKS, link_of_others, names_of

_OWN_DEVICES = (
    "/dev/std",
    "/dev/fd/",
    "/dev/null",
    "/dev/tty",
    "/proc/self/fd/",
)  # links that only the kernel reads

_SAFELY = os.O_NOFOLLOW | os.O_NONBLOCK
_READ = os.O_RDONLY | os.O_NOCTTY | os.O_CLOEXEC | _SAFELY


class LinkOfOthers(RunnerError):
    """A link of another user leads to what is not that user's."""

    code = REFUSED


def without_links(path: str) -> str:
    """The path without symbolic links; what is missing at its end stays as it is.

    Raises LinkOfOthers for a link that is not followed (`permissions.link_of_others`), and OSError.
    """
    waiting = names_of(os.path.join(os.getcwd(), path))
    real, links = "", 0
    foreign: list[
        tuple[int, str, int]
    ] = []  # links of others: what has to be left when they are at their end
    while waiting:
        name = waiting.pop()
        if name == "..":
            real = os.path.dirname(real)
            continue
        at = f"{real}/{name}"
        try:
            status = os.lstat(at)
        except FileNotFoundError:
            _refuse(foreign, -1, len(waiting))
            return os.path.normpath("/".join((at, *reversed(waiting))))
        if not stat.S_ISLNK(status.st_mode):
            real = at
            foreign = _refuse(foreign, status.st_uid, len(waiting))
            continue
        links += 1
        if links > MOST_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
        if link_of_others(status, os.stat(real or "/")):
            foreign.append((len(waiting), at, status.st_uid))
        target = os.readlink(at)
        real = "" if target.startswith("/") else real
        waiting += names_of(target)
    return real or "/"


def _refuse(
    foreign: list[tuple[int, str, int]], owner: int, left: int
) -> list[tuple[int, str, int]]:
    """The links that have not been followed to their end yet. owner: of what stands there; -1:
    nothing does.
    """
    for end, link, user in foreign:
        if left <= end and user != owner:
            what = (
                f"{link} is a symbolic link of user {user} to {os.readlink(link)}, which is not"
                " that user's"
            )
            raise LinkOfOthers(
                f"{what}: it is not followed",
                hint=f"remove it, or make it root's: chown -h root {link}",
            )
    return [earlier for earlier in foreign if left > earlier[0]]


def refuse_special(path: str) -> None:
    """Raise OSError where a file that is renamed to a path would take the place of a folder, a
    device or a pipe.
    """
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "there is something else than a file", path)


def open_output(path: str, flags: int) -> int:
    """Open a file to be written, as an opener of `open`: readable by its owner alone if it is made
    now.

    Nothing is written through a link, into a second name of a file, or into a pipe that nobody
    reads, where another user can have put them. Raises OSError, and LinkOfOthers.
    """
    if path.startswith(_OWN_DEVICES):
        return os.open(path, flags, 0o600)
    folder, name = _folder_of(path)
    try:
        descriptor = os.open(name, flags | _SAFELY, 0o600, dir_fd=folder)
        status, at = os.fstat(descriptor), os.stat(".", dir_fd=folder)
    finally:
        os.close(folder)
    others = at.st_uid not in (0, os.geteuid()) or at.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    if others and stat.S_ISREG(status.st_mode) and status.st_nlink > 1:
        os.close(descriptor)
        raise OSError(
            errno.EPERM, "it has a second name (a hard link), and others can write its folder", path
        )
    os.set_blocking(descriptor, True)
    return descriptor


def open_input(path: str) -> int:
    """Open what is at a path to be read, a pipe without waiting: what is judged is what is opened,
    whatever others put there meanwhile. Raises OSError, and LinkOfOthers.
    """
    if path.startswith(_OWN_DEVICES):
        return os.open(path, _READ & ~os.O_NOFOLLOW)
    try:
        descriptor = os.open(path, _READ)
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
    else:
        with suppress(FileNotFoundError):  # no /proc
            if os.readlink(f"/proc/self/fd/{descriptor}") == path:  # no link was on the way
                return descriptor
        os.close(descriptor)
    folder, name = _folder_of(path)
    try:
        return os.open(name, _READ, dir_fd=folder)
    finally:
        os.close(folder)


def _folder_of(path: str) -> tuple[int, str]:
    """The folder that a path leads to, opened, and the name in it. Raises OSError, and
    LinkOfOthers.
    """
    above, name = os.path.split(without_links(path))
    folder = os.open(above, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        with suppress(FileNotFoundError):  # no /proc
            if os.readlink(f"/proc/self/fd/{folder}") != above:
                raise OSError(errno.ELOOP, "somebody has replaced a folder on the way", path)
    except BaseException:
        os.close(folder)
        raise
    return folder, name
