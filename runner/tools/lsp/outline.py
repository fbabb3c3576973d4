# SPDX-License-Identifier: Apache-2.0
"""What stands where in the text of an SLS file: read from the text as its author wrote it, with all
branches of its template, and as far as a broken text allows. Nothing is rendered.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import yaml

from runner.language.compiler import chains
from runner.model.records import Record
from runner.model.requisite_kinds import ALIASES, REQUISITE_KEYS

REQUISITES = REQUISITE_KEYS | ALIASES.keys()
MADE = "\ue000"  # stands for each character of what a template makes
LARGEST = 2 * 1024 * 1024  # characters of a text that is looked at while somebody types

_JINJA = re.compile(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}", re.S)
# of `{% if a %}b{% else %}c{% endif %}` in one line only b is looked at
_OTHERWISE = re.compile(r"\{%-?\s*(?:else|elif)\b[^\n]*?\{%-?\s*endif\s*-?%\}")
# what is between these is no YAML of this file
_CAPTURED = re.compile(r"\{%-?\s*set\s+\w+\s*(?:\|[^=%]*)?-?%\}.*?\{%-?\s*endset\s*-?%\}", re.S)
_VISIBLE = re.compile(r"[^\r\n]")
_BLOCK = re.compile(r"^(?![ \t\r\n#\-\]}]|\.\.\.)", re.M)
_SALT = re.compile(r"salt://([^\s'\"?|,\]}{]+)")
_IMPORT = re.compile(
    r"\{%-?\s*(?:from|import|include|extends)\s+(?:\w+\s*~\s*)?"
    r"(?:'([^'\n]+)'|\"([^\"\n]+)\")[^%]*%\}"
)
_MACRO = re.compile(r"\{%-?\s*macro\s+(\w+)\s*\(")
_CALL = re.compile(r"\bsalt(?:\[['\"]([\w.]+)['\"]\]|\.(\w+\.\w+))")
_KEY = re.compile(
    r"""\b(?:salt\[?['".]+(?P<a>pillar|grains)\.get['"]?\]?\(\s*['"](?P<path>[^'"]+)['"]"""
    r"""|(?P<b>pillar|grains)\.get\(\s*['"](?P<got>[^'"]+)['"]"""
    r"""|(?P<c>pillar|grains)(?P<steps>(?:\.(?!get\b)\w+|\[['"][^'"\]]+['"]\])+))"""
)
_STEP = re.compile(r"\.(\w+)|\[['\"]([^'\"\]]+)['\"]\]")


class Span(Record):
    """Some characters of a text, and what they mean. kind: how they are written in YAML: plain, ',
    ", or empty for what is not YAML.
    """

    start: int
    end: int
    value: str
    kind: str = ""

    def holds(self, offset: int) -> bool:
        return self.start <= offset <= self.end


class Reference(Record):
    """A requisite's target, or another mention of an ID. state: empty where none is written; `sls`
    for an SLS; `id` for any state of that ID.
    """

    target: Span
    state: str
    key: str  # the requisite; `extend`, `exclude` or `chain`
    holder: str = ""  # the ID that it stands below


class OutlineArgument(Record):
    """An argument of a state."""

    name: Span
    function: str
    value: Span | None = None


class DeclaredState(Record):
    """A state of a declaration. body: what its arguments are; its start is before the first one."""

    key: Span  # `file.managed`, or `file`
    function: str  # file.managed, however it is written; `file.` where that cannot be told
    names: tuple[str, ...] = ()  # of `name` and `names`
    items: Span | None = None  # of its list of arguments; of its key where there is none
    named: bool = False


class Declaration(Record):
    """An ID with its states. whole: of all lines of it."""

    id: Span
    states: tuple[DeclaredState, ...]
    whole: Span
    extends: bool = False
    short: bool = False  # `ID: pkg.installed`


class Outline(Record):
    """All that stands in one text."""

    declarations: tuple[Declaration, ...] = ()
    references: tuple[Reference, ...] = ()
    includes: tuple[Span, ...] = ()
    arguments: tuple[OutlineArgument, ...] = ()
    files: tuple[Span, ...] = ()  # salt://
    imports: tuple[Span, ...] = ()  # templates
    macros: tuple[Span, ...] = ()
    calls: tuple[Span, ...] = ()  # execution functions in templates
    keys: tuple[Span, ...] = ()  # of pillar and grains; the value is `pillar:a:b`
    broken: bool = False  # some of it is no YAML


def masked(text: str) -> str:
    """The text with what its template makes replaced, character for character."""

    def blank(match: re.Match[str]) -> str:
        return _VISIBLE.sub(MADE if match[0].startswith("{{") else " ", match[0])

    text = _OTHERWISE.sub(lambda match: " " * len(match[0]), text)
    text = _CAPTURED.sub(lambda match: _VISIBLE.sub(" ", match[0]), text)
    return _JINJA.sub(blank, text).replace("\ufeff", " ", 1)


def outline(text: str) -> Outline:
    """The outline of a text; empty for one that is larger than LARGEST, or a program."""
    if len(text) > LARGEST:
        return Outline(broken=True)
    reader = _OutlineReader(text)
    if not re.match(r"\ufeff?#!(?!/)(?!.*\b(yaml|jinja|stateconf)\b)", text):
        reader.blocks(masked(text))
    return reader.outline(text)


class _OutlineReader:
    """Reads block after block (an ID with what stands below it), so that a mistake in one does not
    hide the others.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._declarations: list[Declaration] = []
        self._references: list[Reference] = []
        self._includes: list[Span] = []
        self._arguments: list[OutlineArgument] = []
        self._broken = False
        self._base = 0

    def blocks(self, text: str) -> None:
        starts = [match.start() for match in _BLOCK.finditer(text)]
        for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
            block = text[start:end]
            self._base = start
            if block.startswith(("---", "...", "%")) or not block.strip():
                continue
            try:
                node = yaml.compose(block, Loader=yaml.CSafeLoader)
            except (yaml.YAMLError, RecursionError, ValueError):
                self._broken_block(block)
                continue
            if isinstance(node, yaml.MappingNode):
                for key, value in node.value:
                    self._entry(key, value, Span(start, start + len(block.rstrip()), ""))
            elif block.strip() != MADE * len(block.strip()):
                self._broken = True

    def _broken_block(self, block: str) -> None:
        """Take at least the ID of a block that is no YAML (yet)."""
        self._broken = True
        match = re.match(r"(['\"]?)([^\s#].*?)\1\s*:\s*$", block.splitlines()[0])
        if match and match[2] not in ("include", "extend", "exclude", "chain", "defaults"):
            start, end = self._base + match.start(2), self._base + match.end(2)
            id_ = Span(start, end, match[2], match[1] or "plain")
            whole = Span(self._base, self._base + len(block.rstrip()), "")
            self._declarations.append(Declaration(id_, (), whole))

    def outline(self, text: str) -> Outline:
        def spans(pattern: re.Pattern[str]) -> tuple[Span, ...]:
            return tuple(_first_group(match) for match in pattern.finditer(text))

        return Outline(
            tuple(self._declarations),
            tuple(self._references),
            tuple(self._includes),
            tuple(self._arguments),
            spans(_SALT),
            spans(_IMPORT),
            spans(_MACRO),
            spans(_CALL),
            tuple(map(_data_key, _KEY.finditer(text))),
            self._broken,
        )

    # -------------------------------------------------- YAML

    def _span(self, node: Any) -> Span:
        start, end = self._base + node.start_mark.index, self._base + node.end_mark.index
        kind = {None: "plain", "": "plain", "'": "'", '"': '"'}.get(node.style, "|")
        written = self._text[start:end]
        if kind in "'\"":
            start, end = start + 1, end - 1
        value = written if MADE in node.value else node.value
        return Span(start, end, value, kind)

    def _entry(self, key: Any, value: Any, whole: Span) -> None:
        if not isinstance(key, yaml.ScalarNode):
            return
        match key.value:
            case "include":
                self._includes += (self._span(node) for node in _scalars(value))
            case "exclude":
                for state, node in _pairs(value):
                    self._refer(node, {"": "sls"}.get(state, state), "exclude")
            case "extend":
                for id_, body in value.value if isinstance(value, yaml.MappingNode) else ():
                    if isinstance(id_, yaml.ScalarNode):
                        self._refer(id_, "id", "extend")
                        self._declare(id_, body, whole, extends=True)
            case "chain":
                for node in _scalars(value):
                    self._chain(node)
            case "defaults":
                pass
            case _:
                self._declare(key, value, whole)

    def _refer(self, node: Any, state: str, key: str, holder: str = "") -> None:
        self._references.append(Reference(self._span(node), state, key, holder))

    def _chain(self, node: Any) -> None:
        """The IDs of a chain, where it is written as it is read."""
        span = self._span(node)
        if self._text[span.start : span.end] != node.value:
            return
        at = 0
        for operand in (operand for group in chains.parsed(node.value)[0] for operand in group):
            found = node.value.find(operand.title, at)
            if operand.title and found >= 0:
                at = found + len(operand.title)
                target = Span(span.start + found, span.start + at, operand.title, span.kind)
                self._references.append(Reference(target, operand.state or "id", "chain"))

    def _declare(self, id_: Any, body: Any, whole: Span, extends: bool = False) -> None:
        span = self._span(id_)
        states: list[DeclaredState] = []
        short = isinstance(body, yaml.ScalarNode) and bool(re.match(r"\w+\.\w+$", body.value))
        if short:
            key = self._span(body)
            states.append(DeclaredState(key, key.value, (), None))
        elif isinstance(body, yaml.MappingNode):
            for function, items in body.value:
                if isinstance(function, yaml.ScalarNode) and not function.value.startswith("__"):
                    states.append(self._state(function, items, span.value))
        self._declarations.append(Declaration(span, tuple(states), whole, extends, short))

    def _state(self, key: Any, items: Any, holder: str) -> DeclaredState:
        function = key.value
        nodes = items.value if isinstance(items, yaml.SequenceNode) else []
        if "." not in function:
            words = [node.value for node in nodes if isinstance(node, yaml.ScalarNode)]
            if isinstance(items, yaml.ScalarNode) and items.value:
                words.append(items.value)
            function = f"{function}.{words[0] if words else ''}"
        names: list[str] = []
        named = False
        for node in nodes:
            for name, value in node.value if isinstance(node, yaml.MappingNode) else ():
                if isinstance(name, yaml.ScalarNode):
                    named |= name.value in ("name", "names")
                    names += self._argument(name, value, function, holder)
        return DeclaredState(self._span(key), function, tuple(names), self._span_of(items), named)

    def _span_of(self, node: Any) -> Span | None:
        if not isinstance(node, yaml.SequenceNode) or node.flow_style:
            return None
        return Span(self._base + node.start_mark.index, self._base + node.end_mark.index, "")

    def _argument(self, name: Any, value: Any, function: str, holder: str) -> Iterator[str]:
        """Note an argument. Gives the names that it says."""
        scalar = self._span(value) if isinstance(value, yaml.ScalarNode) else None
        self._arguments.append(OutlineArgument(self._span(name), function, scalar))
        if name.value in REQUISITES:
            for state, node in _pairs(value):
                self._refer(node, state, name.value, holder)
        elif name.value == "name" and scalar:
            yield scalar.value
        elif name.value == "names":
            for node in value.value if isinstance(value, yaml.SequenceNode) else ():
                first = node.value[0][0] if isinstance(node, yaml.MappingNode) else node
                if isinstance(first, yaml.ScalarNode):
                    yield self._span(first).value


def _scalars(node: Any) -> Iterator[Any]:
    """The texts of a list, and of mappings in it (`- base: web`)."""
    for item in node.value if isinstance(node, yaml.SequenceNode) else [node]:
        if isinstance(item, yaml.ScalarNode) and item.value:
            yield item
        elif isinstance(item, yaml.MappingNode):
            yield from (value for _, value in item.value if isinstance(value, yaml.ScalarNode))


def _pairs(node: Any) -> Iterator[tuple[str, Any]]:
    """The `state: target` of a list of requisites; an empty state for a target alone."""
    for item in node.value if isinstance(node, yaml.SequenceNode) else [node]:
        if isinstance(item, yaml.ScalarNode) and item.value:
            yield "", item
        elif isinstance(item, yaml.MappingNode):
            for state, target in item.value:
                if isinstance(state, yaml.ScalarNode) and isinstance(target, yaml.ScalarNode):
                    yield state.value, target


def _first_group(match: re.Match[str]) -> Span:
    number = next(number for number in range(1, match.re.groups + 1) if match[number] is not None)
    return Span(match.start(number), match.end(number), match[number])


def _data_key(match: re.Match[str]) -> Span:
    kind = match["a"] or match["b"] or match["c"]
    name = "path" if match["path"] else "got" if match["got"] else "steps"
    steps = [step[1] or step[2] for step in _STEP.finditer(match["steps"] or "")]
    value = ":".join([kind, *steps]) if steps else f"{kind}:{match[name]}"
    return Span(match.start(name), match.end(name), value)
