# SPDX-License-Identifier: Apache-2.0
"""Units of users: how to speak to the systemd that runs for one of them."""

from __future__ import annotations

import os
import time

from modules import _accounts, _paths
from modules import user as users
from modules._planned.overlay import is_planned
from runner.api import Record, StateFailed, here
from runner.api.offline import offline_as

SECONDS = 10.0  # that the manager of a user may take to start, who was just told to linger


class UnitOwner(Record):
    """A user whose units are meant."""

    name: str
    uid: int
    gid: int
    home: str

    def runtime(self) -> str:
        """The folder of the user's running programs."""
        return f"/run/user/{self.uid}"

    def folder(self) -> str:
        """The folder of the user's unit files."""
        return f"{self.home}/.config/systemd/user"

    def argv(self, *words: str) -> list[str]:
        """The command line that runs a program as this user."""
        variables = [
            f"PATH={os.environ.get('PATH', os.defpath)}",
            "LC_ALL=C.UTF-8",
            f"XDG_RUNTIME_DIR={self.runtime()}",
            f"DBUS_SESSION_BUS_ADDRESS=unix:path={self.runtime()}/bus",
            f"HOME={self.home}",
        ]
        if os.geteuid() == self.uid:
            return ["env", *variables, *words]
        # root's own environment may hold secrets, which the user could read in /proc
        identity = [f"--reuid={self.uid}", f"--regid={self.gid}", "--init-groups"]
        return ["env", "-i", *variables, "setpriv", *identity, *words]


def account(name: str) -> UnitOwner:
    """Return the user of this name. Raises StateFailed where there is none."""
    try:
        entry = _accounts.user(name)
    except KeyError:
        raise StateFailed(f"There is no user {name}", missing=("user", name)) from None
    return UnitOwner(name, entry.pw_uid, entry.pw_gid, entry.pw_dir)


def _systemctl_on_files(user: str, *words: str) -> list[str]:
    """The command line that changes links alone, whatever runs beside the system's root."""
    if not user:
        return ["systemctl", "--root=/", *words]
    return account(user).argv("env", "SYSTEMD_OFFLINE=1", "systemctl", "--user", *words)


@offline_as(_systemctl_on_files)
def systemctl(user: str, *words: str) -> list[str]:
    """The command line of systemctl for the units of a user, or of the machine (user: empty).
    Raises StateFailed where no systemd runs for the user.
    """
    if not user:
        return ["systemctl", *words]
    owner = account(user)
    _require_manager(owner)
    return owner.argv("systemctl", "--user", *words)


def _require_manager(owner: UnitOwner) -> None:
    """Wait for the manager of a user who lingers. Raises StateFailed where none runs."""
    waited = here.store("user_managers_waited_for")
    socket = f"{owner.runtime()}/systemd/private"
    lingers = users.lingers(owner.name)
    waits = (
        lingers and owner.name not in waited and not is_planned(f"{users.LINGERING}/{owner.name}")
    )
    end = time.monotonic() + (SECONDS if waits else 0)
    while not _paths.exists(socket):
        if time.monotonic() > end:
            waited[owner.name] = True
            raise StateFailed(_reason(owner, lingers), missing=("linger", owner.name))
        time.sleep(0.1)


def _reason(owner: UnitOwner, lingers: bool) -> str:
    if lingers:
        return (
            f"No systemd runs for {owner.name}, who lingers: see `systemctl status"
            f" user@{owner.uid}.service`"
        )
    return (
        f"No systemd runs for {owner.name}: write `linger: True` to user.present of {owner.name},"
        f" or start user@{owner.uid}.service with service.running"
    )
