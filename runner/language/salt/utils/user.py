# SPDX-License-Identifier: Apache-2.0
"""salt.utils.user: users and groups of the system."""

from __future__ import annotations

import grp
import os
import pwd

from runner.language.filters.files import get_uid


def get_user() -> str | None:
    """The name of the user that this process runs as."""
    return pwd.getpwuid(os.geteuid()).pw_name


def get_specific_user() -> str | None:
    """The name of this user, or of the one who asked sudo for it."""
    asked = os.environ.get("SUDO_USER")
    return f"sudo_{asked}" if asked and get_user() == "root" else get_user()


def get_gid(group: str | None = None) -> int | None:
    """The number of a group; this process's without a name."""
    try:
        return os.getegid() if group is None else grp.getgrnam(group).gr_gid
    except KeyError:
        return None


def get_default_group(user: str) -> str | None:
    """The name of a user's own group."""
    try:
        return grp.getgrgid(pwd.getpwnam(user).pw_gid).gr_name
    except KeyError:
        return None


def get_group_list(user: str, include_default: bool = True) -> list[str]:
    """The names of a user's groups, sorted."""
    own = get_default_group(user)
    groups = {group.gr_name for group in grp.getgrall() if user in group.gr_mem}
    if include_default and own:
        groups.add(own)
    if not include_default:
        groups.discard(own or "")
    return sorted(groups)


def get_group_dict(user: str | None = None, include_default: bool = True) -> dict[str, int]:
    """The groups of a user (or all), with their numbers."""
    names = (
        [group.gr_name for group in grp.getgrall()]
        if user is None
        else get_group_list(user, include_default)
    )
    return {name: grp.getgrnam(name).gr_gid for name in names}


def get_gid_list(user: str, include_default: bool = True) -> list[int]:
    """The numbers of a user's groups, sorted."""
    return sorted(set(get_group_dict(user, include_default).values()))
