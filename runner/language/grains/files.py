# SPDX-License-Identifier: Apache-2.0
"""Reading small files and asking programs."""

from __future__ import annotations

import os
import subprocess


def text_of(path: str) -> str:
    """The text of a file; empty if it cannot be read."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def output_of(*argv: str) -> str:
    """The output of a program of the system; empty without it or after 5 seconds."""
    done = _finished(argv)
    return done.stdout if done else ""


def printed(*argv: str) -> str | None:
    """The output of a program of the system; None if it is not there, fails or takes longer than 5
    seconds.
    """
    done = _finished(argv)
    return done.stdout if done and not done.returncode else None


def _finished(argv: tuple[str, ...]) -> subprocess.CompletedProcess[str] | None:
    folders = f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/bin:/sbin:/bin"
    environment = {"PATH": folders, "LC_ALL": "C.UTF-8"}
    try:
        return subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=5,
            env=environment,
        )
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return None
