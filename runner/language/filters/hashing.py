# SPDX-License-Identifier: Apache-2.0
"""Filters of digests, encodings and chance."""

from __future__ import annotations

import base64
import hashlib
import hmac as codes
import random
import secrets
import string
import uuid as uuids
from collections.abc import Sequence
from typing import Any

from runner.language.filters.text import to_bytes


def _digest(name: str, value: Any) -> str:
    return hashlib.new(name, to_bytes(value)).hexdigest()


def md5(value: Any) -> str:
    """The MD5 digest of a text."""
    return _digest("md5", value)


def sha1(value: Any) -> str:
    """The SHA-1 digest of a text."""
    return _digest("sha1", value)


def sha256(value: Any) -> str:
    """The SHA-256 digest of a text."""
    return _digest("sha256", value)


def sha512(value: Any) -> str:
    """The SHA-512 digest of a text."""
    return _digest("sha512", value)


def base64_encode(value: Any) -> str:
    """Base64 of a text."""
    return base64.b64encode(to_bytes(value)).decode()


def base64_decode(value: Any) -> str | bytes:
    """Decode Base64: to a text where it is one."""
    data = base64.b64decode(to_bytes(value))
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


def hmac(text: str, shared_secret: str, challenge_hmac: str) -> bool:
    """Return whether a HMAC-SHA256 of a text, in base64, is the challenge."""
    digest = codes.new(to_bytes(shared_secret), to_bytes(text), hashlib.sha256).digest()
    return codes.compare_digest(base64.b64encode(digest), to_bytes(challenge_hmac))


def hmac_compute(text: str, shared_secret: str) -> str:
    """The HMAC-SHA256 of a text, in hexadecimal digits."""
    return codes.new(to_bytes(shared_secret), to_bytes(text), hashlib.sha256).hexdigest()


def uuid(value: str) -> str:
    """The UUID that belongs to a text."""
    return str(
        uuids.uuid5(uuids.UUID("91633EBF-1C86-5E33-935A-28061F4B480E"), to_bytes(value).decode())
    )


def random_sample(values: Sequence[Any], size: int, seed: str | None = None) -> list[Any]:
    """Some values, chosen by chance (the same for the same seed, and those that Salt chooses).
    Raises TypeError for a mapping or a set.
    """
    if isinstance(values, dict | set):
        raise TypeError("a list is required")
    chance = (
        random.SystemRandom()
        if seed is None
        else random.Random(hashlib.sha512(to_bytes(seed)).hexdigest())
    )
    return chance.sample(values, size)


def random_shuffle(values: Sequence[Any], seed: str | None = None) -> list[Any]:
    """The values in another order (the same for the same seed, and the one that Salt gives)."""
    return random_sample(values, len(values), seed)


def random_str(size: int = 32) -> str:
    """A text of random letters and digits."""
    return "".join(secrets.choice(string.ascii_letters + string.digits) for _ in range(int(size)))


def rand_str(size: int = 9999999999, hash_type: str = "md5") -> str:
    """The digest of a random number."""
    return _digest(hash_type, str(random.SystemRandom().randint(0, size)))
