# SPDX-License-Identifier: Apache-2.0
"""How the git state is tried: real repositories, side by side in a folder."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from laws import Scenario

WHO = {
    "GIT_AUTHOR_NAME": "n",
    "GIT_AUTHOR_EMAIL": "a@b",
    "GIT_COMMITTER_NAME": "n",
    "GIT_COMMITTER_EMAIL": "a@b",
}
REMOTE = (
    "set -e; git init -q -b main r; cd r; echo 1 > f; git add f; git commit -qm one; git tag v1;"
    " git branch dev; "
)
REMOTE += (
    "echo 2 > f; git commit -qam two; git checkout -q dev; echo d > d; git add d; git commit -qm"
    " dev; "
)
REMOTE += "git checkout -q main; cd ..; "
CLONE = REMOTE + "git clone -q r wt; "
MORE = "cd r; echo 3 > f; git commit -qam three; cd ..; "


@functools.cache
def remote() -> tempfile.TemporaryDirectory[str]:
    """The repository that all scenarios start from, made once."""
    folder = tempfile.TemporaryDirectory(prefix="laws-git-")
    run(REMOTE, Path(folder.name))
    return folder


def run(script: str, folder: Path) -> None:
    environment = {**os.environ, **WHO, "HOME": str(folder)}
    subprocess.run(
        ["sh", "-ec", script], cwd=folder, env=environment, check=True, capture_output=True
    )


def shell(script: str) -> Callable[[Path], None]:
    def setup(tmp: Path) -> None:
        if script.startswith(REMOTE):
            shutil.copytree(remote().name, tmp, dirs_exist_ok=True)
        if rest := script.removeprefix(REMOTE):
            run(rest, tmp)

    return setup


def git(
    function: str,
    script: str = REMOTE,
    plans: bool = True,
    fails: str | None = None,
    breaks: str | None = None,
    **args: Any,
) -> Scenario:
    given = {"name": "{tmp}/r", "target": "{tmp}/wt", **args}
    if function.startswith("config"):
        del given["target"]
    return Scenario(
        f"git.{function}",
        given,
        shell(script),
        plans=plans and not fails,
        fails=fails,
        breaks=breaks,
    )


LOCAL = CLONE + "cd wt; echo l > l; git add l; git commit -qm local; cd ..; "
DIRTY = CLONE + "echo local > wt/f; "
LOCKED = REMOTE + "mkdir -m 555 wt; "
FULL = REMOTE + "mkdir wt; echo x > wt/x; "
REWRITTEN = "cd r; git commit -q --amend -m rewritten; cd ..; "
SHALLOW = REMOTE + "git clone -q --depth 1 file://$PWD/r wt; "
OTHER = "git -C wt checkout -q -b dev origin/dev; "
TWICE = "git -C r config --add foo.bar 1; git -C r config --add foo.bar 2; "
GONE = "git -C r symbolic-ref HEAD refs/heads/gone; "
KEY = {"name": "foo.bar", "repo": "{tmp}/r"}
SCENARIOS = [
    git("latest"),
    git("latest", rev="dev", branch="dev"),
    git("latest", rev="v1"),
    git("latest", REMOTE + "git -C r tag now; ", rev="now"),
    git("latest", REMOTE + "git -C r branch same; ", rev="same"),
    git("latest", branch="a\udcffb"),  # no UTF-8
    git(
        "latest",
        rev="main",
        depth=1,
        name="file://{tmp}/r",
        remote="upstream",
        output_encoding="utf-8",
    ),
    git("latest", bare=True),
    git("latest", mirror=True),
    git("latest", REMOTE + "git clone -q --bare r wt", plans=False, bare=True),
    git("latest", CLONE, plans=False, fetch_tags=False),
    git("latest", CLONE + MORE, force_fetch=True, sync_tags=False, submodules=True),
    git("latest", CLONE + MORE + "git -C r tag more; ", update_head=False),
    git("latest", CLONE, plans=False, update_head=False, branch="other"),
    git("latest", CLONE + "git -C r branch fresh v1; ", rev="fresh", branch="fresh"),
    git("latest", CLONE + "git -C r tag -d v1; "),
    git("latest", CLONE + "git -C r tag -d v1; ", plans=False, sync_tags=False),
    git("latest", CLONE + "git -C r tag new; "),
    git("latest", CLONE + "git -C r tag new; ", refspec_tag="v*", plans=False),
    git(
        "latest",
        CLONE + "git -C r tag -f v1; git -C wt checkout -q v1; ",
        rev="v1",
        fails="SHA1 for this tag",
    ),
    git("latest", CLONE + REWRITTEN, fails="Fetch failed"),
    git("latest", CLONE + REWRITTEN, force_fetch=True, fails="not a fast-forward merge"),
    git("latest", CLONE + REWRITTEN, force_fetch=True, force_reset=True, rev="main"),
    git("latest", SHALLOW + MORE, name="file://{tmp}/r", rev="main", depth=1),
    git("latest", SHALLOW + MORE, name="file://{tmp}/r", rev="main"),
    git("latest", SHALLOW + REWRITTEN, name="file://{tmp}/r", rev="main", fails="Fetch failed"),
    git(
        "latest",
        SHALLOW + REWRITTEN,
        name="file://{tmp}/r",
        rev="main",
        force_fetch=True,
        fails="not a fast-forward merge",
    ),
    git(
        "latest",
        SHALLOW + REWRITTEN,
        name="file://{tmp}/r",
        rev="main",
        depth=1,
        force_fetch=True,
        force_reset=True,
    ),
    git(
        "latest", CLONE + REWRITTEN + "git -C wt fetch -q ../r; ", rev="main", fails="Fetch failed"
    ),
    git(
        "latest",
        CLONE + "git -C r checkout -q dev; ",
        fails="The default remote branch (dev) differs",
    ),
    git("latest", CLONE + "git -C wt branch --unset-upstream; ", rev="main"),
    git("latest", CLONE + "git -C wt remote remove origin; "),
    git("latest", REMOTE + "git init -q wt; "),
    git("latest", CLONE + "git -C wt checkout -q --detach v1; ", rev="main"),
    git("latest", CLONE + "git -C wt reset -q --hard v1; ", rev="v1"),
    git("latest", CLONE, rev="main", branch="other"),
    git("latest", CLONE + OTHER, rev="main", branch="main"),
    git(
        "latest",
        CLONE + OTHER + "echo x > wt/f; ",
        rev="main",
        branch="main",
        fails="checking out local branch 'main'",
    ),
    git(
        "latest",
        CLONE + OTHER + "echo x > wt/f; ",
        branch="main",
        force_reset=True,
        fails="has uncommitted changes",
    ),
    git(
        "latest",
        CLONE + OTHER + "echo x > wt/f; ",
        branch="main",
        force_reset=True,
        force_checkout=True,
    ),
    git("latest", REMOTE + "git clone -q --bare r wt; " + MORE, bare=True),
    git("latest", REMOTE + "git clone -q --mirror r wt; " + MORE, mirror=True),
    git(
        "latest", REMOTE + "git clone -q --bare r wt; " + REWRITTEN, bare=True, fails="Fetch failed"
    ),
    git("latest", rev="1" * 40, breaks="Could not parse object"),
    git("latest", CLONE, rev="1" * 40, fails="Fetch did not successfully retrieve"),
    git(
        "latest", REMOTE + GONE, rev="dev", breaks="Remote HEAD refers to a ref that does not exist"
    ),
    git(
        "latest",
        REMOTE + GONE + "git clone -q r wt; ",
        rev="dev",
        fails="local HEAD refers to nonexistent branch",
    ),
    git("latest", REMOTE + GONE + "git clone -q r wt; ", rev="dev", branch="dev"),
    git("latest", identity="salt://none", fails="identity salt://none not found"),
    git("latest", CLONE, rev="dev", branch="dev", force_checkout=True),
    git("latest", CLONE, rev="dev", fails="not a fast-forward merge"),
    git("latest", LOCAL, force_reset=True),
    git("latest", LOCAL + MORE, fails="not a fast-forward merge"),
    git("latest", LOCAL + MORE, force_reset=True),
    git("latest", CLONE + MORE, refspec_branch="dev", fetch_tags=False, fails="Fetch did not"),
    git("latest", DIRTY + MORE, fails="uncommitted changes"),
    git("latest", DIRTY + MORE, force_reset="remote-changes"),
    git("latest", DIRTY, force_reset=True),
    git("latest", CLONE + "git -C wt remote set-url origin /other"),
    git("latest", FULL, fails="non-empty and is not a git repository"),
    *(
        git(function, REMOTE + "git init -q --bare wt; ", fails="is not a git repository", **more)
        for function, more in (("latest", {}), ("cloned", {}), ("detached", {"rev": "v1"}))
    ),
    git("latest", LOCKED),
    Scenario("git.present", {"name": "{tmp}/wt", "shared": "group"}, shell(LOCKED)),
    git("latest", FULL, force_clone=True),
    git("latest", "true", fails="Failed to check remote refs"),
    git("latest", rev="nothing", fails="No revision matching"),
    git("latest", depth=1, fails="When 'depth' is used"),
    git("latest", https_user="zoe", https_pass="secret", identity=["/nowhere/key"], password="x"),
    git("latest", user="nobody-here", fails="is not available"),
    git("latest", refspec_branch="*", refspec_tag="*"),
    git(
        "cloned",
        identity="/nowhere/key",
        https_user="zoe",
        https_pass="x",
        password="y",
        output_encoding="utf-8",
    ),
    git("cloned", branch="dev"),
    git("cloned", CLONE, branch="dev"),
    git("cloned", CLONE, plans=False),
    git("cloned", branch="none", fails="Remote branch none not found"),
    git("cloned", CLONE, branch="none", fails="Failed to change branch to 'none'"),
    git("cloned", CLONE + "git -C r branch fresh v1; ", branch="fresh"),
    git("cloned", DIRTY, branch="dev", breaks="Failed to change branch to 'dev'"),
    git("cloned", user="nobody-here", fails="is not available"),
    git("detached", rev="v1"),
    git("detached", CLONE, rev="dev", submodules=True, force_checkout=True, hard_reset=True),
    git(
        "detached",
        CLONE + "git -C wt checkout -q --detach v1",
        plans=False,
        rev="v1",
        fetch_remote=False,
    ),
    git("detached", rev="none", fails="Revision 'none' does not exist"),
    git("detached", CLONE + MORE, rev="main"),
    git("detached", CLONE, rev="main", plans=False),
    git("detached", DIRTY, rev="v1", fails="would overwrite uncommitted changes of f"),
    git("detached", DIRTY, rev="v1", force_checkout=True),
    git("detached", DIRTY, rev="main", hard_reset=True),
    git("detached", CLONE + "git -C wt remote set-url origin /other; ", rev="v1"),
    git(
        "detached",
        FULL,
        rev="v1",
        force_clone=True,
        identity="/no",
        https_user="z",
        https_pass="x",
        password="y",
    ),
    git("detached", rev="v1", remote="up", output_encoding="utf-8"),
    git("detached", rev="v1", user="nobody-here", fails="is not available"),
    git("config_set", **KEY, value=True),
    git("config_set", REMOTE + "git -C r config foo.bar 1", **KEY, multivar=["a", "b"]),
    git(
        "config_set",
        REMOTE + "git -C r config foo.bar 1",
        plans=False,
        **KEY,
        value=1,
        password="x",
    ),
    git("config_set", **KEY, fails="is required"),
    git("config_set", name="foo.bar", value=1, fails="require the 'repo' argument"),
    git(
        "config_set",
        **KEY,
        value=1,
        user="nobody-here",
        **{"global": True},
        fails="is not available",
    ),
    git("config_set", **KEY, value=1, multivar=["a"], fails="Only one of"),
    git(
        "config_set",
        **{**KEY, "name": "nosection"},
        value=1,
        fails="key does not contain a section",
    ),
    git("config_set", **{**KEY, "repo": "{tmp}"}, value=1, fails="Failed to set 'foo.bar' to '1'"),
    git("config_set", **{**KEY, "repo": "{tmp}/none"}, value=1, fails="is not a folder"),
    git("config_set", **{**KEY, "name": "foo.b_r"}, value=1, fails="invalid key"),
    git(
        "config_set",
        **KEY,
        value=1,
        user="nobody-here",
        output_encoding="x",
        fails="is not available",
    ),
    git("config_unset", REMOTE + "git -C r config foo.bar 1", **KEY, value_regex="1"),
    git(
        "config_unset",
        REMOTE + "git -C r config --add foo.bar 1; git -C r config --add foo.bar 2",
        **KEY,
        all=True,
    ),
    git("config_unset", plans=False, **KEY, password="x", output_encoding="utf-8"),
    git("config_unset", **KEY, user="nobody-here", fails="is not available"),
    git("config_unset", user="nobody-here", **KEY, **{"global": True}, fails="is not available"),
    git(
        "config_unset",
        REMOTE + "git -C r config foo.bar 1; git -C r config foo.baz 2",
        **{**KEY, "name": r"foo\..+"},
    ),
    git(
        "config_unset", REMOTE + "git -C r config foo.bar 1", plans=False, **{**KEY, "name": "foo"}
    ),
    git("config_unset", REMOTE + TWICE, **KEY, fails="Multivar(s) matched by the key expression"),
    git("config_unset", **{**KEY, "name": "foo[", "value_regex": "("}, fails="'foo['"),
    git("config_unset", name="foo.bar", fails="require the 'repo' argument"),
]
