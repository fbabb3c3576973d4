# SPDX-License-Identifier: Apache-2.0
"""The file module: whole writes, owners, removal, and what templates ask."""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness import HarnessHere
from needing import needs_root

from modules import file
from runner.api import ChangeNotAllowed, StateFailed, changes_allowed, running
from runner.engine.loader.registry import Registry


@pytest.fixture(autouse=True)
def here() -> Iterator[HarnessHere]:
    current = HarnessHere()
    with running(current), changes_allowed():
        yield current


def mode(path: Path) -> str:
    return f"{path.lstat().st_mode & 0o7777:04o}"


def leftovers(folder: Path) -> list[str]:
    return [entry.name for entry in folder.iterdir() if ".runner-" in entry.name]


# ---------------------------------------------------------------- whole writes


def test_a_new_file_gets_the_mode_that_the_umask_leaves(tmp_path: Path) -> None:
    file.write(str(tmp_path / "f"), b"x")
    (tmp_path / "by_hand").touch()
    assert mode(tmp_path / "f") == mode(tmp_path / "by_hand") == file.default_mode()


@pytest.mark.parametrize("wanted", ["0600", "0444", "4755", "0000"])
def test_a_write_sets_exactly_the_mode_that_is_asked(tmp_path: Path, wanted: str) -> None:
    file.write(str(tmp_path / "f"), b"x", mode=wanted)
    assert mode(tmp_path / "f") == wanted


def test_a_write_keeps_mode_and_attributes(tmp_path: Path) -> None:
    target = tmp_path / "f"
    target.write_bytes(b"old")
    target.chmod(0o2751)
    try:
        os.setxattr(target, "user.note", b"mine")
    except OSError:
        pytest.skip("no extended attributes here")
    file.write(str(target), b"new")
    assert (target.read_bytes(), mode(target), os.getxattr(target, "user.note")) == (
        b"new",
        "2751",
        b"mine",
    )


@needs_root("to give files away")
def test_a_write_keeps_or_sets_the_owner(tmp_path: Path) -> None:
    target = tmp_path / "f"
    target.write_bytes(b"old")
    os.chown(target, 1, 1)
    file.write(str(target), b"new")
    assert (target.stat().st_uid, target.stat().st_gid) == (1, 1)
    file.write(str(target), b"new", user="root", group=2)
    assert (target.stat().st_uid, target.stat().st_gid) == (0, 2)


def test_nobody_can_read_a_file_before_it_has_its_mode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    monkeypatch.setattr(os, "fchmod", lambda new, bits: seen.append(os.fstat(new).st_mode & 0o077))
    file.write(str(tmp_path / "f"), b"x", mode="0666")
    assert seen == [0]


@pytest.mark.parametrize("step", ["fsync", "rename", "fchmod"])
def test_a_failure_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    target = tmp_path / "f"
    target.write_bytes(b"old")

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, step, full)
    with pytest.raises(StateFailed, match=r"No space left on device.*nothing was replaced"):
        file.write(str(target), b"new")
    assert target.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["f"]


def test_a_link_is_written_through_or_replaced(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"old")
    (tmp_path / "l").symlink_to("f")
    file.write(str(tmp_path / "l"), b"through")
    assert (tmp_path / "l").is_symlink()
    assert (tmp_path / "f").read_bytes() == b"through"
    file.write(str(tmp_path / "l"), b"instead", follow=False)
    assert not (tmp_path / "l").is_symlink()
    assert (tmp_path / "f").read_bytes() == b"through"


def test_a_dangling_link_is_written_through(tmp_path: Path) -> None:
    (tmp_path / "l").symlink_to("f")
    file.write(str(tmp_path / "l"), b"x")
    assert (tmp_path / "f").read_bytes() == b"x"


def test_folders_and_pipes_are_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(StateFailed, match="not replaced by a file"):
            file.write(str(path), b"x")


def test_a_name_of_255_bytes_can_be_written(tmp_path: Path) -> None:
    name = "ü" * 127
    file.write(str(tmp_path / name), b"x")
    assert (tmp_path / name).read_bytes() == b"x"


