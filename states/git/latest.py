"""git.latest: a clone is at the newest commit of what is wanted."""

from __future__ import annotations

from typing import Any, Literal

from modules import git
from runner.api import OPEN, AbsolutePath, Done, OneOrMany, Plan, Planned, Secret, StateFailed
from states.git._clone import Repository, Wanted, clone, refuse_full, wanted


def latest(
    name: str,
    target: AbsolutePath,
    rev: str | int | float = "HEAD",
    branch: str | None = None,
    user: str | None = None,
    password: Secret[str] | None = None,
    update_head: bool = True,
    force_checkout: bool = False,
    force_clone: bool = False,
    force_fetch: bool = False,
    force_reset: bool | Literal["remote-changes"] = False,
    submodules: bool = False,
    bare: bool = False,
    mirror: bool = False,
    remote: str = "origin",
    fetch_tags: bool = True,
    sync_tags: bool = True,
    depth: int | None = None,
    identity: OneOrMany[AbsolutePath] | None = None,
    https_user: str | None = None,
    https_pass: Secret[str] | None = None,
    refspec_branch: str = "*",
    refspec_tag: str = "*",
    output_encoding: str | None = None,
) -> Planned:
    """Make sure that a repository is cloned and at the newest commit of a branch, a tag or a commit.

    name: the URL. target: the folder. rev: branch, tag or commit; HEAD is what the remote has checked out.
    branch: the local branch to be on, made when it is missing; without it the one that is checked out. user: works as
    this user. identity: private keys for ssh. https_user, https_pass: to log in; they are on no command line.
    force_reset: discard local commits and changes (remote-changes: only when the remote has something new).
    force_checkout: discard changes when switching branches. force_clone: empty a folder that is no repository.
    force_fetch: accept rewritten branches. submodules: update them, too. bare, mirror: clone without a work tree.
    remote: its local name. fetch_tags, sync_tags: fetch tags; remove those that the remote has no more. depth: how many
    commits to clone. update_head: false only fetches. password, refspec_*, output_encoding: accepted.

        https://github.com/example/app.git:
          git.latest:
            - target: /srv/app
            - rev: main

    Behaviour: Salt 3008's git.latest.
    """
    if depth is not None and rev == "HEAD":
        raise StateFailed(
            "When 'depth' is used, 'rev' must be set to the name of a branch or tag on the remote repository"
        )
    secrets = git.credentials(https_user, https_pass)
    repository = Repository(name, target.rstrip("/"), remote, user, tuple(identity or ()), secrets)
    found = wanted(str(rev), repository.refs())
    if not repository.exists:
        shape = ["--mirror"] if mirror else ["--bare"] if bare else []
        shape += ["--depth", str(depth), "--branch", str(rev)] if depth else []
        return (yield from _cloned(repository, found, branch, shape, force_clone, submodules))
    if bare or mirror:
        return (yield from _fetched(repository, found))
    update = _Update(repository, found, branch, force_reset, force_checkout)
    fetch = [*(["--tags"] if fetch_tags else []), *(["--force"] if force_fetch else [])]
    fetch += ["--prune-tags", "--prune"] if sync_tags and fetch_tags and force_fetch else []
    return (yield from update.carried_out(fetch, update_head, submodules))


def _cloned(
    repository: Repository, found: Wanted, branch: str | None, shape: list[str], force: bool, submodules: bool
) -> Planned:
    empty_first = refuse_full(repository.target, force)
    arrow = f"{repository.url} => {repository.target}"
    changes: dict[str, Any] = {"forced clone": True} if empty_first else {}
    changes |= {"new": arrow, "revision": {"old": None, "new": found.sha}}
    yield Plan(changes, f"Repository {repository.url} would be cloned to {repository.target}", provides=OPEN)
    clone(repository, shape, empty_first)
    kind = " as mirror" if "--mirror" in shape else " as bare repository" if "--bare" in shape else ""
    told = [f"{repository.url} cloned to {repository.target}{kind}"]
    if not kind:
        told += _placed(repository, found, branch)
        if submodules:
            repository.run("submodule", "update", "--init", "--recursive")
    changes["revision"] = {"old": None, "new": repository.look("rev-parse", "HEAD")}
    return Done(_sentence(told), changes)


