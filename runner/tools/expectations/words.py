# SPDX-License-Identifier: Apache-2.0
"""The words of expectations, which are goss's: kinds of things, and what can be asserted of each.

The one table: reading, evaluation and the messages go by it.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Mapping
from typing import Any

from runner.model.diagnostics import did_you_mean
from runner.model.places import Value
from runner.model.records import Record
from runner.tools.expectations.patterns import pattern

Check = Callable[[Value], Any]  # gives a value as the looks take it, raises Wrong


class Wrong(Exception):
    """A value that a word does not take."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message, self.hint = message, hint


class Each(Record):
    """A check of lists: of each item, and of what stands alone, without a list."""

    item: Check
    alone: Check


class Kind(Record):
    """A kind of things.

    words: what can be asserted; settings: words that say how to look; implied: the word that is
    asserted where it is not written, and its value; name: checks and completes the name of a thing.
    """

    words: Mapping[str, Check | Each]
    settings: Mapping[str, Check | Each] = {}
    implied: tuple[str, Any] | None = None
    name: Check = str
    aliases: Mapping[str, str] = {}


# ---------------------------------------------------------------- values


def flag(value: Value) -> bool:
    if isinstance(value, bool):
        return value
    raise Wrong(f"has to be true or false, not {value!r}")


def number(value: Value) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise Wrong(f"has to be a whole number, not {value!r}")


def text(value: Value) -> str:
    if isinstance(value, str) and value:
        return value
    raise Wrong(f"has to be text, not {value!r}", _quotes(value))


def _quotes(value: Value) -> str | None:
    """The hint for what YAML does not take for text."""
    return f"put it in quotes: '{value}'" if isinstance(value, int | float) else None


def account(value: Value) -> str:
    """A name or a number of a user or group."""
    return str(value) if type(value) is int else text(value)


def list_of(check: Check) -> Each:
    """A list; one value alone is a list of one."""
    return Each(check, lambda value: [check(value)])


def whole_text(value: Value) -> str:
    """A text that is the whole, where there is no list of patterns."""
    if isinstance(value, str):
        return value
    raise Wrong(
        f"has to be a list of what lines contain, not {value!r}",
        _quotes(value) or "- a text, - '!a text that no line has', - /a regular expression/",
    )


def line_pattern(value: Value) -> str:
    written = text(value)
    if "\n" in written:
        raise Wrong("a pattern is looked for in each line: it cannot have several")
    try:
        pattern(written)
    except re.error as error:
        raise Wrong(f"{written!r} is not a regular expression: {error}") from None
    return written


def mode(value: Value) -> str:
    """The four octal digits of a mode; YAML's numbers are taken as they are typed."""
    digits = str(value)
    if isinstance(value, int | str) and re.fullmatch(r"[0-7]{1,4}", digits):
        return digits.zfill(4)
    raise Wrong(f"has to be a file mode such as '0644', not {value!r}")


def one_of(*choices: str) -> Check:
    """A check for one of some words."""

    def check(value: Value) -> str:
        if value in choices:
            return str(value)
        hint = did_you_mean(str(value), choices) or f"one of {', '.join(choices)}"
        raise Wrong(f"there is no {value!r}", hint)

    return check


def digest(length: int) -> Check:
    """A check for a hash of so many hexadecimal digits."""

    def check(value: Value) -> str:
        if isinstance(value, str) and re.fullmatch(rf"[0-9a-fA-F]{{{length}}}", value):
            return value.lower()
        raise Wrong(f"has to be {length} hexadecimal digits, not {value!r}", _quotes(value))

    return check


def duration(value: Value) -> float:
    """The seconds of a time; a number alone is milliseconds, as goss has it."""
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value / 1000
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(ms|s|m)", value) if isinstance(value, str) else None
    if found and float(found[1]) > 0:
        return float(found[1]) * {"ms": 0.001, "s": 1, "m": 60}[found[2]]
    raise Wrong(f"has to be milliseconds, or a time such as 30s, not {value!r}")


def address(value: Value) -> str:
    try:
        return str(ipaddress.ip_address(text(value)))
    except ValueError:
        raise Wrong(f"{value!r} is not an IP address") from None


def header(value: Value) -> str:
    """A header as it is sent."""
    if re.fullmatch(r"[\w-]+:[^\r\n]*", line := text(value)):
        return line
    raise Wrong(f"{value!r} is no header", "write 'Name: value', in quotes")


# ---------------------------------------------------------------- names


def absolute_path(value: Value) -> str:
    if isinstance(value, str) and value.startswith("/") and "\0" not in value:
        return value
    raise Wrong(f"{value!r} is not an absolute path")


PROTOCOLS = ("tcp", "tcp6", "udp", "udp6")


def port_name(value: Value) -> str:
    """A protocol and a port; tcp where only the port is written."""
    protocol, _, port = f"tcp:{value}".rpartition(":")
    protocol = protocol.removeprefix("tcp:") or "tcp"
    if protocol in PROTOCOLS and port.isdecimal() and 0 < int(port) < 65536:
        return f"{protocol}:{int(port)}"
    raise Wrong(f"{value!r} is not a port", "write tcp:80 (there are tcp, tcp6, udp and udp6)")


def url(value: Value) -> str:
    if isinstance(value, str) and re.fullmatch(r"https?://[^\s/]+\S*", value):
        return value
    raise Wrong(f"{value!r} is not the address of a web server", "write http://HOST/PATH")


def plain_name(value: Value) -> str:
    name = str(value) if type(value) is int else text(value)
    if re.search(r"[\s\0]", name) or name.startswith("-"):
        raise Wrong(f"{value!r} is not a name")
    return name


# ---------------------------------------------------------------- the table

TEXTS = list_of(text)
PATTERNS = Each(line_pattern, whole_text)
FILE_TYPES = ("file", "directory", "symlink", "socket", "pipe", "block-device", "character-device")

KINDS: Mapping[str, Kind] = {
    "file": Kind(
        {
            "exists": flag,
            "mode": mode,
            "owner": account,
            "group": account,
            "filetype": one_of(*FILE_TYPES),
            "linked-to": text,
            "size": number,
            "contents": PATTERNS,
            "md5": digest(32),
            "sha256": digest(64),
            "sha512": digest(128),
        },
        implied=("exists", True),
        name=absolute_path,
        aliases={"contains": "contents"},
    ),
    "port": Kind(
        {"listening": flag, "ip": list_of(address)}, implied=("listening", True), name=port_name
    ),
    "service": Kind({"enabled": flag, "running": flag}, name=plain_name),
    "command": Kind(
        {"exit-status": number, "stdout": PATTERNS, "stderr": PATTERNS},
        {"exec": text, "timeout": duration},
        implied=("exit-status", 0),
        name=text,
    ),
    "http": Kind(
        {"status": number, "headers": PATTERNS, "body": PATTERNS},
        {
            "timeout": duration,
            "allow-insecure": flag,
            "no-follow-redirects": flag,
            "method": text,
            "request-headers": list_of(header),
            "request-body": text,
        },
        implied=("status", 200),
        name=url,
    ),
    "package": Kind(
        {"installed": flag, "versions": TEXTS}, implied=("installed", True), name=plain_name
    ),
    "user": Kind(
        {
            "exists": flag,
            "uid": number,
            "gid": number,
            "groups": TEXTS,
            "home": text,
            "shell": text,
        },
        implied=("exists", True),
        name=plain_name,
    ),
}