def test_a_link_replaces_what_is_there_in_one_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / ("n" * 255)
    path.write_text("old")
    neighbour = tmp_path / f".{path.name[:200]}"
    neighbour.mkdir()

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as broken:
        broken.setattr(os, "rename", full)
        with pytest.raises(StateFailed, match="No space left on device"):
            file.put_symlink("target", str(path))
    assert sorted(tmp_path.iterdir()) == sorted([neighbour, path])
    assert path.read_text() == "old"
    file.put_symlink("target", str(path))
    assert os.readlink(path) == "target"
    assert sorted(tmp_path.iterdir()) == sorted([neighbour, path])


def test_a_backup_keeps_the_old_file(tmp_path: Path, here: HarnessHere) -> None:
    (tmp_path / "f").write_bytes(b"old")
    file.write(str(tmp_path / "f"), b"new", backup="minion")
    kept = [path for path in Path(here.state_dir).rglob("f_*") if path.is_file()]
    assert [path.read_bytes() for path in kept] == [b"old"]
    assert mode(Path(here.state_dir) / "file_backup") == "0700"


def test_a_file_that_is_a_mount_point_is_written_in_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(*_: object, **__: object) -> None:
        raise OSError(errno.EBUSY, "busy")

    (tmp_path / "f").write_bytes(b"a longer old text")
    inode = (tmp_path / "f").stat().st_ino
    monkeypatch.setattr(os, "rename", busy)
    file.write(str(tmp_path / "f"), b"new")
    assert ((tmp_path / "f").read_bytes(), (tmp_path / "f").stat().st_ino) == (b"new", inode)
    assert not leftovers(tmp_path)


def test_an_unknown_owner_is_named(tmp_path: Path) -> None:
    with pytest.raises(StateFailed) as failure:
        file.write(str(tmp_path / "f"), b"x", user="no-one-here")
    assert failure.value.missing == (("user", "no-one-here"),)
    assert not list(tmp_path.iterdir())


# ---------------------------------------------------------------- other changes


def test_changers_tell_what_was_there(tmp_path: Path, here: HarnessHere) -> None:
    (tmp_path / "f").write_bytes(b"old")
    file.remove(str(tmp_path / "f"))
    event = here.events[-1]
    assert (event.function, event.target) == ("file.remove", str(tmp_path / "f"))
    assert event.before["size"] == 3


def test_remove_takes_trees_but_not_what_links_point_to(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "f").touch()
    (tmp_path / "d" / "e").mkdir(parents=True)
    (tmp_path / "d" / "l").symlink_to(tmp_path / "kept")
    file.remove(str(tmp_path / "d"))
    file.remove(str(tmp_path / "nothing"))
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["f", "kept"]


def test_makedirs_gives_its_mode_to_all_that_it_makes(tmp_path: Path) -> None:
    tmp_path.chmod(0o750)
    file.makedirs(str(tmp_path / "a" / "b"), mode="2711")
    assert [mode(path) for path in (tmp_path, tmp_path / "a", tmp_path / "a" / "b")] == [
        "0750",
        "2711",
        "2711",
    ]


def test_copy_of_files_and_folders(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "f").write_bytes(b"x")
    (tmp_path / "d" / "f").chmod(0o751)
    os.utime(tmp_path / "d" / "f", (1, 2))
    file.copy(str(tmp_path / "d"), str(tmp_path / "e"), preserve=True)
    assert (mode(tmp_path / "e" / "f"), (tmp_path / "e" / "f").stat().st_mtime) == ("0751", 2)
    file.copy(str(tmp_path / "d" / "f"), str(tmp_path / "g"))
    assert (tmp_path / "g").read_bytes() == b"x"


@needs_root("to give files away")
def test_chown_keeps_set_user_id(tmp_path: Path) -> None:
    (tmp_path / "f").touch()
    (tmp_path / "f").chmod(0o4755)
    file.chown(str(tmp_path / "f"), 1, None)
    assert (mode(tmp_path / "f"), (tmp_path / "f").stat().st_uid) == ("4755", 1)


def test_failures_name_path_and_reason(tmp_path: Path) -> None:
    with pytest.raises(StateFailed, match=f"set mode of {tmp_path}/no failed: No such file"):
        file.set_mode(str(tmp_path / "no"), "0644")


