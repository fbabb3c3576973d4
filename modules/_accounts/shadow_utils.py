# SPDX-License-Identifier: Apache-2.0
"""Users and groups by useradd and its relatives: the provider of most machines."""

from __future__ import annotations

import os

from modules import _accounts
from modules._accounts.values import Account, Aging, Group, Ranges
from modules._machine.processes import probe
from modules._texts.lines import join_lines, one_line
from runner.api import CommandFailed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_FIELDS = {"uid": "-u", "gid": "-g", "gecos": "-c", "home": "-d", "shell": "-s"}
_DAYS = {"lstchg": "-d", "min": "-m", "max": "-M", "warn": "-W", "inact": "-I", "expire": "-E"}


def useradd(account: Account) -> None:
    """Add a user."""
    words = ["-m" if account.with_home else "-M", *_fields(account)]
    words += _flag("-r", account.system) + _flag("-l", not account.logged)
    words += [] if account.own_group is None else ["-U" if account.own_group else "-N"]
    run(["useradd", *words, "--", account.name], names_itself=True)


def usermod(account: Account) -> None:
    """Change a user."""
    words = [*_fields(account), *_flag("-m", account.with_home), *_flag("-a", account.appends)]
    words += [] if account.new_name is None else ["-l", account.new_name]
    words += [*_ranges("subuids", account.subuids), *_ranges("subgids", account.subgids)]
    run(["usermod", *words, "--", account.name], names_itself=True)


def userdel(name: str, home: bool, force: bool) -> None:
    """Delete a user."""
    delete(["userdel", *_flag("-r", home), *_flag("-f", force), "--", name])


def delete(words: Sequence[str]) -> None:
    """Run what deletes a user. Raises CommandFailed."""
    done = probe([*words])
    if done.retcode not in (0, 12):  # 12: the home folder was not there
        _blame_rights(words[0])
        hint = _accounts.AT_WORK if done.retcode == 8 else ""
        raise CommandFailed(done.stderr.strip() + hint)


def set_password(name: str, password: str) -> None:
    """Set the hash of a password, which goes by standard input."""
    run(["chpasswd", "-e"], join_lines([f"{name}:{password}"]))


def del_password(name: str) -> None:
    """Let a user in without a password."""
    run(["passwd", "-d", "--", name])


def lock(name: str, locked: bool) -> None:
    """Lock a password, or take its lock back."""
    run(["usermod", "-L" if locked else "-U", "--", name])


def age(name: str, aging: Aging) -> None:
    """Set the days of a password."""
    run(["chage", *_options(_DAYS, aging), "--", name])


def groupadd(group: Group) -> None:
    """Add a group."""
    run(["groupadd", *_number(group), *_flag("-r", group.system), "--", group.name])


def groupmod(group: Group) -> None:
    """Give a group another number."""
    run(["groupmod", *_number(group), "--", group.name])


def groupdel(name: str) -> None:
    """Delete a group."""
    run(["groupdel", "--", name])


def member(name: str, user: str, joins: bool) -> None:
    """Put a user into a group, or take one out of it."""
    run(["gpasswd", "-a" if joins else "-d", user, "--", name])


def set_members(name: str, users: Sequence[str]) -> None:
    """Have exactly these users in a group."""
    run(["gpasswd", "-M", ",".join(users), "--", name])


def run(words: Sequence[str], stdin: str | None = None, names_itself: bool = False) -> None:
    """Run a command line. Raises CommandFailed. names_itself: the first line that the program says
    is enough to know which one it is.
    """
    done = probe([one_line(word, words[0]) for word in words], stdin=stdin)
    if done.retcode:
        _blame_rights(words[0])
    if done.retcode and names_itself:
        raise CommandFailed((done.error_text or f"{words[0]} failed").splitlines()[0])
    done.or_fail(words[0])


def _blame_rights(program: str) -> None:
    """Say of a program that failed that it needs root, to who is not: none does its work then."""
    if os.geteuid():
        raise CommandFailed(f"{program} needs root, and this is user {os.geteuid()}")


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
