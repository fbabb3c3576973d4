"""git.detached: a clone is at a commit, on no branch."""

from __future__ import annotations

from modules import git
from runner.api import OPEN, AbsolutePath, Done, OneOrMany, Plan, Planned, Secret
from states.git._clone import Repository, clone, refuse_full, wanted


def detached(
    name: str,
    rev: str | int | float,
    target: AbsolutePath,
    remote: str = "origin",
    user: str | None = None,
    password: Secret[str] | None = None,
    force_clone: bool = False,
    force_checkout: bool = False,
    fetch_remote: bool = True,
    hard_reset: bool = False,
    submodules: bool = False,
    identity: OneOrMany[AbsolutePath] | None = None,
    https_user: str | None = None,
    https_pass: Secret[str] | None = None,
    output_encoding: str | None = None,
) -> Planned:
    """Make sure that a clone is at a branch's, a tag's or a very commit, with a detached HEAD.

    name: the URL. rev: branch, tag or commit. fetch_remote: ask the remote; without it a commit that is known locally
    will do. hard_reset: discard changes first. The rest as of git.latest.

        https://github.com/example/app.git:
          git.detached:
            - rev: v1.2.3
            - target: /srv/app

    Behaviour: Salt 3008's git.detached.
    """
    secrets = git.credentials(https_user, https_pass)
    repository = Repository(name, target.rstrip("/"), remote, user, tuple(identity or ()), secrets)
    there = repository.exists
    local = repository.look("rev-parse", "--verify", "-q", f"{rev}^{{commit}}") if there else None
    found = wanted(local, {}) if local and not fetch_remote else wanted(str(rev), repository.refs())
    head = repository.look("rev-parse", "HEAD") if there else None
    on_branch = there and bool(repository.look("symbolic-ref", "-q", "HEAD"))
    dirty = there and bool(repository.look("status", "--porcelain", "--untracked-files=no"))
    if head == found.sha and not on_branch and not (hard_reset and dirty):
        return "Already checked out at correct revision"
    empty_first = False if there else refuse_full(target, force_clone)
    changes = {"HEAD": {"old": head, "new": found.sha}}
    told = f"Commit ID {found.sha} would be checked out at {target}"
    yield Plan(changes, told if there else f"Repository {name} would be cloned to {target}", provides=OPEN)
    if not there:
        clone(repository, ["--no-checkout"], empty_first)
    elif repository.look("cat-file", "-e", found.sha) is None:
        repository.run("fetch", "--tags", remote)
    if hard_reset and there:
        repository.run("reset", "--hard", "HEAD")
    repository.run("checkout", *(["--force"] if force_checkout else []), "--detach", found.sha)
    if submodules:
        repository.run("submodule", "update", "--init", "--recursive")
    done = f"Commit ID {found.sha} was checked out at {target}"
    return Done(done if there else f"{name} cloned to {target}. {done}.", changes)
