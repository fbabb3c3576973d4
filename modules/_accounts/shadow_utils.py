# SPDX-License-Identifier: Apache-2.0
"""Users and groups by useradd and its relatives: the command lines that carry a value out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from modules._accounts.values import Account, Aging, Group, Ranges

Commands = list[list[str]]

_FIELDS = {"uid": "-u", "gid": "-g", "gecos": "-c", "home": "-d", "shell": "-s"}
_DAYS = {"lstchg": "-d", "min": "-m", "max": "-M", "warn": "-W", "inact": "-I", "expire": "-E"}


def useradd(account: Account) -> Commands:
    """Add a user."""
    words = ["-m" if account.with_home else "-M", *_fields(account)]
    words += _flag("-r", account.system) + _flag("-l", not account.logged)
    words += [] if account.own_group is None else ["-U" if account.own_group else "-N"]
    return [["useradd", *words, "--", account.name]]


def usermod(account: Account) -> Commands:
    """Change a user."""
    words = [*_fields(account), *_flag("-m", account.with_home), *_flag("-a", account.appends)]
    words += [] if account.new_name is None else ["-l", account.new_name]
    words += [*_ranges("subuids", account.subuids), *_ranges("subgids", account.subgids)]
    return [["usermod", *words, "--", account.name]]


def userdel(name: str, home: bool, force: bool) -> Commands:
    """Delete a user."""
    return [["userdel", *_flag("-r", home), *_flag("-f", force), "--", name]]


def lock(name: str, locked: bool) -> Commands:
    """Lock a password, or take its lock back."""
    return [["usermod", "-L" if locked else "-U", "--", name]]


def age(name: str, aging: Aging) -> Commands:
    """Set the days of a password."""
    return [["chage", *_options(_DAYS, aging), "--", name]]


def groupadd(group: Group) -> Commands:
    """Add a group."""
    return [["groupadd", *_number(group), *_flag("-r", group.system), "--", group.name]]


def groupmod(group: Group) -> Commands:
    """Give a group another number."""
    return [["groupmod", *_number(group), "--", group.name]]


def groupdel(name: str) -> Commands:
    """Delete a group."""
    return [["groupdel", "--", name]]


def member(name: str, user: str, joins: bool) -> Commands:
    """Put a user into a group, or take one out of it."""
    return [["gpasswd", "-a" if joins else "-d", user, "--", name]]


def set_members(name: str, users: Sequence[str]) -> Commands:
    """Have exactly these users in a group."""
    return [["gpasswd", "-M", ",".join(users), "--", name]]


def _flag(option: str, given: bool) -> list[str]:
    return [option] if given else []


def _options(options: dict[str, str], value: Account | Aging | Group) -> list[str]:
    """The options of what a value says."""
    said = ((option, getattr(value, field)) for field, option in options.items())
    return [word for option, text in said if text is not None for word in (option, str(text))]


def _fields(account: Account) -> list[str]:
    further = [] if account.groups is None else ["-G", ",".join(account.groups)]
    return [*_options(_FIELDS, account), *_flag("-o", account.shares), *further]


def _number(group: Group) -> list[str]:
    return _options({"gid": "-g"}, group) + _flag("-o", group.shares)


def _ranges(kind: str, ranges: Ranges) -> Iterator[str]:
    for way, texts in (("del", ranges.removed), ("add", ranges.added)):
        for text in texts:
            yield from (f"--{way}-{kind}", text)
