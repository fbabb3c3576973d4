"""YAML as Salt reads it, with a place for every key, value and item."""

from __future__ import annotations

import operator
import re
from collections.abc import Collection
from functools import lru_cache
from typing import Any

import yaml
from yaml.constructor import ConstructorError, SafeConstructor
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from yaml.resolver import Resolver

from runner.model.errors import RenderError
from runner.model.places import Document, Place, PlacedList, PlacedMap, Source, Value
from runner.yaml.limits import CIRCLE, LIMIT, UNFOLDED, check_depth
from runner.yaml.rendered_text import Rendered

_STANDARD = "tag:yaml.org,2002:"

LONGEST_NUMBER = 4000  # digits; Python turns no more of them into a number

_Base: Any = vars(yaml.cyaml)["CParser"] if yaml.__with_libyaml__ else yaml.SafeLoader


_STR, _MAP, _MERGE = f"{_STANDARD}str", f"{_STANDARD}map", f"{_STANDARD}merge"
_TAGS: dict[type[Node], str] = {SequenceNode: f"{_STANDARD}seq", MappingNode: _MAP}


@lru_cache(8192)  # the same words come in every file
def _tag(kind: type[Node], value: str, implicit: tuple[bool, bool]) -> str:
    """The tag of what is written without one. implicit: whether it is so without quotes, and with
    them.
    """
    if kind is not ScalarNode:
        return _TAGS[kind]
    return str(_resolver.resolve(kind, value, implicit)) if implicit[0] else _STR


class _Composer(_Base):  # type: ignore[misc]
    """Composes nodes; the constructor is ours. What it calls for each node is not written in
    Python: it is faster.
    """

    resolve = staticmethod(_tag)
    # of use only to resolvers by path: built-in functions that do nothing
    descend_resolver = staticmethod(operator.is_)
    ascend_resolver = tuple


_construct = SafeConstructor()
_resolver: Any = Resolver()


def plain_tag(word: str) -> str:
    """The tag of a word that is written without quotes."""
    return _tag(ScalarNode, word, (True, False))


class Reader:
    """Turns the nodes of one document into values."""

    def __init__(self, document: Document, aliases: bool = True) -> None:
        """aliases: whether nodes may come more than once."""
        self._document = document
        self._aliases = aliases
        self._shared = True
        self._scalars: dict[tuple[str, str], Value] = {}
        self._made: dict[int, Any] = {}
        self._sizes: dict[int, int] = {}
        self._count = 0

    def value(self, node: Node) -> Value:
        """The value of a node."""
        if isinstance(node, ScalarNode):
            if node.tag == _STR:
                return node.value
            key = (node.tag, node.value)
            try:
                return self._scalars[key]
            except KeyError:
                value = self._scalars[key] = self._scalar(node)
                return value
        if self._aliases:
            return self._once(node)
        return self._mapping(node) if isinstance(node, MappingNode) else self._sequence(node)

    def _once(self, node: Node) -> Value:
        """The value of a collection, the same one each time where they are shared."""
        made = self._made.get(id(node))
        if made is not None:
            if id(node) not in self._sizes:
                raise _problem(CIRCLE, self._place(node))
            if self._shared:
                self._grow(self._sizes[id(node)])
                return made
        before = self._count
        made = self._mapping(node) if isinstance(node, MappingNode) else self._sequence(node)
        self._sizes[id(node)] = self._count - before + 1
        self._grow(1)
        return made

    def _grow(self, more: int) -> None:
        self._count += more
        if self._count > LIMIT:
            raise _problem(UNFOLDED, Place(self._document, 1, 1))

    def _scalar(self, node: ScalarNode) -> Value:
        kind = node.tag.removeprefix(_STANDARD)
        text = node.value
        if kind in ("str", "timestamp", "python/unicode"):
            return text
        if kind == "int" and len(text) < LONGEST_NUMBER:
            if text.isascii() and text.isdigit():
                return int(text)
            if len(text) > 1 and text.startswith("0") and text[1:2] not in "bx":
                text = text.lstrip("0") or "0"  # 0644 is a file mode that lost its quotes
            try:
                return int(_construct.construct_yaml_int(ScalarNode(node.tag, text)))
            except ValueError:
                raise _problem(f"{node.value!r} is not a number", self._place(node)) from None
        if kind == "null":
            return None
        convert = {
            "bool": _construct.construct_yaml_bool,
            "int": _construct.construct_yaml_int,
            "float": _construct.construct_yaml_float,
            "binary": _construct.construct_yaml_binary,
        }.get(kind)
        if convert is None:
            raise self._tagged(node)
        try:
            return convert(node)
        except (ConstructorError, ValueError, KeyError) as error:
            raise _problem(
                f"{node.value[:60]!r} is not a valid {kind}: {error}", self._place(node)
            ) from None

    def _sequence(self, node: Node) -> Value:
        if isinstance(node, SequenceNode) and node.tag == f"{_STANDARD}pairs":
            return [list(pair) for item in node.value for pair in self.value(item).items()]
        if not isinstance(node, SequenceNode) or node.tag.removeprefix(_STANDARD) != "seq":
            raise self._tagged(node)
        mark = node.start_mark
        made = PlacedList(self._document, (mark.line + 1, mark.column + 1))
        self._made[id(node)] = made
        places = made.items_at
        for item in node.value:
            mark = item.start_mark
            made.append(
                item.value if item.tag == _STR and type(item) is ScalarNode else self.value(item)
            )
            places.append((mark.line + 1, mark.column + 1))
        return made

    def _mapping(self, node: MappingNode) -> Value:
        if node.tag != _MAP and (kind := node.tag.removeprefix(_STANDARD)) != "omap":
            if kind != "set":
                raise self._tagged(node)
            return {self.value(key) for key, _ in node.value}
        mark = node.start_mark
        made = PlacedMap(self._document, (mark.line + 1, mark.column + 1))
        self._made[id(node)] = made
        places = made.at
        merged: list[Any] = []
        for (
            key_node,
            node_of,
        ) in node.value:  # a loop of few calls: most of what reading a tree takes is here
            if key_node.tag == _STR and type(key_node) is ScalarNode:
                key = key_node.value
            elif key_node.tag == _MERGE:
                merged.append((node_of, key_node.end_mark))
                continue
            else:
                key = self._key(key_node)
            value = (
                node_of.value
                if node_of.tag == _STR and type(node_of) is ScalarNode
                else self.value(node_of)
            )
            made[key] = (
                value if key not in made else self.again(made, key, value, key_node, node_of)
            )
            at, to = key_node.start_mark, node_of.start_mark
            places[key] = (at.line + 1, at.column + 1, to.line + 1, to.column + 1)
        if merged:
            self._merged(made, merged)
        return made

    def _merged(self, made: PlacedMap, merged: list[Any]) -> None:
        """Add what `<<` brings: it stands before the mapping's own keys, which win."""
        own = dict.fromkeys(made)
        for value_node, mark in merged:
            self._merge(made, own, value_node, (mark.line + 1, mark.column + 1))
        for key in own:
            made[key] = made.pop(key)

    def _key(self, node: Node) -> Value:
        """A key that is not a plain text."""
        key = self.value(node)
        try:
            hash(key)
        except TypeError:
            raise _problem(
                f"found unacceptable key {key!r}", self._place(node), "a key is text"
            ) from None
        return key

    def again(self, made: PlacedMap, key: Value, value: Value, at: Node, node: Node) -> Value:
        """The value of a key that comes a second time. at, node: its key and value."""
        first = made.key_place(key).source
        hint = f"the other one is at {first}"
        raise _problem(f"found conflicting ID '{key}'", self._place(at), hint, "conflicting-id")

    def _merge(
        self, made: PlacedMap, own: Collection[Any], node: Node, at: tuple[int, int]
    ) -> None:
        value = self.value(node)
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

    def _tagged(self, node: Node) -> RenderError:
        tag = node.tag.replace(_STANDARD, "!!", 1)
        hint = (
            "a value that begins with ! is a tag: put it in quotes if the ! is meant, else take the"
            " tag away"
        )
        return _problem(
            f"could not determine a constructor for the tag '{tag}'", self._place(node), hint
        )

    def _place(self, node: Node) -> Place:
        return Place(self._document, node.start_mark.line + 1, node.start_mark.column + 1)