def _placed(repository: Repository, found: Wanted, branch: str | None) -> list[str]:
    """Put a fresh clone on the branch and the commit that are wanted; what was done."""
    present = repository.look("symbolic-ref", "--short", "-q", "HEAD")
    upstream = f"{repository.remote}/{found.rev}" if found.kind == "branch" else None
    start = upstream or found.sha
    if branch and branch != present:
        repository.run("checkout", "-B", branch, *(["--track"] if upstream else ["--no-track"]), start)
        return [f"Branch '{branch}' checked out, with {found.label(repository.remote)} as a starting point"]
    if repository.look("rev-parse", "HEAD") == found.sha:
        return []
    repository.run("reset", "--hard", start)
    told = [f"Repository was reset to {found.label(repository.remote)}"]
    if upstream:
        repository.run("branch", "--set-upstream-to", upstream)
        return [*told, f"Tracking branch was updated to {upstream}"]
    repository.run("branch", "--unset-upstream")
    return [*told, "Tracking branch was unset"]


def _fetched(repository: Repository, found: Wanted) -> Planned:
    """A bare repository has what is wanted."""
    refs = {sha: name for name, sha in repository.refs().items()}
    missing = [sha for sha in refs if repository.look("cat-file", "-e", sha) is None]
    if not missing:
        return f"Repository {repository.target} is up-to-date"
    changes = {"revision": {"old": repository.look("rev-parse", "HEAD"), "new": found.sha}}
    yield Plan(changes, f"Bare repository at {repository.target} would be fetched")
    repository.run("fetch", "--tags", repository.url, "+refs/heads/*:refs/heads/*")
    return f"Bare repository at {repository.target} was fetched, resulting in updated refs"


def _sentence(parts: list[str]) -> str:
    return ". ".join(parts) + ("." if len(parts) > 1 else "")


