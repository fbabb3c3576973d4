# SPDX-License-Identifier: Apache-2.0
"""Debian's archives before they are installed: where they come from, and what dpkg would make of
them here.
"""

from __future__ import annotations

import fnmatch
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence

from modules._texts.url import local_path
from modules.pkg import _run
from modules.pkg._provided import size_of
from modules.pkg._tar import opened_tar
from modules.pkg.apt import get as apt_get
from modules.pkg.apt import path_rules, questions
from modules.pkg.apt import shipped as apt_shipped
from modules.pkg.package_manager import Archive, Control

CACHE = "/var/cache/apt/archives"
SETTINGS = ("/etc/dpkg/dpkg.cfg", "/etc/dpkg/dpkg.cfg.d/*")
DIGESTS = ("sha256", "sha512")  # those that are believed
_URI = re.compile(r"'(?P<uri>\S+)' (?P<file>\S+) (?P<size>\d+) (?P<kind>\w+):(?P<digest>\w+)$")
UNREAD = ("control", "md5sums")
MOST_CONTROL = 16 << 20  # bytes of what an archive says of itself


def words_of(versions: Iterable[tuple[str, str]]) -> list[str]:
    """Return packages in these versions in apt-get's words."""
    return [f"{name}={version}" for name, version in versions]


def find(versions: Sequence[tuple[str, str]]) -> dict[str, Archive]:
    """Return the archives of packages, by name."""
    quiet = ["-q", "--print-uris", "download", "--", *words_of(versions)]
    wanted = {(name.partition(":")[0], version): name for name, version in versions}
    found = {}
    for line in questions.probe("apt-get", *quiet, env=apt_get.QUIET).stdout.splitlines():
        match = _URI.match(line)
        if match is None or match["kind"].lower() not in DIGESTS:
            continue
        plain, version, _ = match["file"].split("_")
        name = wanted.get((plain, version.replace("%3a", ":")))
        if name is None:
            continue
        digest = f"{match['kind'].lower()}:{match['digest'].lower()}"
        path = local_path(match["uri"], "file", "copy") or f"{CACHE}/{match['file']}"
        version = dict(versions)[name]
        found[name] = Archive(name, version, path, size_of(match["size"]), digest)
    return found


def fetch(words: Sequence[str], versions: Sequence[tuple[str, str]], seconds: float) -> None:
    """Have archives in apt's cache. Raises CommandFailed."""
    options = ["Acquire::Retries=0", f"Acquire::http::Timeout={seconds:g}", "DPkg::Lock::Timeout=0"]
    options += [f"Acquire::https::Timeout={seconds:g}"]
    set_so = [word for option in options for word in ("-o", option)]
    argv = ["apt-get", "install", "-q", "-y", "--download-only", *set_so]
    argv += ["--allow-downgrades", "--allow-change-held-packages", "--no-install-recommends"]
    argv += [*words, "--", *words_of(versions)]
    _run.fetch(argv, seconds, apt_get.errors, apt_get.QUIET)


def control(path: str) -> Control:
    """Return what an archive says of itself. Raises BadArchive."""
    texts = {}
    with opened_tar(["dpkg-deb", "--ctrl-tarfile", path], MOST_CONTROL) as tar:
        for info in tar:
            name = info.name.removeprefix("./")
            taken = tar.opened(info)
            if taken and name not in UNREAD:
                texts[name] = taken.read().decode("utf-8", "surrogateescape")
    lines = texts.get("conffiles", "").splitlines()
    return Control(texts, tuple(line.strip() for line in lines if line.startswith("/")))


def contents_words(path: str) -> list[str]:
    """Return the program that prints what an archive installs."""
    return ["dpkg-deb", "--fsys-tarfile", path]


class DpkgPlacement:
    """How dpkg places what archives hold: by its diversions, exclusions and overrides."""

    LEFT, REPLACED, SAVED = ".dpkg-dist", ".dpkg-old", ""
    LEFT_WARNING, SAVED_WARNING = apt_get.KEPT, ""
    PURGES, RESTORES, KEEPS = True, False, True
    BESIDE: tuple[str, ...] = ("~", ".dpkg-new", ".dpkg-tmp", LEFT, REPLACED)

    def __init__(self, names: tuple[str, ...]) -> None:
        """names: packages that dpkg knows."""
        self.configuration = apt_shipped.configuration(names) if names else {}
        self._diversions = path_rules.diversions()
        self._filters = [*_filters()]
        self._overrides = path_rules.overrides()

    def path(self, package: str, path: str) -> str:
        """Return where a member of a package goes; empty for one that is left out."""
        excluded = False
        for excludes, pattern in self._filters:
            if fnmatch.fnmatchcase(path, pattern):
                excluded = excludes
        if excluded:
            return ""
        diverted = self._diversions.get(path)
        return path if diverted is None or diverted.by == package else diverted.to

    def rights(self, path: str) -> tuple[str, str, int] | None:
        """Return user, group and mode that this machine wants for a path."""
        rule = self._overrides.get(path)
        return (rule.user, rule.group, int(rule.mode, 8)) if rule else None


def _filters() -> Iterator[tuple[bool, str]]:
    for pattern in SETTINGS:
        for line in apt_shipped.read_all(pattern).splitlines():
            key, _, value = line.strip().partition("=")
            if key in ("path-exclude", "path-include"):
                words = shlex.split(value, comments=False)
                yield key == "path-exclude", words[0] if words else ""
