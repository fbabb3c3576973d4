# SPDX-License-Identifier: Apache-2.0
"""Entries of crontabs."""

from __future__ import annotations

import random as dice
import re
from collections.abc import Callable, Iterator
from typing import Any, Literal

from modules import cron
from modules import file as files
from modules.cron import Day, Field, Hour, Minute, Month, Weekday
from runner.api import AsText, Done, Line, Name, NonEmptyLine, Plan, Planned, StateFailed, here
from runner.api.claims import PART, WHOLE, Claim, Trap
from runner.api.opposite import Opposite, Removal
from runner.api.scheduled import CRON_RANGES
from states._tools import explained
from states.file._contents import Encoding, Template, source_data
from states.file._diff import unified
from states.file._sources import Verify, locate

Special = Literal[
    "@reboot", "@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"
]

_TIME = "minute hour daymonth month dayweek special"
_ENTRY = f"user {_TIME} comment commented identifier adopt"
ABOUT_ONE_FILE = {
    "present": _ENTRY,
    "absent": _ENTRY,
    "env_present": "value user adopt",
    "env_absent": "user",
}


def its_file(name: str, user: str | None = None, **_: object) -> str:
    """The crontab that a state is about."""
    return cron.crontab_of(user or cron.caller())


@files.validated
def present(
    name: NonEmptyLine,
    user: Name | None = None,
    minute: Minute = "*",
    hour: Hour = "*",
    daymonth: Day = "*",
    month: Month = "*",
    dayweek: Weekday = "*",
    comment: str | None = None,
    commented: bool = False,
    identifier: Line | bool | None = True,
    special: Special | None = None,
    adopt: bool = False,
) -> Planned:
    """Make sure that a line is in a user's crontab.

    name: The command.
    user: The user whose crontab it is; without it who runs this, mostly root.
    minute, hour, daymonth, month, dayweek alike: A field of the time; `random` is decided once and
      then stays.
    comment: Lines above the entry; without it those that are there stay.
    commented: Have the entry in the crontab, but switched off; a minute that starts with `#` means
      the same.
    identifier: What the entry is known by when its command or time changes; without it the command.
      With false a line that has none stays without it, with null it has none.
    special: A name for the time instead of the five fields, such as `@daily`.
    adopt: Take a line of this command that somebody wrote by hand for the entry; it is changed
      where it stands (Salt adds another line).

        backup:
          cron.present:
            - name: /usr/local/bin/backup
            - identifier: backup
            - hour: 3
            - minute: random
    """
    user = _required_user(user)
    name = name.strip()
    known = _identifier(name, identifier)
    if isinstance(minute, str) and minute.startswith("#"):
        minute, commented = minute.lstrip("# ") or "*", True
    times = (minute, hour, daymonth, month, dayweek)
    old = cron.find(user, name, known)
    handmade = None
    if adopt and old is None:
        handmade = cron.find_by_hand(user, name, special or " ".join(map(str, times)))
        old = handmade
    fields = [_field(text, old, index) for index, text in enumerate(times)]
    remark = old[2].comment if comment is None and old else cron.comment_as_read(comment or "")
    if not commented and not handmade:
        _warn_of_others(name, user, "as well: it runs twice; take that line away")
        _warn_of_rename(name, user, known)
    time = special or " ".join(" ".join(fields).split())
    if old and old[2].time.lower() == time.lower():  # Salt writes `jan` for `JAN`
        time = old[2].time
    mark = known if identifier is not None else ""
    if old and identifier is False:
        mark = old[2].identifier
    new = cron.CronEntry(time, name, mark, remark, commented)
    if handmade:
        new = new._replace(identifier="", comment="")
    if old is not None and old[2] == new:
        return f"Cron {name} already present"
    verb = "updated" if old else "added"
    yield Plan({user: name}, f"Cron {name} is set to be {verb}")
    _commit(name, user, lambda: cron.replace(user, old, new))
    return f"Cron {name} {verb} to {user}'s crontab" if verb == "added" else f"Cron {name} updated"


