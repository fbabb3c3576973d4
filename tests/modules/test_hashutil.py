# SPDX-License-Identifier: Apache-2.0
"""hashutil.*: digests, base64 and signatures."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from harness import HarnessHere

from modules import hashutil
from runner.api import ChangeNotAllowed, CommandFailed, changes_allowed, running

LONG = "x" * 80


@pytest.fixture(autouse=True)
def here() -> Iterator[HarnessHere]:
    current = HarnessHere()
    with running(current):
        yield current


@pytest.mark.parametrize(
    ("name", "args", "wanted"),
    [
        ("digest", ("abc",), hashlib.md5(b"abc").hexdigest()),
        ("digest", ("abc", "sha1"), hashlib.sha1(b"abc").hexdigest()),
        ("digest", (b"\xff", "sha256"), hashlib.sha256(b"\xff").hexdigest()),
        ("md5_digest", ("ü",), hashlib.md5("ü".encode()).hexdigest()),
        ("sha256_digest", ("ü",), hashlib.sha256("ü".encode()).hexdigest()),
        ("sha512_digest", ("ü",), hashlib.sha512("ü".encode()).hexdigest()),
        ("base64_b64encode", ("get salted",), "Z2V0IHNhbHRlZA=="),
        ("base64_b64decode", ("Z2V0IHNhbHRlZA==",), "get salted"),
        ("base64_b64decode", ("/w==",), b"\xff"),
        ("base64_encodestring", (LONG,), base64.encodebytes(LONG.encode()).decode()),
        ("base64_decodestring", ("Z2V0IHNhbHRlZA==\n",), "get salted"),
        (
            "hmac_signature",
            ("get salted", "shared secret", "eBWf9bstXg+NiP5AOwppB5HMvZiYMPzEM9W5YMm/AmQ="),
            True,
        ),
        (
            "hmac_signature",
            ("get salted", "other", "eBWf9bstXg+NiP5AOwppB5HMvZiYMPzEM9W5YMm/AmQ="),
            False,
        ),
        ("hmac_compute", ("a", "b"), hmac.new(b"b", b"a", "sha256").hexdigest()),
        ("github_signature", ("a", "b", "sha1=" + hmac.new(b"b", b"a", "sha1").hexdigest()), True),
        ("github_signature", ("a", "b", "sha1=00"), False),
    ],
)
def test_answers(name: str, args: tuple[Any, ...], wanted: Any) -> None:
    assert getattr(hashutil, name)(*args) == wanted


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"get\xff")
    assert hashutil.digest_file(str(path), "sha1") == hashlib.sha1(b"get\xff").hexdigest()
    encoded = hashutil.base64_encodefile(str(path))
    assert encoded == "Z2V0/w==\n"
    with pytest.raises(ChangeNotAllowed):
        hashutil.base64_decodefile(encoded, str(tmp_path / "g"))
    with changes_allowed():
        assert hashutil.base64_decodefile(encoded, str(tmp_path / "g")) is True
    assert (tmp_path / "g").read_bytes() == b"get\xff"


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(CommandFailed, match="Hash func 'nope' is not supported"):
        hashutil.digest("abc", "nope")
    with pytest.raises(CommandFailed, match="File path '/no/such' not found"):
        hashutil.digest_file("/no/such")
    with pytest.raises(TypeError, match="expected a text, not 1"):
        hashutil.digest(1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="sha256="):
        hashutil.github_signature("a", "b", "rubbish")
