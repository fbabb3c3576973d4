# SPDX-License-Identifier: Apache-2.0
"""What archives are refused, what a failure leaves, and Salt's functions."""

from __future__ import annotations

import io
import os
import subprocess
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from harness import HarnessHere, apply
from needing import needs_root, require_root

from modules import archive
from modules.archive import _extract
from runner.api import StateFailed, changes_allowed, running
from states.archive import extracted

KINDS = {
    "file": tarfile.REGTYPE,
    "dir": tarfile.DIRTYPE,
    "link": tarfile.SYMTYPE,
    "hard": tarfile.LNKTYPE,
    "char": tarfile.CHRTYPE,
}
Entry = tuple[str, str, str]  # name, contents or target, kind


@pytest.fixture(autouse=True)
def here() -> Iterator[HarnessHere]:
    current = HarnessHere()
    with running(current), changes_allowed():
        yield current


def tar(path: Path, *entries: Entry, mode: int = 0o644) -> Path:
    with tarfile.open(path, "w:gz") as made:
        for name, text, kind in entries:
            info = tarfile.TarInfo(name)
            info.type, info.mode = KINDS[kind], 0o755 if kind == "dir" else mode
            info.linkname = text if kind in ("link", "hard") else ""
            info.size = len(text) if kind == "file" else 0
            made.addfile(info, io.BytesIO(text.encode()))
    return path


DANGERS: list[tuple[str, list[Entry], int]] = [
    ("outside its folder", [("t/../../evil", "x", "file")], 0),
    ("outside its folder", [("/evil", "x", "file")], 0),
    ("outside its folder", [("a/../evil", "x", "file")], 2),
    ("is a device", [("t/null", "", "char")], 0),
    ("lies behind the link", [("t/l", "../../d", "link"), ("t/l/x", "x", "file")], 0),
    ("lies behind the link", [("t//./l", "/d", "link"), ("t/l/x", "x", "file")], 0),
    ("lies behind the link", [("a/l", "../d", "link"), ("b/l/x", "x", "file")], 1),
    ("lies behind the link", [("t/l/x", "x", "file"), ("t/l", "d", "link")], 0),
    (
        "lies behind the link",
        [("t/l", "m", "link"), ("t/m", "l", "link"), ("t/l/x", "", "file")],
        0,
    ),
    (
        "lies behind the link",
        [("t/m", "/etc", "link"), ("t/l", "m/..", "link"), ("t/l/x", "x", "file")],
        0,
    ),
    (
        "has the name of a link",
        [("t/k", "d", "link"), ("t/d/l", "/e", "link"), ("t/k/l", "", "file")],
        0,
    ),
    ("has the name of a link", [("t/l", "d", "link"), ("t/l", "x", "file")], 0),
    ("has the name of a link", [("t/l", "d", "link"), ("./t//l", "x", "file")], 0),
    ("has the name of a link", [("a/l", "d", "link"), ("b/l", "x", "file")], 1),
    ("is a hard link", [("t/h", "/etc/shadow", "hard")], 0),
    ("is a hard link", [("t/h", "../x", "hard")], 0),
    ("is a hard link", [("t/l", "/d", "link"), ("t/h", "t/l/x", "hard")], 0),
]


@pytest.mark.parametrize(("reason", "entries", "strip"), DANGERS)
def test_dangerous_archives_are_refused(
    tmp_path: Path, reason: str, entries: list[Entry], strip: int
) -> None:
    path = tar(tmp_path / "a.tgz", ("t/d/x", "fine", "file"), ("t/d/y/x", "fine", "file"), *entries)
    with pytest.raises(StateFailed, match=reason):
        archive.members(str(path), "tar", strip)
    options = f"--strip-components={strip}"
    with pytest.raises(StateFailed, match=reason):
        apply(
            extracted, str(tmp_path / "out"), [str(path)], enforce_toplevel=False, options=options
        )
    assert sorted(os.listdir(tmp_path)) == ["a.tgz"]


