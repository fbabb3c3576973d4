"""Salt's functions of the git module on branches, tags, merges, work trees and archives."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from typing import Any

from modules import file
from modules._lines import plain_name
from modules.git._run import ask, change, probe
from modules.git._salt import _keys, _plain_words, is_worktree, ls_remote
from runner.api import CommandFailed


def _words(git_opts: str, command: str, opts: str, *more: str) -> list[str]:
    return [*shlex.split(git_opts), command, *shlex.split(opts), *more]


# ---------------------------------------------------------------- looking


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
    revisions = [] if no_index else [*_plain_words(item1, "item1"), *_plain_words(item2, "item2")]
    flags = [*(["--no-index"] if no_index else []), *(["--cached"] if cached else [])]
    words = _words(git_opts, "diff", opts, *flags, *revisions, "--", *names)
    done = probe(words, cwd, user)
    if done.retcode > (1 if no_index else 0):  # 1: they differ
        raise CommandFailed(f"Command 'git {' '.join(words)}' failed: {done.error_text}")
    return done.stdout.rstrip("\n")


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
    for line in ask(["for-each-ref", f"--format={form}", "refs/tags/"], cwd, user).splitlines():
        tagged, commit, name = line.split("\0")  # an annotated tag is an object of its own
        tags.setdefault(commit or tagged, []).append(name)
    return tags


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
    words = _words(git_opts, "merge-base", opts, *(["--all"] if all else []), *flags, *revisions)
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
    """What a merge of two revisions would do. base: their common commit; the default: as
    merge_base has it.
    """
    first, second = plain_name(ref1, "ref1"), plain_name(ref2, "ref2")
    start = plain_name(base, "base") if base else str(merge_base(cwd, [first, second], user=user))
    return ask(["merge-tree", start, first, second], cwd, user)


def salt_remote_refs(
    url: str,
    heads: bool = False,
    tags: bool = False,
    user: str | None = None,
    identity: str | Sequence[str] = (),
    https_user: str | None = None,
    https_pass: str | None = None,
    filter: str | None = None,
    **_: Any,
) -> dict[str, str]:
    """The references of a repository at a URL with their commits. heads, tags: only these. filter:
    only those of this name.

    {{ salt['git.remote_refs']('https://git.example.com/app.git', tags=True) | json }}
    """
    opts = " ".join([*(["--heads"] if heads else []), *(["--tags"] if tags else [])])
    return ls_remote(None, url, filter, opts, user, identity, https_user, https_pass)


# ---------------------------------------------------------------- changing


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
    words = _words(git_opts, "symbolic-ref", opts, "--", ref)
    return change([*words, value], cwd, user) if value else ask(words, cwd, user)


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
    change(_words(git_opts, "archive", "", *options, plain_name(rev, "the revision")), cwd, user)
    return True


def branch(
    cwd: str,
    name: str | None = None,
    opts: str = "",
    git_opts: str = "",
    user: str | None = None,
    **_: Any,
) -> bool:
    """Create a branch, or what the options of `git branch` say (`-d`, `-m new`)."""
    change(_words(git_opts, "branch", opts, *_plain_words(name, "the branch")), cwd, user)
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
    return change(_words(git_opts, "tag", opts, *annotated, "--", name, ref), cwd, user)


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
    words = _words(git_opts, "merge", opts, *_plain_words(rev, "the revision"))
    return change(words, cwd, user, _keys(identity, user))


def rebase(
    cwd: str,
    rev: str = "master",
    opts: str = "",
    git_opts: str = "",
    user: str | None = None,
    **_: Any,
) -> str:
    """Put the commits of the present branch on top of a revision; what git says."""
    words = _words(git_opts, "rebase", opts, *_plain_words(rev, "the revision"))
    return change(words, cwd, user)


def rm(
    cwd: str,
    filename: str,
    opts: str = "",
    git_opts: str = "",
    user: str | None = None,
    **_: Any,
) -> str:
    """Remove a file from the work tree and from what is staged; what git says."""
    return change(_words(git_opts, "rm", opts, "--", filename), cwd, user)


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
    words = _words(git_opts, "stash", "", plain_name(action, "the action"), *shlex.split(opts))
    return ask(words, cwd, user) if action in ("list", "show") else change(words, cwd, user)


def discard_local_changes(cwd: str, path: str = ".", user: str | None = None, **_: Any) -> str:
    """Bring the files of a work tree back to what is staged; what git says. path: only those below
    it.
    """
    return change(["checkout", "--", path], cwd, user)


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
    words = _words(git_opts, "worktree", f"add {opts}", *flags, "--", worktree_path)
    return change([*words, *_plain_words(ref, "the revision")], cwd, user)


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
    words = _words(git_opts, "worktree", f"prune {opts}", *given)
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
