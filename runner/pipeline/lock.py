# SPDX-License-Identifier: Apache-2.0
"""One run at a time: a lock around compile and run, freed by the kernel when its holder dies."""

from __future__ import annotations

import fcntl
import os
import stat
import sys
import time
from contextlib import contextmanager, suppress

from runner.model.errors import RunnerError
from runner.model.stdlib import pattern
from runner.support.files.trusted_folder import (
    TrustedFolder,
    UntrustedFile,
    hint_to,
    trusted_folder,
)
from runner.support.redaction import command_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

RUN = "lock"  # of the folder: its holder compiles and runs
_FUNCTION = pattern(r"\w+\.\w+")
PAUSE = 0.1  # seconds between two tries of a run that waits
LONGEST_LOOK = 60.0  # seconds that a run waits for those who only look, at most without --wait


class Locked(RunnerError):
    """Another run holds the lock."""

    code = "locked"


class NoLocks(RunnerError):
    """The file system does not lock files."""

    code = "no-lock"


@contextmanager
def held(
    state_dir: str, wait: float = 0.0, name: str = RUN, only_looks: bool = False
) -> Iterator[Callable[[], None]]:
    """Hold the lock of a state folder. Gives what leaves it, in a child, to the parent. name: of
    the lock: RUN, or of what else only one process does. only_looks: together with others that
    only look; a run waits for them.

    wait: seconds to wait for another run to end, negative for as long as it takes. Raises Locked,
    which says who holds it (process, command, since when), and RunnerError when there can be no
    lock.
    """
    # who uses the folder meanwhile gets the one that was looked at here
    folder, descriptor = _opened(state_dir, name)
    try:
        _take(descriptor, wait, name, only_looks)
        if not only_looks:
            _sign(descriptor)
        yield lambda: os.close(descriptor)
    finally:
        os.close(descriptor)
        del folder


def _sign(descriptor: int) -> None:
    """Say who holds it; a full disk is no reason not to hold it."""
    words = _command(os.path.basename(sys.argv[0]), command_line(sys.argv[1:]))
    holder = f"process {os.getpid()} since {time.strftime('%F %T')}: {words}\n"
    with suppress(OSError):
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, holder.encode(errors="backslashreplace"), 0)


def keep_folder(path: str, wait: float = 0.0) -> None:
    """Hold the lock of a folder itself until this process ends, as far as its file system has
    locks of folders. Raises Locked.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    with suppress(NoLocks):
        _take(descriptor, wait)


def _command(program: str, words: Sequence[str]) -> str:
    """The description of this run for others: without what a function is given, whose secrets
    nobody knows as yet.
    """
    if program == "runner-salt-call" or words[:1] in (["single"], ["call"]):
        function = next(
            (place for place, word in enumerate(words) if _FUNCTION.fullmatch(word)), None
        )
        if function is not None and words[function + 1 :]:
            words = [*words[: function + 1], "..."]
    return " ".join([program, *words])


def _opened(state_dir: str, name: str) -> tuple[TrustedFolder, int]:
    try:
        folder = trusted_folder(state_dir)
        return folder, folder.open(name, os.O_RDWR | os.O_CREAT)
    except UntrustedFile as error:
        raise RunnerError(f"the lock cannot be taken: {error}", code="no-lock") from None
    except OSError as error:
        path = os.path.join(state_dir, name)
        hint = hint_to(state_dir, error) or "--cachedir DIR keeps it elsewhere"
        raise RunnerError(
            f"the lock cannot be taken: {path}: {error.strerror}", hint=hint, code="no-lock"
        ) from None


def _take(descriptor: int, wait: float, name: str = RUN, only_looks: bool = False) -> None:
    began = time.monotonic()
    while not _is_taken(descriptor, fcntl.LOCK_SH if only_looks else fcntl.LOCK_EX):
        longest, others_look = wait, False
        if wait < LONGEST_LOOK and _is_taken(descriptor, fcntl.LOCK_SH):
            fcntl.flock(descriptor, fcntl.LOCK_UN)
            longest, others_look = LONGEST_LOOK, True
        if wait >= 0 and time.monotonic() >= began + longest:
            raise _locked(
                "`runner watch` looks at states" if others_look else _holder(descriptor), name
            )
        time.sleep(PAUSE)


def _is_taken(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:  # ENOLCK, ENOSYS, ENOTSUP: some network and FUSE file systems
        message = f"the lock cannot be taken: the file system does not lock files: {error.strerror}"
        hint = "`state_dir` of the configuration, or --cachedir DIR, keeps it on another one"
        raise NoLocks(message, hint=hint) from None
    return True


def _locked(holder: str, name: str) -> Locked:
    if name != RUN:
        return Locked(f"another process does this already: {holder}")
    return Locked(f"another run is under way: {holder}", hint="--wait waits until it has ended")


def _holder(descriptor: int) -> str:
    if stat.S_ISDIR(os.fstat(descriptor).st_mode):
        return "it builds this image"
    said = os.pread(descriptor, 4096, 0).decode(errors="replace").strip()
    return said or "it did not identify itself"
