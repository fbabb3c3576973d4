# SPDX-License-Identifier: Apache-2.0
"""File roots on a real folder."""

import os
from pathlib import Path
from typing import Any

import pytest

from runner.model.errors import RunnerError
from runner.sources.fileroots import FileTree

FILES = """
    one/top.sls one/both.sls one/both/init.sls one/w/a.sls one/w/init.sls one/w/x/init.sls
    one/dot.ted/x.sls one/file.dot.sls one/files/motd one/files/.hidden one/files/sub/deep.txt
    one/files/a.bak two/both/init.sls two/only.sls two/files/motd two/files/more dev/d.sls
""".split()


@pytest.fixture
def roots(tmp_path: Path) -> dict[str, tuple[str, ...]]:
    for name in FILES:
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name)
    (tmp_path / "secret.sls").write_text("")
    return {"base": (f"{tmp_path}/one", f"{tmp_path}/two"), "dev": (f"{tmp_path}/dev",)}


def below(tmp_path: Path, found: str | None) -> str | None:
    return found and os.path.relpath(found, tmp_path)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("both", "one/both.sls"),  # the file before the folder, whatever the root
        ("both.init", "one/both/init.sls"),
        ("w", "one/w/init.sls"),
        ("w.a", "one/w/a.sls"),
        ("w/a", "one/w/a.sls"),
        ("w.x", "one/w/x/init.sls"),
        ("./w/a", "one/w/a.sls"),
        ("only", "two/only.sls"),
        *[
            (name, None)
            for name in (
                "dot.ted.x",
                "file.dot",
                "w/a/",
                "nope",
                "",
                "..secret",
                "../secret",
                ".w.a",
            )
        ],
    ],
)
def test_sls_path(tmp_path: Path, roots: Any, name: str, expected: str | None) -> None:
    assert below(tmp_path, FileTree(roots).sls_path(name, "base")) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("files/motd", "one/files/motd"),
        ("/files/motd", "one/files/motd"),
        ("files/more", "two/files/more"),
        ("w/../files/motd", "one/files/motd"),
        *[
            (path, None)
            for path in ("files", "../secret.sls", "w/../../secret.sls", "..", ".", "", "x\0y")
        ],
    ],
)
def test_find(tmp_path: Path, roots: Any, path: str, expected: str | None) -> None:
    assert below(tmp_path, FileTree(roots).find(path, "base")) == expected


def test_fetch(tmp_path: Path, roots: Any) -> None:
    (tmp_path / "one" / "a?b").write_text("")
    tree = FileTree(roots)
    whole = f"{tmp_path}/one/files/motd"
    for url, env in (
        ("salt://files/motd", "base"),
        ("salt://files/motd?saltenv=base", "dev"),
        (whole, "dev"),
    ):
        assert tree.fetch(url, env) == whole
    assert tree.fetch(f"file://{whole}", "base") == whole
    assert below(tmp_path, tree.fetch("salt://d.sls?saltenv=dev", "base")) == "dev/d.sls"
    assert below(tmp_path, tree.fetch("salt://a?b", "base")) == "one/a?b"
    assert below(tmp_path, tree.fetch("salt://|a?b", "base")) == "one/a?b"
    for url in """
        salt://nope salt://../secret.sls /nope file:///nope http://x/y files/motd /tmp
    """.split():
        assert tree.fetch(url, "base") is None


def test_listings(roots: Any) -> None:
    tree = FileTree(roots)
    hidden = ["files/.hidden", "files/a.bak", "files/more", "files/motd", "files/sub/deep.txt"]
    assert tree.files("files", "base") == tree.files("/files/", "base") == hidden
    assert tree.folders("files", "base") == ["files/sub"]
    assert tree.files("", "dev") == ["d.sls"]
    assert (
        tree.files("file", "base") == tree.folders("nope", "base") == tree.files("", "nope") == []
    )


def test_names_and_suggestions(roots: Any) -> None:
    tree = FileTree(roots)
    assert tree.sls_names("base") == ["both", "only", "w", "w.a", "w.x"]
    for top in ("only.sls", "salt://only.sls"):
        assert FileTree(roots, {"state_top": top}).sls_names("base") == [
            "both",
            "top",
            "w",
            "w.a",
            "w.x",
        ]
    near = {"w/a.sls": "w.a", "boht": "both", "x": "w.x", "q.only": "only", "zzzzz": None}
    assert {name: tree.suggest(name, "base") for name in near} == near


