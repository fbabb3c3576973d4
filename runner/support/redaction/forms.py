# SPDX-License-Identifier: Apache-2.0
"""The forms in which a secret may stand in a text, in one table, and the search for all of them.

A secret is spelled character by character (JSON, HTML, URLs, quotes of shells and languages, one
inside of another), or encoded as a whole (base64, hexadecimal), perhaps over several lines or in
groups of digits. The search costs what its text is long, however many secrets there are: a look-up
by pieces of four characters finds what may be there, and only there are spellings compared.
"""

from __future__ import annotations

import binascii
import bisect
import functools
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping

from runner.model.stdlib import pattern

# ---------------------------------------------------------------- the table


def _percent(char: str) -> str:
    return "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "surrogateescape"))


def _octal(char: str) -> str:
    return (
        char
        if char.isascii()
        else "".join(f"\\{byte:03o}" for byte in char.encode("utf-8", "surrogateescape"))
    )


def _json(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass")
    code = "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
    return SHORT.get(char) or (code if ord(char) < 32 or ord(char) > 126 else char)


def _yaml(char: str) -> str:
    if char.isascii():
        return SHORT.get(char, char)
    code = ord(char)
    return (
        f"\\x{code:02X}" if code < 256 else f"\\u{code:04X}" if code < 65536 else f"\\U{code:08X}"
    )


SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}
HTML = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
# how a character may be spelled; letters, digits and `_` are only ever spelled as themselves
SPELLINGS: Mapping[str, Callable[[str], str]] = {
    "JSON": _json,
    "JSON with Unicode": lambda char: SHORT.get(char, char),
    "JSON in HTML": lambda char: f"\\u{ord(char):04x}" if char in "<>&'\"=+`" else _json(char),
    "JSON, slashes": lambda char: "\\/" if char == "/" else _json(char),
    "HTML": lambda char: "&#x27;" if char == "'" else HTML.get(char, char),
    "HTML, decimal": lambda char: {"'": "&#39;", '"': "&#34;"}.get(char) or HTML.get(char, char),
    "HTML, every special character": lambda char: f"&#{ord(char)};",
    "HTML, hexadecimal": lambda char: f"&#x{ord(char):x};",
    "XML": lambda char: "&apos;" if char == "'" else HTML.get(char, char),
    "URL": _percent,
    "form": lambda char: "+" if char == " " else _percent(char),
    "Python": lambda char: ascii(char)[1:-1],
    "YAML": _yaml,
    "quotes": lambda char: f"\\{char}" if char in "'\"" else SHORT.get(char, char),
    "shell, '": lambda char: "'\\''" if char == "'" else char,
    'shell, "': lambda char: "'\"'\"'" if char == "'" else char,
    "shell, no quotes": lambda char: f"\\{char}",
    "SQL, YAML": lambda char: "''" if char == "'" else char,
    "CSV": lambda char: '""' if char == '"' else char,
    "INI, systemd": lambda char: char * 2 if char in "%$" else char,
    "octal": _octal,
}


def _base64(data: bytes) -> Iterator[str]:
    yield from (_coded(shape) for shape in (data, data + b"\n"))


def _inside(data: bytes) -> Iterator[str]:
    """The base64 of a value inside of a longer one, such as `user:password`: its certain part."""
    for ahead in (0, 1, 2):
        coded = _coded(b"\0" * ahead + data)
        yield coded[ahead + bool(ahead) : len(coded) - (0, 3, 2)[(ahead + len(data)) % 3]]


def _coded(data: bytes) -> str:
    return binascii.b2a_base64(data, newline=False).decode()


