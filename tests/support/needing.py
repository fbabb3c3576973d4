# SPDX-License-Identifier: Apache-2.0
"""What a test needs of the machine, and why it is skipped where that is missing: programs, and the
rights of root, which root of a locked container lacks.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys

import pytest

from modules._planned.view import SYS_ADMIN
from modules.file._rights import CHOWN, FOWNER, has_capability

DAC_OVERRIDE, SETGID, SETUID = 1, 6, 7  # capabilities(7)
CLONE_NEWNS, CLONE_NEWUSER = 0x00020000, 0x10000000  # unshare(2)
USUAL = (CHOWN, DAC_OVERRIDE, FOWNER, SETGID, SETUID)  # a container that is not locked has these


def is_root() -> bool:
    """Return whether who runs the tests may give files away, do with any file what root may, and
    be somebody else.
    """
    return all(map(has_capability, USUAL))


def is_user_0() -> bool:
    """Return whether who runs the tests is called root, whatever that may do here."""
    return os.geteuid() == 0


@functools.cache
def _may_unshare(flag: int) -> bool:
    """Return whether a process may have name spaces of its own: of a kind, by unshare(2)."""
    script = f"import ctypes, sys; sys.exit(ctypes.CDLL(None).unshare({flag}) != 0)"
    return subprocess.run([sys.executable, "-c", script], capture_output=True).returncode == 0


def may_mount() -> bool:
    """Return whether who runs the tests may mount, in a name space."""
    return is_root() and has_capability(SYS_ADMIN) and _may_unshare(CLONE_NEWNS)


def needs_own_server() -> pytest.MarkDecorator:
    """For a file system that the test itself serves (silent_server.py)."""
    lacks = "" if os.path.exists("/dev/fuse") else "/dev/fuse is not there"
    lacks = lacks or ("" if may_mount() else "nobody may mount here")
    return pytest.mark.skipif(bool(lacks), reason=lacks)


def needs_own_users() -> pytest.MarkDecorator:
    return pytest.mark.skipif(
        not _may_unshare(CLONE_NEWUSER), reason="nobody may make name spaces of users here"
    )


def needs_root(what: str = "a second user") -> pytest.MarkDecorator:
    return pytest.mark.skipif(not is_root(), reason=f"needs root: {what}")


def require_root(what: str) -> None:
    if not is_root():
        pytest.skip(f"needs root: {what}")


def _lacking(programs: tuple[str, ...]) -> str:
    return next((each for each in programs if not shutil.which(each)), "")


def needs(*programs: str) -> pytest.MarkDecorator:
    lacks = _lacking(programs)
    return pytest.mark.skipif(bool(lacks), reason=f"{lacks} is not installed")


def require(*programs: str) -> None:
    """Skip the test that runs, or that a fixture is made for, where it lacks a program."""
    if lacks := _lacking(programs):
        pytest.skip(f"{lacks} is not installed")
