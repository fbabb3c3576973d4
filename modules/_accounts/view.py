# SPDX-License-Identifier: Apache-2.0
"""Users and groups as a dry run has planned them: the files of accounts, read once as long as
nobody else writes them, with what other name services have.
"""

from __future__ import annotations

# os in this file: it is the view of users and groups
import grp
import pwd
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any, TypeVar

from modules import _accounts, _paths, file
from modules._accounts import FIRST_GROUP, GROUP, GSHADOW, MEMBER, NUMBER, PASSWD
from modules._accounts.subordinate import TakenRanges
from modules._planned.files import Entry, Unwritten, planned_files
from modules._texts.lines import join_lines
from runner.api import CommandFailed, forget_looks

Row = list[str]
T = TypeVar("T", bound=tuple[Any, ...])
K = TypeVar("K", str, int)


class Names:
    """The names of entries by a value that these have, such as a number."""

    def __init__(self, values: Callable[[Any], Iterable[Any]]) -> None:
        self._values = values
        self._named: dict[Any, dict[str, None]] = {}
        self._highest: dict[tuple[int, int], int] = {}

    def of(self, value: Any) -> Collection[str]:
        return self._named.get(value, ())

    def highest(self, first: int, last: int) -> int:
        """The highest number in a range; the one before it where there is none."""
        if (first, last) not in self._highest:
            numbers = (number for number in self._named if first <= number <= last)
            self._highest[first, last] = max(numbers, default=first - 1)
        return self._highest[first, last]

    def note(self, name: str, old: Any, new: Any) -> None:
        """Note that a name has another entry, or (None) none."""
        before = set() if old is None else {*self._values(old)}
        now = set() if new is None else {*self._values(new)}
        for value in before - now:
            del self._named[value][name]
            if not self._named[value]:
                del self._named[value]
                self._highest.clear()
        for value in now - before:
            self._named.setdefault(value, {})[name] = None
            for (first, last), highest in self._highest.items():
                if highest < value <= last:
                    self._highest[first, last] = value


class Table:
    """The lines of a file in their order, by the name that each begins with; those without a name,
    or with one that a line before has, by numbers.
    """

    def __init__(self, path: str) -> None:
        self.version = _version(path)
        self.planned: Entry | None = None  # the file, where its contents are those of this table
        self.altered = False  # since it was written
        self._ranges: TakenRanges | None = None
        self._to_sort: tuple[Callable[[str], Any], int] | None = None  # by what, how many lines
        self._parsed = _PARSED.get(path)
        self.by = {key: Names(values) for key, values in _NAMED_BY.get(path, {}).items()}
        self._numbers = count()
        self._lines: dict[str | int, str] = {}
        self._further: dict[str, list[int]] = {}  # by name, the numbers of lines that have it, too
        self._size = 0
        self.entries: dict[str, Any] = {}  # what name services make of the lines
        for line in _accounts.lines(path):
            self._add(line)

    def contents(self) -> Unwritten:
        """The contents of the file, for as long as nothing is altered."""
        return Unwritten(self._size, self._text)

    def _text(self) -> bytes:
        self._settle()
        return "\n".join([*self._lines.values(), ""]).encode("utf-8", "surrogateescape")

    def row(self, name: str) -> Row | None:
        """The columns of the line of a name; None where there is none."""
        return self._lines[name].split(":") if name in self._lines else None

    def lines(self, name: str) -> list[str]:
        """All lines of a name."""
        begin = f"{name}:"
        lines = (self._lines.get(key, "") for key in (name, *self._further.get(name, ())))
        return [line for line in lines if line.startswith(begin)]

    def named(self, key: str, value: Any) -> list[str]:
        """The names whose entries have a value, in the order of the lines. key: number, ..."""
        names = self.by[key].of(value)
        return [*names] if len(names) < 2 else [name for name in self.entries if name in names]

    def append(self, row: Row) -> None:
        """Add a line. Raises CommandFailed for what would be several."""
        line = _line(row)
        self._add(line)
        if self._ranges is not None:
            self._ranges.add(line)
        self.altered = True

    def put(self, name: str, row: Row) -> None:
        """Alter the line of a name, which may get another one. Raises CommandFailed."""
        line = _line(row)
        if row[0] != name:
            self._settle()
            self._lines = {row[0] if key == name else key: old for key, old in self._lines.items()}
            self._note(name, None)
        old = self._lines.get(row[0])
        if line != old or row[0] != name:
            self._size += _size(line) - (0 if old is None else _size(old))
            self._lines[row[0]] = line
            self._note(row[0], line)
            self.altered, self._ranges = True, None

    def remove(self, name: str) -> None:
        """Remove the lines of a name."""
        self._settle()
        self._ranges = None
        begin = f"{name}:"
        for key in (name, *self._further.pop(name, ())):
            if self._lines.get(key, "").startswith(begin):
                self._size -= _size(self._lines.pop(key))
                self.altered = True
        self._note(name, None)

    def sort(self, key: Callable[[str], Any]) -> None:
        """Sort the lines that there are by what they mean."""
        self._to_sort = key, len(self._lines)

    @property
    def ranges(self) -> TakenRanges:
        """The subordinate numbers that the lines give."""
        if self._ranges is None:
            self._ranges = TakenRanges(self._lines.values())
        return self._ranges

    def _settle(self) -> None:
        """Put the lines into their order. Sorted once are lines that were to be time and again."""
        if self._to_sort is not None:
            (key, number), self._to_sort = self._to_sort, None
            items = [*self._lines.items()]
            items[:number] = sorted(items[:number], key=lambda item: key(item[1]))
            self._lines = dict(items)

    def _add(self, line: str) -> None:
        name = line.partition(":")[0]
        self._size += _size(line)
        if name and name not in self._lines:
            self._lines[name] = line
            self._note(name, line)
        else:
            number = next(self._numbers)
            self._lines[number] = line
            self._further.setdefault(name, []).append(number)

    def _note(self, name: str, line: str | None) -> None:
        entry = self._parsed(line) if self._parsed and line is not None else None
        for names in self.by.values():
            names.note(name, self.entries.get(name), entry)
        if entry is not None:
            self.entries[name] = entry
        else:
            self.entries.pop(name, None)


