# SPDX-License-Identifier: Apache-2.0
"""The members of an archive, and which archives are refused."""

from __future__ import annotations

import io
import lzma
import re
import shlex
import stat as bits
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any

from modules import cmd
from modules.archive._source import identity, name_of, source
from runner.api import Record, StateFailed, for_states, here

TAR, ZIP = "tar", "zip"
LARGEST = 64 * 1024**3  # bytes that an archive may unpack to
MOST = 2_000_000  # members
_MOST_LINKS = 40  # that one name may lead through, as for Linux
_FLAGS = re.compile(
    r"-?[xzjJvpfa]+|--(?:extract|gzip|bzip2|xz|zstd|verbose|preserve-permissions|no-same-owner)"
)
_OF_ZIP = re.compile(r"-[oqv]+|--strip(-components)?(=\d+)?|\d+")


class Member(Record):
    """One entry. kind: file, dir, link, hard or device. name: where it goes, without ./ and slashes
    at its ends.
    """

    name: str
    kind: str
    mode: int
    size: int
    target: str = ""
    shown: str = ""  # as the archive writes it


_BY_COMMAND = "which is not read here: cmd.run with `creates` can unpack it"
_BEGINNINGS = {
    **{
        begin: f"it is compressed with {name}, and holds no whole tar: it is cut off or damaged, or"
        " a single file"
        for begin, name in ((b"\x1f\x8b", "gzip"), (b"BZh", "bzip2"), (b"\xfd7zXZ", "xz"))
    },
    b"\x28\xb5\x2f\xfd": f"it is compressed with zstd, {_BY_COMMAND}",
    b"7z\xbc\xaf": f"it is a 7z archive, {_BY_COMMAND}",
    b"Rar!": f"it is a rar archive, {_BY_COMMAND}",
    b"<": "it is a page (HTML or XML), as servers answer who is not logged in",
}


def kind_of(path: str, wanted: str | None = None) -> str:
    """tar or zip, by what the file is. Raises StateFailed for what is neither."""
    if wanted not in (None, TAR, ZIP):
        raise StateFailed(f"archive_format {wanted} is not supported: it is tar or zip")
    if wanted:
        return wanted
    begin = b""
    try:
        with source(path) as file:
            begin = file.peek(8) if isinstance(file, io.BufferedReader) else b""
            if zipfile.is_zipfile(file):
                return ZIP
            file.seek(0)
            if tarfile.is_tarfile(file):
                return TAR
    except (OSError, EOFError, tarfile.TarError):
        pass
    why = next((why for known, why in _BEGINNINGS.items() if begin.startswith(known)), "")
    why = why or "it is neither a tar (plain, gzip, bzip2, xz) nor a zip archive"
    raise StateFailed(f"Unable to list contents of {path}: {why}")


def strip_of(options: str, kind: str = TAR) -> tuple[int, list[str]]:
    """(--strip-components, the other options that tar has to know) of a state's `options`. Raises
    StateFailed for those that unzip would have to know.
    """
    strip, rest = 0, []
    words = shlex.split(options)
    for index, word in enumerate(words):
        match = re.fullmatch(r"--strip(?:-components)?=(\d+)", word)
        if match:
            strip = int(match[1])
        elif word in ("--strip", "--strip-components") and _is_level(words, index + 1):
            strip = int(words[index + 1])
        elif not _FLAGS.fullmatch(word) and not (
            word.isdigit() and words[index - 1].startswith("--strip")
        ):
            rest.append(word)
    if kind == ZIP and (unknown := [word for word in words if not _OF_ZIP.fullmatch(word)]):
        raise StateFailed(
            f"A zip is unpacked without the program unzip: its options {' '.join(unknown)} would do"
            " nothing. Leave them out (-x: remove the files with file.absent; -P: `password`), or"
            " call unzip with cmd.run."
        )
    return strip, rest


def _is_level(words: list[str], index: int) -> bool:
    return index < len(words) and words[index].isdecimal()


def plain(name: str) -> str:
    """A member's name without empty and `.` parts; one that starts with a slash keeps it, to be
    refused.
    """
    return ("/" if name.startswith("/") else "") + "/".join(
        part for part in name.split("/") if part not in ("", ".")
    )


