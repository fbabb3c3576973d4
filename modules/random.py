"""Chance, for templates."""

from __future__ import annotations

import hashlib
import secrets
import string
from typing import Any

from runner.api import here


def get_str(
    length: int = 20,
    chars: str | None = None,
    lowercase: bool = True,
    uppercase: bool = True,
    digits: bool = True,
    punctuation: bool = False,
    **_: Any,
) -> str:
    """A text of random characters.

    {{ salt['random.get_str'](32) }}
    """
    pool = chars or "".join(
        letters
        for letters, wanted in (
            (string.ascii_lowercase, lowercase),
            (string.ascii_uppercase, uppercase),
            (string.digits, digits),
            (string.punctuation, punctuation),
        )
        if wanted
    )
    return "".join(secrets.choice(pool) for _ in range(int(length)))


def rand_int(start: int = 1, end: int = 10, seed: Any = None) -> int:
    """A random number from start to end; the same for the same seed."""
    import random

    return random.Random(seed).randint(start, end) if seed is not None else random.SystemRandom().randint(start, end)


def seed(range: int = 10, hash: Any = None) -> int:
    """A number that belongs to this machine (or to a text), below `range`."""
    import random

    return random.Random(str(hash or here.opts.get("id"))).randrange(range)


def hash_(value: str, algorithm: str = "sha512") -> str:
    """The digest of a text."""
    return hashlib.new(algorithm, value.encode()).hexdigest()


def str_encode(value: str, encoder: str = "base64") -> str:
    """A text in another code: base64, hex or rot13."""
    import codecs

    if encoder == "rot13":
        return str(codecs.encode(value, "rot13"))
    return bytes(codecs.encode(value.encode(), encoder)).decode()  # type: ignore[call-overload]


__func_alias__ = {"hash_": "hash"}
