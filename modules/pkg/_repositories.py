# SPDX-License-Identifier: Apache-2.0
"""Execution functions of package repositories."""

from __future__ import annotations

from collections.abc import Sequence

from modules import file
from modules.pkg.package_manager import RepositoryChange, RepositorySettings
from modules.pkg.providers import require
from runner.api import StateFailed, for_states

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def list_repos(**kwargs: Any) -> dict[str, Any]:
    """Return the repositories that packages come from, those that are switched off included.

    {{ salt['pkg.list_repos']() }}
    """
    return require("repositories", "pkg.list_repos").repositories.list_repos()


def get_repo(repo: str, **kwargs: Any) -> Any:
    """Return what is known of a repository; {} when there is none.

    repo: its ID; with apt its address, or an entry as in sources.list.

    {{ salt['pkg.get_repo']('epel').enabled }}
    """
    repositories = list_repos()
    words = [repo, *repo.split()]
    known: Any = next((repositories[word] for word in words if word in repositories), {})
    if isinstance(known, list) and len(words) > 2:  # the entries of an address: that of the dist
        same = [entry for entry in known if entry.get("dist") in words]
        known = same or known
    return known[0] if isinstance(known, list) else known


def mod_repo(repo: str, refresh: bool = True, **kwargs: Any) -> Any:
    """Add or change a repository; what is known of it then. Arguments as those of pkgrepo.managed.

    {{ salt['pkg.mod_repo']('epel', enabled=0) }}
    """
    manager = require("repositories", "pkg.mod_repo")
    change = manager.repositories.plan_repository(repo, repository_settings(kwargs))
    if change.changes:
        write_repository(change)
        if refresh:
            manager.renew_db()
    return get_repo(change.entry)


def del_repo(repo: str, refresh: bool = True, **kwargs: Any) -> str:
    """Delete a repository, and the file that only described it. Raises StateFailed for an
    unknown one.

    {{ salt['pkg.del_repo']('epel') }}
    """
    manager = require("repositories", "pkg.del_repo")
    change = manager.repositories.plan_repository_removal(repo, repository_settings(kwargs))
    if not change.changes:
        raise StateFailed(f"Repo {repo} doesn't exist in the configured repos")
    write_repository(change)
    if refresh:
        manager.renew_db()
    return f"Repo '{change.entry}' has been removed"


_SEVERAL = ("key_url", "keyid", "comps", "architectures", "comments")


@for_states
def repository_settings(arguments: dict[str, Any]) -> RepositorySettings:
    """Return what arguments of pkgrepo.managed say of a repository; others are options of it."""
    given = {key: value for key, value in arguments.items() if value is not None}
    enabled, disabled = given.pop("enabled", None), given.pop("disabled", None)
    if disabled is not None or enabled is not None:
        given["disabled"] = (
            bool(_number(disabled)) if disabled is not None else not _number(enabled)
        )
    for key in _SEVERAL:
        if key in given:
            given[key] = _several(given[key])
    if "gpgcheck" in given:
        given["gpgcheck"] = bool(_number(given["gpgcheck"]))
    fields = RepositorySettings._fields
    options = {key: _option(value) for key, value in given.items() if key not in fields}
    known = {key: value for key, value in given.items() if key in fields and key != "options"}
    return RepositorySettings(**known, options=options)


def _number(value: Any) -> int:
    words = {"yes": 1, "true": 1, "on": 1, "no": 0, "false": 0, "off": 0}
    text = str(value).strip().lower()
    return words[text] if text in words else int(text) if text.isdecimal() else bool(value)


def _several(value: Any) -> tuple[str, ...]:
    one = isinstance(value, str) or not isinstance(value, Sequence)
    return (str(value),) if one else tuple(map(str, value))


def _option(value: Any) -> str:
    """Return the value of an option as it stands in a file."""
    if isinstance(value, list):
        return "\n".join(map(_option, value))
    return str(int(value)) if isinstance(value, bool) else str(value)


@for_states
def write_repository(change: RepositoryChange) -> None:
    """Write what was planned for a repository: its keys first, then its files."""
    for path, key in change.key_files.items():
        file.makedirs(path.rpartition("/")[0], mode="0755")
        file.write(path, key, mode="0644")
    for key in change.keys:
        require("keyring", "a key").import_key(key)
    for path, contents in change.files.items():
        if contents is None:
            file.remove(path)
        else:
            file.write(path, contents, mode=None if file.is_file(path) else "0644")
    if change.trust:
        require("trusting", "gpgautoimport").trust_repository(change.entry)
