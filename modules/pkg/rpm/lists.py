# SPDX-License-Identifier: Apache-2.0
"""Archives of rpm as the package lists of repositories describe them."""

from __future__ import annotations

import html
import os
import re
from collections.abc import Iterable, Iterator, Sequence

from modules import _paths
from modules.pkg._tar import BadArchive, printed, unpacking_words
from modules.pkg.package_manager import Archive
from modules.pkg.rpm import packages as rpm

DIGESTS = ("sha256", "sha512")  # those that are believed
MOST = 4 << 30  # bytes of a list
_END = b"</package>"
_NAME = re.compile(rb"<name>(.*?)</name>")  # the first one of a package is its own
_ABOUT = re.compile(
    r"<name>(?P<name>.*?)</name>.*<arch>(?P<arch>.*?)</arch>.*<version (?P<version>[^>]*)>"
    r'.*<checksum [^>]*type="(?P<kind>\w+)"[^>]*>(?P<digest>\w+)<'
    r'.*<size [^>]*package="(?P<size>\d+)"'
    r'.*<location [^>]*href="(?P<location>[^"]*)"',
    re.DOTALL,
)
_ATTRIBUTE = re.compile(r'(\w+)="([^"]*)"')


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
                about = _ABOUT.search(text.decode()) if name and name[1] in names else None
                archive = _archive(about, cache) if about else None
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
    except (OSError, BadArchive):  # without the program, nothing is known
        return


def _archive(about: re.Match[str], cache: str) -> Archive | None:
    """The archive of a package; None where its digest is not believed."""
    parts = dict(_ATTRIBUTE.findall(about["version"]))
    version = rpm.joined_version(*(parts.get(part, "") for part in ("epoch", "ver", "rel")))
    name = rpm.name_with_architecture(html.unescape(about["name"]), about["arch"])
    path = os.path.normpath(os.path.join(cache, html.unescape(about["location"]).lstrip("/")))
    if about["kind"] not in DIGESTS or not path.startswith(f"{cache}/"):
        return None
    return Archive(name, version, path, int(about["size"]), f"{about['kind']}:{about['digest']}")