class PlannedView:
    """The users and groups that looks see."""

    def __init__(self) -> None:
        self._tables: dict[str, Table] = {}
        self._of_machine: dict[str, set[str]] = {}
        self._others: dict[str, _Others] = {}
        self._asked: dict[tuple[str, str | int], Any] = {}

    def users(self) -> dict[str, pwd.struct_passwd]:
        return self._of_others(PASSWD).entries | self.table(PASSWD).entries

    def groups(self) -> dict[str, grp.struct_group]:
        return self._of_others(GROUP).entries | self.table(GROUP).entries

    def user(self, name: str) -> pwd.struct_passwd:
        entry: pwd.struct_passwd | None = self.table(PASSWD).entries.get(name)
        return entry or self._other(PASSWD, name, pwd.getpwnam)

    def user_of(self, uid: int) -> pwd.struct_passwd:
        entry: pwd.struct_passwd | None = self._numbered(PASSWD, uid)
        return entry or self._other(PASSWD, uid, pwd.getpwuid)

    def group(self, name: str) -> grp.struct_group:
        entry: grp.struct_group | None = self.table(GROUP).entries.get(name)
        return entry or self._other(GROUP, name, grp.getgrnam)

    def group_of(self, gid: int) -> grp.struct_group:
        entry: grp.struct_group | None = self._numbered(GROUP, gid)
        return entry or self._other(GROUP, gid, grp.getgrgid)

    def named(self, path: str, key: str, value: Any) -> list[str]:
        """The names of the users or groups that have a value. key: as of `Table.named`."""
        return [*self._of_others(path).by[key].of(value), *self.table(path).named(key, value)]

    def highest(self, path: str, first: int, last: int) -> int:
        """The highest number in a range; the one before it where there is none."""
        tables = (self._of_others(path), self.table(path))
        return max(table.by[NUMBER].highest(first, last) for table in tables)

    def table(self, path: str) -> Table:
        """A file as it is planned. Raises PermissionError."""
        table = self._tables.get(path)
        if table is not None and table.planned is not None:
            files = planned_files()
            if files and files.held_at(path) is table.planned and table.version == _at(table):
                return table
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
        if not table.version:
            return
        if table.altered:
            self._write(path, table)
        self._tables[path] = table

    def _write(self, path: str, table: Table) -> None:
        """Have the contents of a table in its file: the first time as files are written, then where
        somebody reads it.
        """
        files, contents, table.altered = planned_files(), table.contents(), False
        if files and (planned := table.planned) and files.held_at(path) is planned:
            planned.contents = contents
            planned.mtime_ns = max(planned.mtime_ns + 1, time.time_ns())
            files.note_altered(path)
            forget_looks(None, path)
        else:
            file.write(path, contents.written())
            files = planned_files()
            table.planned = files.held_at(path) if files else None
        table.version = _version(path) if table.planned is None else _at(table)

    def _of_others(self, path: str) -> _Others:
        """What other name services have."""
        if path not in self._others:
            local = self._names_of_machine(path)
            ask: Callable[[], Iterable[Any]] = pwd.getpwall if path == PASSWD else grp.getgrall
            self._others[path] = _Others(path, {e[0]: e for e in ask() if e[0] not in local})
        return self._others[path]

    def _numbered(self, path: str, number: int) -> Any:
        table = self.table(path)
        return next((table.entries[name] for name in table.named(NUMBER, number)), None)

    def _other(self, path: str, key: K, ask: Callable[[K], T]) -> T:
        """An entry of the machine. Raises KeyError where it was removed, renamed or renumbered."""
        if (path, key) not in self._asked:
            self._asked[path, key] = _accounts.found(ask, key)
        entry: T | None = self._asked[path, key]
        if entry is None or entry[0] in self._names_of_machine(path):
            raise KeyError(key)
        return entry

    def _names_of_machine(self, path: str) -> set[str]:
        if path not in self._of_machine:
            try:
                with open(path, encoding="utf-8", errors="surrogateescape") as lines:
                    self._of_machine[path] = {line.partition(":")[0] for line in lines}
            except OSError:
                self._of_machine[path] = set()
        return self._of_machine[path]


