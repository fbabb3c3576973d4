# SPDX-License-Identifier: Apache-2.0
"""What each function of file decides of a path, as its arguments stand in the SLS."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from runner.api import StateFailed, here
from runner.api.claims import ABSENT, PART, PRESENT, TREE, VALUE, WHOLE, Claim, Trap
from states.file import _lines

Arguments = Mapping[str, Any]
MISSING = object()
CONTENTS = ("source", "contents", "contents_pillar", "contents_grains")


def claims(fun: str, name: str, arguments: Arguments) -> Iterator[Claim]:
    """Yield what a state of one of the functions decides; nothing of those that decide nothing."""
    claim, path = TABLE.get(fun), name.rstrip("/")
    if callable(claim):
        yield claim(path, arguments)
    elif claim:
        yield Claim(claim, path)
    if fun in TYPES:
        yield Claim(VALUE, path, "type", values=TYPES[fun])
    if fun in MODES and not arguments.get("children_only"):
        yield from _permissions(path, arguments, MODES[fun])


def _permissions(path: str, arguments: Arguments, modes: tuple[str, ...]) -> Iterator[Claim]:
    """The owner and the mode that a path gets. modes: the arguments of the mode, the first that is
    given counts. Which number a name has is not known here.
    """
    for key in ("user", "group"):
        if arguments.get(key) not in (None, ""):
            owner = "root" if str(arguments[key]) == "0" else str(arguments[key])
            yield Claim(VALUE, path, f"{key} ID" if owner.isdecimal() else key, values=(owner,))
    given = [str(arguments[key]) for key in modes if arguments.get(key) is not None]
    digits = given[0].removeprefix("0o").lstrip("0") or "0" if given else ""
    if digits.isdecimal():  # not `keep`
        yield Claim(VALUE, path, "mode", values=(digits,))


def missing_pillar(keys: object) -> Iterator[str]:
    """Those of some keys that the pillar lacks."""
    for key in keys if isinstance(keys, list) else [keys]:
        if isinstance(key, str) and here.call("pillar.get", key, default=MISSING) is MISSING:
            yield key


def _managed(name: str, arguments: Arguments) -> Claim:
    given = [key for key in CONTENTS if arguments.get(key) is not None]
    if not given or arguments.get("replace") is False:
        return Claim(PRESENT, name)
    contents, source = arguments.get("contents"), arguments.get("source")
    text = "\n".join(map(str, contents)) if isinstance(contents, list) else contents
    rendered = bool(arguments.get("template"))
    return Claim(
        WHOLE,
        name,
        source=source if isinstance(source, str) and not rendered else "",
        text=text if isinstance(text, str) and not rendered else None,
    )


def _copied(name: str, arguments: Arguments) -> Claim:
    return Claim(WHOLE if arguments.get("force") else PRESENT, name)


def _serialized(name: str, arguments: Arguments) -> Claim:
    if arguments.get("replace") is False:
        return Claim(PRESENT, name)
    return Claim(PART if arguments.get("merge_if_exists") else WHOLE, name)


def _tree(name: str, arguments: Arguments) -> Claim:
    narrowed = any(arguments.get(key) is not None for key in ("include_pat", "exclude_pat"))
    narrowed |= arguments.get("replace") is False or arguments.get("maxdepth") is not None
    return Claim(TREE, name, source="" if narrowed else str(arguments.get("source")))


def _block(name: str, arguments: Arguments) -> Claim:
    marker = str(arguments.get("marker_start") or "#-- start managed zone --")
    content = str(arguments.get("content") or "")
    return Claim(PART, name, marker, suits=lambda text: marker in text and content in text)


def _lines_of(name: str, arguments: Arguments) -> Claim:
    given = arguments.get("text")
    texts = [str(text) for text in (given if isinstance(given, list) else [given]) if text]
    if not texts:  # of a source
        return Claim(PART, name)
    return Claim(
        PART,
        name,
        text="\n".join(texts),
        suits=lambda text: all(_lines.contains(text, each) for each in texts),
    )


def _line(name: str, arguments: Arguments) -> Claim:
    content = str(arguments.get("content") or "").strip()
    removes = arguments.get("mode") == "delete"
    if removes and arguments.get("match"):
        return Claim(PART, name, suits=_lacks(arguments["match"]), removes=True)
    return Claim(
        PART,
        name,
        text=None if removes else content or None,
        suits=lambda text: removes != (content in map(str.strip, text.split("\n"))),
        removes=removes,
    )


def _replaced(name: str, arguments: Arguments) -> Claim:
    adds = arguments.get("append_if_not_found") or arguments.get("prepend_if_not_found")
    lacks, repl = _lacks(arguments.get("pattern")), str(arguments.get("repl") or "")
    return Claim(PART, name, suits=lambda text: repl in text if adds else lacks(text))


def _commented(name: str, arguments: Arguments) -> Claim:
    return Claim(PART, name, suits=_lacks(str(arguments.get("regex")).replace("^", "^[ \\t]*", 1)))


def _lacks(pattern: object) -> Callable[[str], bool]:
    def lacks(text: str) -> bool:
        with suppress(re.error, StateFailed):
            return re.search(str(pattern), text, re.MULTILINE) is None
        return True

    return lacks


_FILE = ("file", "link to a file")
_DIRECTORY = ("directory", "link to a directory")
TYPES = {  # what may be at the path, so that it stays
    "decode": _FILE,
    "directory": _DIRECTORY,
    "hardlink": _FILE,
    "managed": _FILE,
    "mknod": ("device",),
    "recurse": _DIRECTORY,
    "serialize": _FILE,
    "symlink": ("link to a file", "link to a directory"),
}
MODES = {  # the arguments of the mode of what gets an owner and a mode
    "directory": ("dir_mode", "mode"),
    "managed": ("mode",),
    "serialize": ("mode",),
}
TABLE: Mapping[str, str | Callable[[str, Arguments], Claim]] = {
    "absent": ABSENT,
    "append": _lines_of,
    "blockreplace": _block,
    "comment": _commented,
    "copy": _copied,
    "decode": WHOLE,
    "directory": PRESENT,
    "hardlink": WHOLE,
    "keyvalue": PART,
    "line": _line,
    "managed": _managed,
    "mknod": PRESENT,
    "patch": PART,
    "prepend": _lines_of,
    "recurse": _tree,
    "rename": PRESENT,
    "replace": _replaced,
    "serialize": _serialized,
    "symlink": WHOLE,
    "touch": PRESENT,
    "uncomment": PART,
}


def added_backslashes(repl: str, arguments: Arguments) -> Iterator[Trap]:
    """A text with backslashes that is added as it stands, and found and read as one the next
    time.
    """
    adds = arguments.get("append_if_not_found") or arguments.get("prepend_if_not_found")
    if "\\" in repl and adds and arguments.get("not_found_content") is None:
        message = (
            "repl: where nothing matches it is added with its backslashes as they stand, and the"
            " next run, for which it matches, reads them"
        )
        yield Trap("repl", message, "`- backslash_literal: true`, if none is a group's number")


def octal_numbers(repl: str) -> Iterator[Trap]:
    """A group's number with two digits behind it, which Python reads as an octal number."""
    for written, group, digits in re.findall(r"(?<!\\)(?:\\\\)*(\\([1-3])([0-7]{2}))", repl):
        message = f"repl: {written} is the character {chr(int(written[1:], 8))!r} (octal)"
        yield Trap("repl", message, rf"write \g<{group}>{digits} for group {group} and {digits}")


def patterns(fun: str, name: str) -> Iterator[Trap]:
    """A path with a star, which no shell makes paths of."""
    if "*" in name:
        message = f"no shell reads {name}: the file is meant whose name has a star"
        hint = "write each path, with `names:` or a loop of the template"
        if fun == "absent":
            hint += "; file.tidied removes what matches"
        yield Trap("name", message, hint)


def closed_folders(fun: str, arguments: Arguments) -> Iterator[Trap]:
    """A mode of directories by which somebody may read their names, and reach nothing in them."""
    keys = {"directory": ("dir_mode", "mode"), "recurse": ("dir_mode",)}.get(fun, ())
    key = next((key for key in keys if arguments.get(key)), "")
    mode = str(arguments.get(key, "")).strip().removeprefix("0o")
    digits = mode[-3:] if mode.isdigit() else ""
    opened = "".join(str(int(each) | 1) if int(each) & 4 else each for each in digits)
    if opened != digits:
        message = f"{key}: a directory of mode {mode} can be listed, but nothing in it reached"
        hint = f"write `- {key}: '{mode[:-3] or '0'}{opened}'`"
        if fun == "directory":
            hint += "; `file_mode` is that of the files in it"
        yield Trap(key, message, hint)
