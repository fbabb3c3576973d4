"""Archives: what is in them, and how they are unpacked without leaving their folder."""

from __future__ import annotations

import os
import re
import stat as bits
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from modules import cmd
from modules.file._change import alters, beside_name
from modules.file._was import was_second
from runner.api import StateFailed

TAR, ZIP = "tar", "zip"
LARGEST = 64 * 1024**3  # bytes that an archive may unpack to
MOST = 2_000_000  # members
_FLAGS = re.compile(r"-?[xzjJvpfa]+|--(?:extract|gzip|bzip2|xz|zstd|verbose|preserve-permissions|no-same-owner)")


class Member(NamedTuple):
    """One entry. kind: file, dir, link or hard; others are refused. name: without a leading ./ or slash at its end."""

    name: str
    kind: str
    mode: int
    size: int
    target: str = ""
    shown: str = ""  # as the archive writes it


def kind_of(path: str, said: str | None = None) -> str:
    """tar or zip, by what the file is. Raises StateFailed for what is neither."""
    import tarfile
    import zipfile

    if said not in (None, TAR, ZIP):
        raise StateFailed(f"archive_format {said} is not supported: it is tar or zip")
    if said:
        return said
    if zipfile.is_zipfile(path):
        return ZIP
    try:
        if tarfile.is_tarfile(path):
            return TAR
    except (OSError, EOFError, tarfile.TarError):
        pass
    raise StateFailed(f"Unable to list contents of {path}: it is no tar (plain, gzip, bzip2, xz) and no zip archive")


def members(path: str, kind: str, strip: int = 0, password: str | None = None) -> list[Member]:
    """What an archive holds. Raises StateFailed for members that would leave the folder, and for bombs."""
    found = [_stripped(member, strip) for member in (_tar(path) if kind == TAR else _zip(path))]
    kept = [member for member in found if member.name]
    if len(kept) > MOST or sum(member.size for member in kept) > LARGEST:
        raise StateFailed(f"{path} holds {len(kept)} members with {sum(m.size for m in kept)} bytes; that is refused")
    links = {member.name for member in kept if member.kind == "link"}
    for member in kept:
        _refuse(path, member, links)
    return kept


def _stripped(member: Member, strip: int) -> Member:
    parts = member.name.split("/")
    return member._replace(name="/".join(parts[strip:])) if strip else member


def _tar(path: str) -> Iterator[Member]:
    import tarfile

    try:
        with tarfile.open(path) as archive:
            for info in archive:
                kind = "dir" if info.isdir() else "link" if info.issym() else "hard" if info.islnk() else ""
                kind = kind or ("file" if info.isfile() else "device")
                yield Member(_plain(info.name), kind, info.mode, info.size, info.linkname, info.name)
    except (tarfile.TarError, OSError, EOFError) as problem:
        raise StateFailed(f"Unable to list contents of {path}: {problem}") from None


def _zip(path: str) -> Iterator[Member]:
    import zipfile

    try:
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                mode = info.external_attr >> 16
                kind = "dir" if info.is_dir() else "link" if bits.S_ISLNK(mode) else "file"
                target = archive.read(info).decode("utf-8", "replace") if kind == "link" else ""
                yield Member(_plain(info.filename), kind, bits.S_IMODE(mode), info.file_size, target, info.filename)
    except (zipfile.BadZipFile, OSError, RuntimeError) as problem:
        raise StateFailed(f"Unable to list contents of {path}: {problem}") from None


def _plain(name: str) -> str:
    while name.startswith("./"):
        name = name[2:]
    return "" if name == "." else name.rstrip("/")


def _refuse(path: str, member: Member, links: set[str]) -> None:
    parts = member.name.split("/")
    if member.name.startswith("/") or ".." in parts or "\0" in member.name:
        raise StateFailed(f"{path}: member {member.shown!r} would be written outside its folder; nothing was extracted")
    if member.kind == "device":
        raise StateFailed(f"{path}: member {member.shown!r} is a device, pipe or socket; nothing was extracted")
    through = next((each for each in ("/".join(parts[:n]) for n in range(1, len(parts))) if each in links), None)
    if through:
        raise StateFailed(f"{path}: member {member.shown!r} lies behind the link {through!r}; nothing was extracted")
    if member.kind == "hard" and (member.target.startswith("/") or ".." in member.target.split("/")):
        raise StateFailed(f"{path}: member {member.shown!r} links out of its folder; nothing was extracted")


def strip_of(options: str) -> tuple[int, list[str]]:
    """(--strip-components, the other options that tar has to know) of a state's `options`."""
    import shlex

    strip, rest = 0, []
    words = shlex.split(options)
    for index, word in enumerate(words):
        match = re.fullmatch(r"--strip(?:-components)?=(\d+)", word)
        if match:
            strip = int(match[1])
        elif word in ("--strip", "--strip-components") and index + 1 < len(words):
            strip = int(words[index + 1])
        elif not _FLAGS.fullmatch(word) and not (word.isdigit() and words[index - 1].startswith("--strip")):
            rest.append(word)
    return strip, rest


