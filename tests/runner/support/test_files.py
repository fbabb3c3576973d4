# SPDX-License-Identifier: Apache-2.0
"""The folders in which runner keeps its own files, and those that it shares with others."""

from __future__ import annotations

import errno
import itertools
import os
import sqlite3
import stat
import struct
import time
from pathlib import Path

import pytest
from needing import needs_root

from runner.model.errors import RunnerError
from runner.support.files import descriptors, permissions, text
from runner.support.files.database import Patience
from runner.support.files.descriptors import RESERVE, held
from runner.support.files.folder_syncs import FolderSyncs
from runner.support.files.links import LinkOfOthers, open_output, refuse_special, without_links
from runner.support.files.permissions import Watch
from runner.support.files.shared_folder import SharedFolder
from runner.support.files.trusted_folder import UntrustedFile, trusted_folder


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[str | int]:
    """The sizes of files, and the names in folders, when they were made durable."""
    noted: list[str | int] = []

    def note(descriptor: int) -> None:
        at = os.fstat(descriptor)
        noted.append(
            at.st_size if stat.S_ISREG(at.st_mode) else " ".join(sorted(os.listdir(descriptor)))
        )

    monkeypatch.setattr(os, "fsync", note)
    return noted


def test_a_durable_file_is_on_the_disk_before_its_name_is(
    tmp_path: Path, synced: list[str | int]
) -> None:
    folder = trusted_folder(str(tmp_path))
    folder.write("f", b"text")
    assert synced == []
    folder.write("f", [b"longer ", b"text"], durable=True)
    assert synced == [11, "f"]
    assert folder.read("f") == b"longer text"
    assert (tmp_path / "f").stat().st_mode & 0o777 == 0o600


def test_a_file_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "f").mkdir()
    folder = trusted_folder(str(tmp_path))
    with pytest.raises(OSError):
        folder.write("f", b"x")
    assert folder.names() == ["f"]
    shared = SharedFolder(str(tmp_path))
    with pytest.raises(OSError):
        shared.write("f", b"x")
    assert shared.names() == ["f"]
    shared.close()


def test_a_shared_file_is_readable_by_the_group_of_its_folder(
    tmp_path: Path, synced: list[str | int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("/")  # whatever the working directory is
    shared = SharedFolder(str(tmp_path))
    shared.write("f", b"text")
    assert synced == [4, "f"]
    assert (tmp_path / "f").stat().st_mode & 0o777 == 0o640
    shared.remove("f")
    shared.remove("f")
    assert shared.names() == []
    shared.close()


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "/"])
def test_a_folder_below_has_a_plain_name(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="is not a name of a folder"):
        trusted_folder(str(tmp_path)).below(name)


def test_a_folder_that_is_not_to_be_made_is_not(tmp_path: Path) -> None:
    folder = trusted_folder(str(tmp_path))
    with pytest.raises(FileNotFoundError):
        folder.below("a", make=False)
    assert folder.below("a", "b").path == f"{tmp_path}/a/b"
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o700
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError, match=f"{tmp_path}/file"):
        folder.below("file")


def test_a_database_is_set_aside_with_what_belongs_to_it(tmp_path: Path) -> None:
    folder = trusted_folder(str(tmp_path))
    for name in ("d", "d-wal", "d-shm", "other"):
        folder.write(name, name.encode())
    aside = Path(folder.set_aside("d"))
    assert aside.parent == tmp_path and aside.name.startswith("d.corrupt-")
    moved = [f"{aside.name}{suffix}" for suffix in ("", "-wal", "-shm")]
    assert sorted(folder.names()) == sorted([*moved, "other"])
    assert not folder.exists("d") and folder.exists("other")
    assert (folder.remove("other"), folder.remove("other")) == (True, False)


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm", "-journal"])
def test_each_file_of_a_database_is_looked_at(tmp_path: Path, suffix: str) -> None:
    folder = trusted_folder(str(tmp_path))
    assert folder.database("d") == f"{tmp_path}/d"
    (tmp_path / "secret").touch()
    (tmp_path / "d").unlink()
    (tmp_path / f"d{suffix}").hardlink_to(tmp_path / "secret")
    with pytest.raises(UntrustedFile, match="a second name") as error:
        folder.database("d")
    assert error.value.filename == f"{tmp_path}/d{suffix}"


