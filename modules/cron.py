# SPDX-License-Identifier: Apache-2.0
"""Crontabs of users, edited as text: what nobody asked for stays as it is."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Any

from modules import _accounts, _paths, file
from modules._accounts import caller as caller
from modules._machine.processes import LOCALE, probe, run_to_end, view
from modules._planned.overlay import is_planned
from modules._texts.lines import (
    encoded,
    fields,
    join_lines,
    once_a_line,
    once_a_version,
    one_line,
    plain_name,
)
from modules._texts.lines import split as split
from runner.api import (
    Check,
    CommandFailed,
    FormerState,
    Line,
    Record,
    Unforeseen,
    cached_look,
    changer,
    for_states,
    here,
)
from runner.api.durability import installs_later, text_that_waits
from runner.api.planning import only_files
from runner.api.scheduled import CRON_FIELDS as FIELDS
from runner.api.scheduled import cron_field

NEEDS_PROGRAM = "crontab"  # without it templates find no function of this module
HEADER = "# Lines below here are managed by Salt, do not edit"
MARK = "SALT_CRON_IDENTIFIER:"
DAEMONS = ("/usr/sbin/cron", "/usr/sbin/crond")
SPOOLS = ("/var/spool/cron/crontabs", "/var/spool/cron/tabs", "/var/spool/cron")
INSTALLED = 3  # lines that crontab puts above those that it was given, and does not list
DISABLED = "#DISABLED#"  # in front of an entry that is switched off
EMPTY = '""'


def _problem(index: int, text: Line | int) -> str | None:
    """What is wrong with a field of the time. Only some crons know `~`; `minute: '@reboot'`, or all
    five fields in it, leaves the others empty.
    """
    word = str(text).lstrip("# " if index == 0 else " ").rstrip()
    whole = index == 0 and (word.startswith("@") or len(word.split()) == 5)
    try:
        cron_field("*" if whole or word in ("", "random") or "~" in word else word, index)
    except ValueError as problem:
        return str(problem)
    return None


Field = Line | int
_HINT = "such as `5`, `1,3`, `1-5` or `'*/2'`"
Minute = Annotated[Field, Check(partial(_problem, 0), _HINT)]
Hour = Annotated[Field, Check(partial(_problem, 1), _HINT)]
Day = Annotated[Field, Check(partial(_problem, 2), _HINT)]
Month = Annotated[Field, Check(partial(_problem, 3), "such as `1`, `jan,jul` or `'*/3'`")]
Weekday = Annotated[Field, Check(partial(_problem, 4), "such as `1`, `mon-fri` or `5-7`")]
_VARIABLE = re.compile(r"""\s*["']?[^\s"'=#@*][^\s"'=]*["']?\s*=""")


def sets_variable(line: str) -> bool:
    """Return whether a line of a crontab sets a variable and runs nothing."""
    return _VARIABLE.match(line) is not None


@for_states
def comment_as_read(text: str) -> str:
    """A comment as it is read from the crontab that it was written into."""
    return "\n".join(map(_remark, text.splitlines())).strip(" \t\n")


def _remark(line: str) -> str:
    """A line of a comment without its sign."""
    return line.lstrip("# \t")


class CronEntry(Record):
    """One managed line of a crontab, with the comment above it."""

    time: str  # five fields, or @daily and the like
    command: str
    identifier: str = ""
    comment: str = ""
    commented: bool = False

    def lines(self) -> list[str]:
        """The entry as it stands in a crontab. Raises CommandFailed where one part of it would be
        several lines.
        """
        for what in ("time", "command", "identifier"):
            one_line(getattr(self, what), f"the {what} of the crontab's entry")
        if MARK in self.comment:
            raise CommandFailed(f"the comment of the crontab's entry has {MARK} in it")
        remarks = self.comment.splitlines()
        if self.identifier:
            remarks = [
                *remarks[:-1],
                f"{remarks[-1]} {MARK}{self.identifier}" if remarks else MARK + self.identifier,
            ]
        line = f"{self.time} {self.command}"
        return [
            *(f"# {remark}" for remark in remarks),
            f"{DISABLED}{line}" if self.commented else line,
        ]