# how a whole value may be encoded; `+` and `/` of base64 are `-` and `_` in URLs, and may be
# spelled as above
ENCODINGS: Mapping[str, Callable[[bytes], Iterable[str]]] = {
    "base64": _base64,
    "inside of base64": _inside,
    "hexadecimal": lambda data: (data.hex(),),
    "HEXADECIMAL": lambda data: (data.hex().upper(),),
}
# how encoded values are laid out: what stands between two of their characters. Left out for a
# second search.
_HEX = "[0-9A-Fa-f]"
LAYOUTS: Mapping[str, str] = {
    # lines of base64 and of `xxd -p`, in a diff or a JSON text, too
    "lines": r"(?<=[\w+/=-]{8})(?:\r?\n|(?:\\+[rn])+)[ \t]*[ +-]?[ \t]*(?=[\w+/-])",
    # lines of `od`, `xxd` and `hexdump`, with an address at the margin or none, with the characters
    # at the end or none
    "dump": rf"(?<={_HEX}{{2}})(?:  [^\n]{{1,18}})? {{0,2}}\n(?:{_HEX}{{6,8}}:?)? +(?={_HEX}{{2}})",
    "groups": rf"(?<={_HEX}{{2}})(?: {{1,2}}|[:-]|\\x|0x|, ?0x)(?={_HEX}{{2}})",
}


def spelled(value: str, form: str) -> str:
    """A text in one of the spellings."""
    return "".join(char if _is_plain(char) else SPELLINGS[form](char) for char in value)


def forms(value: str) -> dict[str, str]:
    """A secret in all forms of the table: spelled, spelled twice, encoded, encoded and spelled."""
    texts_by_form = {"plain": value} | {form: spelled(value, form) for form in SPELLINGS}
    for name, encode in ENCODINGS.items():
        texts = encode(value.encode("utf-8", "surrogateescape"))
        texts_by_form |= {f"{name}, {number}": text for number, text in enumerate(texts)}
    return texts_by_form | {
        f"{inner} in {outer}": spelled(text, outer)
        for inner, text in texts_by_form.items()
        for outer in SPELLINGS
    }


def _is_plain(char: str) -> bool:
    return char.isascii() and (char.isalnum() or char == "_")


# ---------------------------------------------------------------- the search

LEAST = 6  # characters of an encoded value that are enough to know it by
GRAM = 4  # characters that a secret is looked up by
FEW = 40  # so many anchors are looked for one by one
LONGEST_SPELLING = 24  # characters that one may be spelled with
RUN = pattern(r"[A-Za-z0-9_]+")
AROUND = "[A-Za-z0-9+/_-]?"  # neighbours in base64 that hold bits of the value


_CODE = pattern(r"(%|\\x|\\u|\\U|&#x)([0-9A-Fa-f]+)")


@functools.cache
def _spellings(char: str) -> tuple[str, ...]:
    """All that a character may be spelled as, the longest first."""
    if _is_plain(char):
        return (char,)
    once = {char, *(spell(char) for spell in SPELLINGS.values())}
    spellings = once | {spelled(text, form) for text in once for form in SPELLINGS}
    for case in (str.lower, str.upper):
        spellings |= {_CODE.sub(lambda code: code[1] + case(code[2]), form) for form in spellings}  # noqa: B023
    return tuple(sorted(spellings, key=len, reverse=True))


def _spelled(char: str) -> str:
    """A regular expression for that."""
    return f"(?:{'|'.join(map(re.escape, _spellings(char)))})"


def _pattern(text: str) -> str:
    """A regular expression for all spellings of a text."""
    return "".join(char if _is_plain(char) else _spelled(char) for char in text)


# one thing to look for: letters and digits that stand in all its spellings (empty: there are too
# few), the secret, the text to find, whether that is encoded
Piece = tuple[str, str, str, bool]


def _pieces(value: str) -> Iterator[Piece]:
    """A value as itself, and as it is encoded."""
    yield _anchor(value), value, value, False
    data = value.encode("utf-8", "surrogateescape")
    for text in (
        *_inside(data),
        data.hex(),
        data.hex().upper(),
    ):  # which finds the whole of base64, too
        if len(text) >= LEAST:
            yield _anchor(text), value, text, True


def _anchor(text: str) -> str:
    if text.isalnum() and text.isascii():
        return text if len(text) >= GRAM else ""
    longest = max(RUN.findall(text), key=len, default="")
    return longest if len(longest) >= GRAM else ""