@pytest.mark.parametrize(
    ("code", "locked"), [(5, True), (6, True), (5 | 2 << 8, True), (1, False), (8, False)]
)
def test_a_locked_database_is_waited_for(
    monkeypatch: pytest.MonkeyPatch, code: int, locked: bool
) -> None:
    error = sqlite3.OperationalError("no")
    error.sqlite_errorcode = code
    clock = itertools.count(0.0, 0.4)
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    tried: list[int] = []

    def operation() -> int:
        tried.append(1)
        if len(tried) > 4:
            return 7
        raise error

    with pytest.raises(sqlite3.OperationalError):
        Patience(1.0)(operation)
    assert len(tried) == (3 if locked else 1)
    with pytest.raises(sqlite3.OperationalError):
        Patience(1.0, lambda: True)(operation)
    if locked:
        assert Patience(1.0)(operation) == 7


@pytest.mark.parametrize(
    ("path", "real"),
    [
        ("", ""),
        ("plain/none/more", "plain/none/more"),
        ("relative/x", "plain/below/x"),
        ("absolute/below/../x", "plain/x"),
        ("up/none", "plain/below/none"),
        ("twice/x", "plain/below/x"),
        ("dangling/x/y", "plain/none/x/y"),
        ("dangling/.", "plain/none"),
        ("past/x", "plain/x"),
    ],
)
def test_a_path_without_its_links(tmp_path: Path, path: str, real: str) -> None:
    (tmp_path / "plain/below").mkdir(parents=True)
    for name, target in {
        "relative": "plain/below",
        "absolute": f"{tmp_path}//plain",
        "up": "plain/./below/../below",
        "twice": "absolute/below/",
        "dangling": "plain/none",
        "past": "plain/none/../../plain",
    }.items():
        (tmp_path / name).symlink_to(target)
    assert without_links(f"{tmp_path}/{path}") == os.path.normpath(f"{tmp_path}/{real}")


def test_links_in_a_ring_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "ring").symlink_to("ring")
    with pytest.raises(OSError) as error:
        without_links(f"{tmp_path}/ring/x")
    assert error.value.errno == errno.ELOOP
    assert without_links("/") == "/"


def test_a_file_replaces_files_only(tmp_path: Path) -> None:
    (tmp_path / "f").touch()
    os.mkfifo(tmp_path / "pipe")
    refuse_special(f"{tmp_path}/f")
    refuse_special(f"{tmp_path}/none")
    with pytest.raises(IsADirectoryError):
        refuse_special(str(tmp_path))
    with pytest.raises(OSError, match="there is something else than a file"):
        refuse_special(f"{tmp_path}/pipe")


@pytest.mark.parametrize(
    ("mode", "names", "taken"), [(0o700, 2, True), (0o777, 2, False), (0o1777, 1, True)]
)
def test_a_second_name_is_not_written_where_others_can_make_one(
    tmp_path: Path, mode: int, names: int, taken: bool
) -> None:
    tmp_path.chmod(0o755)
    folder = tmp_path / "folder"
    folder.mkdir()
    folder.chmod(mode)
    (folder / "f").touch()
    if names == 2:
        (folder / "g").hardlink_to(folder / "f")
    before = os.listdir("/proc/self/fd")
    if taken:
        descriptor = open_output(f"{folder}/f", os.O_WRONLY)
        assert os.get_blocking(descriptor)
        os.close(descriptor)
    else:
        with pytest.raises(PermissionError, match="a second name"):
            open_output(f"{folder}/f", os.O_WRONLY)
    assert os.listdir("/proc/self/fd") == before


