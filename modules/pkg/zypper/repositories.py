# SPDX-License-Identifier: Apache-2.0
"""Repositories of zypper: what has to be written for one to be known, with its keys."""

from __future__ import annotations

import re
from typing import Any

from modules.pkg import repo_files
from modules.pkg.package_manager import RepositoryChange, RepositorySettings
from modules.pkg.rpm import keys as rpm_keys
from runner.api import StateFailed

FOLDER = "/etc/zypp/repos.d"
ADDRESSES = ("baseurl", "mirrorlist", "metalink")
SWITCHES = ("enabled", "autorefresh", "gpgcheck", "repo_gpgcheck", "pkg_gpgcheck", "keeppackages")
DEFAULTS = {"enabled": "1", "autorefresh": "0"}


def list_repos() -> dict[str, dict[str, Any]]:
    """Return the repositories by their aliases, those that are switched off included."""
    return {
        name: {
            "enabled": True,
            **{key: _shown(key, value) for key, value in repository.options.items()},
            "alias": name,
            "file": repository.path,
        }
        for name, repository in repo_files.repositories([FOLDER]).items()
    }


def _shown(key: str, value: str | None) -> Any:
    """Return a value as Salt does: switches are true or false."""
    if value == "NONE":
        return None
    return value == "1" if key in SWITCHES and value in ("0", "1") else value


def plan_repository(name: str, settings: RepositorySettings) -> RepositoryChange:
    """Return what has to be written so that zypper knows a repository with its keys.

    name: its alias. Raises StateFailed for a new one without an address, and for keys that cannot
    be had.
    """
    present = repo_files.repositories([FOLDER]).get(name)
    options = _options(settings)
    if present is None:
        _refuse_new(name, options)
        changes: dict[str, Any] = {"repo": name}
        options = {"name": name, **DEFAULTS, **options}
        path = _path(name, settings)
    else:
        path = present.path
        now = {**DEFAULTS, **present.options}
        options = {
            key: value
            for key, value in options.items()
            if not _has_same_meaning(key, now.get(key, ""), value)
        }
        changes = {
            key: {"old": _shown(key, now.get(key)), "new": _shown(key, value)}
            for key, value in options.items()
        }
    keys = rpm_keys.new_keys(settings)
    files: dict[str, bytes | None] = {}
    if changes:
        files[path] = repo_files.with_repository(repo_files.read(path), name, options).encode()
    elif keys:
        changes = {"repo": name}
    trust = bool(settings.gpgautoimport and files and not settings.disabled)
    return RepositoryChange(name, changes, files, keys=keys, trust=trust)


def plan_repository_removal(name: str, settings: RepositorySettings) -> RepositoryChange:
    """Return what has to be written so that zypper does not know a repository. name: its alias."""
    return repo_files.removal(name, [FOLDER])


def _options(settings: RepositorySettings) -> dict[str, str]:
    """Return what a state says of a repository as options of its file."""
    options = repo_files.given_options(settings)
    if settings.autorefresh is not None:
        options.setdefault("autorefresh", str(int(settings.autorefresh)))
    if "cache" in options:  # as Salt calls it
        options["keeppackages"] = options.pop("cache")
    return options


def _refuse_new(name: str, options: dict[str, str]) -> None:
    """Raise StateFailed for a repository that zypper could not have, or has by another alias."""
    if "]" in name or name.startswith("."):
        raise _failed(name, "the alias of a repository has no ']', and no '.' at its beginning")
    if not any(options.get(key) for key in ADDRESSES):
        raise _failed(
            name,
            f"Repository '{name}' not found, and neither 'baseurl' nor 'mirrorlist' was specified",
        )
    for other, repository in repo_files.repositories([FOLDER]).items():
        for key in ADDRESSES:
            there = repository.options.get(key)
            if there and options.get(key) and _has_same_meaning(key, there, options[key]):
                raise _failed(name, f"Repository '{name}' already exists as '{other}'.")


def _failed(name: str, why: str) -> StateFailed:
    return StateFailed(f"Failed to configure repo '{name}': {why}")


def _has_same_meaning(key: str, old: str, new: str) -> bool:
    if key in ADDRESSES:
        old, new = (re.sub(r"^(file|dir):/+", r"\1:/", url.rstrip("/")) for url in (old, new))
    return repo_files.has_same_meaning(old, new)


def _path(name: str, settings: RepositorySettings) -> str:
    """Return the file for a new repository."""
    if settings.file and settings.file.startswith(f"{FOLDER}/"):
        return settings.file
    return f"{FOLDER}/{name.replace('/', '_')}.repo"
