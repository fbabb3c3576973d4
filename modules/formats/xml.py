# SPDX-License-Identifier: Apache-2.0
"""Values and attributes of XML files; the rest of a file stays as it is written.

Python's own expat reads the file, with the place of each element, and only the text that changes is
replaced. Entities that a file declares are refused, external ones never loaded: neither an entity
that grows nor one that names another file is ever expanded.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree
import xml.parsers.expat
from typing import TYPE_CHECKING

from modules import file
from modules._texts.lines import one_line
from runner.api import Record, StateFailed, changer, for_states

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

MOST_LEVELS = 1000
_NAME = r"[A-Za-z_:\u0080-\uffff][-.\w:\u00b7]*"
_ATTRIBUTE = re.compile(rf"""\s({_NAME})\s*=\s*("[^"]*"|'[^']*')""")
_DECLARED = re.compile(rb"""\A\s*<\?xml[^>]*?\sencoding\s*=\s*["']([A-Za-z][\w.-]*)["']""")
_MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
# what XML 1.0 cannot hold
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_KEPT = re.compile(r"<!--.*?-->|<\?.*?\?>", re.DOTALL)
_CDATA = re.compile(r"<!\[CDATA\[.*?\]\]>", re.DOTALL)


class Span(Record):
    """Where an element lies in the text, in bytes of UTF-8.

    start, tag_end: of its first tag. text_end: where its first child or its last tag begins; at
    tag_end where its first tag is its only one.
    """

    start: int
    tag_end: int
    text_end: int


class _XmlDocument(Record):
    """A file that was read: its text, how it is encoded, its elements and where they lie."""

    data: bytes
    encoding: str
    root: Element
    spans: dict[Element, Span]

    def with_text(self, start: int, end: int, text: str) -> bytes:
        """Return the file with some of its text replaced."""
        whole = (self.data[:start] + text.encode() + self.data[end:]).decode()
        return whole.encode(self.encoding, "xmlcharrefreplace")


# ---------------------------------------------------------------- looks


def get_value(file: str, element: str) -> str | bool:
    """The text of the first element that an XPath expression matches; false where there is none.

    file: the path. element: as ElementTree understands it, `.//server[@id='1']/port`.

        {{ salt['xml.get_value']('/etc/app.xml', './/port') }}
    """
    node = _element(_document(file), element)
    return False if node is None else node.text or ""


def get_attribute(file: str, element: str) -> dict[str, str] | bool:
    """The attributes of the first element that an XPath expression matches; false where there is
    none.

    {{ salt['xml.get_attribute']('/etc/app.xml', './/server') }}
    """
    node = _element(_document(file), element)
    return False if node is None else dict(node.attrib)


@for_states
def with_value(path: str, xpath: str, value: str) -> bytes:
    """Return the contents of a file whose element has a value. Raises StateFailed where there is no
    such element, and for a value that XML cannot hold.
    """
    document = _document(path)
    node = _element(document, xpath)
    if node is None:
        raise StateFailed(f"xpath query {xpath} not found in {path}")
    span = document.spans[node]
    text = _escaped(value)
    tag = document.data[span.start : span.tag_end].decode()
    if tag.endswith("/>"):
        name = re.match(r"<([^\s/>]+)", tag)
        whole = f"{tag[:-2].rstrip()}>{text}</{name[1] if name else ''}>"
        return document.with_text(span.start, span.tag_end, whole)
    old = document.data[span.tag_end : span.text_end].decode()
    kept = "".join(_KEPT.findall(_CDATA.sub("", old)))  # comments
    return document.with_text(span.tag_end, span.text_end, text + kept)


# ---------------------------------------------------------------- changes


@changer(touches=[])
def set_value(file: str, element: str, value: str) -> bool:
    """Set the text of the first element that an XPath expression matches: whether there is one."""
    if get_value(file, element) is False:
        return False
    _write(file, with_value(file, element, str(value)))
    return True


