"""The surroundings of commands: variables, user, folder."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from runner.api import CommandFailed

CATEGORIES = (
    *(
        "CTYPE",
        "NUMERIC",
        "TIME",
        "COLLATE",
        "MONETARY",
        "MESSAGES",
        "PAPER",
        "NAME",
        "ADDRESS",
        "TELEPHONE",
    ),
    *("MEASUREMENT", "IDENTIFICATION"),
)


def variables(
    env: Any, clean: bool, prepend_path: str | None, reset_locale: bool
) -> dict[str, str]:
    """The variables of a command: ours (or none), without our locale as with Salt, and those that
    it is given.
    """
    own, environment = parse_variables(env), {} if clean else dict(os.environ)
    if reset_locale and "LC_ALL" not in own:
        environment.pop("LC_ALL", None)
        environment |= {f"LC_{category}": "C" for category in CATEGORIES} | {"LANGUAGE": "C"}
    environment |= own
    if prepend_path:
        environment["PATH"] = f"{prepend_path}:{environment.get('PATH', os.defpath)}"
    return environment


def home(user: str | None) -> str:
    """The folder of a command that names none, as with Salt: a run is the same wherever one
    stands.
    """
    home = os.path.expanduser(f"~{user or ''}")
    return home if os.path.isdir(home) and os.access(home, os.R_OK) else "/"


def parse_variables(env: Any) -> dict[str, str]:
    """A mapping, a list of mappings or of `NAME=value` texts; names with the value None or False
    are unset as "". Raises CommandFailed for anything else.
    """
    if env is None:
        return {}
    if isinstance(env, str):
        env = [env]
    if not isinstance(env, Mapping | list | tuple):
        raise CommandFailed("Invalidly-formatted 'env' parameter. See documentation.")
    if isinstance(env, Mapping):
        return {
            str(name): "" if value in (None, False) else str(value) for name, value in env.items()
        }
    environment: dict[str, str] = {}
    for entry in env:
        if isinstance(entry, Mapping):
            environment |= parse_variables(entry)
        else:
            name, _, value = str(entry).partition("=")
            environment[name] = value
    return environment


def identity(runas: str | None, group: str | None, variables: dict[str, str]) -> dict[str, Any]:
    """The user and the groups for Popen; the variables get the user's HOME, USER, LOGNAME and
    SHELL. Raises CommandFailed for an unknown user or group.
    """
    import grp
    import pwd

    arguments: dict[str, Any] = {}
    kind, name = "user", runas
    try:
        if runas:
            user = pwd.getpwnam(runas)
            variables.update(
                HOME=user.pw_dir,
                USER=user.pw_name,
                LOGNAME=user.pw_name,
                SHELL=user.pw_shell or "/bin/sh",
            )
            if user.pw_uid != os.geteuid():
                groups = os.getgrouplist(user.pw_name, user.pw_gid)
                arguments |= {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": groups}
        if group:
            kind, name = "group", group
            arguments["group"] = grp.getgrnam(group).gr_gid
    except KeyError:
        raise CommandFailed(
            f"{kind.title()} '{name}' is not available", missing=(kind, str(name))
        ) from None
    return arguments
