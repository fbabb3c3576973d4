# SPDX-License-Identifier: Apache-2.0
"""file.comment and file.uncomment: which lines they mean."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness import apply

from runner.api import StateFailed
from states.file.comment import comment
from states.file.uncomment import uncomment


@pytest.mark.parametrize(
    ("before", "regex", "after"),
    [
        ("abc\n", "a", "#abc\n"),
        ("abc\n", "^abc$", "#abc\n"),
        ("xabc\nabc\n", "abc", "xabc\n#abc\n"),
        ("  abc\n", r"\s*abc", "#  abc\n"),
        ("  abc\nabc\n", "^abc", "  abc\n#abc\n"),
        ("c\na\nb\n", "^a|b", "c\n#a\n#b\n"),
        ("a\r\nb", "^b", "a\r\n#b"),
        ("a\fb\nb\n", "^b", "a\fb\n#b\n"),
        ("ABC\n", "(?i)abc", "#ABC\n"),
        ("abc\nabcd\n", "^abc\n", "#abc\nabcd\n"),  # of YAML's `|`
        ("abc\nabcd\n", "^abc$\n", "#abc\nabcd\n"),
    ],
)
def test_comment(tmp_path: Path, before: str, regex: str, after: str) -> None:
    path = tmp_path / "f"
    path.write_bytes(before.encode())
    assert apply(comment, str(path), regex).comment == "Commented lines successfully"
    assert path.read_bytes() == after.encode()


@pytest.mark.parametrize(
    ("before", "regex", "message"),
    [
        ("abc\n", "b", "b: Pattern not found"),
        ("  abc\n", "abc", "Expected commented lines not found"),
        ("a\r\n", "^a$", "Expected commented lines not found"),
        ("a\0\n", "a", "on a binary file"),
        (" # abc\n", "abc", "abc: Pattern not found"),
    ],
)
def test_what_cannot_be_commented_stays(
    tmp_path: Path, before: str, regex: str, message: str
) -> None:
    path = tmp_path / "f"
    path.write_bytes(before.encode())
    with pytest.raises(StateFailed, match=message):
        apply(comment, str(path), regex)
    assert path.read_bytes() == before.encode()


@pytest.mark.parametrize(
    ("before", "regex", "after", "told"),
    [
        ("#abc\n", "abc", "abc\n", "Uncommented lines successfully"),
        ("#abc\n#abcd\n", "abc\n", "abc\n#abcd\n", "Uncommented lines successfully"),
        ("#  abc\n", "abc", "  abc\n", "Uncommented lines successfully"),
        ("##abc\n#abc\n", "abc", "##abc\nabc\n", "Uncommented lines successfully"),
        ("#abc\n#xy\n", "abc|xy", "abc\nxy\n", "Uncommented lines successfully"),
        (" abc\n", "abc", " abc\n", "Pattern already uncommented"),
        ("  # abc\n", "abc", None, "Expected uncommented lines not found"),
        ("#abc\n", "^b", None, r"\^b: Pattern not found"),
        ("#abc\n", "ab$", None, r"ab\$: Pattern not found"),
    ],
)
def test_uncomment(tmp_path: Path, before: str, regex: str, after: str | None, told: str) -> None:
    path = tmp_path / "f"
    path.write_text(before)
    if after is None:
        with pytest.raises(StateFailed, match=told):
            apply(uncomment, str(path), regex)
    else:
        assert apply(uncomment, str(path), regex).comment == told
    assert path.read_text() == (before if after is None else after)


def test_the_copy_lies_beside_what_a_link_points_to(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("a\n")
    (tmp_path / "link").symlink_to("real")
    apply(comment, str(tmp_path / "link"), "a")
    assert (tmp_path / "link").is_symlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "real", "real.bak"]
