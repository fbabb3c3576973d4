# SPDX-License-Identifier: Apache-2.0
"""Users, groups and the days of passwords as they are to be. None is for what is not said, which
new accounts get by /etc/login.defs and /etc/default/useradd.
"""

from __future__ import annotations

import re

from modules import _accounts
from runner.api import Record, cached_look

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Ranges(Record):
    """Ranges FIRST-LAST of subordinate numbers that a user is to have, or to lose."""

    added: Sequence[str] = ()
    removed: Sequence[str] = ()


class Account(Record):
    """A user to add, or what to change of one: a new user gets what is not said as the system
    gives it, one who is there keeps it.

    gid: the primary group, by its number or its name. groups: those beside it. appends: to the
    groups that the user is in. own_group: add one of the user's name. with_home: make the home of
    a new user; move that of one who is there. unique: the number is nobody else's. logged: has an
    entry in lastlog and faillog.
    """

    name: str
    uid: int | None = None
    gid: int | str | None = None
    gecos: str | None = None
    home: str | None = None
    shell: str | None = None
    groups: Sequence[str] | None = None
    appends: bool = False
    with_home: bool = False
    own_group: bool | None = None
    unique: bool = True
    system: bool = False
    logged: bool = True
    new_name: str | None = None
    subuids: Ranges = Ranges()
    subgids: Ranges = Ranges()

    @property
    def shares(self) -> bool:
        """Return whether the number may be somebody else's, too."""
        return not self.unique and self.uid is not None

    @property
    def makes_group(self) -> bool:
        """Return whether useradd makes a group for the new user."""
        given = self.own_group
        return (self.gid is None and makes_groups()) if given is None else given

    @property
    def primary_group(self) -> str:
        """The primary group of the new user: its name, or its number as it is written."""
        if self.makes_group:
            return self.name
        return settings(DEFAULTS).get("GROUP", "100") if self.gid is None else str(self.gid)


class Group(Record):
    """A group to add, or to give another number. unique: the number is no other group's."""

    name: str
    gid: int | None = None
    system: bool = False
    unique: bool = True

    @property
    def shares(self) -> bool:
        """Return whether the number may be another group's, too."""
        return not self.unique and self.gid is not None


class Aging(Record):
    """The days of a password, in the order of /etc/shadow; -1 takes one away."""

    lstchg: int | str | None = None
    min: int | str | None = None
    max: int | str | None = None
    warn: int | str | None = None
    inact: int | str | None = None
    expire: int | str | None = None


LOGIN_DEFS, DEFAULTS = "/etc/login.defs", "/etc/default/useradd"


def settings(path: str) -> Mapping[str, str]:
    """The words of /etc/login.defs, or the values of /etc/default/useradd."""
    return _settings(path)


@cached_look("settings of accounts", "{0}")
def _settings(path: str) -> Mapping[str, str]:
    found = {}
    for line in _accounts.lines(path):
        match = re.match(r"\s*(\w+)(?:\s*=\s*|\s+)(.*)", line)
        if match:
            found[match[1]] = match[2].strip().strip("\"'")
    return found


def home_of(name: str) -> str:
    """The home folder of a new user."""
    return f"{settings(DEFAULTS).get('HOME') or '/home'}/{name}"


def skeleton() -> str:
    """The folder that has what a new home folder holds."""
    return settings(DEFAULTS).get("SKEL") or "/etc/skel"


def spool(name: str) -> str:
    """The file of a user's mail."""
    return f"{settings(LOGIN_DEFS).get('MAIL_DIR', '/var/mail')}/{name}"


def makes_groups() -> bool:
    """Return whether useradd makes a group of the name of each new user."""
    return settings(LOGIN_DEFS).get("USERGROUPS_ENAB") == "yes"