@pytest.mark.parametrize("mode", [0o4755, 0o2755])
def test_set_user_id_is_refused(tmp_path: Path, mode: int) -> None:
    with pytest.raises(StateFailed, match="set-user-ID"):
        archive.members(str(tar(tmp_path / "a.tgz", ("t/su", "x", "file"), mode=mode)), "tar")
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as made:
        info = zipfile.ZipInfo("t/su")
        info.external_attr = (0o100000 | mode) << 16
        made.writestr(info, "x")
    with pytest.raises(StateFailed, match="set-user-ID"):
        archive.members(str(tmp_path / "a.zip"), "zip")


def test_links_inside_are_fine(tmp_path: Path) -> None:
    entries: list[Entry] = [
        ("t/a", "text", "file"),
        ("t/b/l", "../a", "link"),
        ("t/h", "t/a", "hard"),
    ]
    apply(extracted, str(tmp_path / "out"), [str(tar(tmp_path / "a.tgz", *entries))])
    top = tmp_path / "out/t"
    assert (top / "b/l").read_text() == "text"
    assert (top / "h").stat().st_ino == (top / "a").stat().st_ino


@pytest.mark.parametrize("options", ["", "--strip-components=1", "--exclude=nothing"])
def test_members_behind_links_inside_go_where_these_lead(tmp_path: Path, options: str) -> None:
    entries: list[Entry] = [
        ("t/usr/lib/a", "a", "file"),
        ("t/lib", "usr/lib", "link"),
        ("t/lib64", "lib", "link"),
        ("t/lib64/b", "b", "file"),
        ("t/lib/sub/c", "c", "file"),
        ("t/usr/up", "../lib/sub", "link"),
        ("t/lib/h", "t/lib64/b", "hard"),
    ]
    path = str(tar(tmp_path / "a.tgz", *entries))
    if not options:
        entries.append(("t/usr/up/d", "d", "file"))
        path = str(tar(tmp_path / "a.tgz", *entries))
        with zipfile.ZipFile(tmp_path / "a.zip", "w") as made:
            for name, text, kind in entries[:-2]:
                info = zipfile.ZipInfo(name)
                info.external_attr = (0o120777 if kind == "link" else 0o100644) << 16
                made.writestr(info, text)
    arguments = {"enforce_toplevel": False, "options": options or None}
    for source in [path] if options else [path, str(tmp_path / "a.zip")]:
        out = tmp_path / f"out-{source[-3:]}"
        assert apply(extracted, str(out), [source], **arguments)
        top = out if "strip" in options else out / "t"
        assert (top / "usr/lib/b").read_text() == "b"
        assert (top / "usr/lib/sub/c").read_text() == "c"
        assert os.readlink(top / "lib64") == "lib"
        if source == path:
            assert (top / "usr/lib/h").stat().st_ino == (top / "usr/lib/b").stat().st_ino
        assert not apply(extracted, str(out), [source], **arguments).changes


def test_the_folders_above_a_file_are_not_resolved_for_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tar(tmp_path / "a.tgz", *((f"t/{n}", "x", "file") for n in range(50))))
    resolved: list[object] = []
    realpath = os.path.realpath
    monkeypatch.setattr(
        os.path, "realpath", lambda *a, **k: resolved.append(a) or realpath(*a, **k)
    )
    apply(extracted, str(tmp_path / "out"), [path])
    assert len(resolved) < 50
    assert len(os.listdir(tmp_path / "out/t")) == 50


@pytest.mark.parametrize("argument", ["clean", "clean_parent", "force"])
def test_a_failure_removes_nothing(tmp_path: Path, argument: str) -> None:
    whole = tar(tmp_path / "a.tgz", ("t/a", "x" * 100_000, "file"), ("t/z", "z", "file"))
    with tarfile.open(whole) as made, open(tmp_path / "cut.tar", "wb") as cut:
        plain = io.BytesIO()
        with tarfile.open(fileobj=plain, mode="w") as again:
            for info in made:
                again.addfile(info, made.extractfile(info))
        cut.write(plain.getvalue())
    path = tmp_path / "cut.tar"
    old = tmp_path / "out/t/z" / "kept" if argument == "force" else tmp_path / "out/t/kept"
    old.parent.mkdir(parents=True)
    old.write_text("old")
    generator = extracted(str(tmp_path / "out"), [str(path)], **{argument: True})
    next(generator)
    path.write_bytes(path.read_bytes()[:50_000])
    with pytest.raises(StateFailed, match="cannot be extracted") as failure:
        next(generator)
    assert failure.value.changes == {}
    assert old.read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["a.tgz", "cut.tar", "out"]
    assert sorted(p.name for p in (tmp_path / "out").rglob("*")) == sorted(
        {"t", "kept", *old.parts[-2:]} - {"out"}
    )


