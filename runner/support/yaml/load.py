# SPDX-License-Identifier: Apache-2.0
"""YAML as Salt reads it, with a place for every key, value and item."""

from __future__ import annotations

import re
from collections.abc import Collection
from copy import deepcopy
from typing import Any

import yaml
from yaml.composer import ComposerError
from yaml.constructor import ConstructorError, SafeConstructor
from yaml.events import (
    AliasEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    StreamEndEvent,
)
from yaml.nodes import ScalarNode
from yaml.resolver import Resolver

from runner.model.errors import RenderError, RunnerError
from runner.model.places import Document, Place, PlacedList, PlacedMap, Source, Value, position_in
from runner.model.records import Record
from runner.support.yaml import errors
from runner.support.yaml.limits import CIRCLE, LIMIT, SAFE_LOADER, UNFOLDED, check_depth
from runner.support.yaml.mark import several_lines_hint
from runner.support.yaml.rendered_text import Rendered

_STANDARD = "tag:yaml.org,2002:"

LONGEST_NUMBER = 3500  # characters; Python writes no number of more than 4300 decimal digits

_Parser: Any = vars(yaml.cyaml)["CParser"] if yaml.__with_libyaml__ else yaml.SafeLoader

_STR, _SEQ, _MAP = f"{_STANDARD}str", f"{_STANDARD}seq", f"{_STANDARD}map"
_MERGE = f"{_STANDARD}merge"


def plain_tag(word: str) -> str:
    """The tag of a word that is written without quotes."""
    return str(_resolver.resolve(ScalarNode, word, (True, False)))


_construct = SafeConstructor()
_resolver: Any = Resolver()
KNOWN = 8192  # words that are remembered

# what a plain word begins with that is perhaps no text; "" stands for the empty one
_ODD = frozenset(Resolver.yaml_implicit_resolvers)
_WORDS: dict[str, Value] = {}  # what such words are: the same ones come in every file


class _Anchored(Record):
    """What an alias stands for. size: of a collection, 0 while it is being read."""

    value: Value
    size: int
    event: Any


