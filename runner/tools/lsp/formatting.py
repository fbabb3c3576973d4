# SPDX-License-Identifier: Apache-2.0
"""Formatting: only what cannot change the meaning of an SLS file, and nothing in a file that cannot
be parsed.

Spaces at the ends of lines, more than two empty lines, the end of the file, tabs and spaces within
the marks of templates. Texts of several lines (`contents: |`) stay as they are.
"""

from __future__ import annotations

import re
from typing import Any

import yaml
from jinja2 import Environment, TemplateSyntaxError

from runner.model.errors import RunnerError
from runner.tools.lsp.documents import OpenDocument
from runner.tools.lsp.outline import LARGEST, MADE, masked
from runner.tools.lsp.project import Project

# templates' texts of several lines: each space in them counts
_VERBATIM = re.compile(
    r"\{#.*?#\}"
    r"|\{%-?\s*set\s+\w+\s*(?:\|[^=%]*)?-?%\}.*?\{%-?\s*endset"
    r"|\{%-?\s*(?P<block>raw|macro|call|filter)\b.*?\{%-?\s*end(?P=block)"
    r"|\{%.*?%\}",
    re.S,
)
_EXPRESSION = re.compile(r"\{\{([-+]?)[ \t]*([^\s{}](?:[^\n{}]*[^\s{}-])?)[ \t]*([-+]?)\}\}")


def formatted(project: Project, document: OpenDocument) -> str | None:
    """The text as it should be; None where there is nothing to do, or it cannot be parsed."""
    text = document.text
    try:
        project.session.renderer.compile(document.path, project.env_of(document.path))
    except RunnerError:
        return None
    before = _parsed(text)
    if before is None:
        return None
    end = document.line_end
    held = _held_lines(text)
    lines = [line.rstrip("\r") for line in text.split("\n")]
    made: list[str] = []
    for number, line in enumerate(lines):
        if number in held:
            made.append(line)
            continue
        line = _EXPRESSION.sub(r"{{\1 \2 \3}}", line.rstrip())
        if line or made[-2:] != ["", ""]:
            made.append(line)
    while made and not made[-1] and len(lines) not in held:
        made.pop()
    new = end.join([*made, ""]) if made else ""
    return new if new != text and _parsed(new) == before else None


def _held_lines(text: str) -> set[int]:
    """The lines of texts of several lines, of comments of templates and of what is raw."""
    held: set[int] = set()
    for token in yaml.scan(masked(text), Loader=yaml.CSafeLoader):
        if isinstance(token, yaml.ScalarToken) and token.start_mark.line != token.end_mark.line:
            last = token.end_mark.line - (token.style in ("|", ">") and token.end_mark.column == 0)
            held.update(range(token.start_mark.line, last + 1))
            if token.style in ("|", ">") and text.rstrip()[: token.end_mark.index] == text.rstrip():
                held.update(range(last, text.count("\n") + 2))
    for match in _VERBATIM.finditer(text):
        first = text.count("\n", 0, match.start())
        held.update(range(first, first + match[0].count("\n") + (1 if "\n" in match[0] else 0)))
    return held


def _parsed(text: str) -> Any:
    """Return what a text means as a template and as YAML; None for what cannot be parsed."""
    named = text.partition("\n")[0]
    if len(text) > LARGEST or (named.startswith("#!") and "yaml" not in named):
        return None
    try:
        tokens = [
            (kind, value.strip())
            for _, kind, value in Environment().lex(text)
            if kind not in ("whitespace", "data", "comment")
        ]
        # an expression means the same however it is spaced
        nodes = yaml.compose(re.sub(f"{MADE}+", MADE, masked(text)), Loader=yaml.CSafeLoader)
        return tokens, yaml.serialize(nodes, Dumper=yaml.CSafeDumper) if nodes else ""
    except (TemplateSyntaxError, yaml.YAMLError, RecursionError, ValueError):
        return None
