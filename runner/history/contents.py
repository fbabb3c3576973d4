# SPDX-License-Identifier: Apache-2.0
"""The store of what runs replaced, removed and left: contents by their hash, readable by nobody
else; for undo and for the history of a path.

They lie in the folder `undo`, compressed but for the first small ones of a run. Small ones stand
one behind the other in one file of each run, `17.contents`; the database knows where (its table
`contents`), and has nothing of them itself, as they may be secret. Versions of one file after each
other, which differ in a few lines, are kept as these: what a thousand states of one file leave
would else be a thousand copies. Large ones have files of their own: `ab/abcdef….z`; in those the
versions before this one kept all contents.
"""

from __future__ import annotations

import errno
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress

from runner.history.snapshots import PIECE, Sight, Snapshot, hash_of, open_regular
from runner.support.files.trusted_folder import TrustedFolder, UntrustedFile, trusted_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from typing import BinaryIO

UNDO = "undo"
SUFFIX = ".contents"
SMALLEST = 4096  # bytes: what has fewer is compressed only when there is much in the file
MUCH = 256 << 10  # bytes
# what is kept of another version: where in the file of the run that begins, its length, and how
# much at its beginning and its end is the same; behind it the rest. The sign is none of zlib's
_SIGN = b"\0"
_NUMBER = 8  # bytes
_OTHER = len(_SIGN) + 4 * _NUMBER
MOST_OTHERS = 32  # versions that are read to have one
# the last that was packed: itself, where that begins, its length, the versions before it
_NONE = b"", 0, 0, MOST_OTHERS
Write = Callable[[str, tuple[object, ...]], None]  # a statement and its values


