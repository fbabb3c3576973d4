# SPDX-License-Identifier: Apache-2.0
"""The folders in which runner keeps its own files, and those that it shares with others."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from runner.model.errors import RunnerError
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
    for name in ("d", "d-wal", "other"):
        folder.write(name, name.encode())
    aside = Path(folder.set_aside("d"))
    assert aside.parent == tmp_path and aside.name.startswith("d.corrupt-")
    assert sorted(folder.names()) == sorted([aside.name, f"{aside.name}-wal", "other"])
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


# ---------------------------------------------------------------- what a run reads


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
