# SPDX-License-Identifier: Apache-2.0
"""The programs that change users and groups on this machine: shadow-utils, or busybox's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from modules import _paths
from modules._accounts import busybox, shadow_utils
from modules._accounts.shadow_utils import Commands
from modules._accounts.values import Account, Aging, Group
from modules._machine.processes import probe
from modules._texts.lines import one_line
from runner.api import CommandFailed


class Tools(Protocol):
    """What carries a value out: the command lines for it. Raises CommandFailed for what these
    programs cannot do.
    """

    def useradd(self, account: Account) -> Commands: ...
    def usermod(self, account: Account) -> Commands: ...
    def userdel(self, name: str, home: bool, force: bool) -> Commands: ...
    def lock(self, name: str, locked: bool) -> Commands: ...
    def age(self, name: str, aging: Aging) -> Commands: ...
    def groupadd(self, group: Group) -> Commands: ...
    def groupmod(self, group: Group) -> Commands: ...
    def groupdel(self, name: str) -> Commands: ...
    def member(self, name: str, user: str, joins: bool) -> Commands: ...
    def set_members(self, name: str, users: Sequence[str]) -> Commands: ...


def are_of_busybox() -> bool:
    """Return whether this machine has no useradd, but adduser."""
    return _paths.which("useradd") is None and _paths.which("adduser") is not None


def tools() -> Tools:
    """Return what this machine has."""
    return busybox if are_of_busybox() else shadow_utils


def run(commands: Commands, stdin: str | None = None, names_itself: bool = False) -> None:
    """Run command lines one after another. Raises CommandFailed. names_itself: the first line that
    a program says is enough to know which one it is.
    """
    for words in commands:
        done = probe([one_line(word, words[0]) for word in words], stdin=stdin)
        if done.retcode and names_itself:
            raise CommandFailed((done.error_text or f"{words[0]} failed").splitlines()[0])
        if done.retcode:
            raise CommandFailed(f"{words[0]}: {done.error_text}")
