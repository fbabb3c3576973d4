# SPDX-License-Identifier: Apache-2.0
"""Ini files: options and sections, everything else stays as it is."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from modules import file
from modules._texts.lines import as_read as as_read
from modules._texts.lines import once_a_line, once_a_version, one_line, split
from modules._texts.lines import value_problem as value_problem
from modules._texts.lines import whole_value as whole_value
from runner.api import for_states

_SECTION = re.compile(r"^\s*\[(?P<name>[^\]]*)\]\s*$")
NO_VALUE = "(no value)"  # of an option that is there, as changes show it
_ALONE = re.compile(r"\w[\w.:/*+-]*\s*")  # an option without a value, such as skip-name-resolve


# of a line: its section, its option or None, the option's value or None
_Row = tuple[str, str | None, str | None]


def _text(file_name: str, encoding: str | None) -> str:
    if not file.is_file(file_name):
        return ""
    return file.read_bytes(file_name).decode(encoding or "utf-8", "surrogateescape")


def _option(line: str, separator: str) -> tuple[str, str | None] | None:
    """(option, value) of a line, without a value (option, None); None for comments, sections, empty
    lines and continuations.
    """
    if (
        not line.strip()
        or line.lstrip()[:1] in ("#", ";")
        or line[:1] in (" ", "\t")
        or _SECTION.match(line)
    ):
        return None
    key, mark, value = line.partition(separator)
    if mark:
        return key.strip(), value.strip()
    return (key.strip(), None) if _ALONE.fullmatch(line) else None


@once_a_line
def _read(line: str, separator: str) -> tuple[str | None, tuple[str, str | None] | None]:
    """The section that a line begins, and its option."""
    header = _SECTION.match(line)
    return (header["name"].strip(), None) if header else (None, _option(line, separator))


@once_a_version
def _parsed(text: str, separator: str) -> tuple[tuple[str, ...], tuple[_Row, ...]]:
    """The lines of a text and what each of them is."""
    lines = split(text)
    return tuple(lines), tuple(_walk(lines, separator))


def _walk(lines: Sequence[str], separator: str) -> list[_Row]:
    """What each line is."""
    section, option = "", None
    rows: list[_Row] = []
    for line in lines:
        header, pair = _read(line, separator)
        if header is not None:
            section, option = header, None
            rows.append((section, None, ""))
        elif pair:
            name, value = pair
            option = name if value is not None else None  # a next line continues no value
            rows.append((section, name, value))
        elif option and line[:1] in (" ", "\t") and line.strip():
            rows.append((section, option, line.strip()))
        else:
            rows.append((section, None, ""))
    return rows


def get_ini(file_name: str, separator: str = "=", encoding: str | None = None) -> dict[str, Any]:
    """All sections with their options, null for one without a value; what stands before the first
    section at the top level.

    {{ salt['ini.get_ini']('/etc/php/php.ini') }}
    """
    found = _sections(_text(file_name, encoding), separator)
    return {name: {**of} if isinstance(of, dict) else of for name, of in found.items()}


@once_a_version
def _sections(text: str, separator: str) -> Mapping[str, Any]:
    lines, rows = _parsed(text, separator)
    sections: dict[str, Any] = {
        name: {} for name in dict.fromkeys(map(itemgetter(0), rows)) if name
    }
    for line, (section, option, value) in zip(lines, rows, strict=True):
        if option is not None:
            place = sections[section] if section else sections
            goes_on = line[:1] in (" ", "\t") and option in place
            place[option] = f"{place[option]}\n{value}" if goes_on else value
    return sections


def get_option(
    file_name: str,
    section: str | None,
    option: str,
    separator: str = "=",
    encoding: str | None = None,
) -> Any:
    """The value of an option; None when it is not there."""
    sections = get_ini(file_name, separator, encoding)
    place = sections.get(section, {}) if section else sections
    return place.get(option) if isinstance(place, dict) else None


@for_states
def shown(options: Mapping[str, Any], option: str) -> Any:
    """The value of an option as changes show it; None where it is not there."""
    value = options.get(option)
    return NO_VALUE if value is None and option in options else value


def get_section(
    file_name: str, section: str, separator: str = "=", encoding: str | None = None
) -> dict[str, Any]:
    """The options of a section."""
    options = get_ini(file_name, separator, encoding).get(section, {})
    return options if isinstance(options, dict) else {}


def with_options(text: str, wanted: Mapping[str, Any], separator: str, spaces: bool) -> str:
    """A text with options set: section -> options, and options before the first section at the top
    level.
    """
    given, rows_given = _parsed(text, separator)
    lines, rows = list(given), list(rows_given)
    for section, options in wanted.items():
        inside = isinstance(options, Mapping)
        for option, value in options.items() if inside else [(section, options)]:
            place = section if inside else ""
            lines, rows = _with_option(lines, rows, place, str(option), value, separator, spaces)
    return "".join(f"{line}\n" for line in lines)


def _with_option(
    lines: list[str],
    rows: list[_Row],
    section: str,
    option: str,
    value: Any,
    separator: str,
    spaces: bool,
) -> tuple[list[str], list[_Row]]:
    sign = f" {separator} " if spaces and separator.strip() else separator
    separator, name = one_line(separator, "the separator"), one_line(option, "an option's name")
    value = None if value is None else whole_value(option, value)
    new = name if value is None else f"{name}{sign}{value}"
    at = [
        index
        for index, (section_of_line, name, _) in enumerate(rows)
        if section_of_line == section and name == option
    ]
    if at:
        first = next(index for index in at if _option(lines[index], separator))
        old = _option(lines[first], separator)
        if old and old[1] == value and len(at) == 1:
            return lines, rows
        others = {*at, *range(first + 1)}
        made = [
            *lines[:first],
            new,
            *(line for index, line in enumerate(lines) if index not in others),
        ]
        return made, _walk(made, separator)
    if section and not any(row[0] == section for row in rows):
        head = f"[{one_line(section, 'the name of a section')}]"
        added = [*([""] if lines and lines[-1].strip() else []), head]
        end = len(lines) + len(added)
        of_added = [(rows[-1][0] if rows else "", None, "")] * (len(added) - 1)
        lines, rows = [*lines, *added], [*rows, *of_added, (section.strip(), None, "")]
    else:
        end = max((index for index, row in enumerate(rows) if row[0] == section), default=-1) + 1
        while end and not lines[end - 1].strip():
            end -= 1
    apart = [""] if not end and lines and lines[0].strip() else []
    made = [*lines[:end], new, *apart, *lines[end:]]
    pair = _option(new, separator)
    if pair is None or apart:
        return made, _walk(made, separator)
    return made, [*rows[:end], (section.strip(), *pair), *rows[end:]]


def without_options(text: str, unwanted: Mapping[str, Any], separator: str) -> str:
    """A text without options: section -> names, and names before the first section with the section
    "".
    """
    lines, rows = _parsed(text, separator)
    remaining = []
    for line, (section, option, _) in zip(lines, rows, strict=True):
        names = unwanted.get(section, ())
        if option is None or option not in names:
            remaining.append(line)
    return "".join(f"{line}\n" for line in remaining)


def without_sections(text: str, names: list[str]) -> str:
    """A text without some sections."""
    remaining = [
        line
        for line, (section, _, _) in zip(*_parsed(text, "="), strict=True)
        if section not in names
    ]
    return "".join(f"{line}\n" for line in remaining)


def set_option(
    file_name: str,
    sections: Mapping[str, Any] | None = None,
    separator: str = "=",
    encoding: str | None = None,
    no_spaces: bool = False,
) -> dict[str, Any]:
    """Set options of a file; what has changed, as {before, after} of options and new sections.

    sections: section -> options, and options before the first section at the top level. no_spaces:
    none around the separator of what is written.

        {% do salt['ini.set_option']('/etc/app.ini', {'web': {'port': 8080}}) %}
    """
    wanted = sections or {}
    old = get_ini(file_name, separator, encoding)
    _rewrite(file_name, encoding, lambda text: with_options(text, wanted, separator, not no_spaces))
    new = get_ini(file_name, separator, encoding)
    changes: dict[str, Any] = {}
    for name, options in wanted.items():
        if isinstance(options, Mapping) and name in old:
            changed = {
                option: {"before": shown(old[name], option), "after": shown(new[name], option)}
                for option in map(str, options)
                if shown(old[name], option) != shown(new[name], option)
            }
            changes |= {name: changed} if changed else {}
        elif shown(old, name) != shown(new, name):
            changes[name] = {"before": shown(old, name), "after": shown(new, name)}
    return changes


def remove_option(
    file_name: str,
    section: str | None,
    option: str,
    separator: str = "=",
    encoding: str | None = None,
) -> str | None:
    """Remove an option of a file; its value, None where there is none.

    section: none for what stands before the first one.

        {% do salt['ini.remove_option']('/etc/app.ini', 'web', 'port') %}
    """
    sections = get_ini(file_name, separator, encoding)
    options = sections.get(section, {}) if section else sections
    if not isinstance(options, dict) or isinstance(options.get(option), dict):
        return None
    unwanted = {section or "": [option]}
    _rewrite(file_name, encoding, lambda text: without_options(text, unwanted, separator))
    return options.get(option)


def remove_section(
    file_name: str, section: str, separator: str = "=", encoding: str | None = None
) -> dict[str, Any] | None:
    """Remove a section of a file; its options, None where there is none.

    {% do salt['ini.remove_section']('/etc/app.ini', 'web') %}
    """
    options = get_ini(file_name, separator, encoding).get(section)
    if not isinstance(options, dict):
        return None
    _rewrite(file_name, encoding, lambda text: without_sections(text, [section]))
    return options


def _rewrite(file_name: str, encoding: str | None, edited: Callable[[str], str]) -> None:
    """Write a file again where editing changes its text."""
    old = "".join(f"{line}\n" for line in split(_text(file_name, encoding)))
    new = edited(old)
    if new != old:
        file.write(file_name, new.encode(encoding or "utf-8", "surrogateescape"))
