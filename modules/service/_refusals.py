# SPDX-License-Identifier: Apache-2.0
"""What systemd will refuse to start or mask, for dry runs: what its units say of the
machine.
"""

from __future__ import annotations

import errno
import os
import re

from modules import _paths, cmd
from modules import user as users
from runner.api import CommandFailed
from runner.api.offline import is_offline, offline_as

MANAGING = "org.freedesktop.systemd1.manage-units"
# with one of these a unit's programs are found elsewhere, later, or not needed
ELSEWHERE = (
    "RootDirectory",
    "RootImage",
    "BindPaths",
    "BindReadOnlyPaths",
    "MountImages",
    "TemporaryFileSystem",
    "ExtensionImages",
    "ExecStartPre",
    "RequiresMountsFor",
)
ASKED = ("FragmentPath", "ExecStart", "EnvironmentFiles", "User", "DynamicUser", *ELSEWHERE)


def refuse_act(unit: str, action: str, runtime: bool) -> None:
    """Raise CommandFailed for what systemctl would not do with a unit of the system."""
    if not is_offline() and not _paths.isdir("/run/systemd/system"):  # systemctl has the words
        asked = cmd.probe(["systemctl", "show", "--property=Version"])
        if asked.retcode:
            raise CommandFailed(f"systemctl: {asked.stderr.strip()}")
    _refuse_unauthorized(unit, action)
    path = f"/{'run' if runtime else 'etc'}/systemd/system/{unit}"
    if action == "mask" and _paths.lexists(path) and not _paths.islink(path):
        raise CommandFailed(f"Failed to mask unit: File {path} already exists.")
    if action in ("start", "restart"):
        _refuse_start(unit)


def _refuse_offline(unit: str, action: str) -> None:
    if os.geteuid():
        raise CommandFailed(f"Failed to {action} unit: {os.strerror(errno.EACCES)}")


@offline_as(_refuse_offline)
def _refuse_unauthorized(unit: str, action: str) -> None:
    if os.geteuid() and not _is_authorized():
        raise CommandFailed(f"Failed to {action} {unit}: Interactive authentication required.")


def _is_authorized() -> bool:
    """Return whether polkit lets a plain user manage units without asking anything."""
    if not cmd.which("pkcheck"):
        return False
    who = ["--process", str(os.getpid())]
    return not cmd.probe(["pkcheck", "--action-id", MANAGING, *who]).retcode


def _refuse_start(unit: str) -> None:
    words = [f"--property={','.join(ASKED)}", "--", unit]
    lines = cmd.probe(["systemctl", "show", *words]).stdout.splitlines()
    declared = [line.partition("=")[::2] for line in lines]
    properties = dict(declared)
    if any(properties.get(key) for key in ELSEWHERE) or not _is_certain(properties):
        return
    failed = f"Service {unit.removesuffix('.service')} failed to start"
    user = properties.get("User", "")
    if user and properties.get("DynamicUser") == "no" and not _is_user(user):
        raise CommandFailed(f"{failed}: there is no user {user}", missing=("user", user))
    for key, value in declared:
        needed = re.match(r"{ path=(/.*?) ; ", value) if key == "ExecStart" else None
        if needed and "ignore_errors=no" in value and not _paths.exists(needed[1]):
            raise CommandFailed(
                f"{failed}: there is no program {needed[1]}", missing=("file", needed[1])
            )
        wanted = re.fullmatch(r"(/.*) \(ignore_errors=no\)", value)
        if key == "EnvironmentFiles" and wanted and not _paths.glob(wanted[1]):
            raise CommandFailed(f"{failed}: there is no {wanted[1]}", missing=("file", wanted[1]))


def _is_certain(properties: dict[str, str]) -> bool:
    """Return whether the unit is started as the machine has it: no pending state writes its file,
    which has no conditions.
    """
    path = properties.get("FragmentPath", "")
    try:
        with _paths.open_text(path, "utf-8", "replace") as planned:
            text = planned.read()
        with open(path, encoding="utf-8", errors="replace") as real:  # os: what is loaded by now
            same = text == real.read()
    except OSError:
        return False
    return same and not re.search(r"^\s*(Condition|Assert)", text, re.MULTILINE)


def _is_user(name: str) -> bool:
    return name.isdigit() or bool(users.info(name))