class EventReader:
    """Turns the events of a document into values. It keeps no tree of nodes beside them: that would
    take several times the room of the values.
    """

    def __init__(self, document: Document, aliases: bool = True) -> None:
        """aliases: whether values may come more than once."""
        self._document = document
        self._aliases = aliases
        self._shared = True
        self._next: Any = None
        self._keys: dict[str, str] = {}
        self._anchors: dict[str, _Anchored] = {}
        self._count = 0

    def read(self, parser: Any) -> Value:
        """The value of the only document that a parser gives the events of."""
        self._next = parser.get_event
        self._next()  # the stream begins
        if isinstance(self._next(), StreamEndEvent):
            return None
        root: Any = self._next()
        value = self.value(root)
        self._next()  # the document ends
        following = self._next()
        if not isinstance(following, StreamEndEvent):
            raise ComposerError(
                "expected a single document in the stream",
                root.start_mark,
                "but found another document",
                following.start_mark,
            )
        return value

    def value(self, event: Any) -> Value:
        """The value that begins with an event."""
        if type(event) is AliasEvent:
            return self._again(event)
        if event.anchor is None and not self._aliases:
            return self._made(event)
        return self._counted(event)

    def _made(self, event: Any) -> Value:
        if type(event) is ScalarEvent:
            return self._word(event)
        if type(event) is MappingStartEvent:
            if event.tag in (None, "!", _MAP, f"{_STANDARD}omap"):
                return self._fill_mapping(PlacedMap(self._document, _at(event)))
            if event.tag == f"{_STANDARD}set":
                return set(self._fill_mapping(PlacedMap(self._document, _at(event))))
        elif event.tag in (None, "!", _SEQ):
            return self._fill_list(PlacedList(self._document, _at(event)))
        elif event.tag == f"{_STANDARD}pairs":
            items = self._fill_list(PlacedList(self._document, _at(event)))
            return [list(pair) for item in items for pair in item.items()]
        raise self._tagged(event, event.tag)

    def _counted(self, event: Any) -> Value:
        """A value that aliases may name, counted as often as they do."""
        if event.anchor in self._anchors:
            raise ComposerError(
                "found duplicate anchor; first occurrence",
                self._anchors[event.anchor].event.start_mark,
                "second occurrence",
                event.start_mark,
            )
        if event.anchor:
            self._anchors[event.anchor] = _Anchored(None, -1, event)
        before = self._count
        value = self._made(event)
        size = 0
        if type(event) is not ScalarEvent:
            size = self._count - before + 1
            self._grow(1)
        if event.anchor:
            self._anchors[event.anchor] = _Anchored(value, size, event)
        return value

    def _again(self, event: Any) -> Value:
        """Return what an alias names: the same value where they are shared, else a copy."""
        anchored = self._anchors.get(event.anchor)
        if anchored is None:
            raise ComposerError(None, None, "found undefined alias", event.start_mark)
        if anchored.size < 0:
            raise _problem(CIRCLE, self._place(anchored.event))
        self._grow(anchored.size)
        return anchored.value if self._shared else deepcopy(anchored.value)

    def _typed(self, event: Any) -> Any:
        """The event of what was typed: for an alias, of the value that it names."""
        return self._anchors[str(event.anchor)].event if type(event) is AliasEvent else event

    def _grow(self, more: int) -> None:
        self._count += more
        if self._count > LIMIT:
            raise _problem(UNFOLDED, Place(self._document, 1, 1))

    def _word(self, event: Any) -> Value:
        """The value of what is neither a mapping nor a list."""
        text: str = event.value
        if event.tag is not None and event.tag != "!":
            return self._scalar(event, event.tag)
        if not event.implicit[0]:  # it is in quotes
            return text
        if text in _WORDS:
            return _WORDS[text]
        value = self._scalar(event, plain_tag(text))
        if len(_WORDS) < KNOWN:
            _WORDS[text] = value
        return value

    def _scalar(self, event: Any, tag: str) -> Value:
        kind = tag.removeprefix(_STANDARD)
        text = event.value
        if kind in ("str", "timestamp", "python/unicode"):
            return text
        if kind == "int":
            if len(text) > LONGEST_NUMBER:
                message = f"{text[:20]}... is a number of {len(text)} characters, which is too long"
                raise _problem(message, self._place(event), "put it in quotes if it is a text")
            if text.isascii() and text.isdigit():
                return int(text)
            if len(text) > 1 and text.startswith("0") and text[1:2] not in "bx":
                text = text.lstrip("0") or "0"  # 0644 is a file mode that lost its quotes
            try:
                return int(_construct.construct_yaml_int(ScalarNode(tag, text)))
            except ValueError:
                message = f"{event.value!r} is not a number"
                raise _problem(message, self._place(event)) from None
        if kind == "null":
            return None
        convert = {
            "bool": _construct.construct_yaml_bool,
            "float": _construct.construct_yaml_float,
            "binary": _construct.construct_yaml_binary,
        }.get(kind)
        if convert is None:
            raise self._tagged(event, tag)
        try:
            return convert(ScalarNode(tag, text, event.start_mark, event.end_mark))
        except (ConstructorError, ValueError, KeyError) as error:
            why = getattr(error, "problem", None) or error
            raise _problem(
                f"{event.value[:60]!r} is not a valid {kind}: {why}", self._place(event)
            ) from None

    def _fill_list(self, made: PlacedList) -> PlacedList:
        following, words, places = self._next, _WORDS, made.items_at
        while type(event := following()) is not SequenceEndEvent:
            if type(event) is ScalarEvent and event.tag is event.anchor is None:
                value = event.value
                if value[:1] in _ODD and event.implicit[0]:
                    value = words[value] if value in words else self._word(event)
            else:
                value = self.value(event)
                event = self._typed(event)
            made.append(value)
            mark = event.start_mark
            places.append((mark.line + 1, mark.column + 1))
        return made

    def _fill_mapping(self, made: PlacedMap) -> PlacedMap:
        following, words, places, keys = self._next, _WORDS, made.at, self._keys
        merged: list[Any] = []
        # a loop of few calls: most of what reading a tree takes is here
        while type(key_event := following()) is not MappingEndEvent:
            if type(key_event) is ScalarEvent and key_event.tag is key_event.anchor is None:
                key = key_event.value
                if key[:1] in _ODD and key_event.implicit[0]:
                    if key in words:
                        key = words[key]
                    elif key == "<<":
                        merged.append((self.value(following()), key_event.end_mark))
                        continue
                    else:
                        key = self._word(key_event)
            elif self._is_merge(key_event):
                merged.append((self.value(following()), key_event.end_mark))
                continue
            else:
                key = self._key(key_event)
                key_event = self._typed(key_event)
            if key in keys:
                key = keys[key]  # the same words come again and again
            elif len(keys) < KNOWN and type(key) is str:
                keys[key] = key
            event = following()
            if type(event) is ScalarEvent and event.tag is event.anchor is None:
                value = event.value
                if value[:1] in _ODD and event.implicit[0]:
                    value = words[value] if value in words else self._word(event)
            else:
                value = self.value(event)
                event = self._typed(event)
            made[key] = value if key not in made else self.again(made, key, value, key_event, event)
            at, to = key_event.start_mark, event.start_mark
            line, below = at.line + 1, to.line + 1
            if below == line:
                below = line  # one number in memory
            places[key] = (line, at.column + 1, below, to.column + 1)
        if merged:
            self._merged(made, merged)
        return made

    def _merged(self, made: PlacedMap, merged: list[Any]) -> None:
        """Add what `<<` brings: it stands before the mapping's own keys, which win."""
        own = dict.fromkeys(made)
        for value, mark in merged:
            self._merge(made, own, value, (mark.line + 1, mark.column + 1))
        for key in own:
            made[key] = made.pop(key)

    def _is_merge(self, event: Any) -> bool:
        """Return whether a key is `<<`."""
        if type(event) is not ScalarEvent or event.tag:
            return type(event) is ScalarEvent and event.tag == _MERGE
        return event.value == "<<" and event.implicit[0]

    def _key(self, event: Any) -> Value:
        """A key that is not a plain text."""
        key = self.value(event)
        try:
            hash(key)
        except TypeError:
            raise _problem(
                f"found unacceptable key {key!r}", self._place(event), "a key is text"
            ) from None
        return key

    def again(self, made: PlacedMap, key: Value, value: Value, at: Any, event: Any) -> Value:
        """The value of a key that comes a second time. at, event: those of its key and value."""
        first = made.key_place(key).source
        hint = f"the other one is at {first}"
        raise _problem(f"found conflicting ID '{key}'", self._place(at), hint, "conflicting-id")

    def _merge(
        self, made: PlacedMap, own: Collection[Any], value: Value, at: tuple[int, int]
    ) -> None:
        for source in reversed(value) if isinstance(value, list) else [value]:
            if not isinstance(source, PlacedMap):
                hint = "`<<: *name` takes the keys of the mapping at `&name`"
                raise _problem(
                    "expected a mapping to merge, not a list or a text",
                    Place(self._document, *at),
                    hint,
                )
            for key, item in source.items():
                if key in own:
                    continue
                if key in made:
                    hint = (
                        f"two of the merged mappings have it: give this one a {key!r} of its own,"
                        " which wins"
                    )
                    raise _problem(
                        f"found conflicting ID '{key}'",
                        Place(self._document, *at),
                        hint,
                        "conflicting-id",
                    )
                made[key] = item
                made.at[key] = source.where(key)

    def _tagged(self, event: Any, tag: str) -> RenderError:
        tag = tag.replace(_STANDARD, "!!", 1)
        hint = (
            "a value that begins with ! is a tag: put it in quotes if the ! is meant, else take the"
            " tag away"
        )
        return _problem(
            f"could not determine a constructor for the tag '{tag}'", self._place(event), hint
        )

    def _place(self, event: Any) -> Place:
        return Place(self._document, *_at(event))


