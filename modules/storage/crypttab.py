# SPDX-License-Identifier: Apache-2.0
"""/etc/crypttab: the encrypted devices that a start opens."""

from __future__ import annotations

from modules import file
from modules._texts.lines import encoded, fields, one_line, split
from runner.api import Record, for_states

PATH = "/etc/crypttab"
NO_KEY = ("", "none", "-")


class CrypttabEntry(Record):
    """One line. key: a file; empty where a person is asked."""

    name: str
    device: str
    key: str = ""
    options: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        words = (self.name, self.device, self.key or "none", ",".join(self.options))
        return one_line("\t".join(filter(None, words)), "the entry of crypttab")


def _lines(config: str) -> list[str]:
    return split(file.text_to_edit(config))


def _name(line: str) -> str:
    """What a line names; empty for comments and what is no entry."""
    words = fields(line)
    return words[0] if len(words) > 1 and not words[0].startswith("#") else ""


@for_states
def find(name: str, config: str = PATH) -> list[CrypttabEntry]:
    """The entries of a name, of which the first one counts."""
    found = []
    for line in _lines(config):
        if _name(line) == name:
            _, device, key, options, *_ = [*fields(line), "", ""]
            words = tuple(option for option in options.split(",") if option)
            found.append(CrypttabEntry(name, device, "" if key in NO_KEY else key, words))
    return found


@for_states
def put(entry: CrypttabEntry, config: str = PATH) -> None:
    """Write an entry in the place of those of its name, or at the end."""
    lines = _lines(config)
    at = [index for index, line in enumerate(lines) if _name(line) == entry.name]
    if at:
        lines[at[0]] = entry.line
    else:
        lines.append(entry.line)
    _write([line for index, line in enumerate(lines) if index not in at[1:]], config)


@for_states
def drop(name: str, config: str = PATH) -> None:
    """Remove the entries of a name."""
    _write([line for line in _lines(config) if _name(line) != name], config)


def _write(lines: list[str], config: str) -> None:
    file.write(config, encoded(lines), mode=None if file.is_file(config) else "0644")