def load(text: str, document: Document) -> Value:
    """The value of a YAML text. Raises RenderError with the place as written.

    >>> load("a: [1, 0644]", Rendered("", "x"))
    {'a': [1, 644]}
    """
    return load_with(Reader, text, document)


class Apart(Reader):
    """Makes a value of its own for each alias, as data that templates load have them."""

    def __init__(self, document: Document, aliases: bool = True) -> None:
        super().__init__(document, aliases)
        self._shared = False


def load_with(reader: type[Reader], text: str, document: Document) -> Value:
    """The value that a reader makes of a YAML text. Raises RenderError with its place."""
    try:
        check_depth(text)
        loader = _Composer(text)
        try:
            node = loader.get_single_node()
        finally:
            loader.dispose()
        return None if node is None else reader(document, "*" in text).value(node)
    except yaml.MarkedYAMLError as error:
        raise _explain(error, text, document) from None
    except yaml.YAMLError as error:
        raise _unreadable(error, text, document) from None
    except UnicodeEncodeError as error:  # bytes of a file name, or of what a program printed
        before = text[: error.start]
        place = Place(document, before.count("\n") + 1, len(before.rpartition("\n")[2]) + 1)
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
    from runner.yaml import errors

    mistake = errors.explain(error, text, document.source)
    if mistake is None:
        return RenderError(str(error.problem or error.context), Source(document.file), code="yaml")
    source, hint = document.source(mistake.line, mistake.column), mistake.hint
    unsafe = [name for name, value in source.values if re.search(_UNSAFE, value[1:-1])]
    if (
        unsafe and "tab" not in mistake.message
    ):  # an expression of the line is what YAML cannot read
        safe = f"`{{{{ {unsafe[0]} | yaml_dquote }}}}` is safe whatever the value is"
        hint = f"{hint}; {safe}" if hint else safe
    return RenderError(mistake.message, source, hint, "yaml")


_UNSAFE = r"""[:'"#{}\[\]\\&*!|>%@`]"""  # what a plain value may not hold, or not everywhere


def _unreadable(error: yaml.YAMLError, text: str, document: Document) -> RenderError:
    position = getattr(error, "position", None)
    if position is None:
        return RenderError(str(error), Source(document.file), code="yaml")
    character = getattr(error, "character", "")
    code = ord(character) if isinstance(character, str) and len(character) == 1 else character
    shown = f"U+{code:04X}" if isinstance(code, int) else str(code)
    from runner.yaml import errors

    mistake = errors.unreadable(position, shown, text)
    return RenderError(
        mistake.message, document.source(mistake.line, mistake.column), mistake.hint, "yaml"
    )