@pytest.mark.parametrize(("room", "kept"), [(RESERVE, False), (RESERVE + 1, True), (-1, True)])
def test_the_last_descriptors_stay_free(
    monkeypatch: pytest.MonkeyPatch, room: int, kept: bool
) -> None:
    free = os.dup(0)
    os.close(free)
    most = room if room < 0 else free + room
    monkeypatch.setattr("os.sysconf", lambda _: most)
    monkeypatch.setattr(descriptors, "_most", descriptors._most.__wrapped__)  # it is asked once
    copy = held(0)
    assert copy == (free if kept else None)
    again = os.dup(0)
    assert (again == free) is not kept
    for descriptor in (again, *([] if copy is None else [copy])):
        os.close(descriptor)
    assert held(free) is None, "there is nothing to hold"


@pytest.mark.parametrize(
    ("size", "largest", "refused"),
    [(4, 4, False), (5, 4, True), (100_000, 0, False), (100_000, 99_999, True)],
)
def test_the_size_of_a_file_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int, largest: int, refused: bool
) -> None:
    path, data = tmp_path / "f.sls", bytes(range(250)) * (size // 250 + 1)
    path.write_bytes(data[:size])
    for unsaved in (False, True):
        if unsaved:
            path.write_bytes(b"as it was")
            monkeypatch.setitem(text.UNSAVED, os.path.realpath(path), data[:size])
        if refused:
            with pytest.raises(RunnerError, match="is larger than 0 MiB") as error:
                text.read_bounded(str(path), largest)
            assert "sls_size_limit" in (error.value.hint or "")
        else:
            assert text.read_bounded(str(path), largest) == data[:size]
    assert text.unsaved_below(str(tmp_path)) == ["f.sls"]
    assert text.unsaved_below(f"{tmp_path}/f.sl") == []


def test_a_file_that_grows_while_it_is_read_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "f").write_bytes(b"x" * 200_000)
    whole, at_first = os.fstat, os.stat_result((stat.S_IFREG, 0, 0, 1, 0, 0, 10, 0, 0, 0))
    monkeypatch.setattr(os, "fstat", lambda _: at_first)
    assert len(text.read_bounded(str(tmp_path / "f"), 200_000)) == 200_000
    with pytest.raises(RunnerError, match="is larger"):
        text.read_bounded(str(tmp_path / "f"), 199_999)
    monkeypatch.setattr(os, "fstat", whole)
    with pytest.raises(RunnerError, match="is not a regular file"):
        text.read_bounded(str(tmp_path))


@needs_root("to make files of others")
@pytest.mark.parametrize(
    ("target", "followed"), [("theirs", True), ("mine", False), ("none", False), ("theirs/x", True)]
)
def test_a_link_of_another_user_leads_to_what_is_theirs(
    tmp_path: Path, target: str, followed: bool
) -> None:
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs/x").touch()
    (tmp_path / "mine").mkdir()
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o1777)
    (tmp_path / "shared/link").symlink_to(f"../{target}")
    for path in ("theirs", "theirs/x", "shared/link"):
        os.lchown(tmp_path / path, 1234, 1234)
    path = f"{tmp_path}/shared/link"
    if followed:
        assert without_links(path) == f"{tmp_path}/{target}"
        return
    for use in (without_links, lambda path: open_output(path, os.O_WRONLY)):
        with pytest.raises(LinkOfOthers, match=f"{path} is a symbolic link of user 1234") as error:
            use(path)
        assert error.value.hint == f"remove it, or make it root's: chown -h root {path}"


