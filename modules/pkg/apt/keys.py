# SPDX-License-Identifier: Apache-2.0
"""Keys of package archives: from a file, a text or a key server, as files that apt reads."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os
import re

from modules import file
from runner.api import StateFailed

KEYRINGS = "/etc/apt/keyrings"
TRUSTED = "/etc/apt/trusted.gpg.d"
_ARMOUR = b"-----BEGIN PGP PUBLIC KEY BLOCK"


def from_url(url: str) -> bytes:
    """The key at salt://, /path, http(s)://. Raises StateFailed when it is not there."""
    if url.startswith(("http://", "https://", "ftp://")):
        path, problem = file.download(url, use_etag=True)
        if problem:
            raise StateFailed(f"the key {url} cannot be fetched: {problem}")
        return file.read_bytes(path)
    local_path = file.fetched(url)
    if local_path is None:
        raise StateFailed(
            f"the key {url} does not exist", missing=("file", url) if url.startswith("/") else None
        )
    return file.read_bytes(local_path)


def from_server(keyid: str, keyserver: str | None) -> bytes:
    """A key by its ID, asked for as gpg would. Raises StateFailed when the server has none, or
    another one.
    """
    server = keyserver or "keyserver.ubuntu.com"
    scheme, _, host = server.rpartition("://")
    web = {"hkp": "http", "http": "http"}.get(scheme, "https")
    host += ":11371" if scheme == "hkp" and ":" not in host else ""
    digits = keyid.upper().removeprefix("0X").replace(" ", "")
    url = f"{web}://{host}/pks/lookup?op=get&options=mr&search=0x{digits}"
    path, problem = file.download(url, keep=False)
    if problem:
        raise StateFailed(f"key {keyid} cannot be fetched from {server}: {problem}")
    key = file.read_bytes(path)
    received = fingerprint(shaped(key, "binary"))
    if not received.endswith(digits):
        raise StateFailed(
            f"key {keyid} cannot be fetched from {server}: it sent {received or 'no key'}"
        )
    return key


def fingerprint(key: bytes) -> str:
    """The fingerprint of a binary key's first packet (version 4, as RFC 4880 says); empty for
    anything else.
    """
    if len(key) < 6 or not key[0] & 0x80:
        return ""
    if key[0] & 0x40:
        start, length = (2, key[1]) if key[1] < 192 else (3, ((key[1] - 192) << 8) + key[2] + 192)
    else:
        size = (1, 2, 4)[key[0] & 3] if key[0] & 3 < 3 else 0
        start, length = 1 + size, int.from_bytes(key[1 : 1 + size], "big")
    body = key[start : start + length]
    if len(body) != length or body[:1] != b"\x04":
        return ""
    return (
        hashlib.sha1(b"\x99" + length.to_bytes(2, "big") + body, usedforsecurity=False)
        .hexdigest()
        .upper()
    )


def of_ppa(ppa: str) -> str:
    """The fingerprint of the key that Launchpad signs an archive (`user/archive`) with. Raises
    StateFailed when Launchpad names none.
    """
    owner, _, archive = ppa.partition("/")
    url = f"https://api.launchpad.net/1.0/~{owner}/+archive/ubuntu/{archive or 'ppa'}"
    path, problem = file.download(url, keep=False)
    description = json.loads(file.read_bytes(path)) if not problem else {}
    if not description.get("signing_key_fingerprint"):
        raise StateFailed(
            f"Launchpad names no key for ppa:{ppa}; give keyid or key_url ({problem or url})"
        )
    return str(description["signing_key_fingerprint"])


def shaped(key: bytes, path: str) -> bytes:
    """The key as apt wants it at a path: ASCII armour at *.asc, binary elsewhere. Raises
    StateFailed for a damaged key.
    """
    armoured = key.lstrip().startswith(_ARMOUR)
    if not armoured:
        return _in_armour(key) if path.endswith(".asc") and key else key
    blocks = re.findall(
        rb"-----BEGIN PGP[^\n]*\n(?:[^\n]+:[^\n]*\n)*\s*(.*?)-----END PGP", key, re.S
    )
    if len(blocks) != key.count(b"-----BEGIN PGP"):
        raise StateFailed(f"the key for {path} is damaged: it ends before its armour does")
    if path.endswith(".asc"):
        return key
    try:
        return b"".join(
            base64.b64decode(re.sub(rb"(?m)^=\S{4}\s*$", b"", block)) for block in blocks
        )
    except binascii.Error as problem:
        raise StateFailed(f"the key for {path} is damaged: {problem}") from None


def _in_armour(key: bytes) -> bytes:
    lines = base64.encodebytes(key)
    return _ARMOUR + b"-----\n\n" + lines + _ARMOUR.replace(b"BEGIN", b"END") + b"-----\n"


def is_openpgp(key: bytes) -> bool:
    """Return whether something looks like a key, and not like the page of an error, or a
    signature.
    """
    return key.lstrip().startswith(_ARMOUR) or key[:1] >= b"\x80"


def place(name: str, armoured: bool) -> str:
    """Where a key goes that no entry names: apt trusts it for all archives."""
    stem = (
        re.sub(
            r"[^\w.-]+", "-", os.path.basename(name).rpartition(".")[0] or os.path.basename(name)
        )
        or "runner"
    )
    return f"{TRUSTED}/{stem}.{'asc' if armoured else 'gpg'}"
