"""Git repositories: how to look at them, and the git program to change them.

What the git state uses comes first, then Salt's functions.
"""

from __future__ import annotations

from modules.git._run import (
    DEFAULT_BRANCH,
    SHA,
    change,
    config_change,
    config_matching,
    config_values,
    credentials,
    keys,
    look,
    probe,
    remote_refs,
    said,
)
from modules.git._salt import (
    checkout,
    clone,
    config_get,
    config_get_regexp,
    current_branch,
    describe,
    fetch,
    is_worktree,
    list_branches,
    list_tags,
    ls_remote,
    pull,
    remote_get,
    remotes,
    rev_parse,
    revision,
    status,
    version,
)

__all__ = [
    "DEFAULT_BRANCH",
    "SHA",
    "change",
    "checkout",
    "clone",
    "config_change",
    "config_get",
    "config_get_regexp",
    "config_matching",
    "config_values",
    "credentials",
    "current_branch",
    "describe",
    "fetch",
    "is_worktree",
    "keys",
    "list_branches",
    "list_tags",
    "look",
    "ls_remote",
    "probe",
    "pull",
    "remote_get",
    "remote_refs",
    "remotes",
    "rev_parse",
    "revision",
    "said",
    "status",
    "version",
]
