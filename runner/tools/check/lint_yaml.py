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
from runner.support.files.text import text_to_show
from runner.support.yaml.mark import in_quotes

Expects = Callable[[Chunk, str], Shape | None]  # what an argument takes, if that is known
Row = Callable[[Source], str]  # the line of a place, as YAML read it


def warnings(chunks: Sequence[Chunk], expects: Expects, row: Row) -> Iterator[Diagnostic]:
    """All of them."""
    for chunk in chunks:
        for key, value in chunk.args.items():
            place = chunk.arg_places.get(key)
            if place is None:
                continue
            yield from _lost_mark(key, value, place, row)
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


_MARKED = re.compile(r"(?:^\s*-|:)\s+(!\s+[^\s'\"].*)$")


def _lost_mark(key: str, value: Value, place: Place, row: Row) -> Iterator[Diagnostic]:
    """Warnings of texts that begin with an exclamation mark, which YAML drops as a tag."""
    listed = isinstance(value, list)
    for index, each in enumerate(value) if isinstance(value, list) else [(0, value)]:
        at = item_place(value, index, place) if listed else place
        marked = _MARKED.search(row(at.source)) if isinstance(each, str) else None
        if marked and each[:1] == marked[1][1:].strip()[:1]:
            message = f"{key}: the ! before {each!r} is a tag for YAML, and lost"
            hint = f"put it in quotes: {in_quotes(marked[1].strip())}"
            yield Diagnostic(message, at.source, hint, "trap", "warning")


_NONE = re.compile(r"(?<![\w'\"])None(?!\w)")


def values_that_are_none(chunks: Sequence[Chunk]) -> Iterator[Diagnostic]:
    """What a template has no value for, and the word None stands in its place."""
    for chunk in chunks:
        for place in (chunk.place, *chunk.arg_places.values()):
            source = place.source
            if not source.rendered or not _NONE.search(source.rendered):
                continue
            rows = text_to_show(source.file).splitlines()
            typed = rows[source.line - 1] if 0 < source.line <= len(rows) else ""
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
    rows = text_to_show(source.file).splitlines() if source.rendered else []
    row = rows[source.line - 1] if 0 < source.line <= len(rows) else ""
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
