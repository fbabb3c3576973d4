# SPDX-License-Identifier: Apache-2.0
"""Archives: what is in them, and how they are unpacked without leaving their folder.

What the archive state uses comes first, then Salt's functions.
"""

from __future__ import annotations

import os
import shlex
import shutil
import zipfile
from collections.abc import Iterable, Sequence
from typing import IO, Any

from modules import _paths, cmd
from modules._machine.cache_files import keep_text, load_text
from modules._texts.lines import plain_name
from modules.archive._extract import Unpacked, discard, place, shortage, unpack
from modules.archive._members import ZIP, Member, kind_of, members, strip_of, stripped
from modules.archive._source import source
from modules.file._contents.hash import hash_of
from modules.file._contents.write import Owner, replace
from modules.file._look import opened
from modules.file._paths.place import place as place_of
from runner.api import StateFailed, changer, fetcher, reason_of


def _record(name: str) -> str:
    return f"archives/{hash_of(os.fsencode(name))}"


def kept_sum(name: str) -> str:
    """The sum of the archive that filled a folder; empty where none is known."""
    return load_text(_record(name)) or ""


@fetcher
def keep_sum(name: str, digest: str) -> None:
    """Note the sum of the archive that a folder holds."""
    keep_text(_record(name), digest)


def list_(
    name: str,
    archive_format: str | None = None,
    strip_components: int | None = None,
    verbose: bool = False,
    **_: Any,
) -> Any:
    """The names in an archive, those of folders with a slash at the end; with `verbose` by kinds.

    {{ salt['archive.list']('/srv/x.tgz') }}
    """
    path = _local(name)
    listed = members(path, kind_of(path, archive_format))
    kinds = {_shown(member, strip_components or 0): member.kind for member in listed}
    kinds.pop("", None)
    if not verbose:
        return sorted(kinds)
    tops = {shown for shown in kinds if "/" not in shown.rstrip("/")}
    folders = {shown.split("/")[0] + "/" for shown in kinds if "/" in shown}
    by_kind = {
        kind: sorted(s for s, k in kinds.items() if k == kind) for kind in ("dir", "file", "link")
    }
    return {
        "dirs": by_kind["dir"],
        "files": sorted([*by_kind["file"], *(s for s, k in kinds.items() if k == "hard")]),
        "links": by_kind["link"],
        "top_level_dirs": sorted(folders),
        "top_level_files": sorted(top for top in tops if kinds[top] in ("file", "hard")),
        "top_level_links": sorted(top for top in tops if kinds[top] == "link"),
    }


def _shown(member: Member, strip: int) -> str:
    name = stripped(member.name, strip)
    return f"{name}/" if name and member.kind == "dir" else name


def _local(name: str) -> str:
    local = _paths.fetched(name) if name.startswith(("salt://", "file://")) else name
    if local is None or not _paths.isfile(local):
        raise StateFailed(
            f"{name} does not exist", missing=None if local is None else ("file", local)
        )
    return local


def is_encrypted(name: str, **_: Any) -> bool:
    """Return whether a zip archive needs a password. Raises StateFailed for what is not a zip
    archive.
    """
    try:
        with source(_local(name)) as file, zipfile.ZipFile(file) as archive:
            return any(info.flag_bits & 1 for info in archive.infolist())
    except (zipfile.BadZipFile, OSError) as problem:
        raise StateFailed(f"{name} is not a ZIP file: {reason_of(problem)}") from None


def _words(words: str | Sequence[str] | None) -> list[str]:
    if words is None:
        return []
    return (
        [word.strip() for word in words.split(",")]
        if isinstance(words, str)
        else [str(word) for word in words]
    )


@changer
def _run(argv: Sequence[str], cwd: str | None, runas: str | None) -> list[str]:
    done = cmd.complete(argv, cwd=cwd, runas=runas, python_shell=False)
    return ((done.stdout if done.retcode == 0 else done.stderr) or "").splitlines()


def tar(
    options: str,
    tarfile: str,
    sources: str | Sequence[str] | None = None,
    dest: str | None = None,
    cwd: str | None = None,
    runas: str | None = None,
    **_: Any,
) -> list[str]:
    """Run tar; its output's lines. options: as of the program, `xf`. sources: what to pack. dest:
    where to unpack.
    """
    first, *others = shlex.split(options)
    into = ["-C", dest] if dest else []
    archive = plain_name(tarfile, "the archive")
    argv = ["tar", first if first.startswith("-") else f"-{first}", archive, *others, *into]
    return _run(
        [*argv, *(plain_name(member, "what is packed") for member in _words(sources))], cwd, runas
    )


def gzip(
    sourcefile: str, runas: str | None = None, options: str | None = None, **_: Any
) -> list[str]:
    """Compress a file; what gzip says."""
    return _run(["gzip", *shlex.split(options or ""), "--", sourcefile], None, runas)


def gunzip(
    gzipfile: str, runas: str | None = None, options: str | None = None, **_: Any
) -> list[str]:
    """Decompress a file; what gunzip says."""
    return _run(["gunzip", *shlex.split(options or ""), "--", gzipfile], None, runas)


def unzip(
    zip_file: str,
    dest: str,
    excludes: str | Sequence[str] | None = None,
    password: str | None = None,
    extract_perms: bool = True,
    trim_output: bool | int = False,
    **_: Any,
) -> list[str]:
    """Unpack a zip archive, whole or not at all; the names in it. excludes: names that are left
    out.
    """
    path, without = _local(zip_file), set(_words(excludes))
    chosen = [member for member in members(path, ZIP, 0, password) if member.shown not in without]
    place(
        unpack(path, dest, ZIP, password=password, permissions=extract_perms, without=without), dest
    )
    return _trimmed([member.shown for member in chosen], trim_output)


def _trimmed(names: list[str], trim: bool | int) -> list[str]:
    """The first names and a line that tells so. trim: how many, True for 100."""
    most = 100 if trim is True else int(trim)
    return (
        [*names[:most], f"List trimmed after {most} files."]
        if most and len(names) > most
        else names
    )


@changer
def zip_(
    zip_file: str, sources: str | Sequence[str], cwd: str | None = None, **_: Any
) -> list[str]:
    """Make a zip archive of files and folders; the names in it. cwd: what relative sources are
    relative to.
    """
    named: list[str] = []
    with place_of(zip_file, follow=True) as where:
        replace(where, lambda file: _pack(file, _words(sources), cwd, named), Owner())
    return named


def _pack(file: IO[bytes], sources: Sequence[str], cwd: str | None, named: list[str]) -> None:
    """Write a zip archive. named: gets the names in it."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for source in sources:
            if not source.startswith("/") and cwd is None:
                raise StateFailed(f"{source} is relative: say with cwd to what")
            base = cwd if cwd and not source.startswith("/") else "/"
            for path in _below(os.path.join(base, source)):
                info = zipfile.ZipInfo.from_file(path, os.path.relpath(path, base))
                named.append(info.filename)
                if info.is_dir():
                    info.compress_size = info.CRC = 0
                    archive.mkdir(info)
                    continue
                info.compress_type = zipfile.ZIP_DEFLATED
                with opened(path) as data, archive.open(info, "w") as member:
                    shutil.copyfileobj(data, member)


def _below(path: str) -> Iterable[str]:
    yield path
    for root, folders, files in _paths.walk(path):
        yield from (os.path.join(root, name) for name in [*sorted(folders), *sorted(files)])


__func_alias__ = {"list_": "list", "zip_": "zip"}
