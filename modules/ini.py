# SPDX-License-Identifier: Apache-2.0
"""Ini files: options and sections, everything else stays as it is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from modules import file
from modules._texts.lines import as_read as as_read
from modules._texts.lines import ending, once_a_line, one_line
from modules._texts.lines import value_problem as value_problem
from modules._texts.lines import whole_value as whole_value
from runner.api import Record, for_states

_SECTION = re.compile(r"^[\s\ufeff]*\[(?P<name>.*?)\]\s*(?:[#;].*)?$")
_PADDED = ("[ ", " ]", "[\t", "\t]")  # what a header has in it that is not just [name]
NO_VALUE = "(no value)"  # of an option that is there, as changes show it
_ALONE = re.compile(r"\w[\w.:/*+-]*\s*")  # an option without a value, such as skip-name-resolve

ALL: Any = object()  # in the place of names: all options of a section
Place = tuple[int, int]  # where a part of a text begins and ends


class _Placed(Record):
    """An option where it stands in a text. value: that of its line. lines: this one, and those that
    continue it.
    """

    name: str
    value: str | None
    lines: list[Place]

    def whole_value(self, text: str) -> str | None:
        """The value with the lines that continue it."""
        more = [text[begin:end].strip() for begin, end in self.lines[1:]]
        return None if self.value is None else "\n".join([self.value, *more])


@for_states
def text_about(
    file_name: str, wanted: Mapping[str, Any] | None, separator: str, encoding: str | None
) -> str:
    """The text of a file, empty where there is none; of a large one, what an edit of some sections
    and options, as `with_options` takes them, looks at. wanted: None for all.
    """
    if not encoding or encoding.lower().replace("_", "-") in ("utf-8", "utf8"):
        return file.text_to_edit(file_name, None if wanted is None else _About(wanted, separator))
    if not file.is_file(file_name):
        return ""
    return file.read_table(file_name).decode(encoding, "surrogateescape")


def _sign(separator: str) -> str:
    """What separates an option from its value, whatever blanks are around it."""
    return separator.strip() or separator


@once_a_line
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
    key, mark, value = line.partition(_sign(separator))
    if mark:
        return key.strip(), value.strip()
    return (key.strip(), None) if _ALONE.fullmatch(line) else None


def _lines(text: str, place: Place, word: str = "") -> Iterator[tuple[Place, str]]:
    """Yield the lines in a part of a text that have a word in them, without their ends."""
    start, stop = place
    while start < stop and (at := text.find(word, start, stop)) >= 0:
        begin, start = text.rfind("\n", start, at) + 1 or start, text.find("\n", at, stop) + 1
        start = start or stop
        yield (begin, start), text[begin:start].removesuffix("\n")


def _headers(text: str, start: int = 0, word: str = "[") -> Iterator[tuple[Place, str]]:
    """Yield the headers of sections that have a word in them, with the names of these."""
    for place, line in _lines(text, (start, len(text)), word):
        if header := _SECTION.match(line):
            yield place, header["name"].strip(" \t")


def _begin(text: str) -> int:
    """Where a text begins, behind the mark of its byte order."""
    return int(text.startswith("\ufeff"))


def _parts(text: str, section: str | None = None) -> Iterator[tuple[str, Place]]:
    """Yield the parts of a text: the section of each, "" for none, and where it is, without its
    header. section: that of the place where a later block of a text begins.
    """
    begin, section = (_begin(text), "") if section is None else (0, section)
    for place, name in _headers(text):
        yield section, (begin, place[0])
        section, begin = name, place[1]
    yield section, (begin, len(text))


def _places(text: str, section: str) -> list[Place]:
    """Where the parts of one section are: other sections are not looked at."""
    word = "[" if any(pad in text for pad in _PADDED) else f"[{section}]"
    own = [place[1] for place, name in _headers(text, 0, word) if name == section]
    return [
        (begin, next((place[0] for place, _ in _headers(text, begin)), len(text)))
        for begin in (own if section else [_begin(text), *own])
    ]


def _options(text: str, place: Place, separator: str, only: str | None = None) -> Iterator[_Placed]:
    """Yield the options in a part of a text. only: those that are called so."""
    for own, line in _lines(text, place, only or ""):
        pair = _option(line, separator)
        if pair is not None and only in (None, pair[0]):
            rest = () if pair[1] is None else _continuing(text, (own[1], place[1]), separator)
            yield _Placed(*pair, [own, *rest])


def _continuing(text: str, place: Place, separator: str) -> Iterator[Place]:
    """Yield the lines that go on with the value of an option above them."""
    for own, line in _lines(text, place):
        if _option(line, separator):
            return
        if line[:1] in (" ", "\t") and line.strip():
            yield own


class _About:
    """Selects what an edit of some options looks at, while a text is read block by block."""

    def __init__(self, wanted: Mapping[str, Any], separator: str) -> None:
        self._separator = separator
        self._section: str | None = None  # that of the place where the block begins
        self._goes_on = False  # the block may begin with more of a value
        self._options: dict[str, list[str] | None] = {}  # of each section; None for all
        named = dict[str, list[str]]()
        for section, options in wanted.items():
            if options is ALL:
                self._options[section] = None
            elif isinstance(options, Mapping | list):
                named.setdefault(section, []).extend(map(str, options))
            else:
                named.setdefault("", []).append(str(section))
        self._options |= named

    def __call__(self, block: str, _: bool) -> Iterator[Place]:
        stop = 0
        for number, (section, place) in enumerate(_parts(block, self._section)):
            if number:
                self._goes_on = False
                if self._options.keys() & {self._section, section}:  # one ends, or begins
                    yield stop, place[0]
            self._section, stop = section, place[1]
            if section in self._options:
                yield from self._within(block, place, self._options[section])

    def _within(self, block: str, place: Place, names: list[str] | None) -> list[Place]:
        """What is looked at in a part of a section."""
        begin, stop = place
        if names is None:
            return [place]
        goes_on, self._goes_on = self._goes_on, False
        found = self._continuing(block, place) if goes_on else []
        for name in names:
            for own, line in _lines(block, place, name):
                pair = _option(line, self._separator)
                if pair is not None and pair[0] == name:
                    found.append(own)
                    found += self._continuing(block, (own[1], stop)) if pair[1] is not None else ()
        filled = len(block[begin:stop].rstrip())  # empty lines may follow an option that is added
        empty = (block.find("\n", begin + filled) + 1 or stop) if filled else begin
        return sorted({*found, (empty, stop)})

    def _continuing(self, block: str, place: Place) -> list[Place]:
        """The lines that may go on with a value, and the option below them."""
        found = []
        for own, line in _lines(block, place):
            is_option = _option(line, self._separator) is not None
            if is_option or (line[:1] in (" ", "\t") and line.strip()):
                found.append(own)
            if is_option:
                return found
        self._goes_on = self._goes_on or place[1] == len(block)
        return found


def _values(
    text: str, places: Iterable[Place], separator: str, only: str | None = None
) -> dict[str, str | None]:
    options = chain.from_iterable(_options(text, place, separator, only) for place in places)
    return {option.name: option.whole_value(text) for option in options}


def get_ini(file_name: str, separator: str = "=", encoding: str | None = None) -> dict[str, Any]:
    """All sections with their options, null for one without a value; what stands before the first
    section at the top level.

    {{ salt['ini.get_ini']('/etc/php/php.ini') }}
    """
    text = text_about(file_name, None, separator, encoding)
    sections: dict[str, Any] = {}
    for name, place in _parts(text):
        sections.setdefault(name, {}).update(_values(text, [place], separator))
    above = sections.pop("")
    return {**sections, **{key: value for key, value in above.items() if key not in sections}}


@for_states
def get_some(
    file_name: str, wanted: Mapping[str, Any], separator: str = "=", encoding: str | None = None
) -> dict[str, Any]:
    """What `get_ini` says of some sections and options, as `with_options` takes them; only these
    are looked at.
    """
    text, found = text_about(file_name, wanted, separator, encoding), dict[str, Any]()
    for section, options in wanted.items():
        if not isinstance(options, Mapping | list):
            found |= _values(text, _places(text, ""), separator, str(section))
        elif section and (places := _places(text, section)):
            found[section] = {
                name: value
                for option in map(str, options)
                for name, value in _values(text, places, separator, option).items()
            }
    return found


@for_states
def get_sections(
    file_name: str, names: Iterable[str], separator: str = "=", encoding: str | None = None
) -> dict[str, dict[str, Any]]:
    """Some sections, those that are there, with their options."""
    text = text_about(file_name, dict.fromkeys(names, ALL), separator, encoding)
    places = {name: _places(text, name) for name in names if name}
    return {name: _values(text, own, separator) for name, own in places.items() if own}


@for_states
def present_sections(
    file_name: str, names: Iterable[str], encoding: str | None = None
) -> list[str]:
    """Those of some sections that are there."""
    text = text_about(file_name, {name: [] for name in names}, "=", encoding)
    return [name for name in names if name and _places(text, name)]


def get_option(
    file_name: str,
    section: str | None,
    option: str,
    separator: str = "=",
    encoding: str | None = None,
) -> Any:
    """The value of an option; None when it is not there."""
    if not section:
        return get_ini(file_name, separator, encoding).get(option)
    found = get_some(file_name, {section: [option]}, separator, encoding)
    return found.get(section, {}).get(option)


@for_states
def shown(options: Mapping[str, Any], option: str) -> Any:
    """The value of an option as changes show it; None where it is not there."""
    value = options.get(option)
    return NO_VALUE if value is None and option in options else value


def get_section(
    file_name: str, section: str, separator: str = "=", encoding: str | None = None
) -> dict[str, Any]:
    """The options of a section."""
    return get_sections(file_name, [section], separator, encoding).get(section, {})


def with_options(text: str, wanted: Mapping[str, Any], separator: str, spaces: bool) -> str:
    """A text with options set: section -> options, and options before the first section at the top
    level.
    """
    sign = _sign(separator)
    sign = f" {sign} " if spaces and sign.strip() else sign
    text = _ended(text)
    for section, options in wanted.items():
        inside = isinstance(options, Mapping)
        for option, value in options.items() if inside else [(section, options)]:
            place = section if inside else ""
            text = _with_option(text, place, str(option), value, separator, sign)
    return text


def _with_option(
    text: str, section: str, option: str, value: Any, separator: str, sign: str
) -> str:
    separator, name = one_line(separator, "the separator"), one_line(option, "an option's name")
    end, value = ending(text), None if value is None else whole_value(option, value)
    new = (name if value is None else f"{name}{sign}{value}").replace("\n", end) + end
    places = _places(text, section)
    found = [each for place in places for each in _options(text, place, separator, name)]
    if found:
        first, *others = (line for each in found for line in each.lines)
        if found[0].value == value and not others:
            return text
        return text[: first[0]] + new + _without(text, others, first[1])
    if not places:
        last = text[text.rfind("\n", 0, -1) + 1 :]
        head = one_line(section, "the name of a section")
        return f"{text}{end if last.strip() else ''}[{head}]{end}{new}"
    begin, stop = places[-1]
    filled = len(text[begin:stop].rstrip())
    at = text.find("\n", begin + filled - 1) + 1 if filled else begin
    apart = "" if at > _begin(text) or not text.partition("\n")[0].strip() else end
    return text[:at] + new + apart + text[at:]


def _ended(text: str) -> str:
    """A text whose last line ends as the others do."""
    return text + ending(text) if text and not text.endswith("\n") else text


def _without(text: str, places: Iterable[Place], start: int = 0) -> str:
    """A text from a place on, without parts of it."""
    kept = []
    for begin, stop in sorted({*places}):
        kept.append(text[start:begin])
        start = stop
    return "".join([*kept, text[start:]])


def without_options(text: str, unwanted: Mapping[str, Any], separator: str) -> str:
    """A text without options: section -> names, and names before the first section with the section
    "".
    """
    text = _ended(text)
    lines = (
        line
        for section, names in unwanted.items()
        for place in _places(text, section)
        for name in names
        for option in _options(text, place, separator, name)
        for line in option.lines
    )
    return _without(text, lines)


@for_states
def with_sections(text: str, names: Iterable[str]) -> str:
    """A text with further sections, empty ones."""
    end = ending(text)
    return text + "".join(f"{end if text else ''}[{name}]{end}" for name in names)


def without_sections(text: str, names: list[str]) -> str:
    """A text without some sections."""
    text = _ended(text)
    places = (place for name in names if name for place in _places(text, name))
    return _without(
        text, ((text.rfind("\n", 0, begin - 1) + 1 or _begin(text), stop) for begin, stop in places)
    )


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
    old = get_some(file_name, wanted, separator, encoding)
    present = text_about(file_name, wanted, separator, encoding)
    write(file_name, present, with_options(present, wanted, separator, not no_spaces), encoding)
    new = get_some(file_name, wanted, separator, encoding)
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
    present = text_about(file_name, unwanted, separator, encoding)
    write(file_name, present, without_options(present, unwanted, separator), encoding)
    return options.get(option)


def remove_section(
    file_name: str, section: str, separator: str = "=", encoding: str | None = None
) -> dict[str, Any] | None:
    """Remove a section of a file; its options, None where there is none.

    {% do salt['ini.remove_section']('/etc/app.ini', 'web') %}
    """
    options = get_sections(file_name, [section], separator, encoding).get(section)
    if options is not None:
        present = text_about(file_name, {section: ALL}, separator, encoding)
        write(file_name, present, without_sections(present, [section]), encoding)
    return options


@for_states
def write(file_name: str, old: str, new: str, encoding: str | None) -> None:
    """Write an edited text that `text_about` has read, where it is another one."""
    if new != _ended(old):
        file.write(file_name, file.contents_of(file_name, new, encoding))
