# SPDX-License-Identifier: Apache-2.0
"""Encrypted messages in data or text, decrypted where they stand: what gpg and age share."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Protocol

from runner.model.places import Place, PlacedMap, Source, item_place, value_place
from runner.support.yaml.rendered_text import Piece, Rendered, concat


class Cipher(Protocol):
    """A way to encrypt. message: what a message looks like in a text."""

    message: re.Pattern[str]

    def decrypt(self, message: str, source: Source) -> str:
        """The plain text of a message. Raises RenderError, with the place."""


class Decryptor:
    """Decrypts what one file holds; equal messages once.

    secret: is told each decrypted value, which then appears in no output.
    """

    def __init__(self, cipher: Cipher, secret: Callable[[str], None]) -> None:
        self._cipher, self._secret = cipher, secret
        self._known: dict[str, str] = {}

    def data(self, value: Any, place: Place) -> Any:
        """The data with each message decrypted, in place."""
        if isinstance(value, dict):
            for key in value:
                value[key] = self.data(value[key], value_place(value, key, place))
        elif isinstance(value, list):
            for index, item in enumerate(value):
                value[index] = self.data(item, item_place(value, index, place))
        elif isinstance(value, str) and self._cipher.message.search(value):
            # a password typed as `|` ends with its last letter
            return self.text(value, place.source).rstrip("\n")
        return value

    def document(self, rendered: Rendered) -> Rendered:
        """A whole text with each message decrypted; its lines keep their places."""
        pieces: list[str] = []
        line, end = 1, 0
        for match in self._cipher.message.finditer(rendered.text):
            pieces += _lines(rendered, rendered.text[end : match.start()], line)
            line += rendered.text.count("\n", end, match.start())
            place = rendered.source(line, 1)
            pieces.append(Piece.make(self._plain(match[0], place), place.file, place.line, False))
            line, end = line + match[0].count("\n"), match.end()
        output = concat([*pieces, *_lines(rendered, rendered.text[end:], line)])
        return Rendered(str.__str__(output), rendered.file, output)

    def text(self, text: str, source: Source) -> str:
        """The text with each message decrypted. Raises RenderError where that cannot be done."""
        return self._cipher.message.sub(lambda match: self._plain(match[0], source), text)

    def _plain(self, message: str, source: Source) -> str:
        if message not in self._known:
            plain = self._cipher.decrypt(message, source)
            if plain != message:
                self._secret(plain.strip())
            self._known[message] = plain
        return self._known[message]


def unfolded(message: str) -> str:
    """A message in armor with its lines as they were, however YAML has folded or indented them."""
    return "\n".join(line.strip() for line in message.replace("\\n", "\n").splitlines()) + "\n"


def place_of(value: Any, default: Place) -> Place:
    """The place where a value begins."""
    return value.place if isinstance(value, PlacedMap) else default


def _lines(rendered: Rendered, text: str, first: int) -> list[str]:
    """A part of a text in lines that know their places."""
    places = (rendered.source(first + number, 1) for number in range(text.count("\n") + 1))
    lines = text.splitlines(keepends=True)
    return [
        Piece.make(line, place.file, place.line, True)
        for line, place in zip(lines, places, strict=False)
    ]
