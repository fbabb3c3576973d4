# SPDX-License-Identifier: Apache-2.0
"""Hashes and codes."""

from __future__ import annotations

import base64
import hashlib
import hmac
import os

from modules import file
from modules.file._look import opened
from runner.api import CommandFailed

Text = str | bytes


def _bytes(text: Text) -> bytes:
    if not isinstance(text, str | bytes | bytearray):
        raise TypeError(f"expected a text, not {text!r}")
    return text.encode() if isinstance(text, str) else bytes(text)


def _hash(name: str) -> None:
    if name not in hashlib.algorithms_available:
        raise CommandFailed(f"Hash func '{name}' is not supported.")


def digest(instr: Text, checksum: str = "md5") -> str:
    """The digest of a text. Raises CommandFailed for an unknown checksum.

    {{ salt['hashutil.digest']('text', 'sha256') }}
    """
    _hash(checksum)
    return hashlib.new(checksum, _bytes(instr)).hexdigest()


def digest_file(infile: str, checksum: str = "md5") -> str:
    """The digest of a file. Raises CommandFailed for no such file and an unknown checksum."""
    _hash(checksum)
    try:
        with opened(os.fspath(infile)) as stream:
            return hashlib.file_digest(stream, checksum).hexdigest()
    except FileNotFoundError:
        raise CommandFailed(f"File path '{infile}' not found.", missing=("file", infile)) from None


def md5_digest(instr: Text) -> str:
    """The MD5 digest of a text."""
    return digest(instr, "md5")


def sha256_digest(instr: Text) -> str:
    """The SHA-256 digest of a text."""
    return digest(instr, "sha256")


def sha512_digest(instr: Text) -> str:
    """The SHA-512 digest of a text."""
    return digest(instr, "sha512")


def base64_b64encode(instr: Text) -> str:
    """A text in base64, on one line.

    {{ salt['hashutil.base64_b64encode']('user:password') }}
    """
    return base64.b64encode(_bytes(instr)).decode()


def base64_b64decode(instr: Text) -> Text:
    """The text of base64; bytes when they are no text."""
    decoded = base64.b64decode(_bytes(instr))
    try:
        return decoded.decode()
    except UnicodeDecodeError:
        return decoded


def base64_encodestring(instr: Text) -> str:
    """A text in base64, in lines of 76 characters."""
    return base64.encodebytes(_bytes(instr)).decode()


def base64_decodestring(instr: Text) -> Text:
    """The text of base64; bytes when they are no text."""
    return base64_b64decode(instr)


def base64_encodefile(fname: str) -> str:
    """A file in base64, in lines of 76 characters."""
    with opened(os.fspath(fname)) as stream:
        return base64.encodebytes(stream.read()).decode()


def base64_decodefile(instr: Text, outfile: str) -> bool:
    """Write the contents of base64 to a file."""
    file.write(outfile, base64.b64decode(_bytes(instr)))
    return True


def _code(text: Text, secret: Text, kind: str) -> bytes:
    return hmac.new(_bytes(secret), _bytes(text), kind).digest()


def hmac_signature(string: Text, shared_secret: Text, challenge_hmac: str) -> bool:
    """Return whether the HMAC-SHA256 of a text, in base64, is the challenge."""
    code = base64.b64encode(_code(string, shared_secret, "sha256"))
    return hmac.compare_digest(code, _bytes(challenge_hmac))


def hmac_compute(string: Text, shared_secret: Text) -> str:
    """The HMAC-SHA256 of a text, in hexadecimal digits."""
    return _code(string, shared_secret, "sha256").hex()


def github_signature(string: Text, shared_secret: Text, challenge_hmac: str) -> bool:
    """Return whether the HMAC of a text is the challenge (`sha1=...`, the header that GitHub signs
    its calls with). Raises ValueError for a challenge in another form.
    """
    kind, separator, wanted = challenge_hmac.partition("=")
    if not separator:
        raise ValueError("the challenge has to be a hash's name, = and the code: sha256=0123...")
    return hmac.compare_digest(_code(string, shared_secret, kind).hex().encode(), _bytes(wanted))