@pytest.mark.parametrize(
    ("settings", "gone"),
    [
        ({"file_ignore_glob": ["*.bak", "*/.hidden"]}, {"files/a.bak", "files/.hidden"}),
        ({"file_ignore_glob": "files/s*"}, {"files/sub/deep.txt"}),
        ({"file_ignore_regex": [r"/motd$"]}, {"files/motd"}),
        ({}, set()),
    ],
)
def test_ignored_files(roots: Any, settings: dict[str, Any], gone: set[str]) -> None:
    tree, whole = FileTree(roots, settings), FileTree(roots)
    assert set(whole.files("files", "base")) - set(tree.files("files", "base")) == gone


@pytest.mark.parametrize(
    ("settings", "found"),
    [
        ({"file_ignore_glob": ["files/*"]}, True),
        ({"file_ignore_glob": ["*/files/*"]}, False),
        ({"file_ignore_glob": ["*motd"]}, False),
        ({"file_ignore_regex": ["^files"]}, True),
        ({"file_ignore_regex": ["/files/"]}, False),
    ],
)
def test_a_file_that_is_asked_for_is_ignored_by_its_whole_path(
    roots: Any, settings: Any, found: bool
) -> None:
    assert bool(FileTree(roots, settings).find("files/motd", "base")) == found


def test_links(tmp_path: Path, roots: Any) -> None:
    (tmp_path / "one" / "link.sls").symlink_to(tmp_path / "one" / "top.sls")
    (tmp_path / "one" / "files" / "again").symlink_to(tmp_path / "one" / "files")  # a circle
    (tmp_path / "one" / "broken").symlink_to("nowhere")
    tree, strict = FileTree(roots), FileTree(roots, {"fileserver_ignoresymlinks": True})
    assert tree.sls_path("link", "base") and "link" in tree.sls_names("base")
    assert strict.sls_path("link", "base") and "link" not in strict.sls_names("base")
    assert "files/again" in strict.folders("", "base")
    assert "files/again" in tree.folders("", "base") and "files/again/again" not in tree.folders(
        "", "base"
    )
    assert "broken" not in tree.files("", "base")
    unfollowed = FileTree(roots, {"fileserver_followsymlinks": False})
    assert "files/again" not in unfollowed.folders("", "base")
    assert unfollowed.find("files/motd", "base") and unfollowed.find("files/again/motd", "base")


