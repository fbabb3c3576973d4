"""Plain pieces that all printers for people share: colours, safe text, changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TextIO

COLOURS = {"red": "31", "green": "32", "yellow": "33", "cyan": "36", "bold": "1", "dim": "2"}


def wants_colour(stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Colours only on a terminal that has them, unless NO_COLOR says no."""
    return stream.isatty() and not environ.get("NO_COLOR") and environ.get("TERM", "dumb") != "dumb"


def paint(text: str, colour: str, on: bool) -> str:
    """The text in a colour, if colours are on."""
    return f"\x1b[{COLOURS[colour]}m{text}\x1b[0m" if on and colour else text


def safe(text: str, stream: TextIO | None = None) -> str:
    """Text that cannot steer the terminal and that the stream's encoding can say."""
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


def change_lines(
    changes: Mapping[str, Any], before: Mapping[str, Any] | None = None
) -> Iterator[tuple[str, str]]:
    """The changes of a state as (line, colour). before: what they replaced, where they do not tell
    it themselves.
    """
    if changes.keys() == {"old", "new"} and not isinstance(changes["new"], Mapping):
        yield from _arrow("", changes)
        return
    for key, value in changes.items():
        yield from _change(str(key), value, (before or {}).get(key))


def shortened(lines: Iterable[tuple[str, str]], most: int) -> Iterator[tuple[str, str]]:
    """The first lines of a change, and how many more there are when there are many more."""
    lines = list(lines)
    if len(lines) <= most + most // 10:
        yield from lines
        return
    yield from lines[:most]
    yield (
        f"... {len(lines) - most:,} more lines: `runner history show last` has all, so has -v",
        "cyan",
    )


def wrapped(text: str, width: int, margin: int) -> list[str]:
    """A line as a terminal shows it without breaking words; what follows the first line has the
    margin.
    """
    import textwrap

    return textwrap.wrap(
        text,
        max(width - 1, 40),
        subsequent_indent=" " * margin,
        break_long_words=False,
        break_on_hyphens=False,
        drop_whitespace=True,
        replace_whitespace=False,
    ) or [text]


def _change(key: str, value: Any, before: Any = None) -> Iterator[tuple[str, str]]:
    """The lines of one change; none of an empty text that replaces nothing."""
    if value == "" and before in (None, ""):
        return
    if isinstance(value, Mapping) and value.keys() == {"old", "new"}:
        yield from _arrow(f"{key}: ", value)
    elif isinstance(value, Mapping) and value:
        yield f"{key}:", ""
        old = before if isinstance(before, Mapping) else {}
        for inner, content in value.items():
            yield from (
                (f"  {line}", colour)
                for line, colour in _change(str(inner), content, old.get(inner))
            )
    elif isinstance(value, str) and "\n" in value.strip("\n"):
        yield f"{key}:", ""
        is_diff = key == "diff" or value.startswith("--- ")
        lines = value.rstrip("\n").split("\n")
        lines = _without_headers(lines) if is_diff else lines
        yield from ((f"  {line}", _diff_colour(line) if is_diff else "") for line in lines)
    elif before is not None:
        yield from _arrow(f"{key}: ", {"old": before, "new": value})
    else:
        yield f"{key}: {short(value)}", ""


def _without_headers(lines: list[str]) -> list[str]:
    """A diff without the empty names of its files: the state's own line says them."""
    heads = [line.strip() for line in lines[:4]]
    if heads == [
        "---",
        "",
        "+++",
        "",
    ]:  # as Salt's file.append writes it: an empty line stands behind each head
        return [
            line
            for line, before in zip(lines[4:], ["", *lines[4:]], strict=False)
            if line or before[:2] != "@@"
        ]
    return lines[2:] if heads[:2] == ["---", "+++"] else lines


def _arrow(key: str, value: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    old, new = short(value["old"]), short(value["new"])
    if "\n" in old + new:
        yield key.rstrip(), ""
        yield from ((f"  - {line}", "red") for line in old.split("\n"))
        yield from ((f"  + {line}", "green") for line in new.split("\n"))
    else:
        yield f"{key}{old} -> {new}", ""


def _diff_colour(line: str) -> str:
    return {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "")


def short(value: object) -> str:
    """A value on one line where it fits."""
    if isinstance(value, list | tuple | set):
        return ", ".join(str(item) for item in value) or "(empty)"
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
    """A state as a line of a report names it: function, ID, and its name where that is another."""
    shown = state["id"] if state["id"] == state["name"] else f"{state['id']} ({state['name']})"
    return f"{state['function']}  {shown}".replace("\n", " ")


def seconds(milliseconds: float) -> str:
    """A duration for people."""
    return f"{milliseconds / 1000:.1f} s" if milliseconds >= 1000 else f"{milliseconds:.0f} ms"


def named(tag: str) -> str:
    """The state that a result's tag belongs to.

    >>> named("cmd_|-reload_|-nginx -s reload_|-run")
    'cmd: reload'
    """
    return ": ".join(tag.split("_|-")[:2])