@files.validated
def absent(
    name: NonEmptyLine,
    user: Name | None = None,
    identifier: Line | bool | None = True,
    special: Special | None = None,
    minute: Field | None = None,
    hour: Field | None = None,
    daymonth: Field | None = None,
    month: Field | None = None,
    dayweek: Field | None = None,
    comment: str | None = None,
    commented: bool = False,
    adopt: bool = False,
) -> Planned:
    """Make sure that a line is not in a user's crontab.

    name: The command.
    user: The user whose crontab it is; without it who runs this, mostly root.
    identifier: What the entry is known by; without it the command.
    adopt: The only line of this command that somebody wrote by hand is the entry.
    special: Ignored, like all that follows, so that `present` can become `absent` in a file; a name
      for the time.
    minute, hour, daymonth, month, dayweek alike: Ignored; a field of the time.
    comment: Ignored; lines above the entry.
    commented: Ignored; whether the entry is switched off.

        old backup:
          cron.absent:
            - identifier: backup
    """
    user, name = user or cron.caller(), name.strip()
    if not cron.is_user(user):
        return Done(f"Cron {name} already absent", missing=[("user", user)])
    old = cron.find(user, name, _identifier(name, identifier))
    if adopt and old is None:
        old = cron.find_by_hand(user, name)
    if not adopt:
        _warn_of_others(name, user, "and stays")
    if old is None:
        return f"Cron {name} already absent"
    yield Plan({user: name}, f"Cron {name} is set to be removed")
    _commit(name, user, lambda: cron.replace(user, old, None))
    return f"Cron {name} removed from {user}'s crontab"


def _warn_of_others(name: str, user: str, then: str) -> None:
    """Warn of lines that somebody else wrote for the same command."""
    for number in cron.others(user, name):
        here.warn(
            f"line {number} of {user}'s crontab, which is not one of cron.present's, runs {name}"
            f" {then}"
        )


def _warn_of_rename(name: str, user: str, known: str) -> None:
    """Warn of an entry that is this one from before it got its identifier, or lost it: it has the
    same command, and no state of the run declares it.
    """
    for _, _, entry in cron.running(user, name):
        by_command = name in (entry.identifier, known)
        others = entry.identifier not in (known, "") and entry.identifier not in _declared(user)
        if others and by_command and not entry.commented:
            here.warn(
                f"{user}'s crontab has {name} under the identifier {entry.identifier!r}, too: it"
                " runs twice; cron.absent with that identifier takes the entry away"
            )


def _declared(user: str) -> set[str]:
    """The identifiers of the entries that the states of this run declare."""
    return {
        _identifier(chunk.name.strip(), chunk.args.get("identifier"))
        for chunk in (*here.chunks, *here.left_out)
        if chunk.function == "cron.present" and (chunk.args.get("user") or cron.caller()) == user
    }


def _required_user(name: str | None) -> str:
    user = name or cron.caller()
    if not cron.is_user(user):
        raise StateFailed(f"there is no user {user!r}", missing=("user", user))
    return user


def _identifier(name: str, identifier: str | bool | None) -> str:
    """The command itself where nothing else is given."""
    return (identifier.strip() if isinstance(identifier, str) else "") or name


def _commit(name: str, user: str, change: Callable[[], None]) -> None:
    """Change a crontab. crontab checks it first: what it refuses has changed nothing."""
    with explained(f"Cron {name} for user {user} failed to commit with error \n", changes={}):
        change()


def _field(text: Field, old: tuple[int, int, cron.CronEntry] | None, index: int) -> str:
    """A field of the time; a random one keeps the value that it got first."""
    if text != "random":
        return str(text)
    before = old[2].time.split() if old else []
    if len(before) == 5 and before[index].isdigit():
        return before[index]
    low, high = CRON_RANGES[index]
    return str(dice.randint(low, {2: 28, 4: 6}.get(index, high)))  # days that each month has


def autorequire(name: str, user: str | None = None, **_: object) -> Iterator[tuple[str, str]]:
    """An entry comes after the user whose crontab it is in."""
    yield "user", user or cron.caller()