class _Others:
    """The entries of a database that are in no file of the machine."""

    def __init__(self, path: str, entries: dict[str, Any]) -> None:
        self.entries = entries
        self.by = {key: Names(values) for key, values in _NAMED_BY[path].items()}
        for names in self.by.values():
            for name, entry in entries.items():
                names.note(name, None, entry)


def _at(table: Table) -> tuple[int, ...]:
    """The version of a planned file that has the contents of a table."""
    planned = table.planned
    return (planned.number, planned.mtime_ns) if planned is not None else ()


def _size(line: str) -> int:
    """The bytes of a line."""
    return 1 + (len(line) if line.isascii() else len(line.encode("utf-8", "surrogateescape")))


def _version(path: str) -> tuple[int, ...]:
    """What tells a file as it is planned from another one; nothing where there is none."""
    try:
        at = _paths.stat(path)
    except OSError:
        return ()
    return at.st_ino, at.st_mtime_ns


def _line(row: Row) -> str:
    return join_lines([":".join(row)])[:-1]


def _is_number(text: str) -> bool:
    return len(text) <= 10 and text.isascii() and text.isdigit()


def _user(line: str) -> pwd.struct_passwd | None:
    """The user of a line; None for what the name services pass over."""
    fields = line.split(":")
    if len(fields) != 7 or not fields[0] or not all(map(_is_number, fields[2:4])):
        return None
    name, password, uid, gid, *rest = fields
    return pwd.struct_passwd((name, password, int(uid), int(gid), *rest))


def _group(line: str) -> grp.struct_group | None:
    """The group of a line; None for what the name services pass over."""
    fields = line.split(":")
    if len(fields) != 4 or not fields[0] or not _is_number(fields[2]):
        return None
    name, password, gid, members = fields
    return grp.struct_group((name, password, int(gid), [one for one in members.split(",") if one]))


def _secret_group(line: str) -> Row | None:
    """The members of a group by a line of /etc/gshadow; None for what is no such line."""
    fields = line.split(":")
    return [one for one in fields[3].split(",") if one] if len(fields) == 4 else None


_PARSED: dict[str, Callable[[str], Any]] = {PASSWD: _user, GROUP: _group, GSHADOW: _secret_group}
_NAMED_BY: dict[str, dict[str, Callable[[Any], Iterable[Any]]]] = {
    PASSWD: {NUMBER: lambda user: user[2:3], FIRST_GROUP: lambda user: user[3:4]},
    GROUP: {NUMBER: lambda group: group[2:3], MEMBER: lambda group: group[3]},
    GSHADOW: {MEMBER: lambda members: members},
}
