# SPDX-License-Identifier: Apache-2.0
"""Users and groups as a dry run has planned them: the files of accounts, read once as long as
nobody else writes them, with what other name services have.
"""

from __future__ import annotations

# os in this file: it is the view of users and groups
import grp
import pwd
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any, TypeVar

from modules import _accounts, _paths, file
from modules._accounts import GROUP, PASSWD
from modules._texts.lines import join_lines, once_a_line
from runner.api import CommandFailed

Row = list[str]
T = TypeVar("T", bound=tuple[Any, ...])


class Table:
    """The lines of a file in their order, by the name that each begins with; those without a name,
    or with one that a line before has, by numbers.
    """

    def __init__(self, path: str) -> None:
        self.version = _version(path)
        self._parsed = _PARSED.get(path)
        self._numbers = count()
        self._lines: dict[str | int, str] = {}
        self.entries: dict[str, Any] = {}  # what name services make of the lines
        for line in _accounts.lines(path):
            self._add(line)
        self.written = self.text

    @property
    def text(self) -> str:
        """The contents of the file."""
        return "\n".join([*self._lines.values(), ""])

    def row(self, name: str) -> Row | None:
        """The columns of the line of a name; None where there is none."""
        return self._lines[name].split(":") if name in self._lines else None

    def lines(self, name: str) -> list[str]:
        """All lines of a name."""
        begin = f"{name}:"
        return [line for line in self._lines.values() if line.startswith(begin)]

    def names(self) -> list[str]:
        """The names that have lines."""
        return [name for name in self._lines if isinstance(name, str)]

    def append(self, row: Row) -> None:
        """Add a line. Raises CommandFailed for what would be several."""
        self._add(_line(row))

    def put(self, name: str, row: Row) -> None:
        """Alter the line of a name, which may get another one. Raises CommandFailed."""
        line = _line(row)
        if row[0] != name:
            self._lines = {row[0] if key == name else key: old for key, old in self._lines.items()}
            self.entries.pop(name, None)
        self._lines[row[0]] = line
        self._note(row[0], line)

    def remove(self, name: str) -> None:
        """Remove the lines of a name."""
        begin = f"{name}:"
        self._lines = {key: old for key, old in self._lines.items() if not old.startswith(begin)}
        self.entries.pop(name, None)

    def sort(self, key: Callable[[str], T]) -> list[T]:
        """Sort the lines by what they mean, and return that."""
        self._lines = dict(sorted(self._lines.items(), key=lambda item: key(item[1])))
        return [key(line) for line in self._lines.values()]

    def _add(self, line: str) -> None:
        name = line.partition(":")[0]
        if name and name not in self._lines:
            self._lines[name] = line
            self._note(name, line)
        else:
            self._lines[next(self._numbers)] = line

    def _note(self, name: str, line: str) -> None:
        entry = self._parsed(line) if self._parsed else None
        if entry is not None:
            self.entries[name] = entry
        else:
            self.entries.pop(name, None)


class PlannedView:
    """The users and groups that looks see."""

    def __init__(self) -> None:
        self._tables: dict[str, Table] = {}
        self._of_machine: dict[str, set[str]] = {}
        self._of_others: dict[str, dict[str, Any]] = {}

    def users(self) -> dict[str, pwd.struct_passwd]:
        return self._all(PASSWD, pwd.getpwall)

    def groups(self) -> dict[str, grp.struct_group]:
        return self._all(GROUP, grp.getgrall)

    def user(self, name: str) -> pwd.struct_passwd:
        entry: pwd.struct_passwd | None = self.table(PASSWD).entries.get(name)
        return entry or self._other(PASSWD, pwd.getpwnam(name))

    def user_of(self, uid: int) -> pwd.struct_passwd:
        entry: pwd.struct_passwd | None = self._numbered(PASSWD, uid)
        return entry or self._other(PASSWD, pwd.getpwuid(uid))

    def group(self, name: str) -> grp.struct_group:
        entry: grp.struct_group | None = self.table(GROUP).entries.get(name)
        return entry or self._other(GROUP, grp.getgrnam(name))

    def group_of(self, gid: int) -> grp.struct_group:
        entry: grp.struct_group | None = self._numbered(GROUP, gid)
        return entry or self._other(GROUP, grp.getgrgid(gid))

    def table(self, path: str) -> Table:
        """A file as it is planned. Raises PermissionError."""
        table = self._tables.get(path)
        if table is None or table.version != _version(path):
            table = self._tables[path] = Table(path)
        return table

    @contextmanager
    def altered(self, path: str) -> Iterator[Table]:
        """A file, to be altered. One that is not there stays away. Raises CommandFailed where only
        root may read it, and alter any.
        """
        try:
            table = self.table(path)
        except PermissionError:
            raise CommandFailed(f"{path}: Permission denied.") from None
        del self._tables[path]  # of one that could not be altered nothing is known
        yield table
        text = table.text
        if not table.version:
            return
        if text != table.written:
            file.write(path, text.encode("utf-8", "surrogateescape"))
            table.written, table.version = text, _version(path)
        self._tables[path] = table

    def _all(self, path: str, ask: Callable[[], Iterable[Any]]) -> dict[str, Any]:
        if path not in self._of_others:
            local = self._names_of_machine(path)
            self._of_others[path] = {e[0]: e for e in ask() if e[0] not in local}
        return self._of_others[path] | self.table(path).entries

    def _numbered(self, path: str, number: int) -> Any:
        entries = self.table(path).entries.values()
        return next((entry for entry in entries if entry[2] == number), None)

    def _other(self, path: str, entry: T) -> T:
        """An entry of the machine. Raises KeyError where it was removed, renamed or renumbered."""
        if entry[0] in self._names_of_machine(path):
            raise KeyError(entry[0])
        return entry

    def _names_of_machine(self, path: str) -> set[str]:
        if path not in self._of_machine:
            try:
                with open(path, encoding="utf-8", errors="surrogateescape") as lines:
                    self._of_machine[path] = {line.partition(":")[0] for line in lines}
            except OSError:
                self._of_machine[path] = set()
        return self._of_machine[path]


def _version(path: str) -> tuple[int, ...]:
    """What tells a file as it is planned from another one; nothing where there is none."""
    try:
        at = _paths.stat(path)
    except OSError:
        return ()
    return at.st_ino, at.st_mtime_ns


def _line(row: Row) -> str:
    return join_lines([":".join(row)])[:-1]


@once_a_line
def _user(line: str) -> pwd.struct_passwd | None:
    """The user of a line; None for what the name services pass over."""
    fields = line.split(":")
    if len(fields) != 7 or not fields[0] or not (fields[2] + fields[3]).isdigit():
        return None
    name, password, uid, gid, *rest = fields
    return pwd.struct_passwd((name, password, int(uid), int(gid), *rest))


@once_a_line
def _group(line: str) -> grp.struct_group | None:
    """The group of a line; None for what the name services pass over."""
    fields = line.split(":")
    if len(fields) != 4 or not fields[0] or not fields[2].isdigit():
        return None
    name, password, gid, members = fields
    return grp.struct_group((name, password, int(gid), [one for one in members.split(",") if one]))


_PARSED: dict[str, Callable[[str], Any]] = {PASSWD: _user, GROUP: _group}