@files.validated
def env_present(
    name: NonEmptyLine,
    value: AsText[Line | int | float | bool] | None = None,
    user: Name | None = None,
    adopt: bool = False,
) -> Planned:
    """Make sure that a user's crontab sets a variable, for the entries that runner keeps there.

    name: The variable, such as PATH or MAILTO.
    value: What it is set to, quotes included.
    user: The user whose crontab it is; without it who runs this, mostly root.
    adopt: Take a line that somebody wrote by hand for the variable; it is changed where it stands.

        MAILTO:
          cron.env_present:
            - value: admin@example.com
    """
    user = _required_user(user)
    if "=" in name or not cron.sets_variable(f"{name}="):
        raise StateFailed(f"{name!r} is not the name of a variable of a crontab")
    if name == "CRON_TZ" and not cron.takes_zones():
        here.warn("this machine's cron does not know CRON_TZ: all runs by the system's zone")
    wanted = "" if value is None else str(value).strip()
    old = cron.value_of(user, name, whole=adopt)
    if old == (wanted if wanted not in ('""', "''") else ""):
        return f"Cron env {name} already present"
    verb = "added" if old is None else "updated"
    yield Plan({user: name}, f"Cron env {name} is set to be {verb}")
    _commit(f"env {name}", user, lambda: cron.put_variable(user, name, wanted, adopt))
    return f"Cron env {name} {verb}" + f" to {user}'s crontab" * (old is None)


@files.validated
def env_absent(name: NonEmptyLine, user: Name | None = None) -> Planned:
    """Make sure that a user's crontab does not set a variable.

    name, user: As of cron.env_present.

        MAILTO:
          cron.env_absent: []
    """
    user = user or cron.caller()
    there = cron.is_user(user)
    if not there or cron.value_of(user, name) is None:
        return Done(f"Cron env {name} already absent", missing=[] if there else [("user", user)])
    yield Plan({user: name}, f"Cron env {name} is set to be removed")
    _commit(f"env {name}", user, lambda: cron.put_variable(user, name, None))
    return f"Cron env {name} removed from {user}'s crontab"


@files.validated
def file(
    name: NonEmptyLine,
    source_hash: Line | None = None,
    source_hash_name: Line | None = None,
    user: Name | None = None,
    template: Line | None = None,
    context: dict[str, Any] | None = None,
    replace: bool = True,
    defaults: dict[str, Any] | None = None,
) -> Planned:
    """Make sure that a user's whole crontab is a file.

    name: The file: salt://, http(s):// or a path.
    source_hash, source_hash_name, context, defaults: As of file.managed.
    user: The user whose crontab it is; without it who runs this, mostly root.
    template: What renders the file first, such as `jinja`.
    replace: False leaves a crontab that is there alone.

        salt://cron/worker:
          cron.file:
            - user: worker
            - template: jinja
    """
    user = user or cron.caller()
    if not cron.is_user(user):
        raise StateFailed(f"Could not identify group for user {user}", missing=("user", user))
    source = locate([name], name, Verify(source_hash, source_hash_name), False)
    variables = {**(defaults or {}), **(context or {})}
    about = {"name": name, "user": user}
    new = source_data(source, Template(template, variables), about, Encoding())
    if new and not new.endswith(b"\n"):
        raise StateFailed(f"{name} does not end with a line end; crontab would not take it")
    text = new.decode("utf-8", "surrogateescape")
    old = cron.raw_cron(user)
    if old == text or (old and not replace):
        return f"Crontab for user {user} is in the correct state"
    shown = unified(old.encode("utf-8", "surrogateescape") or b"\n", new)
    whose = {} if user == "root" else {"user": user, "group": cron.group_of(user)}
    changes = {"diff": shown, **whose}
    yield Plan(changes, f"The following values are set to be changed:\ndiff: {shown}\n")
    with explained(f"Unable to update user {user} crontab {name}. Error", changes={}):
        cron.write(user, cron.split(text))
    return f"Crontab for user {user} was updated"


