"""file.keyvalue: settings `key=value` in a file."""

from __future__ import annotations

from typing import Any, NamedTuple

from modules import file
from runner.api import AbsolutePath, Plan, Planned, StateFailed
from states.file import _lines

Text = str | int | float | bool | None


def keyvalue(
    name: AbsolutePath,
    key: str | None = None,
    value: Text = None,
    key_values: dict[str, Any] | None = None,
    separator: str = "=",
    append_if_not_found: bool = False,
    prepend_if_not_found: bool = False,
    search_only: bool = False,
    show_changes: bool = True,
    ignore_if_missing: bool = False,
    count: int = 1,
    uncomment: str | None = None,
    key_ignore_case: bool = False,
    value_ignore_case: bool = False,
    create_if_missing: bool = False,
) -> Planned:
    """Make sure that keys of a file have these values.

    name: the file. key, value: one setting; key_values: several. separator: what stands between them.
    append_if_not_found, prepend_if_not_found: add keys that are missing. search_only: change nothing.
    show_changes: report the lines. ignore_if_missing: a missing file is no failure; create_if_missing: make it.
    count: how many lines of each key to change, -1 for all. uncomment: a comment sign that is taken from the keys.
    key_ignore_case, value_ignore_case: compare without regard to case.

        /etc/ssh/sshd_config:
          file.keyvalue:
            - key_values: {PermitRootLogin: 'no'}
            - separator: ' '
            - uncomment: '#'
            - append_if_not_found: True

    Behaviour: Salt 3008's file.keyvalue; a value None keeps the key's value and only takes its comment sign.
    """
    wanted = dict(key_values) if key_values else {}
    if not wanted:
        if key is None or value is None:
            raise StateFailed("file.keyvalue key and value not supplied and key_values is empty")
        wanted = {key: value}
    if append_if_not_found and prepend_if_not_found:
        raise StateFailed("Only one of append and prepend_if_not_found is permitted")
    there = file.exists(name)
    if not there and not create_if_missing:
        if ignore_if_missing:
            return f"unable to open {name}"
        raise StateFailed(f"unable to open {name}", lacks=("file", name))
    old = _lines.read_text(name) if there else ""
    edit = _Edit(separator, count, uncomment or "", key_ignore_case, value_ignore_case)
    new, diff, changed = edit.made(old, wanted, append_if_not_found, prepend_if_not_found)
    if search_only or new == old:
        return ""
    told = f"File {name} is set to be changed ({changed} lines modified, 0 deleted)"
    if show_changes:
        told += "\nPredicted diff:\n" + "".join(f"\r\t\t{line}\n" for line in diff.splitlines())
    yield Plan({"diff": diff} if show_changes else {"diff": True}, told, provides=[("file", name)])
    _lines.write_text(name, new)
    return f"Changed {changed} lines" if not there else f"Changed {changed}, deleted 0 lines"


class _Edit(NamedTuple):
    separator: str
    most: int
    uncomment: str
    key_ignores_case: bool
    value_ignores_case: bool

    def made(self, text: str, wanted: dict[str, Any], append: bool, prepend: bool) -> tuple[str, str, int]:
        """(the new text, what changed, how many lines)."""
        lines = text.splitlines(keepends=True)
        left = dict.fromkeys(wanted, self.most)
        seen: set[str] = set()
        diff, changed = "", 0
        for index, line in enumerate(lines):
            for key, value in wanted.items():
                bare = self._bare(line)
                found, mark, rest = bare.partition(self.separator)
                if not mark or not self._same(found, key, self.key_ignores_case):
                    continue
                seen.add(key)
                new = line if left[key] == 0 else self._line(line, bare, found, rest.strip(), value)
                if new != line:
                    diff += f"- {line.rstrip()}\n+ {new.rstrip()}\n"
                    lines[index] = new
                    left[key] -= 1
                    changed += 1
        missing = [f"{key}{self.separator}{_text(value)}\n" for key, value in wanted.items() if key not in seen]
        if missing and append:
            if lines and not lines[-1].endswith("\n"):
                lines[-1] += "\n"
            lines += missing
            diff += "- <EOF>\n" + "".join(f"+ {line}" for line in missing) + "+ <EOF>\n"
        elif missing and prepend:
            lines = missing + lines
            diff += "  <SOF>\n" + "".join(f"+ {line}" for line in missing)
        changed += len(missing) if append or prepend else 0
        return "".join(lines), diff, changed

    def _bare(self, line: str) -> str:
        bare = line.rstrip("\r\n")
        return bare.lstrip(self.uncomment) if self.uncomment else bare

    def _line(self, line: str, bare: str, key: str, has: str, value: Any) -> str:
        keeps = value is None or self._same(has, _text(value), self.value_ignores_case)
        end = line[len(line.rstrip("\r\n")) :]
        if keeps:
            return bare + end
        return f"{key}{self.separator}{_text(value)}{end}"

    @staticmethod
    def _same(first: str, second: str, ignore_case: bool) -> bool:
        return first.lower() == second.lower() if ignore_case else first == second


def _text(value: Any) -> str:
    return str(value)
