# SPDX-License-Identifier: Apache-2.0
"""Archives of apk's packages before they are installed: where they come from, and what apk would
make of them here.

An archive is two or three gzip streams, one behind the other: its signature, what it says of itself
(control), and its files. The package lists vouch for the second, and that for the third.
"""

from __future__ import annotations

# os in this file: it keeps archives in runner's cache, which are no part of the planned machine
import base64
import hashlib
import os
import re
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from io import BufferedReader

from modules import _paths, cmd
from modules.pkg import _run
from modules.pkg._provided import size_of
from modules.pkg._tar import BadArchive, opened_tar
from modules.pkg.apk import database as apk_database
from modules.pkg.apk import run as apk_run
from modules.pkg.package_manager import NEEDS, PROVIDES, Archive, Control
from runner.api import OwnFolder

INSTALLED_SCRIPTS = ("/lib/apk/db/scripts.tar", "/lib/apk/db/scripts.tar.gz")  # of apk 2, of 3
ABOUT = ".PKGINFO"
MOST_CONTROL = 16 << 20  # bytes of what an archive says of itself
MOST_KEPT = 1 << 30  # bytes of archives that were fetched; the oldest go first
DIGESTS = {"Q1": "sha1", "Q2": "sha256"}  # of control, as the package lists write them
# scripts of a package by the words of dpkg for them
SCRIPTS = {
    "preinst": (".pre-install", ".pre-upgrade"),
    "postinst": (".post-install", ".post-upgrade"),
    "prerm": (".pre-deinstall", ".pre-deinstall"),
    "postrm": (".post-deinstall", ".post-deinstall"),
}
TRIGGER, TRIGGER_FOLDERS = "trigger", "trigger folders"  # among what an archive says of itself
_BARE = re.compile(r"[<>=~].*|^!")


def find(
    versions: Sequence[tuple[str, str]], lists: Sequence[str], folder: str
) -> dict[str, Archive]:
    """Return the archives of packages, by name. lists: files of package lists; folder: where
    archives go that are fetched.
    """
    found: dict[str, Archive] = {}
    for path in lists:
        output = cmd.probe(["tar", "-xzOf", path, "--", "APKINDEX"]).stdout
        for stanza in output.split("\n\n"):
            fields = dict(line.split(":", 1) for line in stanza.splitlines() if line[1:2] == ":")
            name, version = fields.get("P", ""), fields.get("V", "")
            digest = digest_of_text(fields.get("C", ""))
            if (name, version) in versions and digest and "/" not in name + version:
                path = f"{folder}/{name}-{version}.apk"
                archive = Archive(name, version, path, size_of(fields.get("S", "")), digest)
                found.setdefault(name, archive)
    return found


def digest_of_text(text: str) -> str:
    """Return a digest of apk's as others write them; empty for what is none.

    >>> digest_of_text("Q1AAAAAAAAAAAAAAAAAAAAAAAAAAA=")
    'control-sha1:0000000000000000000000000000000000000000'
    """
    try:
        return f"control-{DIGESTS[text[:2]]}:{base64.b64decode(text[2:], validate=True).hex()}"
    except (KeyError, ValueError):
        return ""


def digest(opened: BufferedReader, kind: str) -> str:
    """Return the digest of what an archive says of itself, if that has the digest of its files;
    empty where it has not.
    """
    control = _stream(opened)
    if _plain(control).startswith(b".SIGN."):
        control = _stream(opened)
    rest = hashlib.file_digest(opened, "sha256").hexdigest()
    told = re.search(rb"^datahash = (\w+)$", _plain(control), re.MULTILINE)
    if told is None or told[1].decode() != rest:
        return ""
    return hashlib.new(kind.removeprefix("control-"), control).hexdigest()


def _plain(stream: bytes) -> bytes:
    return zlib.decompressobj(31).decompress(stream, MOST_CONTROL)


def _stream(opened: BufferedReader) -> bytes:
    """The next gzip stream of a file, as it lies there; the file is behind it then. Raises
    BadArchive.
    """
    begun, unpacked = opened.tell(), zlib.decompressobj(31)
    length = taken = 0
    while not unpacked.eof:
        data = opened.read(1 << 16)
        length += len(data)
        if not data or length > MOST_CONTROL or taken > MOST_CONTROL:
            raise BadArchive("it is no package of apk")
        try:
            taken += len(unpacked.decompress(data, MOST_CONTROL))
        except zlib.error as problem:
            raise BadArchive(f"it cannot be read: {problem}") from None
    opened.seek(begun)
    return opened.read(length - len(unpacked.unused_data))


