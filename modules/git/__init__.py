# SPDX-License-Identifier: Apache-2.0
"""Git repositories: how to look at them, and the git program to change them.

What the git state uses is in _run, Salt's functions in the other files, by what they are about.
"""

from __future__ import annotations

from modules.git._branches import (
    branch,
    current_branch,
    list_branches,
    list_tags,
    merge,
    rebase,
    symbolic_ref,
    tag,
)
from modules.git._checkout import (
    add,
    checkout,
    commit,
    discard_local_changes,
    init,
    reset,
    rm,
    stash,
    status,
    submodule,
)
from modules.git._config import config_get, config_get_regexp, config_set, config_unset
from modules.git._history import (
    archive,
    describe,
    diff,
    merge_base,
    merge_tree,
    rev_parse,
    revision,
)
from modules.git._remotes import (
    clone,
    fetch,
    ls_remote,
    pull,
    push,
    remote_get,
    remote_set,
    remotes,
    salt_remote_refs,
)
from modules.git._run import (
    DEFAULT_BRANCH,
    SHA,
    change,
    config_change,
    config_matching,
    config_values,
    credentials,
    fetched_aside,
    keys,
    look,
    probe,
    remote_refs,
    version,
)
from modules.git._worktrees import (
    is_worktree,
    list_worktrees,
    worktree_add,
    worktree_prune,
    worktree_rm,
)

config_get_regex = config_get_regexp


__func_alias__ = {"salt_remote_refs": "remote_refs"}
