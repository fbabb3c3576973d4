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
