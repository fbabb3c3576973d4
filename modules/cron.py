"""Crontabs of users, edited as text: what nobody asked for stays as it is."""

from __future__ import annotations

import re
from typing import Any

from modules import cmd, file
from modules._lines import join_lines, one_line, plain_name
from modules._lines import split as split
from runner.api import CommandFailed, Record, cached_look, changer

NEEDS_PROGRAM = "crontab"  # without it templates find no function of this module
HEADER = "# Lines below here are managed by Salt, do not edit"
MARK = "SALT_CRON_IDENTIFIER:"
FIELDS = ("minute", "hour", "daymonth", "month", "dayweek")
EMPTY = '""'
_VARIABLE = re.compile(r"""\s*["']?[A-Za-z_]\w*["']?\s*=""")


def sets_variable(line: str) -> bool:
    """Return whether a line of a crontab sets a variable and runs nothing."""
    return _VARIABLE.match(line) is not None


class Entry(Record):
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
        remarks = self.comment.splitlines()
        if self.identifier:
            remarks = [
                *remarks[:-1],
                f"{remarks[-1]} {MARK}{self.identifier}" if remarks else MARK + self.identifier,
            ]
        line = f"{self.time} {self.command}"
        return [
            *(f"# {remark}" for remark in remarks),
            f"#DISABLED#{line}" if self.commented else line,
        ]


@cached_look(
    "crontabs", "/var/spool/cron/crontabs/{0}", "/var/spool/cron/{0}", "/var/spool/cron/tabs/{0}"
)
def read(user: str) -> tuple[str, ...]:
    """The lines of a user's crontab. Raises CommandFailed when there is no crontab program or no
    such user.
    """
    done = cmd.probe(["crontab", "-u", plain_name(user, "the user's name"), "-l"])
    if done.retcode and "no crontab for" not in done.stderr:
        raise CommandFailed(f"crontab: {done.stderr.strip()}")
    lines = split(done.stdout) if not done.retcode else []
    return tuple(lines)


def entries(user: str) -> list[tuple[int, int, Entry]]:
    """The managed entries of a crontab, each with its first line and the line after its last."""
    lines = read(user)
    managed: list[tuple[int, int, Entry]] = []
    start = lines.index(HEADER) + 1 if HEADER in lines else len(lines)
    above: list[str] = []
    for number in range(start, len(lines)):
        line = lines[number]
        commented = line.startswith("#DISABLED#")
        if line.startswith("#") and not commented:
            above.append(line.lstrip("# "))
            continue
        text = line.removeprefix("#DISABLED#").strip()
        if sets_variable(text):
            above = []
            continue
        fields = _fields(text)
        if fields:
            remark, _, identifier = "\n".join(above).partition(MARK)
            entry = Entry(
                " ".join(fields[:-1]), fields[-1], identifier.strip(), remark.strip(), commented
            )
            managed.append((number - len(above), number + 1, entry))
        above = []
    return managed


def others(user: str, command: str) -> list[int]:
    """The numbers of the lines above the managed part that run a command."""
    lines = read(user)
    above = lines[: lines.index(HEADER)] if HEADER in lines else lines
    return [
        number
        for number, line in enumerate(above, 1)
        if (_fields(line.strip()) or [""])[-1] == command
    ]


def _fields(text: str) -> list[str]:
    """The time and the command of a line; nothing where it runs none."""
    if text.startswith("#") or sets_variable(text):
        return []
    fields = text.split(None, 1 if text.startswith("@") else 5)
    return fields if len(fields) in (2, 6) else []


@changer(touches=["crontabs"], before=lambda user, lines: read(user))
def write(user: str, lines: list[str]) -> None:
    """Replace a user's crontab. Raises CommandFailed when crontab refuses it."""
    done = cmd.probe(
        ["crontab", "-u", plain_name(user, "the user's name"), "-"], stdin=join_lines(lines)
    )
    if done.retcode:
        raise CommandFailed(f"crontab: {done.stderr.strip()}")


def replace(user: str, old: tuple[int, int, Entry] | None, new: Entry | None) -> None:
    """Put an entry in the place of another, add it, or remove it."""
    lines = list(read(user))
    if old is not None:
        lines[old[0] : old[1]] = new.lines() if new else []
    elif new is not None:
        lines += [*([HEADER] if HEADER not in lines else []), *new.lines()]
    write(user, lines)


def environment(user: str) -> list[tuple[int, str, str]]:
    """The variables that the managed part of a crontab sets: (line, name, value as it stands
    there).
    """
    lines = read(user)
    start = lines.index(HEADER) + 1 if HEADER in lines else len(lines)
    variables = []
    for number in range(start, len(lines)):
        if sets_variable(lines[number]):
            name, _, value = lines[number].partition("=")
            variables.append((number, name.strip(" \t\"'"), value.strip()))
    return variables


def value_of(user: str, name: str) -> str | None:
    """The last value of a managed variable, without quotes where it is nothing but them; None when
    it is not set.
    """
    values = [value for _, variable, value in environment(user) if variable == name]
    return None if not values else "" if values[-1] in ('""', "''") else values[-1]


def put_variable(user: str, name: str, value: str | None) -> None:
    """Set a variable of a crontab, above the entries that use it; None takes it away."""
    lines, present = list(read(user)), environment(user)
    at = [number for number, variable, _ in present if variable == name]
    line = one_line(f"{name}={value or EMPTY}", "the variable of the crontab")
    if value is None:
        lines = [variable for number, variable in enumerate(lines) if number not in at]
    elif at:
        lines[at[-1]] = line
    else:
        lines += [] if HEADER in lines else [HEADER]
        place = present[-1][0] + 1 if present else lines.index(HEADER) + 1
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
    parts: dict[str, list[Any]] = {
        "pre": list(lines[: lines.index(HEADER)] if HEADER in lines else lines)
    }
    parts |= {"crons": [], "special": [], "env": []}
    for _, _, entry in entries(user):
        parts["special" if entry.time.startswith("@") else "crons"].append(_as_mapping(entry))
    parts["env"] = [{"name": name, "value": value} for _, name, value in environment(user)]
    return parts


ls = list_tab


def _as_mapping(entry: Entry) -> dict[str, Any]:
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


def find(user: str, command: str, identifier: str) -> tuple[int, int, Entry] | None:
    """The entry with an identifier, or one without with this command."""
    for located in entries(user):
        entry = located[2]
        if (entry.identifier and entry.identifier == identifier) or (
            not entry.identifier and entry.command == command
        ):
            return located
    return None


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
    return _put_entry(user, Entry(time, cmd, identifier or "", comment or "", commented))


def set_special(
    user: str,
    special: str,
    cmd: str,
    commented: bool = False,
    comment: str | None = None,
    identifier: str | None = None,
) -> str:
    """Put an entry such as @daily into a crontab: new, updated or present."""
    return _put_entry(user, Entry(special, cmd, identifier or "", comment or "", commented))


def _put_entry(user: str, entry: Entry) -> str:
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
