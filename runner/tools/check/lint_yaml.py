# SPDX-License-Identifier: Apache-2.0
"""Values that YAML reads as something else than people see: yes, 0644, 1.10, 12:30. Warnings of
`runner check`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from runner.language.arguments.scalars import Mismatch, Shape
from runner.model.chunk import Chunk
from runner.model.diagnostics import Diagnostic
from runner.model.places import Place, PlacedMap, Source, Value, item_place
from runner.support.files.text import line_to_show, text_to_show
from runner.support.yaml.mark import PLAIN_QUOTES, QUOTES, in_quotes

Expects = Callable[[Chunk, str], Shape | None]  # what an argument takes, if that is known
Row = Callable[[Source], str]  # the line of a place, as YAML read it


def warnings(chunks: Sequence[Chunk], expects: Expects, row: Row) -> Iterator[Diagnostic]:
    """All of them."""
    for chunk in chunks:
        if "name" in chunk.arg_places:
            named = None if chunk.name == chunk.id else chunk.name  # `name: #x` leaves the ID
            yield from _lost("name", named, chunk.arg_places["name"], row)
        for key, value in chunk.args.items():
            place = chunk.arg_places.get(key)
            if place is None:
                continue
            yield from _lost(key, value, place, row)
            takes = expects(chunk, key)
            where = f"{chunk.function}: {key}"
            if takes and (takes.spelled or _makes_text(takes, value)):
                yield from _in_text(where, key, value, place, row)
            elif isinstance(value, bool | int | float):
                yield from _odd(where, key, value, place, takes.title if takes else "", row)
            else:
                yield from _in_text(where, key, value, place, row, "")


def _makes_text(takes: Shape, value: Value) -> bool:
    """Return whether an argument takes mappings (pkgs: [{name: version}]), and all in them becomes
    text.
    """
    if not isinstance(value, list | Mapping):
        return False
    given, text = {"a": True}, {"a": "True"}
    try:
        if isinstance(value, Mapping):
            return bool(takes.convert(given) == text)
        return bool(takes.convert([given]) == [text])
    except Mismatch:
        return False


_SIGN = re.compile(rf"(?:^\s*-|:)\s+((!(?=\s)|&[^\s*]+(?=\s)|#(?=\S)|[{QUOTES}]).*)$")


def _lost(key: str, value: Value, place: Place, row: Row) -> Iterator[Diagnostic]:
    """Warnings of texts whose beginning YAML takes for something else: ! for a tag, & for an
    anchor, # for a comment; and of typographic quotes, which it takes for letters.
    """
    listed = isinstance(value, list)
    for index, each in enumerate(value) if isinstance(value, list) else [(0, value)]:
        at = item_place(value, index, place) if listed else place
        typed = _SIGN.search(row(at.source)) if each is None or isinstance(each, str) else None
        if typed is None or not _is_lost(typed[1], typed[2], each, at.source):
            continue
        hint = f"put it in quotes: {in_quotes(typed[1].strip())}"
        if typed[2] in QUOTES:
            message, hint = f"{key}: {typed[2]} is a letter for YAML, no quote", PLAIN_QUOTES
        elif each is None:
            message = f"{key}: what begins with # is a comment for YAML, and nothing is left"
        else:
            what = "a tag" if typed[2] == "!" else "an anchor"
            message = f"{key}: the {typed[2]} before {each!r} is {what} for YAML, and lost"
        yield Diagnostic(message, at.source, hint, "trap", "warning")


def _is_lost(typed: str, sign: str, value: Value, source: Source) -> bool:
    """Return whether what begins a text in its line is missing in its value, or a letter of it."""
    if not isinstance(value, str):
        return sign == "#"
    if sign in QUOTES:
        return value[:1] == sign
    used = sign != "!" and f"*{sign[1:]}" in text_to_show(source.file)
    return sign != "#" and not used and value[:1] == typed.removeprefix(sign).strip(" \t'\"")[:1]


_NONE = re.compile(r"(?<![\w'\"])None(?!\w)")


def values_that_are_none(chunks: Sequence[Chunk]) -> Iterator[Diagnostic]:
    """What a template has no value for, and the word None stands in its place."""
    for chunk in chunks:
        for place in (chunk.place, *chunk.arg_places.values()):
            source = place.source
            if not source.rendered or not _NONE.search(source.rendered):
                continue
            typed = line_to_show(source.file, source.line)
            if "{{" in typed and "None" not in typed:
                message = f"{chunk.function}: the template has no value here, and None is written"
                hint = "give a default, as in `pillar.get(KEY, DEFAULT)`, or ask with `if`"
                yield Diagnostic(message, source, hint, "template-none", "warning")


def _in_text(
    where: str, key: str, value: Value, place: Place, row: Row, takes: str = "text"
) -> Iterator[Diagnostic]:
    """Warnings of a value whose parts all become text. key: what stands before it, empty in a
    list.
    """
    if isinstance(value, bool | int | float):
        yield from _odd(where, key, value, place, takes, row)
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            at = value.key_place(name) if isinstance(value, PlacedMap) else place
            yield from _in_text(f"{where}: {name}", str(name), inner, at, row, takes)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _in_text(where, "", inner, item_place(value, index, place), row, takes)


def _quoted(key: str, typed: str, source: Source) -> str:
    """A value in quotes; of a template the expression that gave it."""
    row = line_to_show(source.file, source.line) if source.rendered else ""
    match = re.search(rf"{_of(key)}(\S.*?)\s*$", row)
    written = match[1] if match else typed
    return f'"{written}"' if "'" in written else f"'{written}'"


def _of(key: str) -> str:
    """The expression for a key, with its colon; of no key that ends as it does."""
    return rf"(?<![\w.-]){re.escape(key)}['\"]?\s*:\s*"


def _typed(key: str, source: Source, row: Row) -> str:
    """A value as it stands in its line, behind its key or in a list; empty if that is not seen."""
    if key:
        match = re.search(rf"{_of(key)}([^\s#,\]}}]+)", row(source))
    elif source.rendered:  # the column is that of the template
        match = _SCALAR.match(re.sub(r"^\s*-\s+", "", row(source)))
    else:
        match = _SCALAR.match(row(source), max(source.column - 1, 0))
    typed = match[1] if match else ""
    return "" if typed[:1] in tuple("'\"|>&*{[") else typed


_SCALAR = re.compile(r"(?i)(yes|no|on|off|true|false|[-+.]?\d[\w.:+-]*)(?=\s*(?:[,\]#]|$))")


def _odd(
    where: str, key: str, value: Value, place: Place, takes: str, row: Row
) -> Iterator[Diagnostic]:
    number = isinstance(value, int) and not isinstance(value, bool)
    if not number and ("text" not in takes or "true or false" in takes):
        return
    source = place.source
    typed = _typed(key, source, row)
    if not typed:
        return
    dash = "- " if row(source).lstrip().startswith("-") else ""
    quoted = f"put it in quotes: `{dash}{key}: {_quoted(key, typed, source)}`"
    if not key:
        quoted = f"put it in quotes: `'{typed}'`"
    if isinstance(value, bool):
        read = "true" if value else "false"
        message = f"{where}: YAML reads {typed} as {read}"
        if takes == "text":
            message += f", which becomes the text {value}"
        if typed == read:
            message = f"{where}: {typed} becomes the text {value}"
        if typed not in (str(value), read if takes != "text" else ""):
            yield Diagnostic(message, source, quoted, "yaml-truth", "warning")
    elif number and re.fullmatch(r"0\d+", typed):
        message = f"{where}: {typed} without quotes is a number, for most YAML readers an octal one"
        yield Diagnostic(message, source, quoted, "yaml-octal", "warning")
    elif number and ":" in typed:
        message = f"{where}: YAML reads {typed} as the number {value} (base 60)"
        yield Diagnostic(message, source, quoted, "yaml-number", "warning")
    elif typed != str(value) and (takes == "text" or not number):
        message = f"{where}: YAML reads {typed} as the number {value}"
        yield Diagnostic(message, source, quoted, "yaml-number", "warning")
