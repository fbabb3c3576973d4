# SPDX-License-Identifier: Apache-2.0
"""Chance, for templates."""

from __future__ import annotations

import base64
import codecs
import hashlib
import random
import string
from typing import TYPE_CHECKING, Any

from runner.api import CommandFailed, RunnerError, here

if TYPE_CHECKING:
    from random import Random


def _chance(seed: Any = None) -> Random:
    """Python's generator: the same for the same seed, as in Salt."""
    return random.SystemRandom() if seed is None else random.Random(seed)


def get_str(
    length: int = 20,
    chars: str | None = None,
    lowercase: bool = True,
    uppercase: bool = True,
    digits: bool = True,
    punctuation: bool = True,
    whitespace: bool = False,
    printable: bool = False,
) -> str:
    """A text of random characters. Raises RunnerError when no characters are left to choose from.

    chars: which ones; without it those of lowercase, uppercase, digits, punctuation, whitespace,
    printable (all of these) that are wanted.

        {{ salt['random.get_str'](32, punctuation=False) }}
    """
    classes = (
        (string.ascii_lowercase, lowercase),
        (string.ascii_uppercase, uppercase),
        (string.digits, digits),
        (string.punctuation, punctuation),
        (string.whitespace, whitespace),
        (string.printable, printable),
    )
    pool = chars or "".join(
        dict.fromkeys("".join(letters for letters, wanted in classes if wanted))
    )
    if not pool:
        raise RunnerError("random.get_str: no characters are left to choose from")
    chance = _chance()
    return "".join(chance.choice(pool) for _ in range(int(length)))


def rand_int(start: int = 1, end: int = 10, seed: Any = None) -> int:
    """A random number from start to end; the same for the same seed."""
    return _chance(seed).randint(int(start), int(end))


def seed(range: int = 10, hash: Any = None) -> int:
    """A number that belongs to this machine (or to a text), below `range`."""
    return _chance(str(hash or here.opts.get("id"))).randrange(int(range))


def sample(value: Any, size: int, seed: Any = None) -> list[Any]:
    """Some of the items of a list, in random order; the same for the same seed."""
    return _chance(None if seed is None else hash_(str(seed))).sample(list(value), int(size))


def shuffle(value: Any, seed: Any = None) -> list[Any]:
    """The items of a list in random order; the same for the same seed."""
    return sample(value, len(value), seed)


def hash_(value: str, algorithm: str = "sha512") -> str:
    """The digest of a text. Raises CommandFailed for an unknown algorithm."""
    if algorithm not in hashlib.algorithms_available:
        raise CommandFailed(f"There is no hash algorithm {algorithm!r}.")
    return hashlib.new(algorithm, value.encode()).hexdigest()


def str_encode(value: str, encoder: str = "base64") -> str:
    """A text in another code: base64, hex or rot13. Raises RunnerError for another one."""
    if encoder == "base64":
        return base64.b64encode(value.encode()).decode()
    if encoder == "hex":
        return value.encode().hex()
    if encoder == "rot13":
        return codecs.encode(value, "rot13")
    raise RunnerError(
        f"random.str_encode: the code {encoder!r} is not known; expected base64, hex or rot13"
    )


def shadow_hash(
    crypt_salt: str | None = None, password: str | None = None, algorithm: str = "sha512"
) -> str:
    """The hash of a password (without one, of a random one), as /etc/shadow holds it.

    crypt_salt: without one, a random one. algorithm: sha512, sha256, blowfish, md5 or yescrypt.
    """
    return str(
        here.call(
            "shadow.gen_password", password=password, crypt_salt=crypt_salt, algorithm=algorithm
        )
    )


__func_alias__ = {"hash_": "hash"}
