# SPDX-License-Identifier: Apache-2.0
"""The revisions of a repository: which they are, how they differ, and what is written of them."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from typing import Any

from modules._texts.lines import plain_name
from modules.git._arguments import command_words, optional_word
from modules.git._run import ask, change, probe
from runner.api import CommandFailed


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