def _entries(
    name: str, user: str | None = None, identifier: str | bool | None = None, **_: object
) -> Iterator[Removal]:
    """An entry of a crontab is known by its identifier, else by its command."""
    known = {"identifier": identifier} if isinstance(identifier, str) and identifier else {}
    user = user or cron.caller()
    thing = f"{known.get('identifier', name)}, user {user}"
    yield Removal(name, {"user": user, **known}, thing=thing)


def owns(
    fun: str, name: str, user: str | None = None, identifier: str | bool | None = None, **_: object
) -> Iterator[Claim]:
    """An entry of a crontab, or all of it."""
    crontab = f"crontab of {user or cron.caller()}"
    if fun == "file":
        yield Claim(WHOLE, crontab)
    elif fun == "present":
        yield Claim(PART, crontab, _identifier(name.strip(), identifier))


def traps(fun: str, name: str, special: object = None, **fields: object) -> Iterator[Trap]:
    """A line of a crontab in place of a command, a percent sign, of which cron makes a line break;
    times that are probably not meant.
    """
    if fun == "env_present" and re.search(r"\$\w|\$\{", str(fields.get("value") or "")):
        message = "cron puts nothing in place of a variable there"
        yield Trap("value", message, "write what it stands for, or set it in the command")
    if fun != "present":
        return
    if line := _LINE.match(name):
        message = f"the times of the line, {line[0].strip()!r}, are taken for a part of the command"
        yield Trap("name", message, f"write the command alone, and {_written_times(line[0])}")
    if re.search(r"(?<!\\)%", name):
        message = "cron ends the command at %, and gives it the rest as lines of input"
        yield Trap("name", message, r"write \% for a percent sign, or call a script")
    if not special:
        times = {key: str(value).strip() for key, value in fields.items() if value is not None}
        yield from _odd_times({key: times[key] for key in cron.FIELDS if times.get(key)})


_LINE = re.compile(
    r"\s*(?:@[a-z]+|[\d*][\d*/,-]*(?:\s+(?:[\d*][\d*/,-]*|[A-Za-z]{3})){4})\s+(?=\S)"
)


def _written_times(line: str) -> str:
    """The arguments that say what the beginning of a line of a crontab does."""
    parts = line.split()
    keys = cron.FIELDS if len(parts) > 1 else ("special",)
    pairs = zip(keys, parts, strict=True)
    return ", ".join(f"`- {key}: {part!r}`" for key, part in pairs if part != "*")


_STEPS = {"minute": (60, "hour"), "hour": (24, "day")}  # of how many, and of what
_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def _odd_times(given: dict[str, str]) -> Iterator[Trap]:
    """given: the fields that are."""
    limits = [key for key, value in given.items() if value != "*"]
    for finer, (_, whole) in _STEPS.items():
        coarser = [key for key in limits if cron.FIELDS.index(key) > cron.FIELDS.index(finer)]
        if finer not in given and coarser:
            message = f"without `{finer}` it runs in each {finer} of each {whole} that is meant"
            yield Trap(coarser[0], message, f"add `- {finer}: 0`, or `'*'` if each is meant")
            break
    if not any(given.get(key, "*").startswith("*") for key in ("daymonth", "dayweek")):
        message = "cron goes by either: on these days of the month, and on these of the week, too"
        yield Trap("dayweek", message, r'test one in the command: `[ "$(date +\%u)" = 1 ] && ...`')
    days, months = (re.findall(r"\d+", given.get(key, "")) for key in ("daymonth", "month"))
    if days and months and given["month"].replace(",", "").isdigit():
        if min(map(int, days)) > max(_DAYS[int(month) % 12 - 1] for month in months):
            yield Trap("daymonth", "it never runs: there is no such day", "correct day or month")
    for key, (size, whole) in _STEPS.items():
        step = re.fullmatch(r"\*/(\d+)", given.get(key, ""))
        if step and size / 2 < int(step[1]) < size:
            message = f"cron counts from 0 in each {whole}: it runs at 0 and at {step[1]}"
            yield Trap(key, message, "schedule.present runs things at any distance")


DECIDES = {"env_present": "value"}
MEANS = {"user": cron.caller}
OPPOSITE = {
    "present": Opposite("absent", things=_entries),
    "env_present": Opposite("env_absent", by=("user",)),
}
