# SPDX-License-Identifier: Apache-2.0
"""The surroundings of commands: variables, user, folder."""

from __future__ import annotations

import grp
import os
import pwd
from collections.abc import Mapping

from modules import _accounts, _paths
from modules._planned.machine import merged
from modules._planned.overlay import planned_machine
from runner.api import CommandFailed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CATEGORIES = tuple(
    """
    CTYPE NUMERIC TIME COLLATE MONETARY MESSAGES PAPER NAME ADDRESS TELEPHONE MEASUREMENT
    IDENTIFICATION
    """.split()
)


def variables(
    env: Any, clean: bool, prepend_path: str | None, reset_locale: bool
) -> dict[str, str]:
    """The variables of a command: ours (or none), without our locale as with Salt, and those that
    it is given.
    """
    own, environment = parse_variables(env), {} if clean else inherited()
    if reset_locale and "LC_ALL" not in own:
        environment.pop("LC_ALL", None)
        environment |= {f"LC_{category}": "C" for category in CATEGORIES} | {"LANGUAGE": "C"}
    environment |= own
    if prepend_path:
        environment["PATH"] = f"{prepend_path}:{environment.get('PATH', os.defpath)}"
    return environment


def inherited() -> dict[str, str]:
    """The variables of this run, in a dry run with those that were planned."""
    return merged(os.environ, planned_machine().environment)


def home(user: str | None) -> str:
    """The folder of a command that names none, as with Salt: a run is the same wherever one
    stands.
    """
    try:
        home = _accounts.user(user).pw_dir if user else os.path.expanduser("~")
    except KeyError:
        return "/"
    return home if _paths.isdir(home) and _paths.access(home, os.R_OK) else "/"


def parse_variables(env: Any) -> dict[str, str]:
    """A mapping, a list of mappings or of `NAME=value` texts; names with the value None are unset
    as "". Raises CommandFailed for anything else.
    """
    if env is None:
        return {}
    if isinstance(env, str):
        env = [env]
    if not isinstance(env, Mapping | list | tuple):
        raise CommandFailed("Invalidly-formatted 'env' parameter. See documentation.")
    if isinstance(env, Mapping):
        return {str(name): "" if value is None else str(value) for name, value in env.items()}
    environment: dict[str, str] = {}
    for entry in env:
        if isinstance(entry, Mapping):
            environment |= parse_variables(entry)
        else:
            name, _, value = str(entry).partition("=")
            environment[name] = value
    return environment


def refuse_unknown(runas: str | None, group: str | None) -> None:
    """Raise CommandFailed for a user or a group that there is not, or will not be."""
    for kind, name, look in (("user", runas, _accounts.user), ("group", group, _accounts.group)):
        if name:
            try:
                look(name)
            except KeyError:
                raise _unknown(kind, name) from None


def _unknown(kind: str, name: str) -> CommandFailed:
    return CommandFailed(f"{kind.title()} '{name}' is not available", missing=(kind, name))


def identity(
    runas: str | None, group: str | None, variables: dict[str, str], planned: bool = False
) -> dict[str, Any]:
    """The user and the groups for Popen; the variables get the user's HOME, USER, LOGNAME and
    SHELL. Raises CommandFailed for an unknown user or group.

    planned: also for those that there are only in a plan, as the command sees that.
    """
    arguments: dict[str, Any] = {}
    kind, name = "user", runas
    try:
        if runas:
            user = _accounts.user(runas) if planned else pwd.getpwnam(runas)  # os: no view
            variables.update(
                HOME=user.pw_dir,
                USER=user.pw_name,
                LOGNAME=user.pw_name,
                SHELL=user.pw_shell or "/bin/sh",
            )
            if user.pw_uid != os.geteuid():
                groups_of = _accounts.group_numbers if planned else os.getgrouplist  # os: no view
                groups = groups_of(user.pw_name, user.pw_gid)
                arguments |= {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": groups}
        if group:
            kind, name = "group", group
            entry = _accounts.group(group) if planned else grp.getgrnam(group)  # os: no view
            arguments["group"] = entry.gr_gid
    except KeyError:
        raise _unknown(kind, str(name)) from None
    return arguments


def octal(umask: str | int) -> int:
    """A umask as a number. Raises CommandFailed for digits that are not octal."""
    digits = str(umask).removeprefix("0o")
    if not 1 <= len(digits) <= 4 or digits.strip("01234567"):
        raise CommandFailed(f"umask: {str(umask)!r} is not up to four digits from 0 to 7")
    return int(str(umask), 8)