@functools.cache
def _compiled(text: str, encoded: bool) -> re.Pattern[str]:
    if not encoded:
        return re.compile(f"({_pattern(text)})")
    if not set(text) - set("0123456789abcdef") or not set(text) - set("0123456789ABCDEF"):
        return re.compile(f"({text})")
    safe = "".join(
        f"(?:{_spelled(char)}|{other})" if (other := _URLSAFE.get(char)) else char for char in text
    )
    return re.compile(f"{AROUND}({safe}){AROUND}{AROUND}{_spelled('=')}{{0,2}}")


def _around(anchor: str, at: int, value: str, text: str) -> tuple[int, int] | None:
    """The span of a value of which an anchor stands somewhere in a text; None where no spelling of
    the rest is around it. An expression for all spellings costs as much as reading a template does.
    """
    before, _, after = value.partition(anchor)
    start = at - len(before)
    if start >= 0 and text.startswith(value, start):
        return start, start + len(value)
    starts = _reached(at, reversed(before), lambda one, end: text.endswith(one, 0, end), -1)
    ends = starts and _reached(at + len(anchor), after, text.startswith, 1)
    return (min(starts), max(ends)) if ends else None


def _reached(
    at: int, chars: Iterable[str], stands: Callable[[str, int], bool], way: int
) -> set[int]:
    """Where spellings of some characters lead to from a place. stands: tells whether a text is at a
    place. way: -1 towards the beginning, 1 towards the end.
    """
    places = {at}
    for char in chars:
        told = _spellings(char)
        places = {place + way * len(one) for place in places for one in told if stands(one, place)}
        if not places:
            break
    return places


_URLSAFE = {"+": "-", "/": "_"}
Span = tuple[int, int, str]  # start, end, the secret
Found = tuple[int, int, int, int, str]  # with its neighbours: start, end; without; the secret


