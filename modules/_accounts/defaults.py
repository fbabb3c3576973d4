# SPDX-License-Identifier: Apache-2.0
"""What new accounts get by /etc/login.defs and /etc/default/useradd."""

from __future__ import annotations

import re
from collections.abc import Mapping

from modules import _accounts
from modules._accounts.values import Account
from modules._texts.lines import once_a_version

LOGIN_DEFS, DEFAULTS = "/etc/login.defs", "/etc/default/useradd"


def settings(path: str) -> Mapping[str, str]:
    """The words of /etc/login.defs, or the values of /etc/default/useradd."""
    return _settings(tuple(_accounts.lines(path)))


@once_a_version
def _settings(lines: tuple[str, ...]) -> Mapping[str, str]:
    found = {}
    for line in lines:
        match = re.match(r"\s*(\w+)(?:\s*=\s*|\s+)(.*)", line)
        if match:
            found[match[1]] = match[2].strip().strip("\"'")
    return found


def home(name: str) -> str:
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


def makes_group(account: Account) -> bool:
    """Return whether useradd makes one for a new user."""
    given = account.own_group
    return (account.gid is None and makes_groups()) if given is None else given


def primary_group(account: Account) -> str:
    """The primary group of a new user: its name, or its number as it is written."""
    if makes_group(account):
        return account.name
    return settings(DEFAULTS).get("GROUP", "100") if account.gid is None else str(account.gid)
