# SPDX-License-Identifier: Apache-2.0
"""Archives of rpm as the package lists of repositories describe them."""

from __future__ import annotations

import os
import re
import xml.parsers.expat
from collections.abc import Iterable, Iterator, Mapping, Sequence

from modules import _paths
from modules.pkg._provided import size_of
from modules.pkg._tar import BadArchive, printed, unpacking_words
from modules.pkg.package_manager import Archive
from modules.pkg.rpm import packages as rpm

DIGESTS = ("sha256", "sha512")  # those that are believed
MOST, MOST_OF_ONE = 4 << 30, 16 << 20  # bytes of a list, of what it says of a package
ELEMENTS = frozenset(("name", "arch", "version", "checksum", "size", "location"))
_END = b"</package>"
_NAME = re.compile(rb"<name>([^<]*)</name>")  # the first one of a package is its own
Element = tuple[dict[str, str], list[str]]  # its attributes and its text


def find(
    versions: Sequence[tuple[str, str]], repositories: Iterable[tuple[str, str]]
) -> dict[str, Archive]:
    """Return the archives of packages, by name. repositories: the folder in which each has its
    lists, and the one into which its archives come.
    """
    names = {rpm.split_name(name)[0].encode() for name, _ in versions}
    found: dict[str, Archive] = {}
    for lists, cache in repositories:
        for path in sorted(_paths.glob(f"{lists}/repodata/*primary.xml*")):
            for text in _packages(path):
                name = _NAME.search(text)
                about = _elements(text) if name and name[1] in names else {}
                archive = _archive(about, cache) if about.keys() >= ELEMENTS else None
                if archive and (archive.name, archive.version) in versions:
                    found.setdefault(archive.name, archive)
    return found


def _packages(path: str) -> Iterator[bytes]:
    """Yield what a list says of each package."""
    rest = b""
    try:
        with printed(unpacking_words(path), MOST) as stream:
            while data := stream.read(1 << 20):
                *whole, rest = (rest + data).split(_END)
                yield from whole
                if len(rest) > MOST_OF_ONE:
                    return
    except (OSError, BadArchive):  # without the program, nothing is known
        return


def _elements(text: bytes) -> dict[str, Element]:
    """What stands directly within a package, whose end is left out: no declaration of entities is
    read.
    """
    found: dict[str, Element] = {}
    path: list[str] = []

    def begin(tag: str, attributes: dict[str, str]) -> None:
        path.append(tag)
        if len(path) == 2:
            found.setdefault(tag, (attributes, []))

    def add(data: str) -> None:
        if len(path) == 2:
            found[path[1]][1].append(data)

    parser = xml.parsers.expat.ParserCreate()
    parser.StartElementHandler, parser.CharacterDataHandler = begin, add
    parser.EndElementHandler = lambda tag: path.pop()
    try:
        parser.Parse(text[text.find(b"<package ") :] + _END, True)
    except xml.parsers.expat.ExpatError:
        return {}
    return found


def _archive(about: Mapping[str, Element], cache: str) -> Archive | None:
    """The archive of a package; None where its digest is not believed."""
    parts = about["version"][0]
    version = rpm.joined_version(*(parts.get(part, "") for part in ("epoch", "ver", "rel")))
    name, arch, digest = ("".join(about[tag][1]) for tag in ("name", "arch", "checksum"))
    kind, size = about["checksum"][0].get("type"), about["size"][0].get("package", "")
    location = about["location"][0].get("href", "").lstrip("/")
    path = os.path.normpath(os.path.join(cache, location))
    if kind not in DIGESTS or not path.startswith(f"{cache}/"):
        return None
    full = rpm.name_with_architecture(name, arch)
    return Archive(full, version, path, size_of(size), f"{kind}:{digest.lower()}")