def read(user: str) -> tuple[str, ...]:
    """The lines of a user's crontab. Raises CommandFailed when there is no crontab program or no
    such user.
    """
    waits = text_that_waits(crontab_of(user))
    return _read(user) if waits is None else waits


@for_states
def crontab_of(user: str) -> str:
    """A user's crontab as what its program puts in its place."""
    return f"crontab of {user}"


@cached_look("crontabs", *(f"{spool}/{{0}}" for spool in SPOOLS))
def _read(user: str) -> tuple[str, ...]:
    if is_planned(_accounts.PASSWD) or is_planned(_path(user)):
        return tuple(_planned_lines(user))
    return _listed(user)


def _listed(user: str) -> tuple[str, ...]:
    done = probe([*_of(user), "-l"])
    if done.retcode and "no crontab for" not in done.stderr:
        allowed = re.search("cannot use|not allowed to use", done.stderr) is None
        cure = "" if allowed else " (/etc/cron.allow and /etc/cron.deny say who may)"
        raise CommandFailed(f"crontab: {done.stderr.strip()}{cure}")
    return () if done.retcode else tuple(split(done.stdout))


@for_states
def is_user(name: str) -> bool:
    """Return whether there is a user who could have a crontab."""
    return _accounts.found(_accounts.user, name) is not None


@for_states
def takes_zones() -> bool:
    """Return whether the daemon goes by CRON_TZ, as cronie does; where there is none, it may."""
    programs = [path for path in DAEMONS if _paths.isfile(path)]
    return not programs or any(b"CRON_TZ" in file.read_bytes(path) for path in programs)


@for_states
def group_of(user: str) -> str:
    """The name of the primary group of a user; empty when there is none."""
    return _accounts.primary_group(user)


def _of(user: str) -> list[str]:
    """The program for a user's crontab. One's own it shows to everybody, if nobody is named."""
    own = os.geteuid() != 0 and user == caller()
    return ["crontab"] if own else ["crontab", "-u", plain_name(user, "the user's name")]


@for_states
def kept_in(user: str) -> str | None:
    """The file of a user's crontab; None where there is none, or the caller may not see it."""
    return path if _paths.isfile(path := _path(user)) else None


def _path(user: str) -> str:
    """The file that a crontab is kept in."""
    folder = next((folder for folder in SPOOLS if file.is_dir(folder)), SPOOLS[-1])
    return f"{folder}/{user}"


def _planned_lines(user: str) -> list[str]:
    """The lines of a crontab that `crontab -l` cannot show yet."""
    if not is_user(user):
        raise CommandFailed(f"crontab: crontab:  user `{user}' unknown")
    path = _path(user)
    text = file.read_bytes(path) if file.is_file(path) else b""
    lines = split(text.decode("utf-8", "surrogateescape"))
    return lines[INSTALLED:] if lines and lines[0].startswith("# DO NOT EDIT THIS FILE") else lines


# an entry of a crontab with its first line and the line after its last
Located = tuple[int, int, CronEntry]


def entries(user: str) -> list[Located]:
    """The managed entries of a crontab, each with its first line and the line after its last."""
    return [*_managed(read(user))]


@once_a_version
def _managed(lines: tuple[str, ...]) -> Sequence[Located]:
    managed: list[Located] = []
    start = lines.index(HEADER) + 1 if HEADER in lines else len(lines)
    above: list[str] = []
    for number in range(start, len(lines)):
        line = lines[number]
        commented = line.startswith(DISABLED)
        if line.startswith("#") and not commented:
            above.append(_remark(line))
            continue
        text = line.removeprefix(DISABLED).strip(" \t")
        if sets_variable(text):
            above = []
            continue
        words = _words(text)
        if words:
            entry = _entry(words, tuple(above), commented)
            managed.append((number - len(above), number + 1, entry))
        above = []
    return tuple(managed)