def test_a_folder_that_cannot_be_synced_is_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = errno.EIO

    def fails(_: int) -> None:
        raise OSError(problem, os.strerror(problem))

    monkeypatch.setattr(os, "fsync", fails)
    syncs, folder = FolderSyncs(), os.open(tmp_path, os.O_RDONLY)
    with pytest.raises(OSError, match="Input/output error"):
        syncs.changed(folder, str(tmp_path))
    with syncs.deferred():
        syncs.changed(folder, str(tmp_path))
        told = syncs.commit()
        assert told == f"the names in {tmp_path} are not durable: Input/output error"
        assert syncs.commit() == ""
        (failure,) = syncs.failures()
        assert (failure.path, failure.problem) == (str(tmp_path), "Input/output error")
        assert syncs.failures() == []
        problem = errno.EINVAL  # a file system that cannot
        syncs.changed(folder, str(tmp_path))
        assert syncs.commit() == ""
    os.close(folder)


def test_a_commit_keeps_no_folder_open(tmp_path: Path, synced: list[str | int]) -> None:
    syncs, before = FolderSyncs(), os.listdir("/proc/self/fd")
    folder = os.open(tmp_path, os.O_RDONLY)
    with syncs.deferred():
        for name in ("a", "b"):
            (tmp_path / name).touch()
            syncs.changed(folder, str(tmp_path))
        assert synced == []
        assert syncs.commit() == ""
        assert synced == ["a b"]
    os.close(folder)
    assert (synced, syncs.failures()) == (["a b"], [])
    assert os.listdir("/proc/self/fd") == before


# ---------------------------------------------------------------- who else can write

OWNER, USER, OF_FILE, GROUP, MASK = 0x01, 0x02, 0x04, 0x08, 0x10  # tags of the entries of an ACL
ME, MINE, THEIRS, READS, WRITES = 1000, 50, 60, 5, 6


@pytest.mark.parametrize(
    ("group", "entries", "told"),
    [
        (THEIRS, [], True),
        (MINE, [], False),
        (MINE, [(OWNER, WRITES, 7)], False),
        (MINE, [(USER, WRITES, 7)], True),
        (MINE, [(USER, READS, 7)], False),
        (MINE, [(USER, WRITES, ME), (USER, WRITES, 0)], False),
        (MINE, [(USER, WRITES, 7), (MASK, READS, 0)], False),
        (MINE, [(USER, WRITES, 7), (MASK, WRITES, 0)], True),
        (MINE, [(OF_FILE, WRITES, 0)], False),
        (THEIRS, [(OF_FILE, WRITES, 0)], True),
        (THEIRS, [(OF_FILE, READS, 0), (GROUP, WRITES, MINE)], False),
        (MINE, [(OF_FILE, WRITES, 0), (GROUP, WRITES, THEIRS)], True),
    ],
)
def test_whom_a_group_or_an_acl_lets_write(
    monkeypatch: pytest.MonkeyPatch, group: int, entries: list[tuple[int, int, int]], told: bool
) -> None:
    acl = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)
    monkeypatch.setattr(os, "geteuid", lambda: ME)
    monkeypatch.setattr(os, "getxattr", lambda target, name: acl)
    monkeypatch.setattr(permissions, "_is_private", lambda number: number == MINE)
    status = os.stat_result((stat.S_IFREG | 0o660, 0, 0, 1, ME, group, 0, 0, 0, 0))
    assert bool(permissions.flaw("/f", status, "/f")) is told
    monkeypatch.setattr(os, "getxattr", lambda target, name: acl + b"broken")
    assert bool(permissions.flaw("/f", status, "/f")) is (group == THEIRS)


@pytest.mark.parametrize(
    ("form", "passed", "owner"),
    [(stat.S_IFDIR, True, None), (stat.S_IFDIR, False, 7), (stat.S_IFREG, True, 7)],
)
def test_a_folder_on_the_way_may_be_whose_the_root_is(
    monkeypatch: pytest.MonkeyPatch, form: int, passed: bool, owner: int | None
) -> None:
    monkeypatch.setattr(permissions, "_owners_of_all", lambda: {7})
    status = os.stat_result((form | 0o755, 0, 0, 1, 7, 0, 0, 0, 0, 0))
    found = permissions.flaw("/f", status, "/f", passed)
    assert (found and found.owner) == owner
    assert permissions.flaw("/f", status, "/f", owners=(7,)) is None


