# SPDX-License-Identifier: Apache-2.0
"""Passwords: hashed and compared by the system's own crypt."""

from __future__ import annotations

import pytest

from modules import shadow
from runner.api import CommandFailed

PLAIN = "correct horse"


@pytest.mark.parametrize("algorithm", ["md5", "sha256", "sha512", "blowfish", "yescrypt"])
def test_a_password_fits_its_own_hash_and_no_other(algorithm: str) -> None:
    made = shadow.gen_password(PLAIN, algorithm=algorithm)
    assert made.startswith(shadow.PREFIXES[algorithm])
    assert shadow.verifies(PLAIN, made)
    assert shadow.verifies(PLAIN, f"!{made}")
    assert not shadow.verifies(PLAIN + "x", made)


def test_two_hashes_of_a_password_differ_unless_the_salt_is_given() -> None:
    assert shadow.gen_password(PLAIN) != shadow.gen_password(PLAIN)
    assert shadow.gen_password(PLAIN, "pepper") == shadow.gen_password(PLAIN, "pepper")


@pytest.mark.parametrize("hashed", ["", "!", "*", "!!", "x", PLAIN, "$6$"])
def test_what_is_no_hash_fits_nothing(hashed: str) -> None:
    assert not shadow.verifies(PLAIN, hashed)
    assert not shadow.verifies("", hashed)


def test_an_unknown_algorithm_is_named() -> None:
    with pytest.raises(CommandFailed, match="rot13"):
        shadow.gen_password(PLAIN, algorithm="rot13")


HASHES = (
    *(shadow.gen_password(PLAIN, algorithm=algorithm) for algorithm in shadow.PREFIXES),
    "$6$rounds=5000$salt$" + "x" * 86,
    "$2y$12$" + "a" * 53,
    "$sha1$40000$jtNX3nZ2$hBNaIXkt4wBI2o5rsi8KejSjNqIq",
    "$md5,rounds=5000$GUBv0xjJ$$mSwgIswdjlTY0YxV7HBVm0",
    "$7$DU..../....2Q9obwLhin8qvQl6sisAO/$E1HizYWxBmnIH4sdPkd1UOML9t62Gf.wvNTnt5XFzs8",
    "$gy$jCT$HM87v.7RwpQLba8fDjNSk1$VgqS4k3OVRTjZ9ZElQ9ZYzzUMzxfa9NzE0ZcYBZnD81",
    "_J9..K0AyUubsYxdAxVw",
    "ab01FAX.bQRSU",
)


SHADOW = ("", "*", "!", "!!", "!*", "*LK*", *HASHES)


# numbered: the salts are others in each process
@pytest.mark.parametrize("text", SHADOW, ids=range(len(SHADOW)))
def test_what_stands_in_shadow(text: str) -> None:
    assert shadow.hash_problem(text) is None
    assert not text.startswith("$") or shadow.hash_problem(f"!{text}") is None


@pytest.mark.parametrize(
    "text",
    [
        "x",
        "hunter2",
        "correct horse",
        "Correct0Horse",
        "Passw0rd-2026",
        "!hunter2",
        "*hunter2",
        "$6$",
        "$6$salt$short",
        "$6$salt$" + "x" * 85,
        "$6$salt$" + "x" * 87,
        "$1$a:b$" + "x" * 22,
        "$2b$12$" + "a" * 52,
        "$9$salt$" + "x" * 86,
        "$6$salt$" + "x" * 86 + "\nroot:x",
        "{SSHA}abcdefgh",
        "a" * 43,
        "age:YWdlLWVuY3J5cHRpb24",
        "**********",
    ],
)
def test_what_is_no_hash_is_not_written(text: str) -> None:
    assert "this is none" in str(shadow.hash_problem(text))
