# SPDX-License-Identifier: Apache-2.0
"""What is in the archives of packages, kept in the cache folder by the digests of the archives.

An archive is read once: the list of its members, what it says of itself, and the texts that others
look at; beside them those that its scripts may read. All else is unpacked when somebody asks for
it.
"""

from __future__ import annotations

import hashlib

# os in this file: it reads archives, which are no part of the planned machine
import json
import os
import stat as bits
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from modules._planned.files import Later, Stored
from modules.file._paths import closed_folders
from modules.file._paths.walk import others_replace
from modules.pkg._tar import BadArchive, Tar, opened_tar
from modules.pkg.package_manager import Archive, PackageManager
from runner.api import OwnFolder, Record, StateFailed, fetcher, folders_above, here

if TYPE_CHECKING:
    from tarfile import TarInfo

FOLDER = "packages"  # below the cache folder
LIST = "contents.json"  # in the folder of an archive
READ_BY_SCRIPTS = "texts.json"  # beside it: the texts that its own scripts may read
FORM = 5  # of what is kept; another one is read anew
MOST_MEMBERS = 200_000
MOST_RATIO, LEAST_ROOM = 50, 64 << 20  # unpacked, an archive may be so many times its own size
MOST_TEXT, MOST_TEXTS = 128 << 10, 16 << 20  # bytes of a file, of all of an archive, that are kept
MOST_READ = 1 << 20  # bytes of all of an archive that its scripts may read
# what these do not read
UNREAD = ("/usr/share/doc/", "/usr/share/info/", "/usr/share/locale/", "/usr/share/man/")
KEPT = 1_000  # archives whose contents are kept; the oldest go first
# what states and runner itself look at
LOOKED_AT: tuple[str, ...] = ("/etc/", "/lib/systemd/", "/usr/lib/systemd/", "/usr/share/dbus-1/")
LOOKED_AT += tuple(f"/usr/lib/{kind}.d/" for kind in ("sysctl", "sysusers", "tmpfiles"))
_KINDS = {"0": bits.S_IFREG, "\0": bits.S_IFREG, "7": bits.S_IFREG}
_KINDS |= {"1": bits.S_IFREG, "2": bits.S_IFLNK, "5": bits.S_IFDIR}


class Member(Record):
    """A member of an archive. mode: with its kind; link: what a link leads to, of a further name of
    a file (hard) the path of the first.
    """

    path: str
    mode: int
    user: str
    group: str
    uid: int
    gid: int
    size: int
    mtime: int
    link: str = ""
    hard: bool = False


class Contents:
    """What an archive holds. texts: of the small files that others look at, by their paths."""

    def __init__(self, archive: Archive, kept: Mapping[str, Any], manager: PackageManager) -> None:
        self.archive = archive
        self.control: Mapping[str, str] = kept["control"]
        self.configuration = frozenset(kept["configuration"])
        self.replaced = frozenset(kept["replaced"])
        self.members = tuple(Member(*values) for values in kept["members"])
        self._texts: Mapping[str, str] = kept["texts"]
        self._manager = manager

    @cached_property
    def by_path(self) -> dict[str, Member]:
        return {member.path: member for member in self.members}

    def of(self, member: Member) -> bytes | Later:
        """The contents of a file."""
        text = self._texts.get(member.path)
        if text is not None:
            return text.encode("latin-1")
        return Later(member.size, partial(self._unpacked, member), partial(self._read_text, member))

    @cached_property
    def _read_by_scripts(self) -> Mapping[str, object]:
        texts = read_kept(_folder(self.archive), READ_BY_SCRIPTS)
        return texts if isinstance(texts, dict) else {}

    def _read_text(self, member: Member) -> bytes | None:
        text = self._read_by_scripts.get(member.path)
        if not isinstance(text, str) or len(text) != member.size:
            return None
        with suppress(UnicodeEncodeError):
            return text.encode("latin-1")
        return None

    def _unpacked(self, member: Member, whole: bool) -> Stored:
        """A file of the cache with the contents of a member. whole: those of all others come, too.
        Raises StateFailed.
        """
        path = os.path.join(_folder(self.archive).path, _name_of(member.path))
        if not os.path.exists(path):
            try:
                verify(self.archive, self._manager)
                wanted = [member, *(self._later() if whole else ())]
                _unpack(self._manager, self.archive, {each.path for each in wanted})
            except (BadArchive, OSError) as problem:
                raise StateFailed(
                    f"cannot read {member.path} of the package {self.archive.name}:"
                    f" {self.archive.path}: {problem}",
                    missing=("pkg", self.archive.name),
                ) from None
        return Stored(path, member.size)

    def _later(self) -> Iterator[Member]:
        for member in self.members:
            if bits.S_ISREG(member.mode) and not member.hard and member.path not in self._texts:
                yield member


def contents_of(archive: Archive, manager: PackageManager) -> Contents:
    """What an archive holds. Raises BadArchive, and OSError where it is not there."""
    folder = _folder(archive)
    kept = read_kept(folder, LIST)
    with suppress(ValueError, KeyError, TypeError):  # damaged
        if kept["form"] == FORM:
            return Contents(archive, kept, manager)
    verify(archive, manager)
    kept, read = _read(archive, manager)
    _keep(folder, json.dumps(kept).encode(), json.dumps(read).encode() if read else b"")
    return Contents(archive, kept, manager)


def is_kept(archive: Archive) -> bool:
    """Return whether it is known what an archive holds."""
    return os.path.exists(os.path.join(_folder(archive).path, LIST))


def read_kept(folder: OwnFolder, name: str) -> Any:
    """What a file of the cache has as JSON; None where it is not there, or damaged."""
    try:
        return json.loads(folder.read(name))
    except (OSError, ValueError, RecursionError):
        return None


