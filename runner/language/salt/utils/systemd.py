# SPDX-License-Identifier: Apache-2.0
"""salt.utils.systemd: whether systemd runs this machine, and which."""

from __future__ import annotations

import os
import re
import subprocess
from typing import Any

from runner.language.salt.exceptions import SaltInvocationError


def booted(context: Any = None) -> bool:
    """Return whether systemd runs this machine. Raises SaltInvocationError for a context that is no
    mapping.
    """
    if context is not None and not isinstance(context, dict):
        raise SaltInvocationError("context must be a dictionary if passed")
    return os.path.isdir("/run/systemd/system")


def offline(context: Any = None) -> bool:
    """Return whether systemctl works on a machine that does not run (a chroot)."""
    return not booted(context)


def version(context: Any = None) -> int | None:
    """The version of systemd; None without it."""
    try:
        done = subprocess.run(
            ["systemctl", "--version"], capture_output=True, text=True, check=False
        )
    except OSError:
        return None
    number = re.search(r"\d+", done.stdout)
    return int(number[0]) if number else None


def has_scope(context: Any = None) -> bool:
    """Return whether systemd-run knows scopes."""
    return booted(context) and (version(context) or 0) >= 205


def status_to_result(status: Any) -> Any:
    """Return what `systemctl status` says, by its exit code."""
    return {0: True, 3: False, 4: None}.get(status)