def test_folders_that_may_not_be_read(roots: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their files are not missing: nobody knows (a pillar would be empty)."""
    denied = [f"{roots['base'][0]}/w/"]

    def may(look: Any) -> Any:
        def call(path: Any, *args: Any) -> Any:
            if f"{path}/".startswith(denied[0]):
                raise PermissionError(13, "Permission denied", path)
            return look(path, *args)

        return call

    monkeypatch.setattr(os, "stat", may(os.stat))
    monkeypatch.setattr(os, "scandir", may(os.scandir))
    with pytest.raises(RunnerError) as error:
        FileTree(roots).sls_path("w.a", "base")
    assert str(error.value).startswith(
        f"{denied[0]}a.sls cannot be read: Permission denied\n  at {denied[0]}a.sls"
    )
    tree = FileTree(roots)
    assert tree.sls_path("both", "base") and "w" not in tree.sls_names("base")
    assert [f"{folder}/" for folder in tree.closed] == denied  # `check` tells them
    denied[0] = f"{roots['base'][0]}/"
    with pytest.raises(RunnerError, match="cannot be read: Permission denied"):
        FileTree(roots).sls_names("base")


def test_a_lookup_lists_nothing_and_a_listing_is_read_once(
    roots: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = []
    scan = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: [listed.append(path), scan(path)][1])
    tree = FileTree(roots)
    assert tree.sls_path("w.a", "base") and tree.fetch("salt://files/motd", "base") and listed == []
    tree.files("", "base")
    once = len(listed)
    tree.sls_names("base"), tree.folders("w", "base")
    assert len(listed) == once > 0


def test_an_environment_for_all_others(tmp_path: Path) -> None:
    (tmp_path / "qa").mkdir()
    (tmp_path / "qa" / "x.sls").write_text("")
    tree = FileTree({"__env__": (f"{tmp_path}/__env__",)})
    assert tree.sls_path("x", "qa") == f"{tmp_path}/qa/x.sls" and tree.exists("qa")
    assert tree.root_of(f"{tmp_path}/qa/x.sls") is None and not FileTree({}).exists("base")


def test_root_of(tmp_path: Path, roots: Any) -> None:
    tree = FileTree(roots)
    assert tree.root_of(f"{tmp_path}/two/only.sls") == f"{tmp_path}/two"
    assert tree.root_of(f"{tmp_path}/twofold/x") is None


def test_roots_in_roots(tmp_path: Path) -> None:
    """A formula's folder is often a root below another one: what its SLS is called decides."""
    outer, inner = str(tmp_path), f"{tmp_path}/formulas/web-formula"
    tree = FileTree({"base": (outer, inner)})
    for name, root in (("web.site", inner), ("formulas.web-formula.web.site", outer)):
        assert tree.root_of(f"{inner}/web/site.sls", name) == root
    assert tree.root_of(f"{inner}/web/init.sls", "web") == inner
    assert tree.root_of(f"{inner}/web/map.jinja") == inner


def test_links_of_the_tree(tmp_path: Path) -> None:
    root = tmp_path / "states"
    (root / "a" / "folder").mkdir(parents=True)
    (root / "f").write_text("")
    for name, target in {
        "file": "../f",
        "dir": "folder",
        "nowhere": "no",
        "out": "/etc/hostname",
    }.items():
        (root / "a" / name).symlink_to(target)
    (root / "a" / "folder" / "up").symlink_to("../../f")
    found = FileTree({"base": [str(root)]}).links("a", "base")
    assert found == {
        f"a/{name}": f"{root}/a/{name}" for name in ("file", "dir", "nowhere", "folder/up")
    }


def test_a_link_to_what_holds_the_tree_is_not_walked(tmp_path: Path, roots: Any) -> None:
    """One to `/` would make the whole machine a part of the tree."""
    for name, target in (("all", "/"), ("above", str(tmp_path)), ("beside", str(tmp_path / "two"))):
        (tmp_path / "one" / name).symlink_to(target)
    tree = FileTree(roots)
    assert [name for name in tree.sls_names("base") if name.startswith(("all", "above"))] == []
    assert "beside.only" in tree.sls_names("base")


def test_a_link_to_far_too_much(
    tmp_path: Path, roots: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "one/many").symlink_to(tmp_path / "more")
    (tmp_path / "more").mkdir()
    for number in range(12):
        (tmp_path / "more" / str(number)).touch()
    monkeypatch.setattr("runner.sources.fileroots.MOST_BEHIND_A_LINK", 12)
    assert "many/11" in FileTree(roots).files("many", "base")
    monkeypatch.setattr("runner.sources.fileroots.MOST_BEHIND_A_LINK", 11)
    with pytest.raises(RunnerError, match="more than 11 files behind this link") as caught:
        FileTree(roots).sls_names("base")
    assert caught.value.source and caught.value.source.file == f"{tmp_path}/one/many"


def test_links_out_of_the_root_that_are_not_followed(tmp_path: Path, roots: Any) -> None:
    """As with Salt: what lies in the root is found through links, too; what lies elsewhere is not
    there.
    """
    one = tmp_path / "one"
    (one / "out.sls").symlink_to(tmp_path / "secret.sls")
    (one / "folder").symlink_to(tmp_path)
    (one / "in.sls").symlink_to("only_in.sls")
    (one / "only_in.sls").touch()
    for follow, found in ((True, f"{one}/out.sls"), (False, None)):
        tree = FileTree(roots, {"fileserver_followsymlinks": follow})
        assert tree.sls_path("out", "base") == tree.fetch("salt://out.sls", "base") == found
        assert bool(tree.find("folder/secret.sls", "base")) is follow
        assert tree.sls_path("in", "base") == f"{one}/in.sls"