@once_a_line
def _entry(words: tuple[str, ...], above: tuple[str, ...], commented: bool) -> CronEntry:
    """The entry of a line. above: the remarks on it."""
    remark, _, identifier = "\n".join(above).partition(MARK)
    time, command = " ".join(words[:-1]), words[-1]
    return CronEntry(time, command, identifier.strip(" \t"), remark.strip(" \t\n"), commented)


@for_states
def running(user: str, command: str) -> Sequence[Located]:
    """The managed entries that run a command."""
    return _found(read(user))[1].get(command, ())


@once_a_version
def _found(
    lines: tuple[str, ...],
) -> tuple[Mapping[str, Sequence[Located]], Mapping[str, Sequence[Located]]]:
    """The managed entries by their identifiers, and by their commands."""
    by_identifier: dict[str, list[Located]] = {}
    by_command: dict[str, list[Located]] = {}
    for located in _managed(lines):
        by_identifier.setdefault(located[2].identifier, []).append(located)
        by_command.setdefault(located[2].command, []).append(located)
    return by_identifier, by_command


@for_states
def by_hand(user: str) -> list[Located]:
    """The entries above the managed part of a crontab, each with its line and the one after it."""
    lines = read(user)
    above = lines[: lines.index(HEADER)] if HEADER in lines else lines
    handmade = []
    for number, line in enumerate(above):
        words = _words(line.removeprefix(DISABLED).strip(" \t"))
        if words:
            entry = CronEntry(" ".join(words[:-1]), words[-1], commented=line.startswith(DISABLED))
            handmade.append((number, number + 1, entry))
    return handmade


@for_states
def find_by_hand(user: str, command: str, time: str = "") -> Located | None:
    """The entry above the managed part that runs a command: the one at that time, or the only
    one.
    """
    running = [located for located in by_hand(user) if located[2].command == command]
    at_time = [located for located in running if located[2].time == time]
    found = at_time or (running if len(running) == 1 else [])
    return found[0] if found else None


def others(user: str, command: str) -> list[int]:
    """The numbers of the lines above the managed part that run a command."""
    running = (it for it in by_hand(user) if it[2].command == command)
    return [end for _, end, entry in running if not entry.commented]


@once_a_line
def _words(text: str) -> tuple[str, ...]:
    """The time and the command of a line; nothing where it runs none."""
    if text.startswith("#") or sets_variable(text):
        return ()
    words = fields(text, 2 if text.startswith("@") else 6)
    return tuple(words) if len(words) in (2, 6) else ()


@for_states
def former_state(user: str, *_: object) -> FormerState:
    """A user's crontab as undo restores it."""
    return FormerState("crontab", user, {"lines": list(read(user))})


def _refuse_syntax(user: str, lines: list[str]) -> None:
    """Raise CommandFailed for lines that crontab refuses, where it can be asked: it makes a file
    beside the crontabs, which are planned already, so that it makes it beside those.
    """
    option, see_planned = _syntax_option(), view()
    if not option or see_planned is None:
        return
    run_to_end(
        [*_of(user), option, "-"],
        env={**os.environ, **LOCALE},
        cwd=None,
        stdin=join_lines(lines),
        timeout=None,
        view=see_planned,
    ).or_fail("crontab")


def _syntax_option() -> str:
    """The option with which crontab only checks: Debian's is another one for cronie."""
    options = here.store("crontab")
    if "syntax" not in options:
        usage = probe(["crontab", "-h"]).error_text
        debian, cronie = "-n\t(dry run: checks the syntax", re.search(r"-T\b.*syntax", usage)
        options["syntax"] = "-n" if debian in usage else "-T" if cronie else ""
    return str(options["syntax"])


