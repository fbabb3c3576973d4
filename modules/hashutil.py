"""Hashes and codes."""

from __future__ import annotations

import base64
import hashlib
import hmac as codes


def digest(instr: str, checksum: str = "md5") -> str:
    """The digest of a text.

    {{ salt['hashutil.digest']('text', 'sha256') }}
    """
    return hashlib.new(checksum, instr.encode()).hexdigest()


def digest_file(infile: str, checksum: str = "md5") -> str:
    """The digest of a file."""
    with open(infile, "rb") as file:
        return hashlib.file_digest(file, checksum).hexdigest()


def md5_digest(instr: str) -> str:
    """The MD5 digest of a text."""
    return digest(instr, "md5")


def sha256_digest(instr: str) -> str:
    """The SHA-256 digest of a text."""
    return digest(instr, "sha256")


def sha512_digest(instr: str) -> str:
    """The SHA-512 digest of a text."""
    return digest(instr, "sha512")


def base64_b64encode(instr: str) -> str:
    """A text in base64, on one line."""
    return base64.b64encode(instr.encode()).decode()


def base64_b64decode(instr: str) -> str:
    """The text of base64."""
    return base64.b64decode(instr).decode("utf-8", "replace")


def base64_encodestring(instr: str) -> str:
    """A text in base64, in lines of 76 characters."""
    return base64.encodebytes(instr.encode()).decode()


def base64_decodestring(instr: str) -> str:
    """The text of base64."""
    return base64_b64decode(instr)


def hmac_signature(string: str, shared_secret: str, challenge_hmac: str) -> bool:
    """Whether the HMAC-SHA256 of a text, in base64, is the challenge."""
    code = codes.new(shared_secret.encode(), string.encode(), hashlib.sha256).digest()
    return codes.compare_digest(base64.b64encode(code).decode(), challenge_hmac)


def hmac_compute(string: str, shared_secret: str) -> str:
    """The HMAC-SHA256 of a text, in hexadecimal digits."""
    return codes.new(shared_secret.encode(), string.encode(), hashlib.sha256).hexdigest()
