# SPDX-License-Identifier: Apache-2.0
"""Probable mistakes in a YAML text: the parser says where it gave up, people ask what they
mistyped.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import yaml

from runner.model import other_tools
from runner.model.diagnostics import ODD_SPACES
from runner.support.yaml import mark
from runner.support.yaml.layout import colons, indentation, joined, no_dash, no_key, simple_key
from runner.support.yaml.mark import Mistake, ParserSpot, Written, in_quotes, margin, short


def explain(error: yaml.MarkedYAMLError, text: str, written: Written) -> Mistake | None:
    """The mistake behind an error; None where the parser names no place. written: where the text's
    lines were typed.
    """
    if (error.problem_mark or error.context_mark) is None:
        return None
    spot = ParserSpot(error, text, written)
    for guess in _GUESSES:
        mistake = guess(spot)
        if mistake:
            return mistake
    return spot.here(
        f"YAML: {spot.problem} ({spot.context})" if spot.context else f"YAML: {spot.problem}",
        f"look at what began in {spot.named(spot.began[0])}: is the indentation the same?",
    )


def unreadable(error: Exception, text: str) -> Mistake | None:
    """The mistake of a character that YAML does not allow; None of another error."""
    position = getattr(error, "position", None)
    if position is None:
        return None
    character = getattr(error, "character", "")
    code = ord(character) if isinstance(character, str) and len(character) == 1 else character
    shown = f"U+{code:04X}" if isinstance(code, int) else str(code)
    line = text.count("\n", 0, position)
    column = position - (text.rfind("\n", 0, position) + 1)
    message = f"the control character {shown} is not allowed in YAML"
    return Mistake(message, line + 1, column + 1, "remove it; it does not show in an editor")


# ---------------------------------------------------------------- what it may be, the surest first


def _conflict(spot: ParserSpot) -> Mistake | None:
    for number, row in enumerate(spot.lines):
        if re.match(r"(<<<<<<<|>>>>>>>)( |$)", row):
            message = "a merge conflict of git is left in this file"
            hint = "choose between the two parts and remove the lines <<<<<<<, ======= and >>>>>>>"
            return spot.mistake(message, number, 0, hint)
    return None


def _resource(spot: ParserSpot) -> Mistake | None:
    """A manifest of Puppet."""
    for number in range(spot.line, max(spot.line - 10, -1), -1):
        hint = other_tools.resource_hint(spot.at(number))
        if hint and "=>" in "".join(spot.lines[number : spot.line + 1]):
            row = spot.at(number)
            return spot.mistake(f"{short(row)!r} is no YAML", number, margin(row), hint)
    return None


def _tab(spot: ParserSpot) -> Mistake | None:
    for number in (spot.line, spot.above(), spot.line + 1):
        if lead := re.match(r"[ -]*\t", spot.at(number)):
            where = "after the dash" if "-" in lead[0] else "in the indentation"
            hint = "replace the tab with spaces, as in the lines around it"
            message = f"a tab {where}; YAML takes only spaces"
            return spot.mistake(message, number, lead.end() - 1, hint)
    return None


def _blank(spot: ParserSpot) -> Mistake | None:
    for number in (spot.line, spot.above()):
        row = spot.at(number)
        blank = re.search(f"[{''.join(ODD_SPACES)}]", row)
        before = row[: blank.start()] if blank else ""
        if blank and (not before.strip(" -") or before.endswith(":")):
            where = "in the indentation" if not before.strip() else f"after `{before.strip()}`"
            message = f"a space that is none (U+{ord(blank[0]):04X}) {where}"
            hint = "replace it with a plain space; copied text often has it"
            return spot.mistake(message, number, blank.start(), hint)
    return None


_OPENS = re.compile(r"""(?:^|[:\-,\[{])\s+(["'])""")


def _open_quote(spot: ParserSpot) -> Mistake | None:
    """A quote that is closed in none of the lines before the error, or only by a later one's
    opening quote.
    """
    end = "unexpected end of stream" in spot.problem or "document indicator" in spot.problem
    if end and "quoted scalar" in spot.context:
        return _unclosed(spot, *spot.began)
    if "expected" not in spot.problem:
        return None
    for number in range(spot.line - 1, max(spot.line - 40, -1), -1):
        row = spot.at(number)
        opening = _OPENS.search(row)
        rest = row[opening.end() :] if opening else ""
        if (
            opening
            and opening[1] not in rest.replace("\\" + opening[1], "")
            and opening[1] in spot.at(spot.line)
        ):
            return _unclosed(spot, number, opening.end() - 1)
    return None


def _unclosed(spot: ParserSpot, line: int, column: int) -> Mistake:
    quote = spot.at(line)[column : column + 1]
    written = spot.at(line).rstrip()[column:]
    return spot.mistake(
        f"the quote {quote} that begins here is not closed",
        line,
        column,
        f"close it at the end: {short(written)}{quote}",
    )


def _typographic(spot: ParserSpot) -> Mistake | None:
    quote = re.search(f"[{mark.QUOTES}]", spot.row)
    if not quote:
        return None
    message = f"{quote[0]} is a typographic quote, which YAML takes for a letter"
    return spot.mistake(message, spot.line, quote.start(), mark.PLAIN_QUOTES)


def _after_quote(spot: ParserSpot) -> Mistake | None:
    """`'it's'` and `"a" b`."""
    quoted = re.match(
        r"""(.*?(?:^|[:\-,\[{])\s*)(?:'((?:[^']|'')*)'|"((?:[^"\\]|\\.)*)")(?=[^\s,\]}:]|\s+[^\s#,\]}:])""",
        spot.row,
    )
    if not quoted or "expected" not in spot.problem or spot.column < quoted.end():
        return None
    closing, single = quoted.end() - 1, quoted[2] is not None
    if single and re.match(r"\w", spot.row[quoted.end() :]):
        hint = "write '' for an apostrophe inside single quotes, or put the value in double quotes"
    else:
        hint = "put the whole value in quotes, or remove the quotes"
    return spot.mistake("the quoted text ends here, and more follows it", spot.line, closing, hint)


# the parser's words for \s, and for \x, \u, \U without their digits; those of libyaml, of PyYAML
_ESCAPES = re.compile(r"unknown escape character|hexa?decimal number|Unicode character escape")


def _escape(spot: ParserSpot) -> Mistake | None:
    if not _ESCAPES.search(spot.problem):
        return None
    at = spot.row.rfind("\\", 0, spot.column + 1)
    return spot.mistake(
        f"{spot.row[at : at + 2]} is not an escape sequence that YAML knows",
        spot.line,
        at,
        "put the value in single quotes, where a backslash is a backslash, or write \\\\",
    )


_CLOSING = {"[": "]", "{": "}"}
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _stray(spot: ParserSpot) -> Mistake | None:
    """A line that only closes brackets, where none is open."""
    brackets = re.fullmatch(r"\s*([\]}]+)[\s,%]*", spot.row)
    if not brackets or "flow" in spot.context or "expected" not in spot.problem:
        return None
    hint = "remove it, or put the text in quotes"
    return spot.mistake(
        f"{brackets[1]} closes a bracket, and none is open here", spot.line, brackets.start(1), hint
    )


def _bracket(spot: ParserSpot) -> Mistake | None:
    if not re.search(r"expected ',' or '[]}]'", spot.problem) and "flow" not in spot.context:
        return None
    line, column = spot.began
    if not spot.rest and spot.line >= len(spot.lines) - 1:  # the parser waits for an item there
        line, column = _last_open(spot) or spot.began
    opening = spot.at(line)[column : column + 1]
    if opening not in _CLOSING or "expected" not in spot.problem:
        return None
    closing = _CLOSING[opening]
    inside = "\n".join(
        [spot.at(line)[column:], *(spot.at(number) for number in range(line + 1, spot.line))]
    )
    if line != spot.line and inside.count(closing) < inside.count(opening):
        return spot.mistake(
            f"the bracket {opening} is not closed", line, column, f"close it with {closing}"
        )
    hint = (
        f"put a comma before it, or close the bracket with {closing} first, or put a text with , :"
        " [ ] { } in quotes"
    )
    instead = f" but {short(spot.rest)!r}" if spot.rest.strip() else ""
    return spot.here(f"expected , or {closing} here{instead}", hint)


def _last_open(spot: ParserSpot) -> tuple[int, int] | None:
    """The place of the innermost bracket that is open at the end of the text."""
    opened: list[tuple[int, int]] = []
    try:
        for token in yaml.scan("\n".join(spot.lines), _Loader):
            if isinstance(token, yaml.FlowSequenceStartToken | yaml.FlowMappingStartToken):
                opened.append((token.start_mark.line, token.start_mark.column))
            elif isinstance(token, yaml.FlowSequenceEndToken | yaml.FlowMappingEndToken) and opened:
                opened.pop()
    except yaml.YAMLError:
        pass  # what is open until there counts
    return opened[-1] if opened else None


def _flow_then_text(spot: ParserSpot) -> Mistake | None:
    """`name: {x} y`: a text that begins with a bracket."""
    opening = re.match(r"(.*?[:\-]\s+)([\[{])[^\]}]*[\]}]", spot.row)
    if "flow node" in spot.context and not opening:  # `name: [: more`
        opening = re.match(r"(.*?[:\-]\s+)([\[{])", spot.row)
    if not opening or spot.column < opening.end() or "expected" not in spot.problem:
        return None
    begin = len(opening[1])
    kind = "list" if opening[2] == "[" else "mapping"
    message = f"the value begins with {opening[2]}, so that YAML reads a {kind}; more follows"
    return spot.mistake(
        message, spot.line, begin, f"put the value in quotes: {in_quotes(short(spot.row[begin:]))}"
    )


def _comma(spot: ParserSpot) -> Mistake | None:
    if "flow node" not in spot.context or not spot.rest.startswith(","):
        return None
    return spot.here(
        "there is nothing before this comma", "remove the comma; an empty text is written ''"
    )


def _start(spot: ParserSpot) -> Mistake | None:
    sign = spot.rest[:1]
    refused = "mapping keys are not allowed" if sign == "?" else "cannot start any token"
    if refused not in spot.problem or sign not in ("%", "@", "`", "?"):
        return None
    hint = f"put it in quotes: {in_quotes(short(spot.rest))}"
    if sign == "%" and spot.row[: spot.column].endswith("{ "):
        hint = "a tag of Jinja has no space in its `{%` and `%}`"
    return spot.here(f"a value cannot begin with {sign}", hint)


def _folded(spot: ParserSpot) -> Mistake | None:
    """`name: > /etc/motd`: a command, or a comparison, that begins as a text of several lines."""
    line, column = spot.began
    if "block scalar" not in spot.context or not re.match(r"[|>]", spot.at(line)[column:]):
        return None
    value = spot.at(line)[column:]
    message = f"what begins with {value[0]} is a text of several lines, which begins in the next"
    return spot.mistake(message, line, column, f"put it in quotes: {in_quotes(short(value))}")


def _list_beside_its_key(spot: ParserSpot) -> Mistake | None:
    """`groups: - sudo`."""
    key = re.fullmatch(r"\s*(?:- +)*(.+?):\s+", spot.row[: spot.column])
    if not re.search("sequence entries are not allowed", spot.problem) or not key:
        return None
    item = short(spot.rest.removeprefix("-"))
    message = f"a list cannot begin in the line of its key {key[1]!r}"
    hint = f"write `{key[1]}:` and below it, indented, `- {item}`; or `{key[1]}: [{item}]`"
    return spot.here(message, hint)


def _anchor(spot: ParserSpot) -> Mistake | None:
    if "duplicate anchor" not in spot.context and "duplicate anchor" not in spot.problem:
        return None
    hint = (
        "`| json` writes none; `| yaml` names what occurs in two places of a value, from &id001 on"
        " in each value"
    )
    return spot.here(f"the anchor is in {spot.named(spot.began[0])}, too", hint)


def _alias(spot: ParserSpot) -> Mistake | None:
    if "scanning an alias" in spot.context:
        begin = spot.began[1]
        typed = re.split(r":\s|:$|\s", spot.at(spot.began[0])[begin:])[0]
        message = f"what begins with * is an alias for YAML, and {typed} names none"
        return spot.mistake(message, spot.began[0], begin, f"put it in quotes: '{typed}'")
    if "undefined alias" not in spot.problem:
        return None
    name = re.match(r"\*(\S*)", spot.rest)
    named = name[1] if name else ""
    hint = (
        f"put the value in quotes if the * is meant; an anchor is written `&{named or 'name'}`,"
        " above its use"
    )
    return spot.here(f"*{named} is an alias, and no anchor &{named} stands above it", hint)


def _document(spot: ParserSpot) -> Mistake | None:
    if "document start" in spot.problem and spot.at(spot.above()).startswith("..."):
        message = "the line ... ends the document; a file here is one document"
        return spot.mistake(message, spot.above(), 0, "remove the ...")
    if "another document" not in spot.problem:
        return None
    return spot.here(
        "the line --- begins a second document; a file here is one document", "remove the ---"
    )


def _jinja(spot: ParserSpot) -> Mistake | None:
    expression = re.search(r"\{\{|\{%", spot.row)
    if not expression:
        return None
    message = "a Jinja expression is left in the text that YAML reads"
    return spot.mistake(
        message,
        spot.line,
        expression.start(),
        "is the renderer `jinja|yaml`, and is this no {% raw %} block?",
    )


_GUESSES: tuple[Callable[[ParserSpot], Mistake | None], ...] = (
    _conflict,
    _resource,
    joined,
    _tab,
    _blank,
    no_key,
    _open_quote,
    _typographic,
    _after_quote,
    _escape,
    colons,
    no_dash,
    _comma,
    _flow_then_text,
    _stray,
    _bracket,
    _start,
    _folded,
    _list_beside_its_key,
    _anchor,
    _alias,
    _document,
    simple_key,
    indentation,
    _jinja,
)
