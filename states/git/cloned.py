"""git.cloned: a repository is cloned, at whatever commit."""

from __future__ import annotations

from typing import Any

from modules import git
from runner.api import OPEN, AbsolutePath, OneOrMany, Plan, Planned, Secret
from states.git._clone import Repository, clone, refuse_full


def cloned(
    name: str,
    target: AbsolutePath,
    branch: str | None = None,
    user: str | None = None,
    password: Secret[str] | None = None,
    identity: OneOrMany[AbsolutePath] | None = None,
    https_user: str | None = None,
    https_pass: Secret[str] | None = None,
    output_encoding: str | None = None,
) -> Planned:
    """Make sure that a repository is cloned; one that is there is not updated.

    name: the URL. target: the folder. branch: to be checked out. The rest as of git.latest.

        https://github.com/example/app.git:
          git.cloned:
            - target: /srv/app

    Behaviour: Salt 3008's git.cloned.
    """
    secrets = git.credentials(https_user, https_pass)
    repository = Repository(name, target.rstrip("/"), "origin", user, tuple(identity or ()), secrets)
    if not repository.exists:
        refuse_full(target, False)
        if not repository.refs() and branch:
            branch = None
        yield Plan({"new": f"{name} => {target}"}, f"{name} would be cloned to {target}", provides=OPEN)
        clone(repository, ["--branch", branch] if branch else [], False)
        return f"{name} cloned to {target}" + (f" with branch '{branch}'" if branch else "")
    present = repository.look("symbolic-ref", "--short", "-q", "HEAD")
    if branch is None or branch == present:
        told = f"Repository already exists at {target}"
        return told + (f" and is checked out to branch '{branch}'" if branch else "")
    changes: dict[str, Any] = {"branch": {"old": present, "new": branch}}
    yield Plan(changes, f"Branch would be changed to '{branch}'")
    if repository.look("rev-parse", "--verify", "-q", branch) is None:
        repository.run("fetch", "origin")
    repository.run("checkout", branch)
    return f"Branch changed to '{branch}'"
