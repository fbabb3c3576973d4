# SPDX-License-Identifier: Apache-2.0
"""States of one file leave as many versions of it: what is kept of each is what it has beside the
one before.
"""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from command import Machine

from runner.history.contents import MOST_OTHERS, ContentStore
from runner.history.snapshots import hash_of
from runner.history.store import open_history


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[tuple[ContentStore, sqlite3.Connection, Path]]:
    (tmp_path / "state").mkdir(mode=0o700)
    columns = "content TEXT PRIMARY KEY, run INTEGER, start INTEGER, length INTEGER"
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute(f"CREATE TABLE contents ({columns})")
        store = ContentStore(str(tmp_path / "state"), lambda: database)
        store.begin(7, lambda statement, row: database.execute(statement, row))
        yield store, database, tmp_path / "state/undo/7.contents"
        store.close()


def edits(count: int) -> Iterator[bytes]:
    """Versions of a text, each with a line more, less or otherwise."""
    chance = random.Random(1)
    lines = [f"line {n} {chance.random()}" for n in range(300)]
    for n in range(count):
        place = chance.choice((0, chance.randrange(len(lines)), len(lines)))
        lines[place : place + chance.randrange(2)] = [f"edit {n}"]
        yield "\n".join(lines).encode()


def test_versions_are_read_as_they_were(
    kept: tuple[ContentStore, sqlite3.Connection, Path],
) -> None:
    store, database, file = kept
    versions = [*edits(100), b"", b"\0" * 5000, b"\0" * 5001, b"\0\1", *edits(3)]
    hashes = [store.put_data(data) for data in versions]
    assert hashes == [hash_of(data) for data in versions]
    assert [store.get(content) for content in hashes] == versions
    largest = max(map(len, versions))
    assert file.stat().st_size < 12 * largest, "not a copy for each"
    query = "SELECT length FROM contents ORDER BY start LIMIT 100"
    lengths = [length for (length,) in database.execute(query)]
    alone = [n for n, length in enumerate(lengths) if length > 1000]
    assert alone == [*range(0, 100, MOST_OTHERS + 1)], "one of each few is whole"


def test_one_version_is_read_where_those_after_it_are_not_wanted(
    kept: tuple[ContentStore, sqlite3.Connection, Path],
) -> None:
    """And where the ones that it is made of are not."""
    store, database, _ = kept
    versions = [*edits(10)]
    hashes = [store.put_data(data) for data in versions]
    database.execute("DELETE FROM contents WHERE content != ?", (hashes[7],))
    assert store.get(hashes[7]) == versions[7] and store.get(hashes[6]) is None


def test_a_version_of_another_run_is_kept_by_itself(
    kept: tuple[ContentStore, sqlite3.Connection, Path],
) -> None:
    """As of the runs without changes that are taken into the database together."""
    store, database, _ = kept
    versions, hashes = [*edits(3)], list[str]()
    for run, data in enumerate(versions, 8):
        store.begin(run, lambda statement, row: database.execute(statement, row))
        hashes.append(store.put_data(data))
        store.close()
    assert [store.get(content) for content in hashes] == versions


def test_a_damaged_version_is_none(kept: tuple[ContentStore, sqlite3.Connection, Path]) -> None:
    store, _, file = kept
    hashes = [store.put_data(data) for data in edits(5)]
    whole = file.read_bytes()
    for place in range(0, len(whole), 97):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        found = [store.get(content) for content in hashes]
        assert all(
            data is None or hash_of(data) == content
            for data, content in zip(found, hashes, strict=True)
        )
        assert None in found
    file.write_bytes(whole[: len(whole) // 2])
    assert None in [store.get(content) for content in hashes]


def test_a_version_that_is_made_of_itself_is_none(
    kept: tuple[ContentStore, sqlite3.Connection, Path],
) -> None:
    store, database, file = kept
    content = store.put_data(b"x")
    itself = b"\0" + b"".join(number.to_bytes(8, "big") for number in (0, 33, 0, 0))
    file.write_bytes(itself)
    database.execute("UPDATE contents SET length = ?", (len(itself),))
    assert store.get(content) is None


def test_a_file_has_each_of_its_states_once(machine: Machine) -> None:
    disks = [*(f"/dev/d{n:04}" for n in range(12)), "/dev/d0003"]
    machine.write(
        site="".join(
            f"s{n}: {{mount.fstab_present: [name: {disk}, fs_file: /m/{disk[-4:]}, mount: false,"
            f" fs_vfstype: ext4, config: {{tmp}}/f, fs_passno: {n}]}}\n"
            for n, disk in enumerate(disks)
        )
    )

    def states() -> list[str]:
        with closing(open_history(str(machine.folder / "cache/state"), [])) as database:
            query = "SELECT states FROM made WHERE thing = ?"
            return [row[0] for row in database.execute(query, (f"path {machine.folder}/f",))]

    all_of_them = ["\n".join(f"mount {disk}" for disk in disks[:12])]
    machine("sls", "site")
    assert states() == all_of_them
    machine("sls", "site")  # two of them undo each other
    assert states() == all_of_them
    machine("undo", "1")
    assert not (machine.folder / "f").exists()


def test_a_state_with_two_lines_in_its_name_is_noted_once(machine: Machine) -> None:
    for text in "abcd":
        machine.write(site=f'x: {{file.managed: [name: "{{tmp}}/f\\ng", contents: {text}]}}\n')
        machine("sls", "site")
    with closing(open_history(str(machine.folder / "cache/state"), [])) as database:
        rows = database.execute("SELECT states FROM made").fetchall()
    assert rows == [(f"file {machine.folder}/f\ng",)]
