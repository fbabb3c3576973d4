# SPDX-License-Identifier: Apache-2.0
"""file.keyvalue: settings `key=value` in a file."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

from modules import file
from modules.file.edits import ending
from modules.file.large_texts import WholeText, lines_with
from runner.api import (
    ONE_LINE,
    AsText,
    Check,
    FilePath,
    Line,
    Plan,
    Planned,
    Separator,
    StateFailed,
    here,
    line_problem,
    without_end,
)
from states.file import _lines

Text = AsText[Line | int | float | bool | None]


def _problem(settings: dict[str, Any]) -> str | None:
    texts = (without_end(str(text)) for pair in settings.items() for text in pair)
    return next((problem for text in texts if (problem := line_problem(text))), None)


Settings = Annotated[AsText[dict[str, Any]], Check(_problem, ONE_LINE)]


@file.validated
def keyvalue(
    name: FilePath,
    key: Line | None = None,
    value: Text = None,
    key_values: Settings | None = None,
    separator: Separator = "=",
    append_if_not_found: bool = False,
    prepend_if_not_found: bool = False,
    search_only: bool = False,
    show_changes: bool = True,
    ignore_if_missing: bool = False,
    count: int = 1,
    uncomment: Line | None = None,
    key_ignore_case: bool = False,
    value_ignore_case: bool = False,
    create_if_missing: bool = False,
    prune: bool = False,
) -> Planned:
    """Make sure that keys of a file have these values.

    name: The file.
    key: The key of one setting.
    value: The value of `key`.
    key_values: Several settings, as a mapping, instead of key and value.
    separator: What stands between a key and its value.
    append_if_not_found: Add keys that are missing at the end of the file.
    prepend_if_not_found: Add keys that are missing at the beginning of the file.
    search_only: Look for the keys and change nothing.
    show_changes: False hides the lines that change.
    ignore_if_missing: A missing file is not a failure.
    count: How many lines of each key there may be (more of them are removed), -1 for any number.
    uncomment: The characters that begin a comment; keys that stand in one count as being there and
      are taken out of it.
    key_ignore_case: Find keys in upper and lower case alike.
    value_ignore_case: Leave a value that differs in upper and lower case only.
    create_if_missing: Make a missing file, with the keys.
    prune: Remove all lines without a wanted key, comments too.

        /etc/ssh/sshd_config:
          file.keyvalue:
            - key_values: {PermitRootLogin: 'no'}
            - separator: ' '
            - uncomment: '#'
            - append_if_not_found: True

    Behaviour: Salt 3008's file.keyvalue; a value None keeps the key's value and only takes its
    comment sign.
    """
    wanted = _wanted(key, value, key_values)
    if append_if_not_found and prepend_if_not_found:
        raise StateFailed("Only one of append and prepend_if_not_found is permitted")
    exists = file.exists(name)
    if not exists and not create_if_missing:
        if ignore_if_missing:
            return f"unable to open {name}"
        raise StateFailed(f"unable to open {name}", missing=("file", name))
    old = _lines.text_at(name) if exists else WholeText("")
    if prepend_if_not_found or prune:  # what it has to say, or to know, is about all lines
        old = old.whole("prepend_if_not_found" if prepend_if_not_found else "prune")
    end = ending(old.first())
    edit = _KeyEdit(separator, count, uncomment, key_ignore_case, value_ignore_case, prune, end)

    def edited(part: str, is_first: bool, is_last: bool) -> str:
        if is_first:
            edit.begin()
        edit.change(_lines.lines_of(part), wanted)
        if is_last and (append_if_not_found or not exists):
            edit.append(wanted)
        elif is_last and prepend_if_not_found:
            edit.prepend(wanted)
        return "".join(edit.lines)

    new = old.edited(edited)
    changed, deleted, diff = edit.changed, edit.deleted, "".join(edit.diff)
    if not search_only and (lacking := [key for key in wanted if not edit.seen.get(key)]):
        if not (append_if_not_found or prepend_if_not_found or not exists):
            _warn_of_missing(name, lacking)
    if search_only or new is None:
        return ""
    comment = f"File {name} is set to be changed ({changed} lines modified, {deleted} deleted)"
    if show_changes:
        comment += "\nPredicted diff:\n" + "".join(
            f"\r\t\t{line}\n" for line in _lines.plain_lines(diff)
        )
    yield Plan(
        {"diff": diff if show_changes else True}, comment, provides=_lines.provided(name, new)
    )
    _lines.write_text(name, new)
    return f"Changed {changed}, deleted {deleted} lines"


def _warn_of_missing(name: str, keys: list[str]) -> None:
    here.warn(f"{name} has no {', '.join(keys)}: append_if_not_found adds what is missing")


def _wanted(key: str | None, value: Text, key_values: dict[str, Any] | None) -> dict[str, Any]:
    if key_values:
        if key is not None or value is not None:
            raise StateFailed("file.keyvalue can not combine key_values with key and value")
        return {
            key: without_end(value) if isinstance(value, str) else value
            for key, value in key_values.items()
        }
    if key is None or value is None:
        raise StateFailed("file.keyvalue key and value not supplied and key_values is empty")
    return {key: value}


class _KeyEdit:
    """The lines of a file on their way to what they should be, with what was changed so far."""

    def __init__(
        self,
        separator: str,
        most: int,
        uncomment: str | None,
        key_ignores_case: bool,
        value_ignores_case: bool,
        prune: bool,
        end: str,
    ) -> None:
        self.prune, self.end = prune, end
        self.separator = separator
        self.most = most
        self.uncomment = uncomment
        self.key_ignores_case = key_ignores_case
        self.value_ignores_case = value_ignores_case
        self.begin()

    def begin(self) -> None:
        """Begin with the first lines of a text."""
        self.lines: list[str] = []
        self.diff: list[str] = []
        self.changed = 0
        self.deleted = 0
        self.seen: dict[str, int] = {}

    def change(self, lines: list[str], wanted: dict[str, Any]) -> None:
        """Edit those of some lines, which follow the ones before, that have a wanted key."""
        self.lines = list(lines)
        every = self.prune or self.key_ignores_case
        for number in range(len(lines)) if every else _with_keys(lines, wanted):
            old = new = lines[number]
            known = sum(self.seen.values())
            for key, value in wanted.items():
                edited = self._edited(new, key, value)
                if edited != new:
                    self.changed += 1
                    self.diff += [
                        f"- {_with_line_end(new)}",
                        f"+ {_shown_line(edited, value)}" if edited else "",
                    ]
                new = edited
            if self.prune and known == sum(self.seen.values()):
                self.deleted += 1
                self.diff.append(f"- {_with_line_end(old)}")
                new = ""
            self.lines[number] = new
        if "" in self.lines:
            self.lines = list(filter(None, self.lines))

    def append(self, wanted: dict[str, Any]) -> None:
        """Add the keys that were not there to the end."""
        if missing := self._missing(wanted):
            self.lines[-1:] = [_with_line_end(line, self.end) for line in self.lines[-1:]]
            self.lines += missing
            self.diff += ["- <EOF>\n", *(f"+ {line}" for line in missing), "+ <EOF>\n"]

    def prepend(self, wanted: dict[str, Any]) -> None:
        """Put the keys that were not there before all lines, the last one first."""
        if missing := self._missing(wanted)[::-1]:
            self.lines[:0] = missing
            self.diff[:0] = ["  <SOF>\n", *(f"+ {line}" for line in missing)]

    def _missing(self, wanted: dict[str, Any]) -> list[str]:
        missing = [
            f"{key}{self.separator}{value}{self.end}"
            for key, value in wanted.items()
            if key not in self.seen and self.most
        ]
        self.changed += len(missing)
        return missing

    def _edited(self, line: str, key: str, value: Any) -> str:
        """The line as it should be; an empty text for one key too many."""
        plain = self._is_of(line, key)
        setting = line if plain else line.lstrip(self.uncomment or None)
        if not self._is_of(setting, key):
            return line
        key_text, present_value = setting[: len(key)], setting[len(key + self.separator) :]
        times = self.seen.get(key, 0)
        if not plain and times >= self.most:
            return line  # a comment or an indented line beyond the count stays what it is
        self.seen[key] = times + 1
        if plain and 0 <= self.most <= times:
            return ""
        keeps = value is None or self._same(
            present_value.strip(), str(value).strip(), self.value_ignores_case
        )
        if keeps and plain:
            return line
        end = "\r\n" if line.endswith("\r\n") else "\n"
        return f"{key_text}{self.separator}{present_value.strip() if keeps else value}{end}"

    def _is_of(self, line: str, key: str) -> bool:
        """Return whether a line begins with a key, which may have the separator in it, and a value
        follows.
        """
        is_key = self._same(line[: len(key)], key, self.key_ignores_case)
        return is_key and line.startswith(self.separator, len(key))

    @staticmethod
    def _same(first: str, second: str, ignore_case: bool) -> bool:
        return first.lower() == second.lower() if ignore_case else first == second


def _with_keys(lines: list[str], keys: Iterable[str]) -> list[int]:
    """The numbers of the lines that have a key somewhere."""
    text = "".join(lines)
    return sorted({text.count("\n", 0, at) for key in keys for at in lines_with(text, key)})


def _with_line_end(line: str, end: str = "\n") -> str:
    return line if line.endswith("\n") else line + end


def _shown_line(line: str, value: Any) -> str:
    """A new line as the diff shows it."""
    if value is None or isinstance(value, str):
        return line
    return f"{line.rstrip()} (from {type(value).__name__} type)\n"