@for_states
def stripped(name: str, strip: int) -> str:
    """The name without its first parts."""
    return "/".join(plain(name).split("/")[strip:])


@contextmanager
def readable(path: str, action: str = "Unable to list contents of {}") -> Iterator[None]:
    """Turn what the readers of archives say into a StateFailed that names the archive."""
    try:
        yield
    except (
        tarfile.TarError,
        zipfile.BadZipFile,
        EOFError,
        KeyError,
        zlib.error,
        lzma.LZMAError,
    ) as problem:
        raise StateFailed(f"{action.format(path)}: {problem}", changes={}) from None
    except (
        RuntimeError,
        NotImplementedError,
    ) as problem:  # zipfile: a wrong password, a compression it lacks
        raise StateFailed(f"{action.format(path)}: {problem}", changes={}) from None


def members(
    path: str, kind: str, strip: int = 0, password: str | None = None, options: Sequence[str] = ()
) -> list[Member]:
    """The members of an archive. Raises StateFailed for members that would leave the folder, and
    for bombs.

    strip: leading parts of the names that are dropped. options: for the tar program; what they
    leave out is not listed.
    """
    with readable(path):
        try:
            with source(path) as file:
                listed = members_of(file, path, kind, strip, password, options)
                here.store("archives")[path] = (identity(file), listed)
        except OSError as problem:
            raise StateFailed(
                f"Unable to list contents of {path}: {problem.strerror or problem}"
            ) from None
    return listed


def refuse_changed(
    file: IO[bytes], path: str, kind: str, strip: int, password: str | None, options: Sequence[str]
) -> None:
    """Raise StateFailed unless an archive that is about to be unpacked is what was listed."""
    known, listed = here.store("archives").get(path, (None, None))
    if known == identity(file):
        return
    current = members_of(file, path, kind, strip, password, options)
    if listed not in (None, current):
        raise StateFailed(
            f"{path} has changed since it was listed; nothing was extracted", changes={}
        )
    file.seek(0)


def members_of(
    file: IO[bytes], path: str, kind: str, strip: int, password: str | None, options: Sequence[str]
) -> list[Member]:
    """The members of an open archive. path: for messages."""
    listed = list(_tar(file) if kind == TAR else _zip(file, password))
    if strip:
        listed = [_without_first(member, strip) for member in listed]
    # "./" itself has no name either
    listed = [member for member in listed if member.name or not strip]
    links = LinksInside()
    listed = [links.placed(member) for member in listed]
    check(path, listed)
    if options and kind == TAR:
        chosen = _chosen(file, options)
        listed = [member for member in listed if member.shown.rstrip("/") in chosen]
    return listed


class LinksInside:
    """The links of an archive so far, and where the members behind them go: `lib64/a` behind the
    link `lib64 -> lib` is `lib/a`, as the tar program has it. What would leave the folder, or lies
    behind a link that comes later, keeps its name, and is refused by that.
    """

    def __init__(self) -> None:
        self._targets: dict[str, str] = {}

    def placed(self, member: Member) -> Member:
        """The member where it goes to; a link is remembered."""
        name = self.place(member.name)
        if member.kind == "link":
            self.add(name, member.target)
        target = self.place(plain(member.target)) if member.kind == "hard" else member.target
        return member._replace(name=name, target=target)

    def add(self, name: str, target: str) -> None:
        """Remember a link that is at a place."""
        self._targets[name] = target

    def place(self, name: str) -> str:
        """A name without a link above it; as it is where that would leave the folder."""
        if not self._targets:
            return name
        *above, last = name.split("/")
        place: list[str] = []
        above.reverse()
        followed = 0
        while above:
            part = above.pop()
            if part == "..":
                if not place:
                    return name
                place.pop()
            elif part not in ("", "."):
                place.append(part)
                target = self._targets.get("/".join(place))
                if target is not None:
                    followed += 1
                    if followed > _MOST_LINKS or target.startswith("/"):
                        return name
                    place.pop()
                    above.extend(reversed(target.split("/")))
        return "/".join([*place, last])