class _Update:
    """An existing clone that has to be brought to a commit."""

    def __init__(
        self, repository: Repository, found: Wanted, branch: str | None, reset: bool | str, checkout: bool
    ) -> None:
        self.repository = repository
        self.found = found
        self.reset = reset
        self.force_checkout = checkout
        self.present = repository.look("symbolic-ref", "--short", "-q", "HEAD") or ""
        self.branch = branch or self.present
        self.head = repository.look("rev-parse", "HEAD") or ""
        self.dirty = bool(repository.look("status", "--porcelain", "--untracked-files=no"))
        self.old_url = repository.look("remote", "get-url", repository.remote)
        self.known = repository.look("cat-file", "-e", found.sha) is not None

    def carried_out(self, fetch: list[str], update_head: bool, submodules: bool) -> Planned:
        repository, found = self.repository, self.found
        switches = self.branch != self.present
        if self.head == found.sha and not switches:
            return (yield from self._up_to_date())
        if not update_head:
            return f"Repository {repository.target} is behind {found.short}; update_head is False"
        self._refuse(switches)
        changes: dict[str, Any] = {"revision": {"old": self.head, "new": found.sha}}
        if self._is_forced():
            changes["forced update"] = True
        yield Plan(changes, self._told(switches), sure=self.known, why="what the remote has is not fetched yet")
        told = self._prepared()
        if not self.known:
            repository.run("fetch", *fetch, repository.remote)
            told.append(f"{repository.url} was fetched, resulting in updated refs")
        changes = {"revision": {"old": self.head, "new": found.sha}}
        told += self._moved(switches, changes)
        if submodules:
            repository.run("submodule", "update", "--init", "--recursive")
        return Done(_sentence(told), changes)

    # -------------------------------------------------- at the right commit already

    def _up_to_date(self) -> Planned:
        done = f"Repository {self.repository.target} is up-to-date"
        wrong_url = self.old_url != self.repository.url
        if self.dirty and self.reset is True:
            told = (
                f"{self.repository.target} is up-to-date, but with uncommitted changes. Since 'force_reset' is set to "
                "True, these local changes would be reset. To only reset when there are changes in the remote "
                "repository, set 'force_reset' to 'remote-changes'."
            )
            yield Plan({"forced update": True}, told)
            self.repository.run("reset", "--hard", self.found.sha)
            label = self.found.label(self.repository.remote)
            return f"{done}\n\nChanges made: Uncommitted changes were discarded. Repository was hard-reset to {label}."
        if wrong_url:
            moved = f"Remote '{self.repository.remote}' changed from {self.old_url} to {self.repository.url}"
            planned = moved.replace(" changed ", " would be changed ")
            yield Plan({"remote": {"old": self.old_url, "new": self.repository.url}}, planned)
            self._set_url()
            return f"{done}\n\nChanges made: {moved}"
        if self.dirty and not self.reset:
            return f"{done}, but with uncommitted changes. Set 'force_reset' to True to purge uncommitted changes."
        return done

    # -------------------------------------------------- moving

    def _is_forced(self) -> bool:
        """Whether commits get lost; a fetch has to tell when what is wanted is not known yet."""
        if not self.known or self.branch != self.present:
            return False
        return self.repository.look("merge-base", "--is-ancestor", "HEAD", self.found.sha) is None

    def _refuse(self, switches: bool) -> None:
        found = self.found
        if self.dirty and not self.reset and not (switches and self.force_checkout):
            raise StateFailed(
                f"Repository would be updated from {self.head[:7]} to {found.short}, but there are uncommitted "
                "changes. Set 'force_reset' to True (or 'remote-changes') to force this update and discard these "
                "changes."
            )
        if self._is_forced() and not self.reset:
            raise StateFailed(self._no_fast_forward())

    def _no_fast_forward(self) -> str:
        found = self.found
        told = (
            f"Repository would be updated to {found.short}, but this is not a fast-forward merge. Set 'force_reset' to "
            "True to force this update."
        )
        if found.kind != "HEAD" and found.rev != self.branch:
            told += (
                f" The desired rev ({found.rev}) differs from the name of the local branch ({self.branch}), if the "
                "desired rev is a branch name then a forced update could possibly be avoided by setting the 'branch' "
                f"argument to '{found.rev}' instead."
            )
        return told

    def _told(self, switches: bool) -> str:
        found, remote = self.found, self.repository.remote
        told = [] if self.known else [f"Remote '{remote}' would be fetched"]
        if switches and self.repository.look("rev-parse", "--verify", "-q", f"refs/heads/{self.branch}") is None:
            told.append(
                f"New branch '{self.branch}' would be checked out, with {found.label(remote)} as a starting point"
            )
        elif switches:
            told.append(f"Branch '{self.branch}' would be checked out and updated to {found.short}")
        else:
            told.append(f"Repository would be updated from {self.head[:7]} to {found.short}")
        return ". ".join(told) + "."

    def _prepared(self) -> list[str]:
        if self.old_url == self.repository.url:
            return []
        self._set_url()
        return [f"Remote '{self.repository.remote}' changed from {self.old_url} to {self.repository.url}"]

    def _set_url(self) -> None:
        verb = "add" if self.old_url is None else "set-url"
        self.repository.run("remote", verb, self.repository.remote, self.repository.url)

    def _moved(self, switches: bool, changes: dict[str, Any]) -> list[str]:
        repository, found = self.repository, self.found
        label = found.label(repository.remote)
        upstream = f"{repository.remote}/{found.rev}" if found.kind == "branch" else None
        start = upstream or found.sha
        if repository.look("cat-file", "-e", found.sha) is None:
            raise StateFailed(f"{repository.url} has no commit {found.sha}", changes={})
        if switches:
            new = repository.look("rev-parse", "--verify", "-q", f"refs/heads/{self.branch}") is None
            force = ["--force"] if self.force_checkout else []
            track = ["--track"] if upstream else ["--no-track"]
            if new:
                repository.run("checkout", *force, "-b", self.branch, *track, start)
                return [f"New branch '{self.branch}' was checked out, with {label} as a starting point"]
            repository.run("checkout", *force, self.branch)
            self.head = repository.look("rev-parse", "HEAD") or ""
        told = ["Uncommitted changes were discarded"] if self.dirty else []
        if repository.look("merge-base", "--is-ancestor", "HEAD", found.sha) is not None:
            repository.run(*(["reset", "--hard", found.sha] if self.dirty else ["merge", "--ff-only", found.sha]))
            return [*told, f"Repository was fast-forwarded to {label}"]
        if not self.reset:
            raise StateFailed(self._no_fast_forward(), changes={})
        repository.run("reset", "--hard", found.sha)
        changes["forced update"] = True
        return [*told, f"Repository was hard-reset to {label}"]