def test_zip_keeps_modes(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as made:
        for name, mode, text in (
            ("t/", 0o40550, ""),
            ("t/run", 0o100755, "x"),
            ("t/l", 0o120777, "run"),
        ):
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            made.writestr(info, text)
    apply(extracted, str(tmp_path / "out"), [str(tmp_path / "a.zip")])
    assert (tmp_path / "out/t").stat().st_mode & 0o777 == 0o550
    assert (tmp_path / "out/t/run").stat().st_mode & 0o777 == 0o755
    assert os.readlink(tmp_path / "out/t/l") == "run"


def test_owner_is_for_the_top_folder_and_below(tmp_path: Path) -> None:
    require_root("to give files away")
    apply(extracted, str(tmp_path / "out"), [str(tar(tmp_path / "a.tgz", ("t/a", "x", "file")))])
    (tmp_path / "out/beside").touch()
    (tmp_path / "out/t/more").touch()
    done = apply(extracted, str(tmp_path / "out"), [str(tmp_path / "a.tgz")], user=1234)
    assert done.changes == {"updated ownership": True}
    found = {p.name: p.stat().st_uid for p in (tmp_path / "out").rglob("*")}
    assert found == {"beside": 0, "t": 1234, "a": 1234, "more": 1234}
    assert not apply(extracted, str(tmp_path / "out"), [str(tmp_path / "a.tgz")], user=1234).changes


LISTED: list[tuple[dict[str, Any], Any]] = [
    ({}, ["t/", "t/a", "t/l"]),
    ({"strip_components": 1}, ["a", "l"]),
    (
        {"verbose": True},
        {
            "dirs": ["t/"],
            "files": ["t/a"],
            "links": ["t/l"],
            "top_level_dirs": ["t/"],
            "top_level_files": [],
            "top_level_links": [],
        },
    ),
]


@pytest.mark.parametrize(("arguments", "expected"), LISTED)
def test_list(tmp_path: Path, arguments: dict[str, Any], expected: Any) -> None:
    path = tar(tmp_path / "a.tgz", ("t", "", "dir"), ("t/a", "x", "file"), ("t/l", "a", "link"))
    assert archive.list_(str(path), **arguments) == expected


def test_programs(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("text")
    (tmp_path / "d").mkdir()
    assert archive.tar("czvf", str(tmp_path / "t.tgz"), sources="f,d", cwd=str(tmp_path)) == [
        "f",
        "d/",
    ]
    assert archive.tar("xf", str(tmp_path / "t.tgz"), dest=str(tmp_path / "d")) == []
    assert (tmp_path / "d/f").read_text() == "text"
    assert "Cannot open" in archive.tar("xf", str(tmp_path / "none"))[0]
    assert archive.gzip(str(tmp_path / "f")) == []
    assert archive.gunzip(str(tmp_path / "f.gz")) == []
    assert (tmp_path / "f").read_text() == "text"


def test_zip_and_unzip(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d/f").write_text("text")
    path = str(tmp_path / "a.zip")
    assert archive.zip_(path, "d", cwd=str(tmp_path)) == ["d/", "d/f"]
    assert archive.unzip(path, str(tmp_path / "u"), excludes="d/f") == ["d/"]
    assert os.listdir(tmp_path / "u/d") == []
    assert archive.unzip(path, str(tmp_path / "u"), trim_output=1) == [
        "d/",
        "List trimmed after 1 files.",
    ]
    assert (tmp_path / "u/d/f").read_text() == "text"
    assert archive.is_encrypted(path) is False
    with pytest.raises(StateFailed, match="say with cwd"):
        archive.zip_(path, "d")


def test_what_is_larger_than_the_disk_is_not_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tar(tmp_path / "a.tgz", ("t", "", "dir"), ("t/a", "x" * 100_000, "file"))
    disk = os.statvfs(tmp_path)
    free = [100_000]

    def with_free(path: str) -> os.statvfs_result:
        return os.statvfs_result((1, 1, disk.f_blocks, free[0], free[0], *tuple(disk)[5:]))

    monkeypatch.setattr(os, "statvfs", with_free)
    assert apply(extracted, f"{tmp_path}/fits", source=[str(source)]).changes
    free[0] -= 1
    with pytest.raises(
        StateFailed, match=r"needs 0.1 MB, and the disk of .* has 0.1 MB left; free some space"
    ):
        apply(extracted, f"{tmp_path}/out", source=[str(source)])
    assert not (tmp_path / "out").exists()


def test_a_file_with_holes_needs_what_it_holds(tmp_path: Path) -> None:
    with open(tmp_path / "hole", "wb") as file:
        file.truncate(10**9)
    subprocess.run(["tar", "-cSf", "a.tar", "hole"], cwd=tmp_path, check=True)
    assert sum(member.size for member in archive.members(f"{tmp_path}/a.tar", "tar")) < 10_000


# ------------------------------------------- links lead anywhere, and nothing goes through them

LEAVING = ("/etc/hostname", "../../victim", "x/../../../victim", "../up/../..", "/nowhere")


@pytest.mark.parametrize("kind", ["tar", "zip", "tar, with its program"])
def test_links_that_leave_the_folder_are_extracted_as_they_are(tmp_path: Path, kind: str) -> None:
    """rootfs and vendor archives are full of them."""
    links: list[Entry] = [(f"t/{n}", target, "link") for n, target in enumerate(LEAVING)]
    path = tar(tmp_path / "a.tgz", ("t/up", "..", "link"), *links, ("t/d/f", "x", "file"))
    if kind == "zip":
        path = zipped(tmp_path / "a.zip", *links, ("t/d/f", "x", "file"))
    arguments = {"options": "--exclude=none"} if "program" in kind else {}
    apply(extracted, str(tmp_path / "out"), [str(path)], user=os.geteuid(), **arguments)
    for number, target in enumerate(LEAVING):
        assert os.readlink(tmp_path / "out/t" / str(number)) == target
    assert not apply(extracted, str(tmp_path / "out"), [str(path)], **arguments).changes


def zipped(path: Path, *entries: Entry) -> Path:
    with zipfile.ZipFile(path, "w") as made:
        for name, text, kind in entries:
            info = zipfile.ZipInfo(name)
            info.external_attr = (0o120777 if kind == "link" else 0o100644) << 16
            made.writestr(info, text)
    return path


def ground(tmp_path: Path, link: str = "../../victim") -> tuple[Path, str]:
    """What an attacker is after, and an archive whose link to it has been extracted."""
    victim = tmp_path / "victim"
    (victim / "sub").mkdir(parents=True)
    (victim / "secret").write_text("old")
    first = tar(tmp_path / "first.tgz", ("t/l", link, "link"), ("t/a", "x", "file"))
    out = str(tmp_path / "out")
    apply(extracted, out, [str(first)])
    return victim, out


def untouched(victim: Path) -> bool:
    found = {path.name: path.lstat().st_uid for path in victim.rglob("*")}
    return (
        found == dict.fromkeys(("sub", "secret"), os.geteuid())
        and (victim / "secret").read_text() == "old"
    )


@pytest.mark.parametrize("member", ["t/l/secret", "t/l/sub/x", "t/l/sub"])
@pytest.mark.parametrize("kind", ["tar", "zip", "tar, with its program"])
@pytest.mark.parametrize("arguments", [{}, {"force": True}])
def test_no_second_archive_writes_through_a_link_of_the_first(
    tmp_path: Path, member: str, kind: str, arguments: dict[str, Any]
) -> None:
    victim, out = ground(tmp_path)
    pack = zipped if kind == "zip" else tar
    path = str(pack(tmp_path / "second", (member, "evil", "file")))
    options = {"options": "--exclude=none"} if "program" in kind else {}
    if "force" in arguments:
        apply(extracted, out, [path], **arguments, **options)
        assert Path(out, member).read_text() == "evil"
        assert not Path(out, "t/l").is_symlink()
    else:
        with pytest.raises(StateFailed, match="incorrect type"):
            apply(extracted, out, [path], **arguments, **options)
        assert Path(out, "t/l").is_symlink()
    assert untouched(victim)


def test_a_folder_that_becomes_a_link_meanwhile_is_not_written_through(tmp_path: Path) -> None:
    """What is there is looked at before; that nothing goes through a link does not hang on it."""
    victim, out = ground(tmp_path)
    path = str(tar(tmp_path / "b.tgz", ("t/m/secret", "evil", "file")))
    Path(out, "t/m").mkdir()
    generator = extracted(out, [path], overwrite=True)
    next(generator)
    Path(out, "t/m").rmdir()
    Path(out, "t/m").symlink_to(victim)
    with pytest.raises(StateFailed, match="is a link out of"):
        next(generator)
    assert untouched(victim)
    assert sorted(os.listdir(out)) == ["t"]


def test_unzip_writes_through_no_link(tmp_path: Path) -> None:
    victim, out = ground(tmp_path)
    with pytest.raises(StateFailed, match="is a link out of"):
        archive.unzip(str(zipped(tmp_path / "b.zip", ("t/l/secret", "evil", "file"))), out)
    assert untouched(victim)


@needs_root()
@pytest.mark.parametrize("place", [None, "t", "t/l", "t/l/secret", "t/l/sub"])
def test_no_owner_is_set_through_a_link(tmp_path: Path, place: str | None) -> None:
    victim, out = ground(tmp_path)
    named = {} if place is None else {"enforce_ownership_on": f"{out}/{place}"}
    for _ in range(2):
        if place in (None, "t", "t/l"):
            apply(extracted, out, [str(tmp_path / "first.tgz")], user=1234, **named)
            assert os.lstat(f"{out}/t/l").st_uid == 1234
        else:
            with pytest.raises(StateFailed, match="leads out of"):
                apply(extracted, out, [str(tmp_path / "first.tgz")], user=1234, **named)
    assert untouched(victim)


@needs_root()
def test_no_owner_is_set_through_a_link_at_the_top(tmp_path: Path) -> None:
    victim, out = ground(tmp_path)
    path = str(tar(tmp_path / "b.tgz", ("l", "../victim", "link")))
    for _ in range(2):
        apply(extracted, out, [path], user=1234, enforce_toplevel=False)
    assert os.lstat(f"{out}/l").st_uid == 1234
    assert untouched(victim)


# -------------------------------------------------------- what was listed is what is unpacked


@pytest.mark.parametrize("options", [[], ["--exclude=none"]])
@pytest.mark.parametrize("mode", [0o4755, 0o755])
def test_another_archive_than_the_one_that_was_listed_is_refused(
    tmp_path: Path, options: list[str], mode: int
) -> None:
    path = str(tar(tmp_path / "a.tgz", ("t/f", "listed", "file")))
    archive.members(path, "tar", options=options)
    tar(tmp_path / "b.tgz", ("t/f", "another", "file"), mode=mode).rename(path)
    with pytest.raises(StateFailed, match=r"has changed since it was listed|set-user-ID"):
        archive.unpack(path, f"{tmp_path}/new", "tar", options=options)
    assert os.listdir(tmp_path) == ["a.tgz"]


@needs_root()
@pytest.mark.parametrize("options", [[], ["--exclude=none"]])
def test_an_archive_that_its_owner_overwrites_while_it_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    path = tar(tmp_path / "a.tgz", ("t/f", "listed", "file"))
    os.chown(path, 1, 1)
    archive.members(str(path), "tar", options=options)
    checked = _extract.refuse_changed

    def overwritten(*args: Any) -> None:
        checked(*args)
        path.write_bytes(
            tar(tmp_path / "b.tgz", ("t/f", "mine!!", "file"), mode=0o4755).read_bytes()
        )

    monkeypatch.setattr(_extract, "refuse_changed", overwritten)
    unpacked = archive.unpack(str(path), f"{tmp_path}/new", "tar", options=options)
    archive.place(unpacked, f"{tmp_path}/new")
    assert (tmp_path / "new/t/f").read_text() == "listed"
    assert (tmp_path / "new/t/f").stat().st_mode & 0o7777 == 0o644
