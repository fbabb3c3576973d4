# SPDX-License-Identifier: Apache-2.0
"""Further work trees of a repository (`git worktree`)."""

from __future__ import annotations

import os
from typing import Any

from modules import file
from modules._texts.lines import plain_name, split
from modules.git._arguments import command_words, optional_word
from modules.git._run import ask, change, look, probe
from runner.api import CommandFailed


def is_worktree(cwd: str, user: str | None = None, **_: Any) -> bool:
    """Return whether a folder is the top of a further work tree (`git worktree add`); an ordinary
    clone is none.
    """
    if not file.is_dir(cwd):
        return False
    output = look(["rev-parse", "--show-cdup", "--git-dir", "--git-common-dir"], cwd, user)
    above, own, common = (output.split("\n") if output is not None else ["no", "", ""])[:3]
    return not above and own != common


def list_worktrees(
    cwd: str, stale: bool = False, user: str | None = None, all: bool = False, **_: Any
) -> dict[str, dict[str, Any]]:
    """The work trees of a repository by their paths: stale, HEAD, detached, branch of each, and
    the tags of a detached one. stale: only those whose folder is gone. all: both.

    runner call git.list_worktrees /srv/app
    """
    tags = _tags_by_commit(cwd, user)
    trees: dict[str, dict[str, Any]] = {}
    for block in ask(["worktree", "list", "--porcelain", "-z"], cwd, user).split("\0\0"):
        facts = dict(line.partition(" ")[::2] for line in block.strip("\0").split("\0") if line)
        if "worktree" not in facts:
            continue
        is_stale = not file.is_dir(facts["worktree"])
        if all or is_stale is stale:
            trees[facts["worktree"]] = {
                "stale": is_stale,
                "HEAD": facts.get("HEAD", ""),
                "detached": "detached" in facts,
                "branch": facts.get("branch", "").removeprefix("refs/heads/") or None,
            }
            if "detached" in facts:
                trees[facts["worktree"]]["tags"] = tags.get(facts.get("HEAD", ""), [])
    return trees


def _tags_by_commit(cwd: str, user: str | None) -> dict[str, list[str]]:
    tags: dict[str, list[str]] = {}
    form = "%(objectname)%00%(*objectname)%00%(refname:strip=2)"
    for line in split(ask(["for-each-ref", f"--format={form}", "refs/tags/"], cwd, user)):
        tagged, commit, name = line.split("\0")  # an annotated tag is an object of its own
        tags.setdefault(commit or tagged, []).append(name)
    return tags


def worktree_add(
    cwd: str,
    worktree_path: str,
    ref: str | None = None,
    reset_branch: bool | None = None,
    force: bool | None = None,
    detach: bool | None = False,
    opts: str = "",
    git_opts: str = "",
    user: str | None = None,
    branch: str | None = None,
    **_: Any,
) -> str:
    """Add a work tree at a path; what git says. Raises CommandFailed for a branch with detach.

    ref: what is checked out. branch: the new branch there; the default: the name of the folder.
    reset_branch: also when there is one. detach: no branch. force: though the branch is checked out
    elsewhere.

        runner call git.worktree_add /srv/app /srv/app-1.0 ref=v1.0 detach=true
    """
    if branch and detach:
        raise CommandFailed("Only one of 'branch' and 'detach' is allowed")
    flags = [*(["--detach"] if detach else []), *(["--force"] if force else [])]
    if not detach:
        name = branch or os.path.basename(worktree_path.rstrip("/"))
        flags += ["-B" if reset_branch else "-b", plain_name(name, "the branch")]
    words = command_words(git_opts, "worktree", f"add {opts}", *flags, "--", worktree_path)
    return change([*words, *optional_word(ref, "the revision")], cwd, user)


def worktree_prune(
    cwd: str,
    dry_run: bool = False,
    verbose: bool = True,
    expire: str | None = None,
    opts: str = "",
    git_opts: str = "",
    user: str | None = None,
    **_: Any,
) -> str:
    """Forget the work trees whose folder is gone; what git says. dry_run: only tell. expire: only
    those that are gone since (`1.week.ago`).
    """
    flags = {"--dry-run": dry_run, "--verbose": verbose, f"--expire={expire}": expire}
    given = [flag for flag, wanted in flags.items() if wanted]
    words = command_words(git_opts, "worktree", f"prune {opts}", *given)
    done = probe(words, cwd, user) if dry_run else None
    return done.error_text if done else change(words, cwd, user)


def worktree_rm(cwd: str, user: str | None = None, **_: Any) -> bool:
    """Remove the folder of a further work tree. Raises CommandFailed for what is none."""
    if not file.exists(cwd):
        raise CommandFailed(f"{cwd} does not exist", missing=("file", cwd))
    if not is_worktree(cwd, user):
        raise CommandFailed(f"{cwd} is not a git worktree")
    file.remove(cwd)
    return True
