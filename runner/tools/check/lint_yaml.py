# SPDX-License-Identifier: Apache-2.0
"""Values that YAML reads as something else than people see: yes, 0644, 1.10, 12:30. Warnings of
`runner check`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from runner.model.chunk import Chunk
from runner.model.diagnostics import Diagnostic
from runner.model.places import Place, PlacedMap, Source, Value
from runner.support.files.text import text_to_show

Expects = Callable[[Chunk, str], str]  # what an argument takes, in words; empty if nobody knows
Row = Callable[[Source], str]  # the line of a place, as YAML read it


def warnings(chunks: Sequence[Chunk], expects: Expects, row: Row) -> Iterator[Diagnostic]:
    """All of them."""
    for chunk in chunks:
        for key, value in chunk.args.items():
            place = chunk.arg_places.get(key)
            if place is None:
                continue
            if isinstance(value, bool | int | float):
                yield from _odd(
                    f"{chunk.function}: {key}", key, value, place, expects(chunk, key), row
                )
            elif isinstance(value, list):  # pkgs: [{name: version}]
                for entry in value:
                    for name, inner in entry.items() if isinstance(entry, PlacedMap) else ():
                        if isinstance(inner, bool | float):
                            where = f"{chunk.function}: {key}: {name}"
                            yield from _odd(
                                where, str(name), inner, entry.key_place(name), "text", row
                            )


def _quoted(key: str, typed: str, source: Source) -> str:
    """A value in quotes; of a template the expression that gave it."""
    rows = text_to_show(source.file).splitlines() if source.rendered else []
    row = rows[source.line - 1] if 0 < source.line <= len(rows) else ""
    match = re.search(rf"{re.escape(key)}['\"]?\s*:\s*(\S.*?)\s*$", row)
    written = match[1] if match else typed
    return f'"{written}"' if "'" in written else f"'{written}'"


def _odd(
    where: str, key: str, value: Value, place: Place, takes: str, row: Row
) -> Iterator[Diagnostic]:
    number = isinstance(value, int) and not isinstance(value, bool)
    if not number and ("text" not in takes or "true or false" in takes):
        return
    source = place.source
    match = re.search(rf"{re.escape(key)}['\"]?\s*:\s*([^\s#,\]}}]+)", row(source))
    typed = match[1] if match else ""
    if not typed or typed[0] in "'\"|>&*{[":
        return
    quoted = f"put it in quotes: `- {key}: {_quoted(key, typed, source)}`"
    if isinstance(value, bool):
        read = "true" if value else "false"
        if typed.lower() != read:
            message = f"{where}: YAML reads {typed} as {read}"
            yield Diagnostic(message, source, quoted, "yaml-truth", "warning")
    elif number:
        if re.fullmatch(r"0\d+", typed):
            message = (
                f"{where}: {typed} without quotes is a number, for most YAML readers an octal one"
            )
            yield Diagnostic(message, source, quoted, "yaml-octal", "warning")
        elif ":" in typed:
            message = f"{where}: YAML reads {typed} as the number {value} (base 60)"
            yield Diagnostic(message, source, quoted, "yaml-number", "warning")
    elif typed != str(value):
        message = f"{where}: YAML reads {typed} as the number {value}"
        yield Diagnostic(message, source, quoted, "yaml-number", "warning")
