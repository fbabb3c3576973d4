# SPDX-License-Identifier: Apache-2.0
"""Probable mistakes in a template's syntax: Jinja says which token it did not expect, and in which
line.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from runner.model import other_tools
from runner.model.diagnostics import did_you_mean, similar, suggestion
from runner.model.records import Record

TAGS = tuple(
    """
    if elif else for set macro import from include do call filter block break continue extends with
    raw autoescape import_yaml import_json import_text load_yaml load_json load_text profile endif
    endfor endset endmacro endcall endfilter endblock endwith endraw endload endprofile
    """.split()
)
BLOCKS = {"load_yaml": "load", "load_json": "load", "load_text": "load"}
# `docker ps --format {{.Names}}`, `{{json .State}}`
OF_ANOTHER_PROGRAM = (
    "{{ begins an expression of Jinja: put what another program reads between `{% raw %}` and"
    " `{% endraw %}`"
)
OPERATORS = {"&": "and", "!": "not", "|": "or", "=": "=="}


class Explanation(Record):
    """The place (from 1; column 0: not known) and the cure of a mistake."""

    line: int
    column: int
    hint: str | None
    message: str | None = None  # better than Jinja's own


class Tag(Record):
    """One `{% name ... %}`."""

    name: str
    line: int
    column: int
    rest: str


def explain(
    message: str, line: int, source: str, filters: Collection[str], tests: Collection[str]
) -> Explanation:
    """The place and the cure of a syntax error. source: the template. filters, tests: the names
    there are.
    """
    row = _row(source, line)
    named = re.search(r"No (filter|test) named '([^']*)'", message)
    if named:
        theirs = other_tools.filter_word(named[2])
        hint = (
            (theirs and theirs.hint(named[2]))
            or did_you_mean(named[2].rpartition(".")[2], filters if named[1] == "filter" else tests)
            or f"neither Jinja nor Salt has a {named[1]} of that name"
        )
        return Explanation(line, _word(row, named[2]), hint)
    if "Unexpected end of template" in message:
        return _unclosed(source) or Explanation(line, _tag_column(row), None)
    if "Missing end of raw" in message:
        tag = next(
            (tag for tag in _tags(source) if tag.name == "raw"),
            Tag("raw", line, _tag_column(row), ""),
        )
        return Explanation(tag.line, tag.column, "write `{% endraw %}` where it ends")
    if "expected token 'in'" in message:
        return Explanation(line, _tag_column(row), "write `{% for NAME in LIST %}`")
    if "Missing end of comment" in message:
        at = source.rfind("{#")
        number, column = source.count("\n", 0, at) + 1, at - source.rfind("\n", 0, at)
        if at and source[at - 1] == "$":  # of a shell: the length of a variable
            hint = "{# begins a comment in Jinja: put it between `{% raw %}` and `{% endraw %}`"
            return Explanation(number, column, hint)
        return Explanation(number, column, "close the comment with #}")
    unknown = re.search(r"Encountered unknown tag '([^']*)'", message)
    if unknown:
        return _unknown_tag(unknown[1], line, row, source, "innermost block" in message)
    return _expression(message, line, row, source, filters)


def _row(source: str, line: int) -> str:
    rows = source.split("\n")
    return rows[line - 1] if 0 < line <= len(rows) else ""


def _word(row: str, word: str) -> int:
    match = re.search(rf"(?<![\w.]){re.escape(word)}(?!\w)", row)
    return match.start() + 1 if match else 0


def _tag_column(row: str) -> int:
    match = re.search(r"\{[{%#]", row)
    return match.start() + 1 if match else 0


# ---------------------------------------------------------------- blocks


def _tags(source: str) -> Iterator[Tag]:
    plain = re.sub(r"\{#.*?#\}", lambda match: re.sub(r"[^\n]", " ", match[0]), source, flags=re.S)
    raw = re.sub(
        r"(?s)(\{%-?\s*raw\s*-?%\}).*?(?=\{%-?\s*endraw)",
        lambda m: re.sub(r"[^\n]", " ", m[0]),
        plain,
    )
    for match in re.finditer(r"\{%[-+]?\s*(\w+)(.*?)[-+]?%\}", raw, re.S):
        line = raw.count("\n", 0, match.start()) + 1
        yield Tag(match[1], line, match.start() - raw.rfind("\n", 0, match.start()), match[2])


def _open(source: str, before: int | None = None) -> list[Tag]:
    """The blocks that are open at the end (or before a line), the innermost last."""
    stack: list[Tag] = []
    for tag in _tags(source):
        if before is not None and tag.line >= before:
            break
        if tag.name.startswith("end"):
            if stack and _end_of(stack[-1]) == tag.name:
                stack.pop()
        elif f"end{BLOCKS.get(tag.name, tag.name)}" in TAGS and not (
            tag.name == "set" and "=" in tag.rest
        ):
            stack.append(tag)
    return stack


def _end_of(tag: Tag) -> str:
    return f"end{BLOCKS.get(tag.name, tag.name)}"


def _unclosed(source: str) -> Explanation | None:
    stack = _open(source)
    if not stack:
        return None
    tag = stack[-1]
    hint = f"write `{{% {_end_of(tag)} %}}` where it ends"
    if tag.name == "set":
        hint = f"write `{{% set {tag.rest.strip()} = VALUE %}}`, or close it with `{{% endset %}}`"
    return Explanation(
        tag.line, tag.column, hint, f"the `{{% {tag.name} %}}` that begins here is not closed"
    )


def _unknown_tag(name: str, line: int, row: str, source: str, inside: bool) -> Explanation:
    column = _tag_column(row)
    if name in ("elseif", "elsif"):
        return Explanation(line, column, "in Jinja that is `{% elif CONDITION %}`")
    if (name.startswith("end") and name in TAGS) or name in ("else", "elif"):
        stack = _open(source, line)
        if stack:
            tag = stack[-1]
            hint = (
                f"the `{{% {tag.name} %}}` of line {tag.line} is still open: close it with `{{%"
                f" {_end_of(tag)} %}}`"
            )
            return Explanation(line, column, hint)
        opening = "if or for" if name in ("else", "elif") else name.removeprefix("end")
        broken = re.search(
            rf"\{{[ ]*({opening.replace(' or ', '|')})\b[^{{}}]*?%?\}}|(?<!\{{)%[ ]*({opening})\b",
            source,
        )
        if broken:
            at, written = broken.start(), broken[0][: broken.end(1) - broken.start()] or broken[0]
            place = source.count("\n", 0, at) + 1, at - source.rfind("\n", 0, at)
            return Explanation(
                *place,
                f"write `{{% {broken[1] or broken[2]} ... %}}`",
                f"`{written}` does not begin a tag",
            )
        return Explanation(
            line, column, f"no `{{% {opening} %}}` is open here: remove it, or write what it closes"
        )
    call = re.search(rf"\{{%[-+]?\s*({re.escape(name)}[.\[(].*?)\s*[-+]?%\}}", row)
    if call:
        return Explanation(
            line, column, f"a tag that only calls something is `{{% do {call[1]} %}}`"
        )
    near = [f"`{{% {known} %}}`" for known in similar(name, TAGS, 2, 0.6)]
    return Explanation(
        line, column, suggestion(*near) if near else "tags are " + ", ".join(TAGS[:12])
    )


# ---------------------------------------------------------------- expressions


def _expression(
    message: str, line: int, row: str, source: str, filters: Collection[str]
) -> Explanation:
    character = re.search(r"unexpected char (['\"])(.+?)\1 at (\d+)", message)
    if character:
        return _character(character[2].replace("\\\\", "\\"), int(character[3]), line, row, source)
    column = _tag_column(row)
    theirs = re.search(r"\{\{-?\s*(?=\.)", row)
    if theirs:
        return Explanation(line, theirs.start() + 1, OF_ANOTHER_PROGRAM)
    braces = re.search(r"\{%(?:(?!%\}).)*?(\{\{\s*(.*?)\s*\}\})", row)
    if braces:
        hint = f"between {{% and %}} it is `{braces[2]}` alone; `~` joins it to a text"
        what = f"`{braces[1]}` stands inside of a tag"
        return Explanation(line, braces.start(1) + 1, hint, what)
    if re.search(r"got 'if'", message) and re.search(r"\{%[-+]?\s*else\s+if", row):
        what = "`{% else if %}` is not a tag"
        return Explanation(line, column, "write `{% elif CONDITION %}`", what)
    if "got '='" in message:
        at = re.search(r"(?<![=!<>])=(?!=)", row)
        return Explanation(line, at.start() + 1 if at else column, "a comparison is written ==")
    if "unexpected '%'" in message or "got '%'" in message:
        hint = (
            "a tag cannot be inside {{ }}: write `{{ 'x' if CONDITION else 'y' }}`, or put the"
            " tag around it"
        )
        return Explanation(line, column, hint)
    bracket = re.search(r", expected '([\])}])'", message)
    if bracket:
        opening = {"]": "[", ")": "(", "}": "{"}[bracket[1]]
        return Explanation(line, column, f"a bracket {opening} is not closed with {bracket[1]}")
    unclosed = _unclosed_expression(line, source)
    if unclosed:
        return unclosed
    got = re.search(r"got '(\w+)'", message)
    if got and got[1] in filters:
        return Explanation(
            line, _word(row, got[1]) or column, f"a filter comes after a bar: `| {got[1]}`"
        )
    if "expected token ':'" in message:
        return Explanation(line, column, "a mapping is written `{'key': value}`")
    extra = re.search(r"unexpected '([)\]}])'", message)
    if extra:
        return Explanation(
            line, column, f"there is one {extra[1]} too many, or its opening bracket is missing"
        )
    return Explanation(
        line, column, "look for a missing comma, operator, quote or bracket in this line"
    )


def _character(character: str, offset: int, line: int, row: str, source: str) -> Explanation:
    # Jinja counts in the text with the newlines as it keeps them
    column = (
        offset - source.rfind("\n", 0, offset)
        if source[offset : offset + 1] == character[:1]
        else 0
    )
    column = column or (row.find(character[:1]) + 1)
    sign = character[:1]
    if sign in "'\"":
        return Explanation(
            line, column, f"the quote {sign} is not closed: write {sign} at the end of the text"
        )
    if sign in OPERATORS:
        return Explanation(line, column, f"Jinja's word for that is `{OPERATORS[sign]}`")
    return Explanation(line, column, f"remove {sign}, or put the text in quotes")


def _unclosed_expression(line: int, source: str) -> Explanation | None:
    """The `{{` or `{%` at or above a line that no `}}` or `%}` closes."""
    above = "\n".join(source.split("\n")[:line])
    for opening, closing in (("{{", "}}"), ("{%", "%}")):
        at = above.rfind(opening)
        if at < 0 or at < max(above.rfind("{{"), above.rfind("{%")) or closing in above[at:]:
            continue
        column = at - above.rfind("\n", 0, at)
        message = f"the {opening} that begins here is not closed"
        return Explanation(
            above.count("\n", 0, at) + 1, column, f"close it with {closing}", message
        )
    return None