def _at(event: Any) -> tuple[int, int]:
    """The line and column at which an event begins, from 1."""
    return event.start_mark.line + 1, event.start_mark.column + 1


def load(text: str, document: Document) -> Value:
    """The value of a YAML text. Raises RenderError with the place as written.

    >>> load("a: [1, 0644]", Rendered("", "x"))
    {'a': [1, 644]}
    """
    return load_with(EventReader, text, document)


class Apart(EventReader):
    """Makes a value of its own for each alias, as data that templates load have them."""

    def __init__(self, document: Document, aliases: bool = True) -> None:
        super().__init__(document, aliases)
        self._shared = False


def load_with(reader: type[EventReader], text: str, document: Document) -> Value:
    """The value that a reader makes of a YAML text. Raises RenderError with its place."""
    try:
        check_depth(text)
        parser = _Parser(text)
        try:
            return reader(document, "*" in text).read(parser)
        except RunnerError:
            yaml.compose(text, Loader=SAFE_LOADER)  # where it is no YAML, that is the mistake
            raise
        finally:
            parser.dispose()
    except yaml.MarkedYAMLError as error:
        raise _explain(error, text, document) from None
    except yaml.YAMLError as error:
        raise _unreadable(error, text, document) from None
    except UnicodeEncodeError as error:  # bytes of a file name, or of what a program printed
        place = Place(document, *position_in(text, error.start))
        byte = ord(error.object[error.start]) & 0xFF
        raise _problem(f"a value is not UTF-8: byte 0x{byte:02x}", place, code="encoding") from None
    except RecursionError:
        raise _problem("the YAML is nested too deeply", Place(document, 1, 1)) from None