# ---------------------------------------------------------------- looks under Salt's names


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "d" / "e").mkdir(parents=True)
    (tmp_path / "d" / "a.conf").write_text("alpha = 1\n# beta\n")
    (tmp_path / "d" / "e" / "b.txt").write_text("x" * 3000)
    (tmp_path / "d" / "l").symlink_to("a.conf")
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "d" / "a.conf").chmod(0o640)
    return tmp_path / "d"


CALLS = [
    ("file_exists", ["{d}/a.conf"], True),
    ("file_exists", ["{d}"], False),
    ("directory_exists", ["{d}"], True),
    ("path_exists_glob", ["{d}/*.conf"], True),
    ("path_exists_glob", ["{d}/*.no"], False),
    ("dirname", ["/a/b/c"], "/a/b"),
    ("basename", ["/a/b/c"], "c"),
    ("join", ["/a", "b", "c"], "/a/b/c"),
    ("search", ["{d}/a.conf", "^alpha"], True),
    ("search", ["{d}/a.conf", "ALPHA", ["IGNORECASE"]], True),
    ("search", ["{d}/a.conf", r"1\n#"], False),
    ("contains", ["{d}/a.conf", "beta"], True),
    ("contains", ["{d}/no", "beta"], False),
    ("contains", ["{d}", "beta"], False),
    ("contains_regex", ["{d}", "beta"], False),
    ("contains_glob", ["{d}", "*"], False),
    ("contains_regex", ["{d}/a.conf", "^beta", "# "], True),
    ("contains_glob", ["{d}/a.conf", "*beta*"], True),
    ("access", ["{d}/a.conf", "r"], True),
    ("access", ["{d}/no", "f"], False),
    ("get_mode", ["{d}/a.conf"], "0640"),
    ("get_mode", ["{d}/no"], ""),
    ("get_mode", ["{d}/../dangling"], "0777"),
    ("get_uid", ["{d}/../dangling"], os.getuid()),
    ("get_diff", ["{d}/a.conf", "/bin/true"], "Replace text file with binary file"),
    ("get_diff", ["/bin/true", "/bin/true"], ""),
    ("get_hash", ["{d}/e/b.txt", "md5"], hashlib.md5(b"x" * 3000).hexdigest()),
    ("read", ["{d}/a.conf"], "alpha = 1\n# beta\n"),
    ("readlink", ["{d}/l"], "a.conf"),
    ("is_link", ["{d}/l"], True),
    ("is_chrdev", ["/dev/null"], True),
    ("is_chrdev", ["{d}/no"], False),
    ("is_blkdev", ["/dev/null"], False),
    ("is_fifo", ["{d}/a.conf"], False),
    ("lstat", ["{d}/no"], {}),
    ("find", ["{d}", "type=f"], ["{d}/a.conf", "{d}/e/b.txt", "{d}/l"]),
    ("touch", ["{d}/new"], True),
    ("write", ["{d}/new", "a", "b"], 'Wrote 2 lines to "{d}/new"'),
    ("remove", ["{d}/no"], False),
]


def filled(value: object, folder: Path) -> object:
    if isinstance(value, str):
        return value.replace("{d}", str(folder))
    return [filled(each, folder) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    ("name", "arguments", "answer"), CALLS, ids=[f"{c[0]}{n}" for n, c in enumerate(CALLS)]
)
def test_functions_by_salts_names(
    tree: Path, name: str, arguments: list[object], answer: object
) -> None:
    arguments = [filled(each, tree) for each in arguments]
    assert Registry({}).function(f"file.{name}")(*arguments) == filled(answer, tree)


FINDS = [
    ({"name": "*.conf"}, ["a.conf"]),
    ({"iname": "A.*"}, ["a.conf"]),
    ({"regex": r"e/b"}, ["e/b.txt"]),
    ({"type": "l"}, ["l"]),
    ({"type": "dl", "mindepth": 1}, ["e", "l"]),
    ({"maxdepth": 1, "type": "f"}, ["a.conf", "l"]),
    ({"size": "+2k", "type": "f"}, ["e/b.txt"]),
    ({"size": "-1k", "type": "f"}, ["a.conf", "l"]),
    ({"mtime": "-1d", "type": "f"}, ["a.conf", "e/b.txt", "l"]),
    ({"mtime": "+1d", "type": "f"}, []),
    ({"grep": "^# beta"}, ["a.conf", "l"]),
    ({"user": str(os.geteuid()), "name": "a.conf"}, ["a.conf"]),
]


