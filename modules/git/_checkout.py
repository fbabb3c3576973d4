# SPDX-License-Identifier: Apache-2.0
"""The files of a repository: checked out, staged, committed and put aside."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

from modules._texts.lines import plain_name
from modules.git._arguments import command_words, identity_keys, optional_word
from modules.git._run import ask, change


def init(cwd: str, bare: bool = False, opts: str = "", user: str | None = None, **_: Any) -> str:
    """Make an empty repository at a folder; what git says. bare: one without files."""
    return change(
        ["init", *(["--bare"] if bare else []), *shlex.split(opts), "--", cwd], None, user
    )


def status(cwd: str, user: str | None = None, **_: Any) -> dict[str, list[str]]:
    """The changed paths of a work tree, by kind: modified, new, deleted, untracked."""
    kinds = {
        "M": "modified",
        "T": "modified",
        "R": "modified",
        "A": "new",
        "D": "deleted",
        "?": "untracked",
    }
    paths: dict[str, list[str]] = {}
    entries = iter(ask(["status", "--porcelain", "-z"], cwd, user).split("\0"))
    for entry in entries:
        if entry[:1] in ("R", "C"):
            next(entries, "")  # the old name
        kind = kinds.get(entry[:2].strip()[:1])
        if kind:
            paths.setdefault(kind, []).append(entry[3:])
    return paths


def checkout(
    cwd: str,
    rev: str | None = None,
    force: bool = False,
    opts: str = "",
    user: str | None = None,
    **_: Any,
) -> str:
    """Check out a revision; what git says."""
    words = [
        "checkout",
        *(["--force"] if force else []),
        *shlex.split(opts),
        *optional_word(rev, "the revision"),
    ]
    return change(words, cwd, user)


def add(cwd: str, filename: str, opts: str = "", user: str | None = None, **_: Any) -> str:
    """Stage a file; what git says."""
    return change(["add", "--verbose", *shlex.split(opts), "--", filename], cwd, user)


def rm(
    cwd: str, filename: str, opts: str = "", git_opts: str = "", user: str | None = None, **_: Any
) -> str:
    """Remove a file from the work tree and from what is staged; what git says."""
    return change(command_words(git_opts, "rm", opts, "--", filename), cwd, user)


def commit(
    cwd: str,
    message: str,
    opts: str = "",
    user: str | None = None,
    filename: str | None = None,
    git_opts: str = "",
    **_: Any,
) -> str:
    """Commit what is staged, or one file; what git says. git_opts: `-c user.name=deploy`."""
    return change(
        [
            *shlex.split(git_opts),
            "commit",
            "-m",
            message,
            *shlex.split(opts),
            *(["--", filename] if filename else []),
        ],
        cwd,
        user,
    )


def reset(cwd: str, opts: str = "", user: str | None = None, **_: Any) -> str:
    """Reset a work tree; what git says.

    {{ salt['git.reset']('/srv/app', '--hard origin/main') }}
    """
    return change(["reset", *shlex.split(opts)], cwd, user)


def stash(
    cwd: str,
    action: str = "save",
    opts: str = "",
    git_opts: str = "",
    user: str | None = None,
    **_: Any,
) -> str:
    """Put the changes of a work tree aside, or what else `git stash` can do; what git says.

    action: save, list, show, pop, apply, drop, clear, ...
    """
    words = command_words(
        git_opts, "stash", "", plain_name(action, "the action"), *shlex.split(opts)
    )
    return ask(words, cwd, user) if action in ("list", "show") else change(words, cwd, user)


def discard_local_changes(cwd: str, path: str = ".", user: str | None = None, **_: Any) -> str:
    """Bring the files of a work tree back to what is staged; what git says. path: only those below
    it.
    """
    return change(["checkout", "--", path], cwd, user)


def submodule(
    cwd: str,
    command: str,
    opts: str = "",
    user: str | None = None,
    identity: str | Sequence[str] = (),
    **_: Any,
) -> str:
    """Run `git submodule` with a command (`update`); what git says. opts: `--init --recursive`."""
    return change(
        ["submodule", plain_name(command, "the command of git submodule"), *shlex.split(opts)],
        cwd,
        user,
        identity_keys(identity, user),
    )
