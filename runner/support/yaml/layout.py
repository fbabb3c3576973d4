# SPDX-License-Identifier: Apache-2.0
"""Guesses at mistakes of layout: colons, dashes, indentation."""

from __future__ import annotations

import re
from collections.abc import Callable

from runner.model.requisite_kinds import REQUISITE_KEYS
from runner.support.files.text import text_to_show
from runner.support.yaml.mark import Mistake, ParserSpot, in_quotes, margin, short


def colons(spot: ParserSpot) -> Mistake | None:
    if "mapping values are not allowed" not in spot.problem:
        return None
    before = spot.row[: spot.column]
    inside = re.search(r":\s", re.sub(r"^\s*(- +)*", lambda match: "_" * len(match[0]), before))
    if inside:
        value = spot.row[inside.end() :].strip()
        key = re.sub(r"^\s*(- +)*", "", before).partition(":")[0]
        if key in REQUISITE_KEYS:
            return spot.here(
                "a second colon with a space after it in one line",
                f"write `- {key}:` and below it, indented, `- {short(value)}`",
            )
        quoted = f"put the value in quotes: {short(in_quotes(value))}"
        if value.endswith(":") and not re.match(r"[\s-]", spot.row):  # an ID
            quoted = f"put the ID in quotes: {short(in_quotes(spot.row.rstrip().rstrip(':')))}:"
        return spot.here("a second colon with a space after it in one line", quoted)
    number = spot.above()
    row = spot.at(number)
    written = row.strip()
    plain = re.sub(r"^(- +)+", "", written)
    if number >= 0 and not re.search(r":(\s|$)", plain):
        cure = plain.rstrip(",;").rstrip()
        message = f"a colon is missing at the end of {short(plain)!r}"
        return spot.mistake(
            message, number, row.index(plain) if plain else 0, f"write `{short(cure)}:`"
        )
    key = plain.partition(":")[0]
    hint = f"put it in the same column as `{key}`, or remove the value of `{key}`"
    return spot.mistake(
        f"{key!r} in the line above has a value, so nothing can stand below it",
        spot.line,
        margin(spot.row),
        hint,
    )


def no_dash(spot: ParserSpot) -> Mistake | None:
    if "expected '-' indicator" not in spot.problem:
        return None
    if spot.row.lstrip().startswith("- "):
        same = _neighbour(spot, lambda row: row.lstrip().startswith("- "))
        return _uneven(spot, same) if same is not None else None
    return _no_space(spot, spot.line) or _undashed(spot, spot.line)


def _undashed(spot: ParserSpot, line: int) -> Mistake:
    row = spot.at(line)
    message = "a line without a dash in the middle of a list"
    hint = f"write `- {short(row)}`, or indent it further if it belongs to the item above"
    return spot.mistake(message, line, margin(row), hint)


def no_key(spot: ParserSpot) -> Mistake | None:
    if spot.rest.startswith(":") and not spot.row[: spot.column].strip(" -"):
        return spot.here(
            "there is no key before the colon",
            "write the ID (or the name of the argument) before it",
        )
    return None


def indentation(spot: ParserSpot) -> Mistake | None:
    if "expected key" not in spot.problem or spot.column != margin(spot.row):
        return None
    column = spot.column
    if spot.rest.startswith("- "):
        same = _neighbour(spot, lambda row: row.lstrip().startswith("- "))
        if same is not None and margin(spot.at(same)) != column:
            return _uneven(spot, same)
        if undashed := _no_space(spot, spot.began[0]):
            return undashed
        above = spot.above()
        target = spot.at(above).strip()
        if re.fullmatch(r"""(['"]).*\1""", target):
            message = f"a colon is missing at the end of {short(target)}"
            return spot.mistake(message, above, margin(spot.at(above)), f"write `{short(target)}:`")
        message = "a list item in the middle of a mapping: the lines above have no dash"
        return spot.here(
            message, f"write all arguments with `- ` (from {spot.named(spot.began[0])} on), or none"
        )
    same = _neighbour(spot, lambda row: not row.lstrip().startswith("- "))
    return _uneven(spot, same) if same is not None else None