@pytest.mark.parametrize(("conditions", "found"), FINDS, ids=[str(each[0]) for each in FINDS])
def test_find(tree: Path, conditions: dict[str, object], found: list[str]) -> None:
    assert [os.path.relpath(path, tree) for path in file.find(str(tree), **conditions)] == found
    assert file.find(f"{tree.parent}/[d]", **conditions) == file.find(str(tree), **conditions)


def test_find_prints_and_refuses(tree: Path) -> None:
    assert file.find(str(tree), name="a.conf", print="name,size,type") == [["a.conf", 17, "f"]]
    for bad in ({"delete": "f"}, {"zork": 1}, {"type": "x"}, {"size": "many"}):
        with pytest.raises(StateFailed):
            file.find(str(tree), **bad)


def test_stats_and_grep(tree: Path) -> None:
    found = file.stats(str(tree / "a.conf"), "sha256")
    assert (found["mode"], found["type"], found["size"]) == ("0640", "file", 17)
    assert found["sum"] == file.get_hash(str(tree / "a.conf"))
    assert file.grep(str(tree / "a.conf"), "beta")["stdout"] == "# beta"
    assert file.grep(str(tree / "a.conf"), "beta", "-v")["stdout"] == "alpha = 1"


def test_changers_refuse_while_looking(tmp_path: Path) -> None:
    from runner import api

    token = api._changes_allowed.set(False)
    try:
        with pytest.raises(ChangeNotAllowed):
            file.write(str(tmp_path / "f"), b"x")
    finally:
        api._changes_allowed.reset(token)


# ---------------------------------------------------------------- hashes

SHA = "a" * 64
HASH_FILES = [
    (f"{SHA}  f.tar\n", ("sha256", SHA)),
    (f"{'b' * 64}  other\n{SHA} *f.tar\n", ("sha256", SHA)),
    (f"{'b' * 64}  other\n{SHA}  ./dist/f.tar\n", ("sha256", SHA)),
    (f"SHA256 (f.tar) = {SHA}\nSHA256 (g.tar) = {'b' * 64}\n", ("sha256", SHA)),
    (f"f.tar {SHA}\n", ("sha256", SHA)),
    (f"{SHA}\n", ("sha256", SHA)),
    (f"{SHA}  renamed.tar\n", ("sha256", SHA)),
    (f"sha256={SHA}\n", ("sha256", SHA)),
]


@pytest.mark.parametrize(("text", "found"), HASH_FILES)
def test_hash_files(text: str, found: tuple[str, str], tmp_path: Path) -> None:
    assert hash_in(text, ["f.tar"], tmp_path) == found


def hash_in(text: str, names: list[str], folder: Path) -> tuple[str, str]:
    (folder / "sums").write_text(text)
    return file.source_hash(f"{folder}/sums", names)


def test_a_better_name_comes_before_an_earlier_line(tmp_path: Path) -> None:
    text = f"{'a' * 64}\n{'b' * 64}  g.tar\n{SHA}  f.tar\n{'c' * 64}  f.tar\n"
    assert hash_in(text, ["f.tar", "g.tar"], tmp_path) == ("sha256", SHA)
    assert hash_in(text, ["h.tar", "g.tar"], tmp_path) == ("sha256", "b" * 64)
    assert hash_in(text, ["h.tar"], tmp_path) == ("sha256", "a" * 64)


def test_hash_files_without_the_name(tmp_path: Path) -> None:
    with pytest.raises(StateFailed, match=r"no hash of f\.tar"):
        hash_in(f"{SHA}  a\n{SHA}  b\n", ["f.tar"], tmp_path)


@pytest.mark.parametrize("text", ["zork", "md5=abc", f"sha512={SHA}", ""])
def test_what_is_no_hash(text: str) -> None:
    with pytest.raises(StateFailed, match="is not a hash"):
        file.split_hash(text)
