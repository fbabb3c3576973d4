# SPDX-License-Identifier: Apache-2.0
"""Users and groups where busybox's adduser, addgroup, deluser and delgroup are all there is, as on
Alpine Linux: what useradd and its relatives are asked for, in the words of these.

busybox cannot change a user or a group that is there, but for its members, locks and passwords.
"""

from __future__ import annotations

from collections.abc import Sequence

from modules import _accounts, cmd
from runner.api import CommandFailed

USERS_GROUP = "users"  # of a user without a group of its own
_ADDUSER = {"-d": "-h", "-s": "-s", "-c": "-g", "-u": "-u"}  # useradd's word -> adduser's
_FLAGS = ("-m", "-M", "-r", "-l", "-U", "-N", "-o")


def stands_in() -> bool:
    """Return whether this machine has no useradd, but adduser."""
    return cmd.which("useradd") is None and cmd.which("adduser") is not None


def useradd(name: str, options: Sequence[str]) -> list[list[str]]:
    """Return the command lines that add a user. options: useradd's. Raises CommandFailed."""
    values, flags = _parsed(options)
    if "-o" in flags:
        refuse("a number that is taken (unique: False)")
    system = ["-S"] if "-r" in flags else []
    lines = []
    if "-g" in values:
        group = _group_name(values["-g"])
    elif "-N" in flags:
        group = USERS_GROUP
    else:  # adduser -S would not make a group of its own
        group = name
        lines = [["addgroup", *system, "--", name]] if not _exists(name) else []
    words = [word for key, own in _ADDUSER.items() if key in values for word in (own, values[key])]
    home = ["-H"] if "-M" in flags else []
    lines.append(["adduser", "-D", *system, *home, "-G", group, *words, "--", name])
    further = [other for other in values.get("-G", "").split(",") if other]
    return lines + [["addgroup", "--", name, other] for other in further]


def usermod(name: str, options: Sequence[str]) -> list[list[str]]:
    """Return the command lines that lock or unlock a password, or set a user's further groups.
    options: usermod's. Raises CommandFailed for other changes.
    """
    if list(options) in (["-L"], ["-U"]):
        return [["passwd", "-l" if options[0] == "-L" else "-u", "--", name]]
    appends = "-a" in options
    values, _ = _parsed([word for word in options if word != "-a"])
    if [*values] != ["-G"]:
        refuse("change a user, but for its groups, password and lock")
    wanted = {group for group in values["-G"].split(",") if group}
    present = {entry.gr_name for entry in _accounts.groups().values() if name in entry.gr_mem}
    leaves = [] if appends else sorted(present - wanted)
    return [
        *(["addgroup", "--", name, group] for group in sorted(wanted - present)),
        *(["delgroup", "--", name, group] for group in leaves),
    ]


def userdel(name: str, options: Sequence[str]) -> list[str]:
    """Return the command line that deletes a user. options: userdel's."""
    return ["deluser", *(["--remove-home"] if "-r" in options else []), "--", name]


def groupadd(name: str, options: Sequence[str]) -> list[str]:
    """Return the command line that adds a group. options: groupadd's. Raises CommandFailed."""
    if "-o" in options:
        refuse("a number that is taken (non_unique: True)")
    words = ["-S" if word == "-r" else word for word in options]
    return ["addgroup", *words, "--", name]


def groupmod() -> None:
    """Raises CommandFailed: busybox has nothing like it."""
    refuse("another number for a group")


def refuse_days() -> None:
    """Raises CommandFailed where busybox stands in: it has nothing like chage."""
    if stands_in():
        refuse("how long passwords hold")


def members(name: str, users: Sequence[str]) -> list[list[str]]:
    """Return the command lines after which a group has exactly these members."""
    present = next(
        (entry.gr_mem for entry in _accounts.groups().values() if entry.gr_name == name), []
    )
    return [
        *(["addgroup", "--", user, name] for user in users if user and user not in present),
        *(["delgroup", "--", user, name] for user in present if user not in users),
    ]


def _parsed(options: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """Return the options that have values with these, and the others."""
    values: dict[str, str] = {}
    flags: list[str] = []
    words = iter(options)
    for word in words:
        if word in _FLAGS:
            flags.append(word)
        else:
            values[word] = next(words, "")
    return values, flags


def _exists(group: str) -> bool:
    return any(entry.gr_name == group for entry in _accounts.groups().values())


def _group_name(group: str) -> str:
    """Return a group's name: adduser takes no number."""
    for entry in _accounts.groups().values():
        if group in (entry.gr_name, str(entry.gr_gid)):
            return entry.gr_name
    raise CommandFailed(f"group '{group}' does not exist")


def refuse(what: str) -> None:
    """Raises CommandFailed with what to do."""
    raise CommandFailed(
        f"busybox's adduser and addgroup cannot do that: {what}. Install useradd and its relatives"
        " (the package shadow)"
    )
