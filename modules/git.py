"""Git repositories: how to look at them, and the git program to change them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

from modules import cmd, file
from modules import user as users
from runner.api import CommandFailed, StateFailed, changer, fetcher

# nobody is there to answer questions; looks refresh no index
QUIET = {"GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "true", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C.UTF-8"}
SHA = re.compile(r"[0-9a-f]{7,40}")


def _environment(identity: Sequence[str] | None, secrets: Mapping[str, str] | None = None) -> dict[str, str]:
    ssh = "ssh -o BatchMode=yes -o StrictHostKeyChecking=accept-new"
    for path in identity or ():
        ssh += f" -i {path} -o IdentitiesOnly=yes"
    return {**QUIET, "GIT_SSH_COMMAND": ssh, **(secrets or {})}


def credentials(user: str | None, password: str | None) -> dict[str, str]:
    """The environment that lets git log in with a password, which no command line shows."""
    if not user:
        return {}
    helper = '!f() { echo "username=$RUNNER_GIT_USER"; echo "password=$RUNNER_GIT_PASSWORD"; }; f'
    return {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "credential.helper",
        "GIT_CONFIG_VALUE_0": helper,
        "RUNNER_GIT_USER": user,
        "RUNNER_GIT_PASSWORD": password or "",
    }


def probe(
    words: Sequence[str],
    cwd: str | None = None,
    user: str | None = None,
    identity: Sequence[str] | None = None,
    secrets: Mapping[str, str] | None = None,
) -> cmd.Completed:
    """Run git, which only looks."""
    env = _environment(identity, secrets)
    return cmd.complete(["git", *words], cwd=cwd, runas=user, env=env, python_shell=False)


def _said(done: cmd.Completed) -> str:
    return done.stderr.strip() or done.stdout.strip()


@changer(touches=["files"])
def change(
    words: Sequence[str],
    cwd: str | None = None,
    user: str | None = None,
    identity: Sequence[str] | None = None,
    secrets: Mapping[str, str] | None = None,
) -> str:
    """Run git, which changes a repository; its output. Raises StateFailed with what it says."""
    done = probe(words, cwd, user, identity, secrets)
    if done.retcode:
        raise StateFailed(f"git {words[0]} failed: {_said(done)}")
    return done.stdout


def look(words: Sequence[str], cwd: str, user: str | None = None) -> str | None:
    """What git says; None when it fails."""
    done = probe(words, cwd, user)
    return done.stdout.strip() if done.retcode == 0 else None


@fetcher
def remote_refs(
    url: str, user: str | None, identity: tuple[str, ...], secrets: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The references of a remote repository with their commits. Raises StateFailed when it cannot be reached."""
    done = probe(["ls-remote", url], None, user, identity, secrets)
    if done.retcode:
        lacks = ("file", url) if url.startswith("/") else None
        raise StateFailed(f"Failed to check remote refs: {_said(done)}", lacks=lacks)
    pairs = (line.split("\t") for line in done.stdout.splitlines() if "\t" in line)
    return {name: sha for sha, name in pairs}


# ---------------------------------------------------------------- Salt's functions


def version(versioninfo: bool = False) -> Any:
    """The version of git."""
    text = probe(["--version"]).stdout.rpartition(" ")[2]
    return [int(part) for part in text.split(".") if part.isdigit()] if versioninfo else text


def is_worktree(cwd: str, user: str | None = None) -> bool:
    """Whether a folder is in a git work tree."""
    return file.is_dir(cwd) and look(["rev-parse", "--is-inside-work-tree"], cwd, user) == "true"


def current_branch(cwd: str, user: str | None = None) -> str:
    """The branch that is checked out; empty when none is.

    {{ salt['git.current_branch']('/srv/app') }}
    """
    return look(["symbolic-ref", "--short", "-q", "HEAD"], cwd, user) or ""


def revision(cwd: str, rev: str = "HEAD", short: bool = False, user: str | None = None) -> str:
    """The commit of a revision. Raises CommandFailed when there is none."""
    found = look(["rev-parse", *(["--short"] if short else []), f"{rev}^{{commit}}"], cwd, user)
    if found is None:
        raise CommandFailed(f"{cwd} has no revision {rev}")
    return found


def list_branches(cwd: str, remote: bool = False, user: str | None = None) -> list[str]:
    """The branches of a repository."""
    kind = "refs/remotes" if remote else "refs/heads"
    return (look(["for-each-ref", "--format=%(refname:short)", kind], cwd, user) or "").split()


def list_tags(cwd: str, user: str | None = None) -> list[str]:
    """The tags of a repository."""
    return (look(["for-each-ref", "--format=%(refname:short)", "refs/tags"], cwd, user) or "").split()


def ls_remote(
    cwd: str | None = None, remote: str = "origin", ref: str | None = None, user: str | None = None, **_: Any
) -> Any:
    """The references of a remote with their commits; with `ref` the commit alone."""
    done = probe(["ls-remote", remote, *([ref] if ref else [])], cwd, user)
    if done.retcode:
        raise CommandFailed(_said(done))
    found = {name: sha for sha, name in (line.split("\t") for line in done.stdout.splitlines())}
    return next(iter(found.values()), "") if ref else found


def status(cwd: str, user: str | None = None) -> dict[str, list[str]]:
    """What differs in a work tree, by kind."""
    kinds = {"M": "modified", "A": "new", "D": "deleted", "?": "untracked"}
    found: dict[str, list[str]] = {}
    for line in (look(["status", "--porcelain", "-z"], cwd, user) or "").split("\0"):
        kind = kinds.get(line[:2].strip()[:1])
        if kind:
            found.setdefault(kind, []).append(line[3:])
    return found


def config_get(key: str, cwd: str | None = None, user: str | None = None, all: bool = False, **options: Any) -> Any:
    """A value of git's configuration, a list with `all`; None when it is not set."""
    found = config_values(key, cwd, user, bool(options.get("global")))
    return (found or None) if all else (found[-1] if found else None)


def config_values(key: str, cwd: str | None, user: str | None, everywhere: bool) -> list[str]:
    """All values of a key of the user's (everywhere) or the repository's configuration."""
    where = ["--global"] if everywhere else ["--local"]
    done = cmd.complete(
        ["git", "config", *where, "--get-all", "--null", key],
        cwd=cwd,
        runas=user,
        env={**QUIET, "HOME": _home(user)},
        python_shell=False,
    )
    return [value for value in done.stdout.split("\0") if value] if done.retcode == 0 else []


def _home(user: str | None) -> str:
    info = users.info(user) if user else {}
    return str(info.get("home") or os.environ.get("HOME") or "/root")


@changer(touches=["files"])
def config_change(words: Sequence[str], cwd: str | None, user: str | None, everywhere: bool) -> None:
    """Run `git config` with these words."""
    where = ["--global"] if everywhere else ["--local"]
    argv = ["git", "config", *where, *words]
    done = cmd.complete(argv, cwd=cwd, runas=user, env={**QUIET, "HOME": _home(user)}, python_shell=False)
    if done.retcode:
        raise StateFailed(f"git config failed: {_said(done)}")
