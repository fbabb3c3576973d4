"""Interfaces of the network as ifupdown knows them: /etc/network/interfaces, its stanzas and
scripts.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

from modules import cmd, file
from modules._lines import one_line, plain_name, split
from runner.api import Record, StateFailed, changer

FILE = "/etc/network/interfaces"
STATE = "/run/network/ifstate"
SCRIPTS = {"up": "/etc/network/if-up.d/route-{}", "down": "/etc/network/if-down.d/route-{}"}
_OTHERS = (
    "source",
    "source-directory",
    "no-auto-down",
    "no-scripts",
    "rename",
    "template",
    "mapping",
)


class Block(Record):
    """Lines that belong together. kind: auto, allow-hotplug, iface, ...; empty for comments
    between. names: whose.
    """

    kind: str
    names: tuple[str, ...]
    lines: tuple[str, ...]


def text() -> str:
    """The file; empty where there is none."""
    return file.read_bytes(FILE).decode("utf-8", "surrogateescape") if file.is_file(FILE) else ""


def blocks(content: str) -> list[Block]:
    """The file in its parts; together they are all of its lines."""
    parts: list[Block] = []
    idle: list[
        str
    ] = []  # comments and empty lines, of which it is not known yet what they belong to
    for line in _whole_lines(content):
        words = line.split()
        if not words or words[0].startswith("#"):
            idle.append(line)
        elif _starts(words[0]):
            parts += [Block("", (), tuple(idle))] if idle else []
            names = words[1:2] if words[0] == "iface" else words[1:]
            parts.append(Block(words[0], tuple(names), (line,)))
            idle = []
        else:
            last = parts.pop() if parts else Block("", (), ())
            parts.append(last._replace(lines=(*last.lines, *idle, line)))
            idle = []
    return [*parts, Block("", (), tuple(idle))] if idle else parts


def _starts(word: str) -> bool:
    return word in ("auto", "iface", *_OTHERS) or word.startswith("allow-")


def _whole_lines(content: str) -> Iterator[str]:
    """The lines; what a backslash continues is one."""
    begun = ""
    for line in split(content):
        if line.endswith("\\"):
            begun += f"{line}\n"
            continue
        yield begun + line
        begun = ""
    if begun:
        yield begun.removesuffix("\n")


def _starters(kind: str) -> bool:
    return kind == "auto" or kind.startswith("allow-")


def get_interface(iface: str) -> list[str]:
    """The lines of an interface, in one form: single spaces, options behind four.

    {{ salt['ip.get_interface']('eth0') }}
    """
    shown: list[str] = []
    for block in blocks(text()):
        if iface not in block.names:
            continue
        if _starters(block.kind):
            shown.append(f"{block.kind} {iface}")
        elif block.kind == "iface":
            stanza = [
                " ".join(line.split()) for line in block.lines if line.strip()[:1] not in ("", "#")
            ]
            shown += [stanza[0], *(f"    {line}" for line in stanza[1:])]
    return shown


def with_interface(content: str, iface: str, lines: Sequence[str]) -> str:
    """The file with other lines for an interface, in the place of the old ones; everything else
    stays as it is.
    """
    result: list[str] = []
    place: int | None = None
    for block in blocks(content):
        mine = iface in block.names and (block.kind == "iface" or _starters(block.kind))
        if not mine:
            result += block.lines
            continue
        others = [name for name in block.names if name != iface]
        result += [f"{block.kind} {' '.join(others)}"] if others else []
        place = len(result) if place is None else place
    if place is None:
        place = len(result)
    return "".join(f"{line}\n" for line in [*result[:place], *lines, *result[place:]])


def put_interface(iface: str, lines: Sequence[str]) -> None:
    """Write the lines of an interface."""
    checked = [one_line(line, f"the lines of {iface}") for line in lines]
    content = with_interface(text(), plain_name(iface, "the name of the interface"), checked)
    file.write(
        FILE,
        content.encode("utf-8", "surrogateescape"),
        mode=None if file.is_file(FILE) else "0644",
    )


def has_source(pattern: str) -> bool:
    """Return whether the file takes in others by this pattern."""
    return any(block.kind == "source" and block.names == (pattern,) for block in blocks(text()))


def put_source(pattern: str) -> None:
    """Take in other files by a pattern."""
    content = text()
    gap = "" if not content or content.endswith("\n") else "\n"
    file.write(
        FILE,
        f"{content}{gap}source {one_line(pattern, 'the pattern of files')}\n".encode(
            "utf-8", "surrogateescape"
        ),
    )


def get_routes(iface: str) -> str:
    """The scripts that set and remove the routes of an interface; empty when there are none."""
    paths = [path.format(iface) for path in SCRIPTS.values()]
    return "".join(
        file.read_bytes(path).decode("utf-8", "replace") for path in paths if file.is_file(path)
    )


def is_up(iface: str) -> bool:
    """Return whether ifup has brought an interface up."""
    if not file.is_file(STATE):
        return False
    lines = file.read_bytes(STATE).decode("utf-8", "replace").split()
    return any(line.partition("=")[0] == iface for line in lines)


@changer
def up(iface: str) -> bool:
    """Bring an interface up."""
    return _act("ifup", iface)


@changer
def down(iface: str) -> bool:
    """Take an interface down."""
    return _act("ifdown", iface)


@changer
def run_routes(iface: str, way: str) -> bool:
    """Run the script of an interface's routes. Raises StateFailed when it fails. way: up or
    down.
    """
    done = cmd.execute([SCRIPTS[way].format(iface)], env={"IFACE": iface})
    if done.retcode:
        raise StateFailed(f"the routes of {iface} cannot be set: {done.stderr or done.stdout}")
    return True


def _act(program: str, iface: str) -> bool:
    if not any(os.access(f"{folder}/{program}", os.X_OK) for folder in ("/sbin", "/usr/sbin")):
        raise StateFailed(
            f"{program} is missing: it comes with the package ifupdown", missing=("pkg", "ifupdown")
        )
    done = cmd.execute([program, "--", plain_name(iface, "the name of the interface")])
    if done.retcode:
        raise StateFailed(f"{program} {iface} failed: {done.stderr or done.stdout}")
    return True


def script(iface: str, verb: str, routes: Iterable[tuple[str, str]]) -> str:
    """A script for routes. verb: add or del; routes: their names and the words for ip(8).

    It is run for each family of addresses, so a route that already exists, or is gone, is fine.
    """
    lines = ["#!/bin/sh", f"# {verb}", f'test "${{IFACE}}" = "{iface}" || exit 0']
    act, end = ("replace", "") if verb == "add" else ("del", " 2>/dev/null || true")
    for name, words in routes:
        one_line(f"{name}{words}", f"the route {name!r}")
        lines += [f"# {name}", f"ip route {act} {words} dev {iface}{end}"]
    return "".join(f"{line}\n" for line in lines)