@only_files
def _write_planned(user: str, lines: list[str]) -> None:
    if not is_user(user):
        raise CommandFailed(f"crontab: crontab:  user `{user}' unknown")
    former = read(user)
    if os.geteuid():
        raise Unforeseen("crontab")  # which may write where its caller may not
    if not file.is_dir(os.path.dirname(_path(user))):
        file.makedirs(os.path.dirname(_path(user)))
    file.write(_path(user), encoded(lines), mode="0600", user=user)
    try:
        _refuse_syntax(user, lines)
    except CommandFailed:
        file.write(_path(user), encoded(former), mode="0600", user=user)
        raise


@changer(touches=["crontabs"], before=former_state, planned=_write_planned, waits=True)
def write(user: str, lines: list[str]) -> None:
    """Replace a user's crontab. Raises CommandFailed when crontab refuses it, but not where it has
    put it in its place and failed then; of states after each other the last one's is given to it.
    """
    text, files = join_lines(lines), (f"{spool}/{user}" for spool in SPOOLS)

    def install() -> None:
        done = probe([*_of(user), "-"], stdin=text)
        if done.retcode and _listed(user) != tuple(lines):
            raise CommandFailed(f"crontab: {done.stderr.strip()}")

    if not installs_later(crontab_of(user), tuple(lines), install, *files):
        install()


@changer(touches=["crontabs"], before=former_state)
def remove(user: str) -> None:
    """Remove a user's crontab. Raises CommandFailed when crontab refuses it."""
    done = probe([*_of(user), "-r"])
    if done.retcode and "no crontab for" not in done.stderr:
        raise CommandFailed(f"crontab: {done.stderr.strip()}")


def replace(user: str, old: Located | None, new: CronEntry | None) -> None:
    """Put an entry in the place of another, add it, or remove it."""
    lines = list(read(user))
    if old is not None:
        lines[old[0] : old[1]] = new.lines() if new else []
    elif new is not None:
        lines += [*([HEADER] if HEADER not in lines else []), *new.lines()]
    write(user, lines)


def environment(user: str, whole: bool = False) -> list[tuple[int, str, str]]:
    """The variables that the managed part of a crontab sets: (line, name, value as it stands
    there). whole: those above it, too.
    """
    lines = read(user)
    start = 0 if whole else lines.index(HEADER) + 1 if HEADER in lines else len(lines)
    variables = []
    for number in range(start, len(lines)):
        if sets_variable(lines[number]):
            name, _, value = lines[number].partition("=")
            variables.append((number, name.strip(" \t\"'"), value.strip()))
    return variables


def value_of(user: str, name: str, whole: bool = False) -> str | None:
    """The last value of a managed variable, without quotes where it is nothing but them; None when
    it is not set. whole: of one above the managed part, too.
    """
    values = [value for _, variable, value in environment(user, whole) if variable == name]
    return None if not values else "" if values[-1] in ('""', "''") else values[-1]


def put_variable(user: str, name: str, value: str | None, whole: bool = False) -> None:
    """Set a variable of a crontab, above the entries that use it; None takes it away. whole: also
    where it stands above the managed part.
    """
    lines, present = list(read(user)), environment(user)
    if whole and all(variable != name for _, variable, _ in present):
        present = environment(user, whole)
    at = [number for number, variable, _ in present if variable == name]
    line = one_line(f"{name}={value or EMPTY}", "the variable of the crontab")
    if value is None:
        lines = [variable for number, variable in enumerate(lines) if number not in at]
    elif at:
        lines[at[-1]] = line
    else:
        lines += [] if HEADER in lines else [HEADER]
        own = environment(user)
        place = own[-1][0] + 1 if own else lines.index(HEADER) + 1
        lines.insert(place, line)
    write(user, lines)


# ---------------------------------------------------------------- Salt's functions, for templates


def raw_cron(user: str) -> str:
    """A user's crontab as it is."""
    return "".join(f"{line}\n" for line in read(user))


