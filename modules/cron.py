"""Crontabs of users, edited as text: what nobody asked for stays as it is."""

from __future__ import annotations

from dataclasses import dataclass

from modules import cmd
from runner.api import CommandFailed, changer, look_once

HEADER = "# Lines below here are managed by Salt, do not edit"
MARK = "SALT_CRON_IDENTIFIER:"


@dataclass(frozen=True, slots=True)
class Entry:
    """One managed line of a crontab, with the comment above it."""

    time: str  # five fields, or @daily and the like
    command: str
    identifier: str = ""
    comment: str = ""
    commented: bool = False

    def lines(self) -> list[str]:
        """The entry as it stands in a crontab."""
        remark = " ".join(part for part in (self.comment, MARK + self.identifier if self.identifier else "") if part)
        line = f"{self.time} {self.command}"
        return [*([f"# {remark}"] if remark else []), f"#DISABLED#{line}" if self.commented else line]


@look_once("crontabs")
def read(user: str) -> tuple[str, ...]:
    """The lines of a user's crontab. Raises CommandFailed when there is no crontab program or no such user."""
    done = cmd.probe(["crontab", "-u", user, "-l"])
    if done.retcode and "no crontab for" not in done.stderr:
        raise CommandFailed(f"crontab: {done.stderr.strip()}")
    lines = done.stdout.splitlines() if not done.retcode else []
    return tuple(lines)


def entries(user: str) -> list[tuple[int, int, Entry]]:
    """The managed entries of a crontab, each with its first line and the line after its last."""
    lines = read(user)
    found: list[tuple[int, int, Entry]] = []
    start = lines.index(HEADER) + 1 if HEADER in lines else len(lines)
    above: list[str] = []
    for number in range(start, len(lines)):
        line = lines[number]
        commented = line.startswith("#DISABLED#")
        if line.startswith("#") and not commented:
            above.append(line.lstrip("# "))
            continue
        text = line.removeprefix("#DISABLED#").strip()
        fields = text.split(None, 1 if text.startswith("@") else 5)
        if len(fields) in (2, 6):
            remark, _, identifier = " ".join(above).partition(MARK)
            entry = Entry(" ".join(fields[:-1]), fields[-1], identifier.strip(), remark.strip(), commented)
            found.append((number - len(above), number + 1, entry))
        above = []
    return found


@changer(touches=["crontabs"], before=lambda user, lines: read(user))
def write(user: str, lines: list[str]) -> None:
    """Replace a user's crontab."""
    done = cmd.probe(["crontab", "-u", user, "-"], stdin="".join(f"{line}\n" for line in lines))
    if done.retcode:
        raise CommandFailed(f"crontab: {done.stderr.strip()}")


def replace(user: str, old: tuple[int, int, Entry] | None, new: Entry | None) -> None:
    """Put an entry in the place of another, add it, or take it away."""
    lines = list(read(user))
    if old is not None:
        lines[old[0] : old[1]] = new.lines() if new else []
    elif new is not None:
        lines += [*([HEADER] if HEADER not in lines else []), *new.lines()]
    write(user, lines)


def list_tab(user: str) -> dict[str, list[dict[str, object]]]:
    """The managed entries of a user's crontab, as Salt lists them."""
    return {"crons": [{"cmd": entry.command, "identifier": entry.identifier} for _, _, entry in entries(user)]}


def environment(user: str) -> dict[str, str]:
    """The variables that a user's crontab sets."""
    found = {}
    for line in read(user):
        name, equals, value = line.partition("=")
        if equals and name.strip().isidentifier():
            found[name.strip()] = value.strip().strip("\"'")
    return found


def set_env(user: str, name: str, value: str | None) -> None:
    """Set a variable of a user's crontab, above what uses it; None takes it away."""
    lines = list(read(user))
    at = [i for i, line in enumerate(lines) if line.partition("=")[0].strip() == name and "=" in line]
    kept = [line for i, line in enumerate(lines) if i not in at]
    if value is not None:
        place = at[0] if at else kept.index(HEADER) + 1 if HEADER in kept else 0
        kept.insert(place, f"{name}={value}")
    write(user, kept)