@alters(before=was_second, path=1)
def extract(
    source: str,
    target: str,
    kind: str,
    *,
    strip: int = 0,
    options: Sequence[str] = (),
    password: str | None = None,
    user: int = -1,
    group: int = -1,
    permissions: bool = True,
) -> None:
    """Unpack beside the target, then move all members in place, each as a whole.

    strip: leading parts of the names that are dropped. options: further ones, for the tar program. user, group: of all
    members; -1 keeps those of the archive. permissions: as the archive has them.
    """
    import shutil

    if not os.path.isdir(target):
        os.makedirs(target)
        os.chown(target, user, group)
    beside = beside_name(os.path.join(target, "archive"))
    os.mkdir(beside, 0o700)
    try:
        inner = os.path.join(beside, "in")
        os.mkdir(inner)
        if options:
            _with_program(source, inner, strip, options)
        elif kind == TAR:
            _with_tarfile(source, inner, strip)
        else:
            _with_zipfile(source, inner, strip, password, permissions)
        _own(inner, user, group)
        _move(inner, target)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _with_program(source: str, inner: str, strip: int, options: Sequence[str]) -> None:
    done = cmd.execute(["tar", "-x", f"--strip-components={strip}", *options, "-f", source, "-C", inner])
    if done.retcode:
        raise StateFailed(f"tar failed: {done.stderr or done.stdout}")


def _with_tarfile(source: str, inner: str, strip: int) -> None:
    import tarfile

    with _readable(source), tarfile.open(source) as archive:
        trusted: dict[str, Any] = {"filter": "fully_trusted"} if hasattr(tarfile, "fully_trusted_filter") else {}
        folders = []
        for info in archive:
            name = "/".join(_plain(info.name).split("/")[strip:])
            if not name:
                continue
            info.name = name
            if info.islnk():
                info.linkname = "/".join(_plain(info.linkname).split("/")[strip:])
            info.mode &= 0o777 if not info.isfile() else 0o7777
            if info.isdir():
                folders.append((name, info.mode, info.mtime))
                info.mode = 0o700
            archive.extract(info, inner, numeric_owner=False, **trusted)
        for name, mode, mtime in reversed(folders):
            os.chmod(os.path.join(inner, name), mode)
            os.utime(os.path.join(inner, name), (mtime, mtime))


def _with_zipfile(source: str, inner: str, strip: int, password: str | None, permissions: bool) -> None:
    import shutil
    import zipfile

    with _readable(source), zipfile.ZipFile(source) as archive:
        for info in archive.infolist():
            name = "/".join(_plain(info.filename).split("/")[strip:])
            path = os.path.join(inner, name)
            mode = bits.S_IMODE(info.external_attr >> 16)
            if not name:
                continue
            if info.is_dir():
                os.makedirs(path, exist_ok=True)
                continue
            os.makedirs(os.path.dirname(path), exist_ok=True)
            secret = password.encode() if password else None
            if bits.S_ISLNK(info.external_attr >> 16):
                os.symlink(archive.read(info, secret).decode(), path)
                continue
            with archive.open(info, pwd=secret) as data, open(path, "wb") as file:
                shutil.copyfileobj(data, file)
            if permissions and mode:
                os.chmod(path, mode & 0o777)


@contextmanager
def _readable(source: str) -> Iterator[None]:
    import tarfile
    import zipfile
    import zlib

    try:
        yield
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, zlib.error, RuntimeError) as problem:
        raise StateFailed(f"{source} cannot be extracted: {problem}") from None


def _own(folder: str, user: int, group: int) -> None:
    if (user, group) != (-1, -1):
        for root, folders, files in os.walk(folder):
            for name in [*folders, *files]:
                os.chown(os.path.join(root, name), user, group, follow_symlinks=False)


def _move(inner: str, target: str) -> None:
    """Folders are merged, everything else replaces what is there."""
    for root, folders, files in os.walk(inner, topdown=True):
        place = os.path.normpath(os.path.join(target, os.path.relpath(root, inner)))
        for name in list(folders):
            source, path = os.path.join(root, name), os.path.join(place, name)
            if os.path.islink(source) or not os.path.lexists(path):
                os.rename(source, path)
                folders.remove(name)
            else:
                import shutil

                shutil.copystat(source, path)
        for name in files:
            os.rename(os.path.join(root, name), os.path.join(place, name))


# ---------------------------------------------------------------- Salt's functions


def list_(name: str, archive_format: str | None = None, verbose: bool = False, **_: Any) -> Any:
    """The names in an archive, or with `verbose` by kinds.

    {{ salt['archive.list']('/srv/x.tgz') }}
    """
    found = members(name, kind_of(name, archive_format))
    if not verbose:
        return [member.shown for member in found]
    by_kind = {kind: [member.shown for member in found if member.kind == kind] for kind in ("dir", "file", "link")}
    tops = {m.name.split("/")[0] for m in found if m.kind == "dir" or "/" in m.name}
    return {
        "dirs": by_kind["dir"],
        "files": by_kind["file"],
        "links": by_kind["link"],
        "top_level_dirs": sorted(tops),
        "top_level_files": [m.name for m in found if m.kind == "file" and "/" not in m.name],
        "top_level_links": [m.name for m in found if m.kind == "link" and "/" not in m.name],
    }


__func_alias__ = {"list_": "list"}