@pytest.mark.parametrize(
    ("flaw", "remedy"),
    [
        (permissions.Flaw("/f"), "chmod go-w /f"),
        (permissions.Flaw("/f", 7), f"chown {ME} /f"),
        (permissions.Flaw("/f", 7, link=True), f"chown -h {ME} /f"),
    ],
)
def test_what_mends_it(
    monkeypatch: pytest.MonkeyPatch, flaw: permissions.Flaw, remedy: str
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: ME)
    assert flaw.remedy == remedy
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert flaw.remedy == remedy.replace(str(ME), "root")


@pytest.mark.parametrize(
    ("owner", "mode", "theirs"),
    [(7, 0o777, True), (7, 0o1777, True), (7, 0o755, False), (ME, 0o777, False), (0, 0o777, False)],
)
def test_whose_links_are_not_followed_anywhere(
    monkeypatch: pytest.MonkeyPatch, owner: int, mode: int, theirs: bool
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: ME)
    link = os.stat_result((stat.S_IFLNK | 0o777, 0, 0, 1, owner, 0, 0, 0, 0, 0))
    folder = os.stat_result((stat.S_IFDIR | mode, 0, 0, 1, 0, 0, 0, 0, 0, 0))
    assert permissions.link_of_others(link, folder) is theirs


# ---------------------------------------------------------------- what a run reads


def test_devices_of_ones_own_are_opened() -> None:
    os.close(open_output("/dev/null", os.O_WRONLY))


def test_what_is_read_or_refused_is_closed(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("text")
    (tmp_path / "link").symlink_to("f")
    opened = os.listdir("/proc/self/fd")
    assert text.read_bounded(f"{tmp_path}/f") == b"text"
    with pytest.raises(RunnerError):
        text.read_bounded(f"{tmp_path}/f", 1)
    for name in ("link", "f"):
        with pytest.raises(OSError):
            trusted_folder(str(tmp_path)).below(name)
    with pytest.raises(OSError):
        trusted_folder(f"{tmp_path}/link/none", make=False)
    assert len(os.listdir("/proc/self/fd")) == len(opened)


def test_what_others_can_write_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "open/f").touch()
    watch = Watch()
    for _ in range(2):
        watch.read(f"{tmp_path}/open/f")
    (told,) = watch.problems()
    assert told.severity == "warning" and told.hint == f"chmod go-w {tmp_path}/open"
    assert watch.problems() == []
    watch.refuse()
    strict = Watch(strict=True)
    with pytest.raises(RunnerError) as error:
        strict.read(f"{tmp_path}/open/f")
    assert error.value.hint == f"chmod go-w {tmp_path}/open"
    with pytest.raises(RunnerError) as refused:
        strict.refuse()
    assert [each.severity for each in refused.value.diagnostics] == ["error"]


@pytest.mark.parametrize(("mode", "told"), [(0o1777, True), (0o1755, False), (0o755, False)])
def test_a_root_that_others_may_add_to_is_told(tmp_path: Path, mode: int, told: bool) -> None:
    """Its files are found by their names; one in which others may not is passed through."""
    (tmp_path / "root").mkdir()
    (tmp_path / "root").chmod(mode)
    watch, strict = Watch(), Watch(strict=True)
    watch.read(f"{tmp_path}/root/f")
    assert watch.problems() == []
    watch.root(f"{tmp_path}/root")
    assert bool(watch.problems()) is told
    if told:
        with pytest.raises(RunnerError) as error:
            strict.root(f"{tmp_path}/root")
        assert error.value.hint == f"chmod go-w {tmp_path}/root"
    else:
        strict.root(f"{tmp_path}/root")
    watch.root(f"{tmp_path}/nowhere")