def fetch(versions: Sequence[tuple[str, str]], folder: OwnFolder, seconds: float) -> None:
    """Have the newest archives in a folder: apk fetches no others. Raises CommandFailed."""
    names = [name for name, _ in versions]
    words = ["fetch", "--output", folder.path, "--", *names]
    _run.fetch([*apk_run.START, *words], seconds, apk_run.errors)
    _limit(folder, {f"{name}-{version}.apk" for name, version in versions})


def _limit(folder: OwnFolder, stay: Collection[str]) -> None:
    """Remove the oldest archives of a folder that has too many. stay: those that are needed."""
    times = {}
    for found in os.scandir(folder.path):
        if found.name.endswith(".apk") and found.is_file(follow_symlinks=False):
            status = found.stat(follow_symlinks=False)
            times[found.name] = (status.st_ctime_ns, status.st_size)
    much = sum(size for _, size in times.values()) - MOST_KEPT
    for name in sorted(sorted(times.keys() - stay), key=times.__getitem__):
        if much > 0 and folder.remove(name):
            much -= times[name][1]


def contents_words(path: str) -> list[str]:
    """Return the program that prints what an archive installs."""
    return ["gzip", "-dc", "--", path]


def control(path: str) -> Control:
    """Return what an archive says of itself. Raises BadArchive."""
    texts: dict[str, str] = {}
    kept = []
    with opened_tar(contents_words(path), MOST_CONTROL << 6) as tar:
        for info in tar:
            if info.name.startswith(".") and "/" not in info.name:  # they come first
                taken = tar.opened(info)
                if taken and info.size <= MOST_CONTROL:
                    texts[info.name] = taken.read().decode("utf-8", "surrogateescape")
            elif info.name.startswith("etc/") and not info.isdir():
                kept.append(f"/{info.name}")
    values: dict[str, list[str]] = {}
    for key, _, value in (line.partition(" = ") for line in texts.get(ABOUT, "").splitlines()):
        values.setdefault(key, []).append(_BARE.sub("", value))
    names = {NEEDS: values.get("depend", ()), PROVIDES: values.get("provides", ())}
    bare = {key: "\n".join(each) for key, each in names.items()}
    if folders := re.findall(r"(?m)^triggers = (.+)$", texts.get(ABOUT, "")):
        bare |= {TRIGGER: texts.get(".trigger", ""), TRIGGER_FOLDERS: " ".join(folders)}
    return Control({**scripts(texts), **bare}, tuple(kept))


def scripts(texts: Mapping[str, str]) -> dict[str, str]:
    """Return the scripts of a package as dpkg would call them, of those that it has by name."""
    found = {}
    for kind, (first, second) in SCRIPTS.items():
        if first in texts or second in texts:
            ways = f":\n{texts.get(second, '')}\nelse\n:\n{texts.get(first, '')}"
            found[kind] = f'#!/bin/sh\nif test -n "$2"; then\n{ways}\nfi\n'
    return found


class ApkPlacement:
    """How apk places what archives hold: what is below /etc, and was changed, stays."""

    LEFT, REPLACED, SAVED = ".apk-new", "", ""
    LEFT_WARNING, SAVED_WARNING = "", ""
    BESIDE: tuple[str, ...] = ()
    PURGES, RESTORES, KEEPS = True, True, False

    def __init__(self, database: str, names: Sequence[str]) -> None:
        self.configuration = dict(_configuration(database, names)) if names else {}

    def path(self, package: str, path: str) -> str:
        """Return where a member of a package goes; empty for what tells of the package."""
        return "" if path.startswith("/.") and path.count("/") == 1 else path

    def rights(self, path: str) -> tuple[str, str, int] | None:
        """Return nothing: apk leaves rights to archives."""
        return None


def _configuration(database: str, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    for name, path, text in apk_database.files(database):
        if name in names and path.startswith("/etc/") and text:
            yield path, digest_of_text(text).removeprefix("control-")


def kept_by_others(database: str, name: str, paths: Sequence[str]) -> set[str]:
    """Return those paths that belong to other installed packages, too."""
    wanted = {*paths}
    return {path for other, path, _ in apk_database.files(database) if other != name} & wanted


def installed_scripts(name: str, version: str) -> dict[str, str]:
    """Return the scripts of an installed package, by name."""
    start = f"{name}-{version}."  # then the digest of the package, and what it is
    found = installed_texts()
    return scripts(
        {
            f".{member.removeprefix(start).partition('.')[2]}": text
            for member, text in found
            if member.startswith(start)
        }
    )


def installed_texts(ending: str = "") -> Iterator[tuple[str, str]]:
    """Yield the scripts of installed packages whose names end so."""
    for path in filter(_paths.isfile, INSTALLED_SCRIPTS):
        with opened_tar(["gzip", "-dcf", "--", path], MOST_CONTROL) as tar:
            for info in tar:
                taken = tar.opened(info) if info.name.endswith(ending) else None
                if taken:
                    yield info.name, taken.read().decode("utf-8", "surrogateescape")
