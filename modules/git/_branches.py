# SPDX-License-Identifier: Apache-2.0
"""Branches, tags and symbolic references, and how branches are merged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from modules._texts.lines import split
from modules.git._arguments import command_words, identity_keys, optional_word
from modules.git._run import ask, change


def current_branch(cwd: str, user: str | None = None, **_: Any) -> str:
    """The branch that is checked out; HEAD when none is.

    {{ salt['git.current_branch']('/srv/app') }}
    """
    return ask(["rev-parse", "--abbrev-ref", "HEAD"], cwd, user)


def list_branches(cwd: str, remote: bool = False, user: str | None = None, **_: Any) -> list[str]:
    """The branches of a repository, or those of its remotes."""
    return _names("refs/remotes/" if remote else "refs/heads/", cwd, user)


def list_tags(cwd: str, user: str | None = None, **_: Any) -> list[str]:
    """The tags of a repository."""
    return _names("refs/tags/", cwd, user)


def _names(prefix: str, cwd: str, user: str | None) -> list[str]:
    return [
        name.removeprefix(prefix)
        for name in split(ask(["for-each-ref", "--format=%(refname)", prefix], cwd, user))
    ]


def branch(
    cwd: str,
    name: str | None = None,
    opts: str = "",
    git_opts: str = "",
    user: str | None = None,
    **_: Any,
) -> bool:
    """Create a branch, or what the options of `git branch` say (`-d`, `-m new`)."""
    change(command_words(git_opts, "branch", opts, *optional_word(name, "the branch")), cwd, user)
    return True


def tag(
    cwd: str,
    name: str,
    ref: str = "HEAD",
    message: str | None = None,
    opts: str = "",
    git_opts: str = "",
    user: str | None = None,
    **_: Any,
) -> str:
    """Tag a revision; what git says. message: of an annotated tag."""
    annotated = ["--annotate", f"--message={message}"] if message is not None else []
    return change(command_words(git_opts, "tag", opts, *annotated, "--", name, ref), cwd, user)


def symbolic_ref(
    cwd: str,
    ref: str,
    value: str | None = None,
    opts: str = "",
    git_opts: str = "",
    user: str | None = None,
    **_: Any,
) -> str:
    """The reference that a symbolic one (HEAD) points to; with a value it points there from now on.
    Raises CommandFailed for what is no symbolic reference.
    """
    words = command_words(git_opts, "symbolic-ref", opts, "--", ref)
    return change([*words, value], cwd, user) if value else ask(words, cwd, user)


def merge(
    cwd: str,
    rev: str | None = None,
    opts: str = "",
    git_opts: str = "",
    user: str | None = None,
    identity: str | Sequence[str] = (),
    **_: Any,
) -> str:
    """Merge a revision (the default: the tracked branch) into the present branch; what git says."""
    words = command_words(git_opts, "merge", opts, *optional_word(rev, "the revision"))
    return change(words, cwd, user, identity_keys(identity, user))


def rebase(
    cwd: str,
    rev: str = "master",
    opts: str = "",
    git_opts: str = "",
    user: str | None = None,
    **_: Any,
) -> str:
    """Put the commits of the present branch on top of a revision; what git says."""
    words = command_words(git_opts, "rebase", opts, *optional_word(rev, "the revision"))
    return change(words, cwd, user)