def load_plain(text: str) -> Value:
    """The value of a YAML text that has no place of its own (a filter's, load_yaml's)."""
    text = str.__str__(text)  # a macro's output is a subclass, which libyaml does not read
    return load_with(Apart, text, Rendered(text, "<text>"))


def _problem(
    message: str, place: Place, hint: str | None = None, code: str = "yaml"
) -> RenderError:
    return RenderError(message, place.source, hint, code)


def _explain(error: yaml.MarkedYAMLError, text: str, document: Document) -> RenderError:
    mistake = errors.explain(error, text, document.source)
    if mistake is None:
        return RenderError(str(error.problem or error.context), Source(document.file), code="yaml")
    source, hint = document.source(mistake.line, mistake.column), mistake.hint
    unsafe = [pair for pair in source.values if re.search(_UNSAFE, pair[1][1:-1])]
    # an expression of the line is what YAML cannot read
    if unsafe and "tab" not in mistake.message:
        name, value = unsafe[0]
        way = "json" if re.match(_OF_PYTHON, value) else "yaml_dquote"
        safe = f"`{{{{ {name} | {way} }}}}` is safe whatever the value is"
        hint = several_lines_hint(source) or (f"{hint}; {safe}" if hint else safe)
        if (sign := re.search(_OF_SHELL, name)) and "python_shell" not in name:
            hint = f"cmd.run starts no shell, and `{sign[2]}` needs one: salt['cmd.shell'](...)"
    return RenderError(mistake.message, source, hint, "yaml")


_OF_PYTHON = r""".[{\[]\\?['"\d{\[]."""  # how it prints mappings and lists
_OF_SHELL = r"""cmd\.run\w*['"]?\]?\((['"]).*?(&&|\|\||[|<>$]).*?\1"""  # in a command of a template
_UNSAFE = r"""[:'"#{}\[\]\\&*!|>%@`]"""  # what a plain value may not hold, or not everywhere


def _unreadable(error: yaml.YAMLError, text: str, document: Document) -> RenderError:
    mistake = errors.unreadable(error, text)
    if mistake is None:
        return RenderError(str(error), Source(document.file), code="yaml")
    return RenderError(
        mistake.message, document.source(mistake.line, mistake.column), mistake.hint, "yaml"
    )