def list_tab(user: str) -> dict[str, list[Any]]:
    """A user's crontab in parts: what is above the managed part (pre), crons, special (@daily),
    env.

    {{ salt['cron.list_tab']('root').crons }}
    """
    lines = read(user)
    above = lines[: lines.index(HEADER)] if HEADER in lines else lines
    parts: dict[str, list[Any]] = {"pre": [*above], "crons": [], "special": [], "env": []}
    for _, _, entry in entries(user):
        parts["special" if entry.time.startswith("@") else "crons"].append(_as_mapping(entry))
    parts["env"] = [{"name": name, "value": value} for _, name, value in environment(user)]
    return parts


ls = list_tab


def _as_mapping(entry: CronEntry) -> dict[str, Any]:
    when: dict[str, Any] = {"spec": entry.time}
    if not entry.time.startswith("@"):
        when = dict(zip(FIELDS, entry.time.split(), strict=True))
    rest = {"identifier": entry.identifier or None, "cmd": entry.command}
    remark = entry.comment or ("" if entry.identifier else None)
    return {**when, **rest, "comment": remark, "commented": entry.commented}


def get_entry(
    user: str, identifier: str | None = None, cmd: str | None = None
) -> dict[str, Any] | bool:
    """The entry with an identifier or a command; False when there is none."""
    for entry in list_tab(user)["crons"]:
        if (identifier and entry["identifier"] == identifier) or (cmd and entry["cmd"] == cmd):
            return dict(entry)
    return False


def find(user: str, command: str, identifier: str) -> Located | None:
    """The entry with an identifier, or one without with this command."""
    by_identifier, _ = _found(read(user))
    known = list(by_identifier.get(identifier, ())) if identifier else []
    known += [located for located in running(user, command) if not located[2].identifier]
    return min(known, default=None)


def set_job(
    user: str,
    minute: Any,
    hour: Any,
    daymonth: Any,
    month: Any,
    dayweek: Any,
    cmd: str,
    commented: bool = False,
    comment: str | None = None,
    identifier: str | None = None,
) -> str:
    """Put an entry into a crontab: new, updated or present."""
    time = " ".join(map(str, (minute, hour, daymonth, month, dayweek)))
    return _put_entry(user, CronEntry(time, cmd, identifier or "", comment or "", commented))


def set_special(
    user: str,
    special: str,
    cmd: str,
    commented: bool = False,
    comment: str | None = None,
    identifier: str | None = None,
) -> str:
    """Put an entry such as @daily into a crontab: new, updated or present."""
    return _put_entry(user, CronEntry(special, cmd, identifier or "", comment or "", commented))


def _put_entry(user: str, entry: CronEntry) -> str:
    old = find(user, entry.command, entry.identifier)
    if old is not None and old[2] == entry:
        return "present"
    replace(user, old, entry)
    return "updated" if old else "new"


def rm_job(user: str, cmd: str, *_: Any, identifier: str | None = None, **__: Any) -> str:
    """Take an entry out of a crontab: removed or absent."""
    old = find(user, cmd, identifier or "")
    if old is None:
        return "absent"
    replace(user, old, None)
    return "removed"


rm = rm_special = rm_job


def set_env(user: str, name: str, value: str | None = None) -> str:
    """Set a variable of a crontab: new, updated or present."""
    old, wanted = value_of(user, name), str(value or "")
    if old == wanted:
        return "present"
    put_variable(user, name, wanted)
    return "new" if old is None else "updated"


def rm_env(user: str, name: str) -> str:
    """Take a variable out of a crontab: removed or absent."""
    if value_of(user, name) is None:
        return "absent"
    put_variable(user, name, None)
    return "removed"


def write_cron_file(user: str, path: str) -> bool:
    """Replace a crontab by the contents of a file."""
    write(user, split(file.read_bytes(path).decode("utf-8", "surrogateescape")))
    return True
