# SPDX-License-Identifier: Apache-2.0
"""cp.*: the file roots, and copies of their files."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from harness import HarnessHere

from modules import cp, file
from runner.api import ChangeNotAllowed, StateFailed, changes_allowed, running
from runner.sources.fileroots import FileTree


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, text in {
        "a.sls": "x: 1\n",
        "sub/init.sls": "",
        "sub/f.txt": "id {{ who }}",
        "sub/deep/d": "d",
    }.items():
        (tmp_path / "root" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "root" / name).write_text(text)
    (tmp_path / "root" / "a.sls").chmod(0o640)
    return tmp_path / "root"


@pytest.fixture(autouse=True)
def here(root: Path) -> Iterator[HarnessHere]:
    current = HarnessHere(
        opts={"file_roots": {"base": [str(root)], "dev": []}, "hash_type": "sha1"}
    )
    current.tree = FileTree({"base": [str(root)], "dev": []})  # type: ignore[assignment]
    with running(current):
        yield current


@pytest.mark.parametrize(
    ("name", "args", "wanted"),
    [
        ("list_states", (), ["a", "sub"]),
        ("list_master", (), ["a.sls", "sub/deep/d", "sub/f.txt", "sub/init.sls"]),
        ("list_master", ("base", "sub/d"), ["sub/deep/d"]),
        ("list_master", ("other",), []),
        ("list_master_dirs", (), ["sub", "sub/deep"]),
        ("list_master_dirs", ("base", "sub"), ["sub", "sub/deep"]),
        ("envs", (), ["base", "dev"]),
        ("get_file_str", ("salt://a.sls",), "x: 1\n"),
        ("get_file_str", ("salt://nope",), False),
        ("get_file_str", ("salt://a.sls", "other"), False),
        (
            "hash_file",
            ("salt://a.sls",),
            {"hsum": hashlib.sha1(b"x: 1\n").hexdigest(), "hash_type": "sha1"},
        ),
        ("hash_file", ("salt://nope",), ""),
        ("stat_file", ("salt://a.sls",), "0640"),
        ("stat_file", ("salt://a.sls", None, False), 0o100640),
        ("stat_file", ("salt://nope",), None),
        ("cache_file", ("salt://nope",), False),
        ("is_cached", ("salt://nope",), ""),
        ("get_url", ("salt://nope",), False),
        ("get_url", ("salt://a.sls", None), "x: 1\n"),
    ],
)
def test_answers(name: str, args: tuple[Any, ...], wanted: Any) -> None:
    assert getattr(cp, name)(*args) == wanted


def test_the_local_path(root: Path) -> None:
    path, digest = str(root / "a.sls"), hashlib.sha256(b"x: 1\n").hexdigest()
    assert (
        cp.cache_file("salt://a.sls")
        == cp.is_cached("salt://a.sls")
        == cp.get_url("salt://a.sls")
        == path
    )
    assert cp.cache_file(path) == cp.cache_file(f"file://{path}") == path
    both: tuple[str | list[str], ...] = (
        "salt://a.sls,salt://nope",
        ["salt://a.sls", "salt://nope"],
    )
    assert [cp.cache_files(each) for each in both] == [[path, False]] * 2
    assert cp.cache_dir("salt://sub/deep") == [str(root / "sub/deep/d")]
    assert cp.cache_file("salt://a.sls", source_hash=f"sha256={digest}") == path
    with pytest.raises(StateFailed, match="does not have the hash"):
        cp.cache_file("salt://a.sls", source_hash=f"md5={'0' * 32}")
    with pytest.raises(StateFailed, match=r"Path 'a\.sls' is not absolute"):
        cp.get_file_str("a.sls")
    with pytest.raises(StateFailed, match="refused"):
        cp.cache_file("http://127.0.0.1:1/x")


def test_copies(tmp_path: Path) -> None:
    with pytest.raises(ChangeNotAllowed):
        cp.get_url("salt://a.sls", str(tmp_path / "b"))
    assert not (tmp_path / "b").exists()
    with changes_allowed():
        assert cp.get_url("salt://a.sls", str(tmp_path / "b")) == str(tmp_path / "b")
        assert cp.get_file("salt://a.sls", f"{tmp_path}/") == str(tmp_path / "a.sls")
        assert cp.get_file("salt://nope", str(tmp_path / "c")) == ""
        with pytest.raises(StateFailed, match="makedirs=True"):
            cp.get_file("salt://a.sls", str(tmp_path / "x/y/b"))
        assert cp.get_file("salt://a.sls", str(tmp_path / "x/y/b"), makedirs=True) == str(
            tmp_path / "x/y/b"
        )
        made = cp.get_template("salt://sub/f.txt", str(tmp_path / "t"), who="me")
        assert cp.get_dir("salt://sub", str(tmp_path / "copy"))[0] == str(
            tmp_path / "copy/sub/deep/d"
        )
    assert {(tmp_path / name).read_text() for name in ("b", "a.sls", "x/y/b")} == {"x: 1\n"}
    assert Path(made).read_text() == "id me"
    assert (tmp_path / "copy/sub/deep/d").read_text() == "d"
    assert not (tmp_path / "c").exists()


ADDRESSES = [
    "http://h/x",
    "https://h/x",
    "http://h/x?q=1",
    "http://h/x/q=1",
    "http://h/x/b",
    "http://h/x.etag",
    "http://h",
    "http://h/x#q",
    "http://u:secret@h/x",
    "http://h:80/x",
    "http://i/x",
    "ftp://h/x",
    "ftp://u:secret@h/x",
]


def test_addresses_do_not_collide(tmp_path: Path) -> None:
    """Each has a place of its own, and none is a folder of another one's; no password is a part of
    it.
    """
    with running(HarnessHere(tmp_path)):
        places = [file.cached_path(each) for each in ADDRESSES]
        assert file.cached_path("http://u:other@h/x") in places
    assert len(set(places)) == len(ADDRESSES)
    assert len({os.path.dirname(place) for place in places}) == len(ADDRESSES)
    assert not [
        place
        for place in places
        if any(f"{place}/" in other for other in places) or "secret" in place
    ]


def test_a_text_keeps_its_line_ends(root: Path) -> None:
    (root / "dos").write_bytes(b"a\r\nb\r")
    assert cp.get_file_str("salt://dos") == cp.get_url("salt://dos", None) == "a\r\nb\r"