class ContentStore:
    """The folder of the contents, and the table that says where in it they are."""

    def __init__(self, state_dir: str, database: Callable[[], sqlite3.Connection]) -> None:
        self._state_dir, self._database = state_dir, database
        self._undo: TrustedFolder | None = None
        self._entered: set[str] = set()  # the folders in it that were looked at
        self._run = 0
        self._write: Write | None = None
        self._handle: int | None = None  # of the file of this run
        self._size = 0  # of that file
        self._written: set[str] = set()  # the hashes of what is in it
        self._last = _NONE
        self._has_past: bool | None = None  # former runs kept contents; None: not known
        self._distrusted: dict[str, str] = {}  # by the hash, why its file is not read

    # ---------------------------------------------------------------- writing

    def begin(self, run: int, write: Write) -> None:
        """Keep contents for a run from now on. write: what has a statement written."""
        self._run, self._write = run, write
        self._last = _NONE  # it lies in the file of another run

    def close(self) -> None:
        """Keep nothing more."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def put(self, sight: Sight) -> None:
        """Keep the contents of a file, or where a link points to, and the extended attributes.
        Raises OSError when that cannot be done.
        """
        snapshot = sight.snapshot
        if sight.attributes:
            self.put_data(sight.attributes, snapshot.attributes or "")
        if snapshot.type == "link":
            self.put_data(os.fsencode(snapshot.target))
        elif sight.data is not None:
            self.put_data(sight.data, snapshot.content)
        elif snapshot.content:
            self._put_file(snapshot)

    def put_if_possible(self, sight: Sight) -> None:
        """As `put`; what cannot be kept is lacking later."""
        try:
            self.put(sight)
        except OSError:
            return

    def put_data(self, data: bytes, content: str = "") -> str:
        """Keep some contents; their hash. content: the hash, where it is known. Raises OSError when
        that cannot be done.
        """
        content = content or hash_of(data)
        if self._write is None:
            raise ValueError("contents are kept for a run")
        if content not in self._written and not self._is_known(content):
            packed, others = data, MOST_OTHERS
            if len(data) >= SMALLEST or self._size >= MUCH:
                packed, others = self._packed(data)
            begin = self._append(packed)
            self._last = data, begin, len(packed), others
            row = (content, self._run, begin, len(packed))
            self._write("INSERT OR IGNORE INTO contents VALUES (?, ?, ?, ?)", row)
            self._written.add(content)
        return content

    def _packed(self, data: bytes) -> tuple[bytes, int]:
        """Contents as what they have beside the last ones, where that is little, and how many
        versions it takes to read them; else compressed.
        """
        last, begin, length, others = self._last
        if others < MOST_OTHERS and len(data) >= SMALLEST:
            head = equal_part(data, last)
            tail = equal_part(data[head:][::-1], last[head:][::-1])
            rest = data[head : len(data) - tail]
            if len(rest) <= len(data) // 16:
                numbers = (number.to_bytes(_NUMBER) for number in (begin, length, head, tail))
                return b"".join((_SIGN, *numbers, rest)), others + 1
        return zlib.compress(data, 1), 0

    def put_text(self, text: str) -> str:
        """Keep a text; its hash. Raises OSError when that cannot be done."""
        return self.put_data(text.encode(errors="surrogateescape"))

    def _is_known(self, content: str) -> bool:
        """Return whether a former run has kept contents."""
        if self._has_past is None:
            row = self._database().execute("SELECT 1 FROM contents LIMIT 1").fetchone()
            self._has_past = row is not None
        query = "SELECT 1 FROM contents WHERE content = ?"
        return self._has_past and bool(self._database().execute(query, (content,)).fetchone())

    def _append(self, data: bytes) -> int:
        """Write data at the end of the file of this run; where it begins."""
        if self._handle is None:
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
            self._handle = self._folder().open(f"{self._run}{SUFFIX}", flags)
            self._size = os.fstat(self._handle).st_size  # of a history that was set aside
        offset = self._size
        if os.write(self._handle, data) < len(data):
            os.ftruncate(self._handle, offset)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._size += len(data)
        return offset

    def _folder(self) -> TrustedFolder:
        if self._undo is None or not self._undo.is_at(self._undo.path):
            self._undo, self._entered = trusted_folder(self._state_dir).below(UNDO), set()
        return self._undo

    def _put_file(self, snapshot: Snapshot) -> None:
        """Keep the contents of a large file in one of their own."""
        folder, below = self._folder(), snapshot.content[:2]
        if below not in self._entered:
            folder.below(below)
            self._entered.add(below)
        name = f"{below}/{snapshot.content}.z"
        if not _is_kept(folder, name):
            with open_regular(snapshot.path) as source:
                folder.write(name, _compressed(source))

    # ---------------------------------------------------------------- reading

    def get(self, content: str) -> bytes | None:
        """The contents with a hash; None when they are not there or not whole any more."""
        if not content:
            return None
        for read in (self._part, self._file):
            data = read(content)
            if data is not None and hash_of(data) == content:
                return data
        return None

    def _part(self, content: str) -> bytes | None:
        """Contents in the file of a run."""
        query = "SELECT run, start, length FROM contents WHERE content = ?"
        row = self._database().execute(query, (content,)).fetchone()
        if row is None:
            return None
        run, start, length = row
        try:
            folder = trusted_folder(self._state_dir, make=False).below(UNDO, make=False)
            with open(folder.open(f"{run}{SUFFIX}", os.O_RDONLY), "rb") as file:
                data = _read(file, start, length)
                return data if hash_of(data) == content else _unpacked(file, data, start)
        except (OSError, ValueError, zlib.error) as error:
            self._note_lacking(content, error)
            return None

    def _file(self, content: str) -> bytes | None:
        """Contents in a file of their own."""
        try:
            folder = trusted_folder(self._state_dir, make=False)
            packed = folder.below(UNDO, content[:2], make=False).read(f"{content}.z")
            return zlib.decompress(packed)
        except (OSError, zlib.error) as error:
            self._note_lacking(content, error)
            return None

    def _note_lacking(self, content: str, error: Exception) -> None:
        if isinstance(error, UntrustedFile):
            self._distrusted[content] = str(error)

    def why_lacking(self, content: str, usual: str) -> str:
        """The reason why contents cannot be had. usual: where nothing else is known."""
        return self._distrusted.get(content) or usual

    # ---------------------------------------------------------------- deleting

    def drop(self, database: sqlite3.Connection, wanted: str) -> None:
        """Delete all contents but those that a query names."""
        database.execute(f"DELETE FROM contents WHERE content NOT IN ({wanted})")
        # a run that goes on may not have written yet what it has in its file
        query = "SELECT run FROM contents UNION SELECT id FROM runs WHERE outcome IS NULL"
        runs = {f"{run}{SUFFIX}" for (run,) in database.execute(query)}
        hashes = {f"{content}.z" for (content,) in database.execute(wanted)}
        with suppress(OSError):
            undo = trusted_folder(self._state_dir).below(UNDO, make=False)
            for name in undo.names():
                with suppress(OSError):
                    if not name.endswith(SUFFIX):
                        _remove_others(undo.below(name, make=False), hashes)
                    elif name not in runs:
                        undo.remove(name)


def equal_part(one: bytes, other: bytes) -> int:
    """How much of two contents is the same from their beginning on."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _read(file: BinaryIO, start: int, length: int) -> bytes:
    file.seek(start)
    return file.read(length)


def _unpacked(file: BinaryIO, data: bytes, start: int) -> bytes:
    """Contents as they were. data: as they are kept in a file; start: where. Raises ValueError and
    zlib.error where that is damaged.
    """
    versions = []
    while data[:1] == _SIGN and len(data) >= _OTHER:
        begin, length, head, tail = (
            int.from_bytes(data[at : at + _NUMBER]) for at in range(len(_SIGN), _OTHER, _NUMBER)
        )
        if begin + length > start:  # the other version lies before this one
            raise ValueError("no version")
        versions.append((head, tail, data[_OTHER:]))
        data, start = _read(file, begin, length), begin
    data = zlib.decompress(data)
    for head, tail, rest in reversed(versions):
        data = data[:head] + rest + data[len(data) - tail :]
    return data


def _remove_others(folder: TrustedFolder, names: set[str]) -> None:
    for name in folder.names():
        if name not in names:
            folder.remove(name)


def _is_kept(folder: TrustedFolder, name: str) -> bool:
    """Return whether a file is there; one that somebody else has put there is written anew."""
    try:
        os.close(folder.open(name, os.O_RDONLY))
    except (FileNotFoundError, UntrustedFile):
        return False
    return True


def _compressed(source: BinaryIO) -> Iterator[bytes]:
    packed = zlib.compressobj(1)
    while piece := source.read(PIECE):  # by pieces: files of /proc/sys are not read in large ones
        yield packed.compress(piece)
    yield packed.flush()