@changer(touches=[])
def set_attribute(file: str, element: str, key: str, value: str) -> bool:
    """Set an attribute of the first element that an XPath expression matches: whether there is one.

    key: as it is written in the file, with its prefix.
    """
    document = _document(file)
    node = _element(document, element)
    if node is None:
        return False
    if not re.fullmatch(_NAME, key):
        raise StateFailed(f"{key!r} is no name of an attribute")
    span = document.spans[node]
    tag = document.data[span.start : span.tag_end].decode()
    text = _escaped(str(value), {'"': "&quot;", "\n": "&#10;", "\t": "&#9;"})
    old = next((match for match in _ATTRIBUTE.finditer(tag) if match[1] == key), None)
    if old:
        tag = f'{tag[: old.start(2)]}"{text}"{tag[old.end(2) :]}'
    else:
        end = len(tag) - (2 if tag.endswith("/>") else 1)
        before = tag[:end].rstrip()
        tag = f'{before} {key}="{text}"{tag[len(before) :]}'
    new = document.with_text(span.start, span.tag_end, tag)
    _parsed(new.decode(document.encoding), file)  # a prefix that nobody declared is refused
    _write(file, new)
    return True


def _write(path: str, data: bytes) -> None:
    file.write(path, data)


def _escaped(value: str, more: dict[str, str] | None = None) -> str:
    if _FORBIDDEN.search(value):
        raise StateFailed("the value has a control character, which XML cannot hold")
    pairs = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;", **(more or {})}
    return "".join(pairs.get(letter, letter) for letter in value)


# ---------------------------------------------------------------- reading


def _document(path: str) -> _XmlDocument:
    data = file.read_bytes(path)
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), "")
    if not encoding:
        declared = _DECLARED.match(data)
        encoding = declared[1].decode() if declared else "utf-8"
    try:
        text = data.decode(encoding)
    except (UnicodeDecodeError, LookupError) as error:
        raise StateFailed(f"{path} is not readable as {encoding}: {error}") from None
    return _XmlDocument(text.encode(), encoding, *_parsed(text, path))


def _element(document: _XmlDocument, xpath: str) -> Element | None:
    expression = one_line(xpath, "the xpath")
    try:
        # ElementTree's paths are relative to the root, as Salt's are
        return document.root.find(expression)
    except (SyntaxError, KeyError, TypeError, ValueError, IndexError):
        raise StateFailed(
            f"{expression!r} is no xpath that ElementTree understands; one is"
            " .//server[@id='1']/port"
        ) from None


class _ElementReader:
    """Expat's events -> elements, and where they lie."""

    def __init__(self, data: bytes, path: str) -> None:
        self.data, self.path = data, path
        self.builder = xml.etree.ElementTree.TreeBuilder()
        self.open: list[Element] = []
        self.spans: dict[Element, Span] = {}
        parser = xml.parsers.expat.ParserCreate("utf-8", "}")
        parser.ordered_attributes = True
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.CharacterDataHandler = self.builder.data
        parser.EntityDeclHandler = self.refuse_entity
        self.parser = parser

    def read(self) -> tuple[Element, dict[Element, Span]]:
        try:
            self.parser.Parse(self.data, True)
        except xml.parsers.expat.ExpatError as error:
            raise StateFailed(f"{self.path} is not XML: {error}") from None
        return self.builder.close(), self.spans

    def refuse_entity(self, name: str, *_: object) -> None:
        raise StateFailed(
            f"{self.path} declares the entity {name}, which runner does not expand: write its"
            " value where it is used"
        )

    def start(self, tag: str, attributes: list[str]) -> None:
        if len(self.open) >= MOST_LEVELS:
            raise StateFailed(f"{self.path} has more than {MOST_LEVELS} levels")
        at = self.parser.CurrentByteIndex
        self._end_text(at)
        pairs = dict(zip(map(_named, attributes[::2]), attributes[1::2], strict=True))
        element = self.builder.start(_named(tag), pairs)
        self.open.append(element)
        self.spans[element] = Span(at, _tag_end(self.data, at), -1)

    def end(self, tag: str) -> None:
        self._end_text(self.parser.CurrentByteIndex)
        self.open.pop()
        self.builder.end(_named(tag))

    def _end_text(self, at: int) -> None:
        """Note the end of the text before the first child, or the end, of the open element."""
        if self.open and self.spans[self.open[-1]].text_end < 0:
            span = self.spans[self.open[-1]]
            self.spans[self.open[-1]] = Span(span.start, span.tag_end, max(at, span.tag_end))


def _parsed(text: str, path: str) -> tuple[Element, dict[Element, Span]]:
    return _ElementReader(text.encode(), path).read()


def _named(name: str) -> str:
    return "{" + name if "}" in name else name


def _tag_end(data: bytes, start: int) -> int:
    """The place behind the tag that starts at a place; a quoted > does not end it."""
    for match in re.compile(rb"""'[^']*'|"[^"]*"|>""").finditer(data, start):
        if match.group() == b">":
            return match.end()
    return len(data)
