"""Execution functions of package repositories."""

from __future__ import annotations

from typing import Any

from modules import file
from modules.pkg.package_manager import RepositoryChange
from modules.pkg.providers import require
from runner.api import for_states


def list_repos(**kwargs: Any) -> dict[str, Any]:
    """Return the repositories that packages come from, those that are switched off included.

    {{ salt['pkg.list_repos']() }}
    """
    return require("repositories", "pkg.list_repos").list_repos()


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