def _no_space(spot: ParserSpot, line: int) -> Mistake | None:
    """The mistake of a line that begins with a dash and a word."""
    written = spot.at(line).strip()
    dashed = re.match(r"-([^\s-].*)", written)
    if not dashed:
        return None
    message = f"no space follows the dash of {short(written)!r}"
    return spot.mistake(message, line, margin(spot.at(line)), f"write `- {short(dashed[1])}`")


def _uneven(spot: ParserSpot, other: int) -> Mistake:
    wanted = margin(spot.at(other))
    message = f"the indentation ({margin(spot.row)} spaces) fits none of the lines above"
    return spot.here(message, f"put it in the same column as {spot.named(other)} ({wanted} spaces)")


def _neighbour(spot: ParserSpot, fits: Callable[[str], bool]) -> int | None:
    """The line above whose indentation is nearest to this one's."""
    first_lines: dict[int, int] = {}
    number = spot.above()
    while number >= 0:
        row = spot.at(number)
        if fits(row):
            first_lines.setdefault(margin(row), number)
        if margin(row) == 0:
            break
        number = spot.above(number)
    nearest = sorted(
        first_lines, key=lambda margin: (abs(margin - spot.column), -first_lines[margin])
    )
    return first_lines[nearest[0]] if nearest else None


def joined(spot: ParserSpot) -> Mistake | None:
    """A key that stands behind another line, as a tag took the line break away."""
    above = (spot.above(), spot.above(spot.above()))
    for number in range(spot.line + 1) if "document" in spot.problem else (spot.line, *above):
        row = spot.at(number).rstrip()
        first, last = spot.typed(number, margin(row)), spot.typed(number, len(row) - 1)
        if first.file != last.file or 0 in (first.line, last.line) or first.line == last.line:
            continue
        rows = text_to_show(last.file).splitlines()
        begin, end = sorted((first.line, last.line + 2))  # a loop goes back to where it began
        tags = "\n".join(rows[begin - 1 : end - 2 if first.line < last.line else end])
        # what follows a tag may be counted to its line
        keys = (key.strip() for key in rows[last.line - 1 : last.line + 2])
        key = next((key for key in keys if re.fullmatch(r"(- )?[\w./-]+:( .*)?", key)), "\n")
        before = row.removesuffix(key).strip()
        if row.endswith(key) and before.strip("-") and re.search(r"-[%}]\}|\{[%{]-", tags):
            message = f"{short(key)!r} stands behind {short(before)!r} in one line"
            hint = "a tag above with `-%}` or `{%-` takes the line break away: remove that hyphen"
            return spot.mistake(message, number, len(row) - len(key), hint)
    return None


def simple_key(spot: ParserSpot) -> Mistake | None:
    if "could not find expected ':'" not in spot.problem:
        return None
    line, column = spot.began
    number = spot.above(line)
    blocked = re.search(r"[|>][+-]?\d?$", spot.at(number).rstrip())
    while (
        not blocked
        and number > 0
        and margin(spot.at(number)) >= margin(spot.at(line))
        and margin(spot.at(number))
    ):
        number = spot.above(number)
    above = spot.at(number).rstrip()
    written = spot.at(line).strip()
    if re.search(r"[|>][+-]?\d?$", above):
        message = (
            f"{short(written)!r} is not indented, so that it does not belong to the text above"
        )
        return spot.mistake(
            message, line, column, "indent each line of a text after | further than its key"
        )
    if undashed := _no_space(spot, line):
        return undashed
    if (beside := spot.at(spot.above(line))).startswith("- ", column) and margin(beside) == column:
        return _undashed(spot, line)
    return spot.mistake(
        f"no colon follows {short(written)!r}",
        line,
        column,
        f"write `{short(written)}: ...`" + ("" if written[0] in "'\"" else ", or quote it"),
    )
