# SPDX-License-Identifier: Apache-2.0
"""Plain pieces that all printers for people share: colours, safe text, changes."""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Mapping

from runner.model.errors import UsageError
from runner.output import diffs
from runner.support.files.text import clipped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any, TextIO

COLOURS = {"red": "31", "green": "32", "yellow": "33", "cyan": "36", "bold": "1", "dim": "2"}


COLOUR = ("auto", "always", "never")
_colour = ["auto"]  # of this process


def choose_colour(when: str) -> None:
    """Say when this process prints colours, one of COLOUR. Raises UsageError for another word."""
    if when not in COLOUR:
        raise UsageError(f"--color {when}: expected {', '.join(COLOUR)}")
    _colour[0] = when


def wants_colour(stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Return whether colours go to a stream: what the command line says, else NO_COLOR (and
    CLICOLOR=0), FORCE_COLOR and CLICOLOR_FORCE of the environment, in this order, else where a
    terminal has them.
    """
    if _colour[0] != "auto":
        return _colour[0] == "always"
    if environ.get("NO_COLOR") or environ.get("CLICOLOR") == "0":
        return False
    if any(environ.get(name, "0") not in ("", "0") for name in ("FORCE_COLOR", "CLICOLOR_FORCE")):
        return True
    return can_redraw(stream, environ)


def can_redraw(stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Return whether a stream is a terminal that may replace what it shows: none that is dumb, or
    read aloud (ACCESSIBLE).
    """
    dumb = environ.get("TERM", "dumb") == "dumb" or environ.get("ACCESSIBLE", "0") not in ("", "0")
    return stream.isatty() and not dumb


def terminal_width() -> int:
    """The columns of the terminal, as `shutil` finds them; 80 where there is none."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns):
        return int(columns)
    try:
        return os.get_terminal_size(sys.__stdout__.fileno() if sys.__stdout__ else 1).columns or 80
    except (ValueError, OSError):  # closed, or no terminal
        return 80


def paint(text: str, colour: str, on: bool) -> str:
    """The text in a colour, if colours are on."""
    return f"\x1b[{COLOURS[colour]}m{text}\x1b[0m" if on and colour else text


def safe(text: str, stream: TextIO | None = None) -> str:
    """Text that cannot steer the terminal and that the stream's encoding can say."""
    if text.isascii() and text.isprintable():
        return text
    clean = "".join(
        char if char in "\n\t" or char.isprintable() else _escaped(char) for char in text
    )
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return clean.encode(encoding, "backslashreplace").decode(encoding)


def _escaped(char: str) -> str:
    return (
        char.encode("unicode_escape").decode("ascii")
        if ord(char) < 0xD800
        else char.encode("ascii", "backslashreplace").decode("ascii")
    )


def on_one_line(text: str) -> str:
    """A name as a part of a line: another user's file whose name has a line end in it does not make
    a line of a report.
    """
    return text.replace("\n", "\\n")


DONE = "All changes applied successfully"  # what Salt says of a group, and no more
_MAPPINGS = (dict, Mapping)  # most are of the first, and quickly known
LONGEST = 600  # characters of a line of changes that is shown in part
LONGEST_NAME = 160  # characters of what names a state


def change_lines(
    changes: Mapping[str, Any],
    before: Mapping[str, Any] | None = None,
    name: str = "",
    every: bool = False,
) -> Iterator[tuple[str, str]]:
    """The changes of a state as (line, colour). before: what they replaced, where they do not tell
    it themselves. name: of the state, which is the file of a diff that names none. every: what says
    nothing about the machine, too: the number of a process that has ended.
    """
    if changes.keys() == {"old", "new"} and not isinstance(changes["new"], Mapping):
        yield from _arrow("", changes)
        return
    of_paths = [value for value in changes.values() if isinstance(value, _MAPPINGS)]
    for key, value in changes.items():
        if key == "pid" and not every:
            continue
        if len(of_paths) == 1 and key in of_paths[0] and of_paths[0][key] == value:
            continue  # Salt says what was done to a single path without the path, too
        yield from _change(str(key), value, (before or {}).get(key), name)


def is_said_elsewhere(
    outcome: str, comment: str, name: str, changes: object, cause: str | None, ran: bool
) -> bool:
    """Return whether other lines of a report say what a comment does: that a command which failed
    was run, whose failure a state was skipped for.
    """
    if outcome == "failed":
        return bool(changes) and comment == f'Command "{name}" run'
    return outcome in ("skipped", "undecided") and bool(cause) and not ran


def reason(comment: str, changes: object, name: str) -> str:
    """Why a state failed: its comment; of a command, whose comment says only that it was run, its
    exit code and the last line that it printed.
    """
    if not (isinstance(changes, Mapping) and "retcode" in changes):
        return comment
    if not is_said_elsewhere("failed", comment, name, changes, None, True):
        return comment
    printed = str(changes.get("stderr") or changes.get("stdout") or "").strip()
    last = printed.rpartition("\n")[2].strip()
    return f"exit code {changes['retcode']}" + (f": {last}" if last else "")


def is_told_by(changes: Mapping[str, Any], name: str) -> bool:
    """Return whether changes say what was done: something else than truth values, the name of the
    state, such as `nginx: True` of a service, and that it was done.
    """
    values: list[Any] = [changes]
    while values:
        value = values.pop()
        if isinstance(value, str):
            if value not in ("", DONE, name):
                return True
        elif isinstance(value, _MAPPINGS) and value:
            values.extend(value.values())
        elif not (value is None or isinstance(value, bool) or value == [name]):
            return True
    return False


def shortened(
    lines: Iterable[tuple[str, str]], most: int, whole: str, last: int = 0
) -> list[tuple[str, str]]:
    """The first lines of a change, and how many more there are when there are many more; of a very
    long line its beginning. whole: what shows all of them. last: how many of those that are shown
    are the last ones.
    """
    lines = list(lines)
    more = len(lines) - most
    if more > most // 10:
        note = f"... {more:,} more lines (all: {whole})", "cyan"
        lines = [*lines[: most - last], note, *lines[len(lines) - last :]]
    for at, (line, colour) in enumerate(lines):
        left_out = len(line) - LONGEST
        if left_out > LONGEST // 10:
            lines[at] = f"{line[:LONGEST]} ... {left_out:,} more characters", colour
    return lines


def wrapped(text: str, width: int, margin: int) -> list[str]:
    """A line as a terminal shows it without breaking words; what follows the first line has the
    margin.
    """
    return textwrap.wrap(
        text,
        max(width - 1, 40),
        subsequent_indent=" " * margin,
        break_long_words=False,
        break_on_hyphens=False,
        drop_whitespace=True,
        replace_whitespace=False,
    ) or [text]


def _change(key: str, value: Any, before: Any = None, name: str = "") -> Iterator[tuple[str, str]]:
    """The lines of one change; none of an empty text that replaces nothing."""
    if value == "" and before in (None, ""):
        return
    key = on_one_line(key)
    if before is None and type(value) is str and "\n" not in value:  # most of a first run
        yield f"{key}: {value}", ""
    elif isinstance(value, Mapping) and value.keys() == {"old", "new"}:
        yield from _arrow(f"{key}: ", value)
    elif isinstance(value, Mapping) and value:
        yield f"{key}:", ""
        old = before if isinstance(before, Mapping) else {}
        of = key if key.startswith("/") else name
        for inner, content in value.items():
            yield from (
                (f"  {line}", colour)
                for line, colour in _change(str(inner), content, old.get(inner), of)
            )
    elif isinstance(value, str) and "\n" in value.strip("\n"):
        yield f"{key}:", ""
        is_diff = key == "diff" or value.startswith("--- ")
        lines = value.rstrip("\n").split("\n")
        if is_diff:
            lines = diffs.shown(lines, name)
        colours = _diff_colours(lines) if is_diff else [""] * len(lines)
        yield from ((f"  {line}", colour) for line, colour in zip(lines, colours, strict=True))
    elif before is not None:
        yield from _arrow(f"{key}: ", {"old": before, "new": value})
    else:
        yield f"{key}: {short(value)}", ""


def _arrow(key: str, value: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    old, new = short(value["old"]), short(value["new"])
    if "\n" in old + new:
        yield key.rstrip(), ""
        yield from ((f"  - {line}", "red") for line in old.split("\n"))
        yield from ((f"  + {line}", "green") for line in new.split("\n"))
    else:
        yield f"{key}{old} -> {new}", ""


def _diff_colours(lines: Iterable[str]) -> list[str]:
    """The colours of the lines of a diff; its heads, before the first hunk, have none."""
    colours, begun = list[str](), False
    for line in lines:
        begun = begun or line[:2] not in ("--", "++")
        colours.append({"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "") if begun else "")
    return colours


def short(value: object) -> str:
    """A value on one line where it fits."""
    if isinstance(value, list | tuple | set):
        return ", ".join(on_one_line(str(item)) for item in value) or "(empty)"
    if isinstance(value, str):
        return value.rstrip("\n") or "(nothing)"
    return "(none)" if value is None else str(value)


def counted(number: int, what: str) -> str:
    """A number with its noun.

    >>> counted(1, "state"), counted(2, "state")
    ('1 state', '2 states')
    """
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def labelled(state: Mapping[str, Any]) -> str:
    """A state as a line of a report names it: function, ID, and its name where that is another; of
    a script that is a name, the beginning.
    """
    shown = state["id"] if state["id"] == state["name"] else f"{state['id']} ({state['name']})"
    return f"{state['function']}  {clipped(shown, LONGEST_NAME)}".replace("\n", " ")


def seconds(milliseconds: float) -> str:
    """A duration for people."""
    return f"{milliseconds / 1000:.1f} s" if milliseconds >= 1000 else f"{milliseconds:.0f} ms"