def _folder(archive: Archive) -> OwnFolder:
    """The folder in the cache of what an archive holds."""
    return here.cache_folder(FOLDER, archive.digest.replace(":", "-"))


def _name_of(path: str) -> str:
    """The name in that folder of a file with the contents of a member."""
    return hashlib.sha256(os.fsencode(path)).hexdigest()[:32]


@fetcher
def _keep(folder: OwnFolder, text: bytes, read: bytes) -> None:
    if read:
        folder.write(READ_BY_SCRIPTS, read)
    folder.write(LIST, text)
    above = os.path.dirname(folder.path)
    others = [found for found in os.scandir(above) if found.is_dir(follow_symlinks=False)]
    if len(others) > KEPT:
        times = {found.path: found.stat(follow_symlinks=False).st_mtime for found in others}
        for old in sorted(times, key=times.__getitem__)[:-KEPT]:
            closed_folders.remove_scratch(old)


def verify(archive: Archive, manager: PackageManager) -> None:
    """Raise BadArchive for one that is not what the package lists say, or may not stay it; OSError
    where there is none.
    """
    if others_replace(archive.path):
        raise BadArchive("others can replace it")
    with open(archive.path, "rb") as opened:
        status = os.fstat(opened.fileno())
        if not bits.S_ISREG(status.st_mode):
            raise BadArchive("it is no file")
        if status.st_mode & 0o022 or status.st_uid not in (0, os.geteuid()):
            raise BadArchive("others can write it")
        kind, _, digest = archive.digest.partition(":")
        is_whole = status.st_size == archive.size
        if kind.startswith("control-") and manager.has("digests"):
            found = manager.archive_digest(opened, kind)
        else:
            found = hashlib.file_digest(opened, kind).hexdigest()
        if not is_whole or found != digest:
            raise BadArchive("it is not what the package lists say")


def _read(archive: Archive, manager: PackageManager) -> tuple[dict[str, Any], dict[str, str]]:
    """What an archive holds, and the texts that its scripts may read, as they are kept."""
    control = manager.control(archive.path)
    members: dict[str, Member] = {}
    texts: dict[str, str] = {}
    read: dict[str, str] = {}
    has_scripts = any(text.startswith("#!") for text in control.texts.values())
    room, room_read = MOST_TEXTS, MOST_READ * has_scripts
    with _opened(archive, manager) as tar:
        for info in tar:
            member = _member(info, members)
            if member is None:
                continue
            members[member.path] = member
            if len(members) > MOST_MEMBERS:
                raise BadArchive(f"it has more than {MOST_MEMBERS} members")
            if not info.isreg() or member.size > MOST_TEXT:
                continue
            if member.path.startswith(LOOKED_AT) and member.size <= room:
                texts[member.path] = _data_of(tar, info).decode("latin-1")
                room -= member.size
            elif member.size <= room_read and not member.path.startswith(UNREAD):
                data = _data_of(tar, info)
                if b"\0" not in data:
                    read[member.path] = data.decode("latin-1")
                    room_read -= member.size
    kept = {
        "form": FORM,
        "control": control.texts,
        "configuration": control.configuration,
        "replaced": control.replaced,
        "members": [tuple(member) for member in members.values()],
        "texts": texts,
    }
    return kept, read


def _data_of(tar: Tar, info: TarInfo) -> bytes:
    taken = tar.opened(info)
    return taken.read() if taken else b""


def _member(info: TarInfo, before: Mapping[str, Member]) -> Member | None:
    """A member, checked; None for the top of the archive. Raises BadArchive."""
    path = _path(info.name)
    kind = _KINDS.get(info.type.decode("latin-1"))
    if kind is None:
        raise BadArchive(f"its member {info.name!r} is a device, a pipe or a socket")
    link = ""
    if info.issym():
        link = info.linkname
        if not link or "\0" in link or "\n" in link:
            raise BadArchive(f"its member {info.name!r} is a link to {link!r}")
    elif info.islnk():
        link = _path(info.linkname)
        first = before.get(link)
        if first is None or not bits.S_ISREG(first.mode):
            raise BadArchive(f"its member {info.name!r} is a further name of what it has not")
    if path == "/":
        return None
    for above in folders_above(path):
        if above in before and not bits.S_ISDIR(before[above].mode):
            raise BadArchive(f"its member {info.name!r} lies behind what is no directory")
    size = 0 if link or kind != bits.S_IFREG else info.size
    mode = kind | (0o777 if info.issym() else info.mode & 0o7777)
    rights = (info.uname, info.gname, info.uid, info.gid)
    return Member(path, mode, *rights, size, int(info.mtime), link, info.islnk())


def _path(name: str) -> str:
    """The path of a member. Raises BadArchive for one that is not plain."""
    names = [each for each in name.removeprefix("./").split("/") if each not in ("", ".")]
    if name.startswith("/") or ".." in names or "\0" in name or "\n" in name:
        raise BadArchive(f"its member {name!r} would lie elsewhere")
    return "/" + "/".join(names)


def _opened(archive: Archive, manager: PackageManager) -> AbstractContextManager[Tar]:
    most = LEAST_ROOM + MOST_RATIO * archive.size
    return opened_tar(manager.contents_words(archive.path), most)


@fetcher
def _unpack(manager: PackageManager, archive: Archive, wanted: set[str]) -> None:
    """Put the contents of members into files of the cache."""
    folder = _folder(archive)
    with _opened(archive, manager) as tar:
        for info in tar:
            path = _path(info.name)
            taken = tar.opened(info) if path in wanted else None
            if taken is not None:
                wanted.remove(path)
                folder.write(_name_of(path), iter(partial(taken.read, 1 << 20), b""))
    if wanted:
        raise BadArchive(f"it has no member {wanted.pop()}")
