"""Entries of crontabs."""

from __future__ import annotations

import random as dice
from collections.abc import Iterator
from typing import Literal

from modules import cron
from modules import user as users
from runner.api import Plan, Planned, StateFailed

Field = str | int
Special = Literal["@reboot", "@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"]


def present(
    name: str,
    user: str = "root",
    minute: Field = "*",
    hour: Field = "*",
    daymonth: Field = "*",
    month: Field = "*",
    dayweek: Field = "*",
    comment: str | None = None,
    commented: bool = False,
    identifier: str | bool | None = None,
    special: Special | None = None,
) -> Planned:
    """Make sure that a line is in a user's crontab.

    name: the command. user: whose crontab. minute, hour, daymonth, month, dayweek: when (`random` is decided once).
    special: @daily and the like instead. identifier: what the entry is known by (without it: the command). comment:
    a line above it. commented: the entry is there, but switched off.

        backup:
          cron.present:
            - name: /usr/local/bin/backup
            - identifier: backup
            - hour: 3
            - minute: random

    Behaviour: Salt 3008's cron.present.
    """
    _known(user)
    known = _identifier(name, identifier)
    old = _found(user, name, known)
    limits = (("minute", minute, 59), ("hour", hour, 23), ("daymonth", daymonth, 28), ("month", month, 12))
    fields = [_field(text, top, old, index) for index, (_, text, top) in enumerate(limits)]
    fields.append(_field(dayweek, 6, old, 4))
    new = cron.Entry(special or " ".join(fields), name, known, comment or "", commented)
    if old is not None and old[2] == new:
        return f"Cron {name} already present"
    verb = "updated" if old else "added"
    yield Plan({user: name}, f"Cron {name} is set to be {verb}")
    cron.replace(user, old, new)
    return f"Cron {name} {verb} to {user}'s crontab" if verb == "added" else f"Cron {name} updated"


def absent(name: str, user: str = "root", identifier: str | bool | None = None) -> Planned:
    """Make sure that a line is not in a user's crontab. Arguments as those of cron.present.

        old backup:
          cron.absent:
            - identifier: backup

    Behaviour: Salt 3008's cron.absent.
    """
    _known(user)
    old = _found(user, name, _identifier(name, identifier))
    if old is None:
        return f"Cron {name} already absent"
    yield Plan({user: name}, f"Cron {name} is set to be removed")
    cron.replace(user, old, None)
    return f"Cron {name} removed from {user}'s crontab"


def _known(user: str) -> None:
    if not users.info(user):
        raise StateFailed(f"there is no user {user!r}", lacks=("user", user))


def _identifier(name: str, identifier: str | bool | None) -> str:
    """The command itself where nothing else is given; nothing for False."""
    if identifier is False:
        return ""
    return identifier if isinstance(identifier, str) else name


def _found(user: str, name: str, identifier: str) -> tuple[int, int, cron.Entry] | None:
    for each in cron.entries(user):
        entry = each[2]
        if (entry.identifier and entry.identifier == identifier) or (not entry.identifier and entry.command == name):
            return each
    return None


def _field(text: Field, top: int, old: tuple[int, int, cron.Entry] | None, index: int) -> str:
    """A field of the time; a random one keeps the value that it got first."""
    if text != "random":
        return str(text)
    before = old[2].time.split() if old else []
    if len(before) == 5 and before[index].isdigit():
        return before[index]
    return str(dice.randint(1 if index in (2, 3) else 0, top))


def autorequire(name: str, user: str = "root", **_: object) -> Iterator[tuple[str, str]]:
    """An entry comes after the user whose crontab it is in."""
    yield "user", user


def env_present(name: str, value: str | int | None = None, user: str = "root") -> Planned:
    """Make sure that a user's crontab sets a variable.

    name: the variable, such as PATH or MAILTO. value: what it is set to. user: whose crontab.

        MAILTO:
          cron.env_present:
            - value: admin@example.com

    Behaviour: Salt 3008's cron.env_present.
    """
    _known(user)
    wanted = "" if value is None else str(value)
    old = cron.environment(user).get(name)
    if old == wanted:
        return f"Cron env {name} already present"
    verb = "updated" if old is not None else "added"
    yield Plan({user: name}, f"Cron env {name} is set to be {verb}")
    cron.set_env(user, name, wanted)
    return f"Cron env {name} {verb}" if verb == "updated" else f"Cron env {name} added to {user}'s crontab"


def env_absent(name: str, user: str = "root") -> Planned:
    """Make sure that a user's crontab does not set a variable. Arguments as those of cron.env_present.

        MAILTO:
          cron.env_absent: []

    Behaviour: Salt 3008's cron.env_absent.
    """
    _known(user)
    if name not in cron.environment(user):
        return f"Cron env {name} already absent"
    yield Plan({user: name}, f"Cron env {name} is set to be removed")
    cron.set_env(user, name, None)
    return f"Cron env {name} removed from {user}'s crontab"
