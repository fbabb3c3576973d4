# SPDX-License-Identifier: Apache-2.0
"""Repositories of dnf: what has to be written for one to be known, with its keys."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from modules.pkg import repo_files
from modules.pkg.package_manager import RepositoryChange, RepositorySettings
from modules.pkg.rpm import keys as rpm_keys
from runner.api import StateFailed, here

FOLDERS = ("/etc/yum.repos.d", "/etc/yum/repos.d", "/etc/distro.repos.d")
CONFIGURATION = ("/etc/dnf/dnf.conf", "/etc/yum.conf")
ADDRESSES = ("baseurl", "mirrorlist", "metalink")  # where the packages are: one of them says it
COPR = "copr.fedorainfracloud.org"
_ID = re.compile(r"[\w.:+@-]+\Z", re.A)


def folders() -> list[str]:
    """Return the folders with the files of repositories; new ones go into the first one."""
    for path in CONFIGURATION:
        if match := re.search(r"^\s*reposdir\s*=\s*(.+)$", repo_files.read(path), re.M):
            return match[1].replace(",", " ").split()
    return [*FOLDERS]


def list_repos() -> dict[str, dict[str, Any]]:
    """Return the repositories by their IDs: their options, and the file that has them."""
    return {
        name: {"file": repository.path, **repository.options}
        for name, repository in repo_files.repositories(folders()).items()
    }


def plan_repository(name: str, settings: RepositorySettings) -> RepositoryChange:
    """Return what has to be written so that dnf knows a repository with its keys.

    name: its ID. Raises StateFailed for what is no ID, and for keys that cannot be had.
    """
    name, options = _copr(settings.copr) if settings.copr else (name, {})
    options |= repo_files.given_options(settings)
    if not _ID.match(name):
        raise StateFailed(
            _failure(name, "this is no ID of a repository (letters, digits, - _ . :);")
            + " what people read goes into humanname"
        )
    present = repo_files.repositories(folders()).get(name)
    if present is None:
        if not any(options.get(key) for key in ADDRESSES):
            raise StateFailed(
                _failure(name, f"it does not exist, and needs one of {', '.join(ADDRESSES)}")
            )
        options = {"name": name, "enabled": "1", **options}
    new = next((key for key in ADDRESSES if options.get(key)), None)
    if present and new:  # a new address replaces one of another kind
        options |= {key: "" for key in ADDRESSES if key in present.options and key not in options}
    keys = rpm_keys.new_keys(settings)
    changes = _difference(present, options, settings.comments) if present else {"repo": name}
    if not changes and not keys:
        return RepositoryChange(name)
    path = present.path if present else settings.file or f"{folders()[0]}/{_file_name(name)}.repo"
    text = repo_files.with_repository(repo_files.read(path), name, options, settings.comments)
    files: dict[str, bytes | None] = {path: text.encode()} if changes else {}
    return RepositoryChange(name, changes or {"repo": name}, files, keys=keys)


def plan_repository_removal(name: str, settings: RepositorySettings) -> RepositoryChange:
    """Return what has to be written so that dnf does not know a repository.

    name: its ID.
    """
    name = _copr(settings.copr)[0] if settings.copr else name
    return repo_files.removal(name, folders())


def _failure(name: str, why: str) -> str:
    return f"Failed to configure repo '{name}': {why}"


def _file_name(name: str) -> str:
    return f"_{name}" if name.startswith("copr:") else name


def _difference(
    present: repo_files.RepositorySection, options: Mapping[str, str], comments: tuple[str, ...]
) -> dict[str, Any]:
    """Return the options that have to change, with their old and new values, as Salt reports them:
    an option that is not there is None.
    """
    changes: dict[str, Any] = {
        key: {"old": present.options.get(key), "new": value or None}
        for key, value in options.items()
        if not repo_files.has_same_meaning(present.options.get(key, ""), value)
    }
    if new := [comment for comment in comments if comment not in present.comments]:
        changes["comments"] = {"old": list(present.comments), "new": [*present.comments, *new]}
    return changes


def _copr(project: str) -> tuple[str, dict[str, str]]:
    """Return ID and options of a project (`user/project`, `@group/project`) of Fedora's Copr."""
    owner, slash, title = project.partition("/")
    if not slash or not owner or not title:
        raise StateFailed(_failure(project, "copr is user/project or @group/project"))
    fedora = here.grains.get("os") == "Fedora"
    system = "fedora-$releasever" if fedora else f"epel-{here.grains.get('osmajorrelease')}"
    results = f"https://download.{COPR}/results/{project}"
    return f"copr:{COPR}:{owner.replace('@', 'group_')}:{title}", {
        "name": f"Copr repo for {title} owned by {owner}",
        "baseurl": f"{results}/{system}-$basearch/",
        "type": "rpm-md",
        "skip_if_unavailable": "1",
        "gpgcheck": "1",
        "gpgkey": f"{results}/pubkey.gpg",
        "repo_gpgcheck": "0",
        "enabled_metadata": "1",
    }
