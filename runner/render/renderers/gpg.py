"""The gpg renderer: PGP messages in data or text, decrypted by the gpg program."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Mapping
from typing import Any

from runner.model.errors import RenderError
from runner.model.places import Place, PlacedMap, Source, item_place, value_place
from runner.yaml.rendered_text import Piece, Rendered, concat

KEYDIR = "/etc/salt/gpgkeys"
_MESSAGE = re.compile(r"-----BEGIN PGP MESSAGE-----.*?-----END PGP MESSAGE-----", re.S)


class Decryptor:
    """Decrypts what one file holds; equal messages once.

    keydir: gpg's home. secret: is told each decrypted value, which then appears in no output.
    lenient: leave what cannot be decrypted as it is.
    """

    def __init__(
        self, keydir: str | None, secret: Callable[[str], None], lenient: bool = False
    ) -> None:
        own = "/etc/runner/gpgkeys"
        self._lenient = lenient
        self._keydir = keydir or (own if os.path.isdir(own) else KEYDIR)
        self._secret = secret
        self._known: dict[str, str] = {}

    def data(self, value: Any, place: Place) -> Any:
        """The data with each message decrypted, in place."""
        if isinstance(value, dict):
            for key in value:
                value[key] = self.data(value[key], value_place(value, key, place))
        elif isinstance(value, list):
            for index, item in enumerate(value):
                value[index] = self.data(item, item_place(value, index, place))
        elif isinstance(value, str) and "-----BEGIN PGP MESSAGE-----" in value:
            return self.text(value, place.source).rstrip(
                "\n"
            )  # a password typed as `|` ends with its last letter
        return value

    def document(self, rendered: Rendered) -> Rendered:
        """A whole text with each message decrypted; its lines keep their places."""
        pieces: list[str] = []
        line, end = 1, 0
        for match in _MESSAGE.finditer(rendered.text):
            pieces += _lines(rendered, rendered.text[end : match.start()], line)
            line += rendered.text.count("\n", end, match.start())
            place = rendered.source(line, 1)
            pieces.append(Piece.make(self._plain(match[0], place), place.file, place.line, False))
            line, end = line + match[0].count("\n"), match.end()
        output = concat([*pieces, *_lines(rendered, rendered.text[end:], line)])
        return Rendered(str.__str__(output), rendered.file, output)

    def text(self, text: str, source: Source) -> str:
        """The text with each message decrypted. Raises RenderError where gpg cannot."""
        return _MESSAGE.sub(lambda match: self._plain(match[0], source), text)

    def _plain(self, message: str, source: Source) -> str:
        if message not in self._known:
            self._known[message] = self._decrypted(message, source)
        return self._known[message]

    def _decrypted(self, message: str, source: Source) -> str:
        argv = [
            "gpg",
            "--homedir",
            self._keydir,
            "--batch",
            "--no-tty",
            "--quiet",
            "--status-fd",
            "2",
            "--decrypt",
        ]
        try:
            plain = (
                "\n".join(line.strip() for line in message.replace("\\n", "\n").splitlines()) + "\n"
            )
            done = subprocess.run(
                argv, input=plain.encode(), capture_output=True, timeout=30, check=False
            )
        except FileNotFoundError:
            raise RenderError(
                "a PGP message needs gpg, which is not installed", source, "install gnupg"
            ) from None
        except (OSError, subprocess.TimeoutExpired) as problem:
            raise RenderError(f"gpg does not work: {problem}", source) from None
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        # gpg complains of the armor of a message whose lines were folded, and decrypts it all the
        # same
        failed = done.returncode and "[GNUPG:] DECRYPTION_OKAY" not in lines
        if failed and self._lenient:
            return message
        if failed:
            lines = [line for line in lines if not line.startswith("[GNUPG:]")]
            hint = f"gpg_keydir says where the keys are; here {self._keydir}"
            why = lines[-1] if lines else "no reason given"
            raise RenderError(f"the PGP message cannot be decrypted: {why}", source, hint)
        plain = done.stdout.decode("utf-8", "replace")
        self._secret(plain.strip())
        return plain


def decryptor(opts: Mapping[str, Any], secret: Callable[[str], None]) -> Decryptor:
    """As the configuration says."""
    return Decryptor(
        opts.get("gpg_keydir"), secret, lenient=opts.get("gpg_decrypt_must_succeed") is False
    )


def _lines(rendered: Rendered, text: str, first: int) -> list[str]:
    """A part of a text in lines that know their places."""
    places = (rendered.source(first + number, 1) for number in range(text.count("\n") + 1))
    lines = text.splitlines(keepends=True)
    return [
        Piece.make(line, place.file, place.line, True)
        for line, place in zip(lines, places, strict=False)
    ]


def place_of(value: Any, default: Place) -> Place:
    """The place where a value begins."""
    return value.place if isinstance(value, PlacedMap) else default