def _without_first(member: Member, strip: int) -> Member:
    target = stripped(member.target, strip) if member.kind == "hard" else member.target
    return member._replace(name=stripped(member.name, strip), target=target)


def _chosen(file: IO[bytes], options: Sequence[str]) -> set[str]:
    """The names that the tar program would extract with these options (--exclude, --wildcards,
    ...).
    """
    done = cmd.probe(["tar", "-t", "--quoting-style=literal", *options, "-f", name_of(file)])
    if done.retcode:
        raise StateFailed(f"tar failed: {done.error_text}")
    return {name.rstrip("/") for name in done.stdout.splitlines()}


def _tar(file: IO[bytes]) -> Iterator[Member]:
    with tarfile.open(fileobj=file) as archive:
        for info in archive:
            kind = (
                "dir"
                if info.isdir()
                else "link"
                if info.issym()
                else "hard"
                if info.islnk()
                else ""
            )
            kind = kind or ("file" if info.isfile() else "device")
            pieces: Any = info.sparse  # of a file with holes: (where, how long)
            size = sum(length for _, length in pieces) if pieces else info.size
            yield Member(plain(info.name), kind, info.mode, size, info.linkname, info.name)
        # tarfile takes what is no header for the end
        stream: Any = archive.fileobj
        stream.seek(archive.offset)
        if stream.read(tarfile.BLOCKSIZE).strip(b"\0"):
            raise tarfile.ReadError("it is not whole: what follows its last member is no other one")


def _zip(file: IO[bytes], password: str | None) -> Iterator[Member]:
    with zipfile.ZipFile(file) as archive:
        for info in archive.infolist():
            mode = info.external_attr >> 16
            kind = "dir" if info.is_dir() else "link" if bits.S_ISLNK(mode) else "file"
            secret = password.encode() if password else None
            target = archive.read(info, secret).decode("utf-8", "replace") if kind == "link" else ""
            yield Member(
                plain(info.filename),
                kind,
                bits.S_IMODE(mode),
                info.file_size,
                target,
                info.filename,
            )


# ---------------------------------------------------------------- what is refused


def check(path: str, listed: Sequence[Member]) -> None:
    """Refuse an archive that would write outside its folder, make devices or set-user-ID programs,
    or fill the disk. Links may lead anywhere: nothing is written through them.
    """
    size = sum(member.size for member in listed)
    if len(listed) > MOST or size > LARGEST:
        raise StateFailed(f"{path} holds {len(listed)} members with {size} bytes; that is refused")
    links = {member.name for member in listed if member.kind == "link"}
    files = {member.name for member in listed if member.kind in ("file", "hard")}
    for member in listed:
        refuse(path, member.shown, _wrong(member, links, files))


def refuse(path: str, shown: str, fault: str | None) -> None:
    """Raise StateFailed for a member not to be unpacked. fault: why; None for one that is."""
    if fault:
        raise StateFailed(
            f"{path}: member {shown!r} {fault}; nothing was extracted (if you trust this archive,"
            " unpack it with cmd.run and tar or unzip)"
        )


def _wrong(member: Member, links: set[str], files: set[str]) -> str | None:
    parts = member.name.split("/")
    if member.shown.startswith("/") or ".." in member.shown.split("/") or "\0" in member.shown:
        return "would be written outside its folder"
    if member.kind == "device":
        return "is a device, pipe or socket"
    if member.kind == "file" and member.mode & 0o6000:
        return "has a set-user-ID or set-group-ID bit"
    through = next((ancestor for ancestor in _parents(parts) if ancestor in links), None)
    if through:
        return f"lies behind the link {through!r}"
    if member.kind != "link" and member.name in links:
        return "has the name of a link"  # it would be written to where the link points
    if member.kind == "hard" and plain(member.target) not in files:
        return f"is a hard link to what is not a file of the archive, {member.target!r}"
    return None


def _parents(parts: Sequence[str]) -> Iterable[str]:
    return ("/".join(parts[:count]) for count in range(1, len(parts)))
