"""How the git state is tried: real repositories, side by side in a folder."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from laws import Scenario

WHO = {"GIT_AUTHOR_NAME": "n", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "n", "GIT_COMMITTER_EMAIL": "a@b"}
REMOTE = "set -e; git init -q -b main r; cd r; echo 1 > f; git add f; git commit -qm one; git tag v1; git branch dev; "
REMOTE += "echo 2 > f; git commit -qam two; git checkout -q dev; echo d > d; git add d; git commit -qm dev; "
REMOTE += "git checkout -q main; cd ..; "
CLONE = REMOTE + "git clone -q r wt; "
MORE = "cd r; echo 3 > f; git commit -qam three; cd ..; "


def shell(script: str) -> Callable[[Path], None]:
    def setup(tmp: Path) -> None:
        environment = {**os.environ, **WHO, "HOME": str(tmp)}
        subprocess.run(["sh", "-c", script], cwd=tmp, env=environment, check=True, capture_output=True)

    return setup


def git(function: str, script: str = REMOTE, plans: bool = True, fails: str | None = None, **args: Any) -> Scenario:
    given = {"name": "{tmp}/r", "target": "{tmp}/wt", **args}
    if function.startswith("config"):
        del given["target"]
    return Scenario(f"git.{function}", given, shell(script), plans=plans and not fails, fails=fails)


LOCAL = CLONE + "cd wt; echo l > l; git add l; git commit -qm local; cd ..; "
DIRTY = CLONE + "echo local > wt/f; "
FULL = REMOTE + "mkdir wt; echo x > wt/x; "
KEY = {"name": "foo.bar", "repo": "{tmp}/r"}
SCENARIOS = [
    git("latest"),
    git("latest", rev="dev", branch="dev"),
    git("latest", rev="v1"),
    git("latest", rev="main", depth=1, name="file://{tmp}/r", remote="upstream", output_encoding="utf-8"),
    git("latest", bare=True),
    git("latest", mirror=True),
    git("latest", REMOTE + "git clone -q --bare r wt", plans=False, bare=True),
    git("latest", CLONE, plans=False, fetch_tags=False),
    git("latest", CLONE + MORE, force_fetch=True, sync_tags=False, submodules=True),
    git("latest", CLONE + MORE, plans=False, update_head=False),
    git("latest", CLONE, rev="dev", branch="dev", force_checkout=True),
    git("latest", CLONE, rev="dev", fails="not a fast-forward merge"),
    git("latest", LOCAL, force_reset=True),
    git("latest", DIRTY + MORE, fails="uncommitted changes"),
    git("latest", DIRTY + MORE, force_reset="remote-changes"),
    git("latest", DIRTY, force_reset=True),
    git("latest", CLONE + "git -C wt remote set-url origin /other"),
    git("latest", FULL, fails="non-empty and is not a git repository"),
    git("latest", FULL, force_clone=True),
    git("latest", "true", fails="Failed to check remote refs"),
    git("latest", rev="nothing", fails="No revision matching"),
    git("latest", depth=1, fails="When 'depth' is used"),
    git("latest", https_user="zoe", https_pass="secret", identity=["/nowhere/key"], password="x"),
    git("latest", user="nobody-here", fails="is not available"),
    git("latest", refspec_branch="*", refspec_tag="*"),
    git("cloned", identity="/nowhere/key", https_user="zoe", https_pass="x", password="y", output_encoding="utf-8"),
    git("cloned", branch="dev"),
    git("cloned", CLONE, branch="dev"),
    git("cloned", CLONE, plans=False),
    git("cloned", user="nobody-here", fails="is not available"),
    git("detached", rev="v1"),
    git("detached", CLONE, rev="dev", submodules=True, force_checkout=True, hard_reset=True),
    git("detached", CLONE + "git -C wt checkout -q --detach v1", plans=False, rev="v1", fetch_remote=False),
    git("detached", FULL, rev="v1", force_clone=True, identity="/no", https_user="z", https_pass="x", password="y"),
    git("detached", rev="v1", remote="up", output_encoding="utf-8"),
    git("detached", rev="v1", user="nobody-here", fails="is not available"),
    git("config_set", **KEY, value=True),
    git("config_set", REMOTE + "git -C r config foo.bar 1", **KEY, multivar=["a", "b"]),
    git("config_set", REMOTE + "git -C r config foo.bar 1", plans=False, **KEY, value=1, password="x"),
    git("config_set", **KEY, fails="has to be given"),
    git("config_set", name="foo.bar", value=1, fails="Either repo or global"),
    git("config_set", **KEY, value=1, **{"global": True}, fails="Either repo or global"),
    git("config_set", **KEY, value=1, user="nobody-here", output_encoding="x", fails="is not available"),
    git("config_unset", REMOTE + "git -C r config foo.bar 1", **KEY, value_regex="1"),
    git("config_unset", REMOTE + "git -C r config --add foo.bar 1; git -C r config --add foo.bar 2", **KEY, all=True),
    git("config_unset", plans=False, **KEY, password="x", output_encoding="utf-8"),
    git("config_unset", **KEY, user="nobody-here", fails="is not available"),
    git("config_unset", **KEY, **{"global": True}, fails="Either repo or global"),
]