class Finder:
    """Finds secrets in texts."""

    def __init__(self) -> None:
        self._by_anchor: dict[str, list[Piece]] = {}
        self._short: set[str] = set()  # anchors that the look-up by four characters may miss
        self._grams: dict[str, list[str]] = {}  # four characters -> anchors that have them
        self._wanted: list[str] = []  # anchors that are not in the look-up yet
        self._always: list[Piece] = []

    def add(self, values: Iterable[str]) -> None:
        """Look for these values, too. One thread at a time adds; others may search meanwhile."""
        for piece in (piece for value in values for piece in _pieces(value)):
            anchor = piece[0]
            if not anchor:
                self._always.append(piece)
            elif anchor in self._by_anchor:
                self._by_anchor[anchor].append(piece)
            else:
                self._by_anchor[anchor] = [piece]
                self._wanted.append(anchor)
        if len(self._by_anchor) > FEW:
            self._index()

    def _index(self) -> None:
        """Prepare the look-up by the middle of anchors, as secrets of a kind often begin or end
        alike.

        A text is cut at every fourth character, wherever an anchor begins in it.
        """
        grams = self._grams
        for anchor in self._wanted:
            middle = (len(anchor) - 2 * GRAM + 1) // 2
            if middle < 0:
                self._short.add(anchor)
                continue
            for at in range(middle, middle + GRAM):
                gram = anchor[at : at + GRAM]
                if gram in grams:
                    grams[gram].append(anchor)
                else:
                    grams[gram] = [anchor]
        self._wanted.clear()

    def spans(self, text: str, plain: bool = False) -> list[Span]:
        """The spans of secrets, which may overlap. plain: the text is a name, of one line."""
        spans = list(self._direct(text))
        if not plain and len(text) > SHORTEST_LAID_OUT:
            spans += self._laid_out(text)
        return spans

    def _direct(self, text: str) -> Iterator[Span]:
        for start, end, *_, value in self._found(text):
            yield start, end, value

    def _found(self, text: str) -> Iterator[Found]:
        for (anchor, value, wanted, encoded), start, end in self._candidates(text):
            if encoded or not anchor:
                for match in _compiled(wanted, encoded).finditer(text, start, end):
                    yield (*match.span(), *match.span(1), value)
                continue
            while (start := text.find(anchor, start, end)) >= 0:
                if span := _around(anchor, start, wanted, text):
                    yield (*span, *span, value)
                start += 1

    def _candidates(self, text: str) -> Iterator[tuple[Piece, int, int]]:
        """The secrets that a text may have, each with the part that may have it."""
        whole = 0, len(text)
        few = len(self._by_anchor) <= FEW
        for anchor in tuple(self._by_anchor if few else self._short):
            if anchor in text:
                yield from ((piece, *whole) for piece in self._by_anchor[anchor])
        yield from ((piece, *whole) for piece in self._always)
        if not few:
            for anchor, at in self._looked_up(text):
                for piece in self._by_anchor[anchor]:
                    reach = len(piece[2]) * (1 if anchor == piece[2] else LONGEST_SPELLING)
                    reach *= piece[3]  # what is around needs no expression otherwise
                    yield piece, max(0, at - reach), at + len(anchor) + reach

    def _looked_up(self, text: str) -> Iterator[tuple[str, int]]:
        """Anchors, and where they stand."""
        chunks = [text[at : at + GRAM] for at in range(0, len(text), GRAM)]
        hits = self._grams.keys() & chunks
        if not hits:
            return
        for number, chunk in enumerate(chunks):
            for anchor in self._grams[chunk] if chunk in hits else ():
                at = text.find(
                    anchor, max(0, number * GRAM - len(anchor)), number * GRAM + len(anchor) + GRAM
                )
                if at >= 0:
                    yield anchor, at

    def _laid_out(self, text: str) -> Iterator[Span]:
        """Secrets that are broken into lines or groups: found in the text without these breaks."""
        if "\n" in text or "\\" in text:
            yield from self._joined(text, _LINES, None)
        if _THREE.search(text):
            yield from self._joined(text, _GROUPS, _REST)

    def _joined(
        self, text: str, breaks: re.Pattern[str], rest: re.Pattern[str] | None
    ) -> Iterator[Span]:
        joined, offsets = _without(text, breaks)
        if not offsets:
            return
        for start, end, inner_start, inner_end, value in self._found(joined):
            first, last = _original(inner_start, offsets), _original(inner_end - 1, offsets) + 1
            if last - first == inner_end - inner_start:
                continue  # not broken
            first, last = _original(start, offsets), _original(end - 1, offsets) + 1
            beside = rest.match(text, last) if rest else None
            yield first, beside.end() if beside else last, value


SHORTEST_LAID_OUT = 3 * LEAST - 1
_LINES = pattern(LAYOUTS["lines"])
_GROUPS = pattern(f"{LAYOUTS['dump']}|{LAYOUTS['groups']}")
# groups, likely
_THREE = pattern(
    rf"{_HEX}{{2}}(?:[ :-]|, ?|\\x| {{2}})(?:0x)?{_HEX}{{2}}(?:[ :-]|\\x|\n|, ?| {{2}})"
)
# characters beside a dump
_REST = pattern(rf"(?: {{0,2}}{_HEX}{{2}}){{0,16}}  [^\n]{{1,18}}$", re.MULTILINE)


def _without(text: str, breaks: re.Pattern[str]) -> tuple[str, list[tuple[int, int]]]:
    """A text without some parts; (position in it, position in the text) of what follows each of
    these.
    """
    parts, offsets, at, length = [], [], 0, 0
    for match in breaks.finditer(text):
        parts.append(text[at : match.start()])
        length += match.start() - at
        at = match.end()
        offsets.append((length, at))
    return "".join([*parts, text[at:]]), offsets


def _original(position: int, offsets: list[tuple[int, int]]) -> int:
    at = bisect.bisect_right(offsets, (position, sys.maxsize)) - 1
    if at < 0:
        return position
    joined, original = offsets[at]
    return original + position - joined
