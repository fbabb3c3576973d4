# SPDX-License-Identifier: Apache-2.0
"""Names and numbers of users and groups, remembered until /etc/passwd or /etc/group changes."""

from __future__ import annotations

import os

from modules import _accounts, _paths
from runner.api import ABSENT, for_states, version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from runner.api import Version


class _NameService:
    """One of the two name services. A missing name is asked for again: a state may add it."""

    def __init__(
        self, database: str, by_name: Callable[[str], int], by_number: Callable[[int], str]
    ) -> None:
        self._database = database
        self._by_name = by_name
        self._by_number = by_number
        self._version: Version | None = None
        self._numbers: dict[str, int] = {}
        self._names: dict[int, str] = {}

    def _check(self) -> None:
        try:
            now = version(_paths.stat(self._database))
        except OSError:
            now = ABSENT
        if now != self._version:
            self._version = now
            self._numbers.clear()
            self._names.clear()

    def number(self, name: str) -> int | None:
        self._check()
        number = self._numbers.get(name)
        if number is None:
            try:
                number = self._numbers[name] = self._by_name(name)
            except KeyError:
                return None
        return number

    def name(self, number: int) -> str:
        """The name; the number itself where nobody has it."""
        self._check()
        known = self._names.get(number)
        if known is None:
            try:
                known = self._names[number] = self._by_number(number)
            except (KeyError, OverflowError):
                return str(number)
        return known


def _user_number(name: str) -> int:
    return _accounts.user(name).pw_uid


def _user_name(number: int) -> str:
    return _accounts.user_of(number).pw_name


def _group_number(name: str) -> int:
    return _accounts.group(name).gr_gid


def _group_name(number: int) -> str:
    return _accounts.group_of(number).gr_name


_users = _NameService("/etc/passwd", _user_number, _user_name)
_groups = _NameService("/etc/group", _group_number, _group_name)


def uid_of(user: str | int) -> int | None:
    """The number of a user (a number, also as a string, stands for itself); None if there is no
    such user.
    """
    return _number(_users, user)


def gid_of(group: str | int) -> int | None:
    """The number of a group (a number, also as a string, stands for itself); None if there is no
    such group.
    """
    return _number(_groups, group)


def _number(names: _NameService, wanted: str | int) -> int | None:
    if isinstance(wanted, int):
        return wanted
    number = names.number(wanted)
    return int(wanted) if number is None and wanted.isdigit() else number


@for_states
def primary_gid(uid: int) -> int:
    """The number of a user's primary group; the user's own where there is no such user."""
    try:
        return _accounts.user_of(uid).pw_gid
    except (KeyError, OverflowError):
        return uid


def user_to_uid(user: Any = None) -> Any:
    """The number of a user, of the caller without one; "" if there is no such user."""
    if user is None:
        return os.geteuid()
    number = uid_of(user)
    return "" if number is None else number


def group_to_gid(group: Any = None) -> Any:
    """The number of a group, of the caller's without one; "" if there is no such group."""
    if group is None:
        return os.getegid()
    number = gid_of(group)
    return "" if number is None else number


def uid_to_user(uid: int) -> str:
    """The name of a user; the number as text where nobody has it."""
    return _users.name(int(uid))


def gid_to_group(gid: int) -> str:
    """The name of a group; the number as text where nobody has it."""
    return _groups.name(int(gid))
