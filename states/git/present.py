# SPDX-License-Identifier: Apache-2.0
"""git.present: there is a repository."""

from __future__ import annotations

import re
from typing import Annotated

from modules import file, git
from runner.api import AbsolutePath, Check, Line, Name, Plan, Planned, Secret, StateFailed
from states.git._clone import Repository, sentence

SHARED = "expected group, all, umask, true, false or an octal mode"
Shared = Annotated[
    Line,
    Check(
        lambda text: (
            None
            if re.fullmatch(
                "(?i:group|all|world|everybody|umask|true|yes|on|false|no|off|[0-7]*)", text
            )
            else SHARED
        )
    ),
]


def present(
    name: AbsolutePath,
    force: bool = False,
    bare: bool = True,
    template: AbsolutePath | None = None,
    separate_git_dir: AbsolutePath | None = None,
    shared: Shared | None = None,
    user: Name | None = None,
    password: Secret[Line] | None = None,
    output_encoding: Line | None = None,
) -> Planned:
    """Make sure that a folder is a repository; an empty one is made where there is none.

    name: The folder of the repository.
    force: Empty a folder that is no repository.
    bare: Make it without a work tree.
    template: The folder that the files of a new repository are copied from, as `git init
      --template`.
    separate_git_dir: Where the repository itself lies, while the folder only points there.
    shared: Who else may write, as `git init --shared`: `group`, `all`, an octal mode.
    user, password, output_encoding: As of git.latest.

        /srv/git/app.git:
          git.present:
            - shared: group
    """
    target = name.rstrip("/") or "/"
    if bare and separate_git_dir:
        raise StateFailed("separate_git_dir is for repositories with a work tree: say bare: False")
    if Repository("", target, user=user).is_there(bare=True):
        return ""
    empties = _has_to_empty(target, force)
    kind = "bare repository" if bare else "repository"
    changes = {"forced init": True, "new": target} if empties else {"new": target}
    comment = f"New {kind} would be created"
    if empties:
        instead = (
            f"the contents of {target} would be deleted, and a {kind} would be initialized in its"
            " place"
        )
        comment = f"Target directory {target} exists. Since force=True, {instead}."
    yield Plan(changes, comment, provides=[("file", target)])
    if empties:
        file.remove(target)
    if not file.is_dir(target):
        file.makedirs(target, user=user)
    words = [
        "init",
        *(["--bare"] if bare else []),
        *([f"--template={template}"] if template else []),
    ]
    words += [f"--separate-git-dir={separate_git_dir}"] if separate_git_dir else []
    words += [f"--shared={shared}"] if shared else []
    git.change([*words, target], None, user)
    done = [f"Initialized {kind} in {target}"]
    done += [f"Template directory set to {template}"] if template else []
    return sentence([*done, *([f"Gitdir set to {separate_git_dir}"] if separate_git_dir else [])])


def _has_to_empty(target: str, force: bool) -> bool:
    """Return whether something has to go first; StateFailed where it must not."""
    if not file.lexists(target) or (file.is_dir(target) and not file.listdir(target)):
        return False
    if force:
        return True
    if not file.is_dir(target):
        raise StateFailed(
            f"Target '{target}' exists and is not a folder. Set the 'force' option to True to"
            " remove it"
        )
    raise StateFailed(
        f"Target '{target}' exists, is non-empty, and is not a git repository. Set the 'force'"
        " option to True to remove this directory's contents and proceed with initializing a"
        " repository"
    )
