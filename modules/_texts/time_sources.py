# SPDX-License-Identifier: Apache-2.0
"""The lines of ntp's and chrony's configuration that name where the time comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from modules import file
from runner.api import CommandFailed, Record


class TimeSource(Record):
    """A line: its directive (server, pool), the host, and the options behind it."""

    directive: str
    host: str
    options: str

    def __str__(self) -> str:
        return " ".join(filter(None, (self.directive, self.host, self.options)))


def read(path: str) -> str:
    """The text of a configuration. Raises CommandFailed where there is none."""
    if not file.is_file(path):
        raise CommandFailed(f"{path}: there is no such file", missing=("file", path))
    return file.read_bytes(path).decode("utf-8", "surrogateescape")


def _source(line: str, directives: Sequence[str]) -> TimeSource | None:
    words = line.split("#")[0].split()
    if len(words) < 2 or words[0].lower() not in directives:
        return None
    return TimeSource(words[0].lower(), words[1], " ".join(words[2:]))


def sources(text: str, directives: Sequence[str]) -> list[TimeSource]:
    """The sources of a configuration, in order."""
    found = (_source(line, directives) for line in text.splitlines())
    return [source for source in found if source is not None]


def with_sources(text: str, wanted: Mapping[str, Sequence[TimeSource]]) -> str:
    """A text whose lines of some directives are those wanted, where the first of them stood; the
    rest stays.
    """
    lines = text.splitlines()
    directives = list(wanted)
    places = [number for number, line in enumerate(lines) if _source(line, directives)]
    new = [str(source) for group in wanted.values() for source in group]
    rest = [line for number, line in enumerate(lines) if number not in places]
    at = places[0] if places else len(rest)
    return "\n".join([*rest[:at], *new, *rest[at:]]) + "\n"
