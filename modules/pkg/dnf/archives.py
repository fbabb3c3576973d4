# SPDX-License-Identifier: Apache-2.0
"""Where the archives of dnf's packages come from."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Sequence

from modules import _paths
from modules.pkg import _run
from modules.pkg._provided import size_of
from modules.pkg.dnf import run as dnf_run
from modules.pkg.package_manager import Archive
from modules.pkg.rpm import packages as rpm

CACHE = "/var/cache/dnf"
DIGESTS = {64: "sha256", 128: "sha512"}  # by the number of their digits
_TAGS = ("name", "epoch", "version", "release", "arch", "repoid", "downloadsize", "location")
_FORMAT = "|".join((*(f"%{{{tag}}}" for tag in _TAGS), "%{chksum}"))
_BYTES = re.compile(r"\(\d+, (b'.*'|b\".*\")\)")


def find(versions: Sequence[tuple[str, str]]) -> dict[str, Archive]:
    """Return the archives of packages, by name; of dnf5, which tells no digests, none."""
    words = [f"{name}-{version}" for name, version in versions]
    found: dict[str, Archive] = {}
    if dnf_run.program() != "dnf":
        return found
    asked = dnf_run.look("repoquery", "--qf", f"{_FORMAT}\n", *words)
    urls = dnf_run.look("repoquery", "--location", *words).stdout.splitlines()
    local = {os.path.basename(url): url[7:] for url in urls if url.startswith("file:///")}
    for line in asked.stdout.splitlines():
        values = line.split("|", len(_TAGS))
        if len(values) <= len(_TAGS):
            continue
        name, epoch, version, release, built_for, repository, size, location = values[:-1]
        full = rpm.name_with_architecture(name, built_for)
        digest = _digest(values[-1])
        wanted = rpm.joined_version(epoch, version, release)
        if (full, wanted) in versions and digest:
            file_name = os.path.basename(location)
            path = local.get(file_name) or _cached(repository, file_name)
            found.setdefault(full, Archive(full, wanted, path, size_of(size), digest))
    return found


def _digest(told: str) -> str:
    """The digest that dnf shows as Python does."""
    match = _BYTES.match(told)
    digits = ast.literal_eval(match[1]).hex() if match else ""
    return f"{DIGESTS[len(digits)]}:{digits}" if len(digits) in DIGESTS else ""


def _cached(repository: str, file_name: str) -> str:
    """The path that an archive has in the cache, or will have once it is fetched."""
    folders = sorted(_paths.glob(f"{CACHE}/{repository}-" + "[0-9a-f]" * 16))
    return os.path.join(folders[-1] if folders else CACHE, "packages", file_name)


def fetch(words: Sequence[str], versions: Sequence[tuple[str, str]], seconds: float) -> None:
    """Have archives in dnf's cache. Raises CommandFailed."""
    names = [f"{name}-{version}" for name, version in versions]
    argv = [dnf_run.program(), "-q", "-y", "--setopt=exit_on_lock=True", "install"]
    _run.fetch([*argv, "--downloadonly", *words, *names], seconds, dnf_run.errors)
