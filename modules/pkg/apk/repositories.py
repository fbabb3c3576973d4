# SPDX-License-Identifier: Apache-2.0
"""Repositories of apk: lines of /etc/apk/repositories, keys below /etc/apk/keys."""

from __future__ import annotations

import os
import re
from typing import Any

from modules import _paths, file
from modules.pkg.apt import keys as apt_keys
from modules.pkg.package_manager import RepositoryChange, RepositorySettings
from runner.api import Record, StateFailed

MAIN = "/etc/apk/repositories"
FOLDER = "/etc/apk/repositories.d"  # since apk-tools 2.14.7
KEYS = "/etc/apk/keys"
_LINE = re.compile(r"\s*(?P<off>#\s*)?(?:(?P<tag>@[\w.-]+)\s+)?(?P<url>(?:\w+://|/)\S+)\s*$")


class ApkRepository(Record):
    """A repository: its tag with the @ (packages then need it: nginx@edge), its address."""

    tag: str
    url: str
    disabled: bool = False

    @property
    def line(self) -> str:
        entry = f"{self.tag} {self.url}" if self.tag else self.url
        return f"#{entry}" if self.disabled else entry


def parse(line: str) -> ApkRepository | None:
    """Return the repository that a line names; None for any other line."""
    match = _LINE.match(line)
    return ApkRepository(match["tag"] or "", match["url"], bool(match["off"])) if match else None


def files() -> list[str]:
    """Return the files that name repositories."""
    names = sorted(_paths.listdir(FOLDER)) if _paths.isdir(FOLDER) else []
    return [MAIN, *(f"{FOLDER}/{name}" for name in names if name.endswith(".list"))]


def _lines(path: str) -> list[str]:
    if not file.is_file(path):
        return []
    return file.read_table(path).decode("utf-8", "replace").splitlines()


def list_repos() -> dict[str, list[dict[str, Any]]]:
    """Return the repositories by their addresses, those that are switched off included."""
    repositories: dict[str, list[dict[str, Any]]] = {}
    for path in files():
        for repository in filter(None, map(parse, _lines(path))):
            repositories.setdefault(repository.url, []).append(
                {
                    "file": path,
                    "line": repository.line,
                    "tag": repository.tag.removeprefix("@"),
                    "enabled": not repository.disabled,
                    "disabled": repository.disabled,
                }
            )
    return repositories


def plan_repository(name: str, settings: RepositorySettings) -> RepositoryChange:
    """Return what has to be written so that apk knows a repository, with its key.

    Raises StateFailed for what is no repository, and for keys that cannot be had.
    """
    wanted = _wanted(name, settings)._replace(disabled=bool(settings.disabled))
    places = [
        (path, number, repository)
        for path, number, repository in _places()
        if repository.url == wanted.url
    ]
    active = [place for place in places if not place[2].disabled]
    path, number, present = next(iter([*active, *places]), (settings.file or MAIN, -1, None))
    new_keys = _new_keys(settings)
    lines = _lines(path)
    if present is None:
        lines.append(wanted.line)
    elif present != wanted:
        lines[number] = wanted.line
    text = "".join(f"{line}\n" for line in lines)
    changed = present != wanted
    if not changed and not new_keys:
        return RepositoryChange(name)
    changes: dict[str, Any] = {"repo": name}
    if present is not None and changed:
        changes = {"line": {"old": present.line, "new": wanted.line}}
    return RepositoryChange(name, changes, {path: text.encode()} if changed else {}, new_keys)


def plan_repository_removal(name: str, settings: RepositorySettings) -> RepositoryChange:
    """Return what has to be written so that apk does not know a repository."""
    unwanted = _wanted(name, settings)
    paths = [
        path
        for path, _, repository in _places()
        if repository.url == unwanted.url and not repository.disabled
    ]
    contents: dict[str, bytes | None] = {}
    for path in paths:
        others = [line for line in _lines(path) if not _is_of(line, unwanted.url)]
        contents[path] = "".join(f"{line}\n" for line in others).encode()
    return RepositoryChange(name, {"repo": name} if contents else {}, contents)


def _is_of(line: str, url: str) -> bool:
    repository = parse(line)
    return repository is not None and repository.url == url


def _places() -> list[tuple[str, int, ApkRepository]]:
    """Return the repositories with their files and lines."""
    return [
        (path, number, repository)
        for path in files()
        for number, line in enumerate(_lines(path))
        if (repository := parse(line))
    ]


def _wanted(name: str, settings: RepositorySettings) -> ApkRepository:
    address = settings.baseurl or (settings.server[0] if settings.server else "")
    repository = parse(address or name)
    if repository is None or repository.disabled:
        raise StateFailed(
            f"Failed to configure repo '{name}': this is no repository of apk: give its address"
            " (https://... or /path), with `@tag ` in front of it if it is to have a tag"
        )
    return repository


def _new_keys(settings: RepositorySettings) -> dict[str, bytes]:
    """Return the keys that have to be written, by their paths: apk finds a key by its name."""
    if settings.key_text and not settings.signedby:
        raise StateFailed(
            f"key_text needs signedby with apk: the path of the key ({KEYS}/NAME.rsa.pub), whose"
            " name is the one that the repository was signed under"
        )
    if not settings.allow_insecure_key and any(
        url.startswith("http://") for url in settings.key_url
    ):
        raise StateFailed("Cannot have 'key_url' using http with 'allow_insecure_key' set to True")
    keys = {
        settings.signedby or f"{KEYS}/{os.path.basename(url)}": apt_keys.from_url(url)
        for url in settings.key_url
    }
    if settings.key_text and settings.signedby:
        keys[settings.signedby] = settings.key_text.encode()
    return {
        path: key
        for path, key in keys.items()
        if not file.is_file(path) or file.read_bytes(path) != key
    }
