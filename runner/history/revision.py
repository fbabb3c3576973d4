"""The git revision of a state tree, for the history."""

from __future__ import annotations

import os
import subprocess


def of_tree(folder: str) -> tuple[str | None, bool | None]:
    """(commit, whether files differ from it) of the work tree that holds a folder; (None, None) without one."""
    at = os.path.realpath(folder)
    while not os.path.exists(os.path.join(at, ".git")):
        above = os.path.dirname(at)
        if above == at:
            return None, None
        at = above
    commit = _git(at, "rev-parse", "HEAD")
    if commit is None:
        return None, None
    status = _git(at, "status", "--porcelain", "--", folder)
    return commit, None if status is None else bool(status)


def _git(folder: str, *words: str) -> str | None:
    # another user's tree must not make git run what its configuration names
    safe = ["-c", f"safe.directory={folder}", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"]
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C.UTF-8"}
    try:
        done = subprocess.run(
            ["git", *safe, "-C", folder, *words],
            capture_output=True,
            text=True,
            timeout=10,
            env=environment,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
