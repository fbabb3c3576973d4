# SPDX-License-Identifier: Apache-2.0
"""Git repositories: how to look at them, and the git program to change them.

What the git state uses is in _run; Salt's functions of remotes, worktrees and settings are in files
of their own.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from typing import Any

from modules._texts.lines import plain_name, split
from modules.git._arguments import command_words, identity_keys, optional_word
from modules.git._config import config_get, config_get_regexp, config_set, config_unset
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
    ask,
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
from runner.api import CommandFailed


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


def revision(
    cwd: str, rev: str = "HEAD", short: bool = False, user: str | None = None, **_: Any
) -> str:
    """The commit of a revision. Raises CommandFailed when there is none."""
    return ask(
        [
            "rev-parse",
            *(["--short"] if short else []),
            f"{plain_name(rev, 'the revision')}^{{commit}}",
        ],
        cwd,
        user,
    )


def rev_parse(
    cwd: str, rev: str | None = None, opts: str = "", user: str | None = None, **_: Any
) -> str:
    """The output of `git rev-parse`."""
    return ask(["rev-parse", *shlex.split(opts), *optional_word(rev, "the revision")], cwd, user)


def describe(cwd: str, rev: str = "HEAD", user: str | None = None, **_: Any) -> str:
    """The tag before a revision and the distance to it, or the short commit."""
    return ask(["describe", "--always", *optional_word(rev, "the revision")], cwd, user)


def diff(
    cwd: str,
    item1: str | None = None,
    item2: str | None = None,
    opts: str = "",
    git_opts: str = "",
    user: str | None = None,
    no_index: bool = False,
    cached: bool = False,
    paths: str | Sequence[str] | None = None,
    **_: Any,
) -> str:
    """The difference between two revisions, or of the work tree to one. Raises CommandFailed when
    git fails.

    no_index: compare the two paths, which need be in no repository. cached: what is staged. paths:
    only these.

        runner call git.diff /srv/app v1.0 main opts=--stat
    """
    names = [paths] if isinstance(paths, str) else list(paths or ())
    if no_index and (cached or len(names) != 2):
        raise CommandFailed("no_index: give two paths, and not cached")
    revisions = [] if no_index else [*optional_word(item1, "item1"), *optional_word(item2, "item2")]
    flags = [*(["--no-index"] if no_index else []), *(["--cached"] if cached else [])]
    words = command_words(git_opts, "diff", opts, *flags, *revisions, "--", *names)
    done = probe(words, cwd, user)
    if done.retcode > (1 if no_index else 0):  # 1: they differ
        raise CommandFailed(f"Command 'git {' '.join(words)}' failed: {done.error_text}")
    return done.stdout.rstrip("\n")


def merge_base(
    cwd: str,
    refs: str | Sequence[str] | None = None,
    octopus: bool = False,
    is_ancestor: bool = False,
    independent: bool = False,
    fork_point: str | None = None,
    opts: str = "",
    git_opts: str = "",
    user: str | None = None,
    all: bool = False,
    **_: Any,
) -> str | bool | list[str]:
    """The best common commit of revisions; a list with all; with is_ancestor whether the first is
    an ancestor of the second. Raises CommandFailed for more than one of these, and when git fails.

    fork_point: the branch that the revision was forked from.

        {% if salt['git.merge_base']('/srv/app', ['v1.0', 'HEAD'], is_ancestor=True) %}
    """
    kinds = {"--octopus": octopus, "--is-ancestor": is_ancestor, "--independent": independent}
    flags = [flag for flag, wanted in kinds.items() if wanted]
    if fork_point is not None:
        flags.append("--fork-point")
    if len(flags) > 1:
        raise CommandFailed(
            "Only one of 'octopus', 'independent', 'is_ancestor', and 'fork_point' is permitted."
        )
    names = [refs] if isinstance(refs, str) else list(refs or ())
    names = [*([fork_point] if fork_point is not None else []), *names]
    revisions = [plain_name(name, "the revision") for name in names]
    words = command_words(
        git_opts, "merge-base", opts, *(["--all"] if all else []), *flags, *revisions
    )
    done = probe(words, cwd, user)
    if done.retcode > 1 or (done.retcode and done.stderr.strip()):
        raise CommandFailed(f"Command 'git {' '.join(words)}' failed: {done.error_text}")
    if is_ancestor:
        return done.retcode == 0
    commits = done.stdout.split()
    return commits if all else "".join(commits[:1])


def merge_tree(
    cwd: str, ref1: str, ref2: str, base: str | None = None, user: str | None = None, **_: Any
) -> str:
    """Return what a merge of two revisions would do. base: their common commit; the default: as
    merge_base has it.
    """
    first, second = plain_name(ref1, "ref1"), plain_name(ref2, "ref2")
    start = plain_name(base, "base") if base else str(merge_base(cwd, [first, second], user=user))
    return ask(["merge-tree", start, first, second], cwd, user)


def archive(
    cwd: str,
    output: str,
    rev: str = "HEAD",
    prefix: str | None = None,
    git_opts: str = "",
    user: str | None = None,
    format: str | None = None,
    **_: Any,
) -> bool:
    """Write an archive of a revision. prefix: in front of each name in it; the default: the name
    of the folder and a slash. format: tar, zip, tar.gz; the default: as the name of the output
    says.

        runner call git.archive /srv/app /var/backups/app.tar.gz rev=v1.0
    """
    start = f"{os.path.basename(cwd.rstrip('/'))}/" if prefix is None else prefix
    options = [
        f"--prefix={start}",
        f"--output={output}",
        *([f"--format={format}"] if format else []),
    ]
    change(
        command_words(git_opts, "archive", "", *options, plain_name(rev, "the revision")), cwd, user
    )
    return True


config_get_regex = config_get_regexp


__func_alias__ = {"salt_remote_refs": "remote_refs"}
