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

from laws import Scenario, scenario

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


def git(function: str, script: str = REMOTE, **given: Any) -> Scenario:
    usual = {"name": "{tmp}/r", "target": "{tmp}/wt"}
    if function.startswith("config"):
        del usual["target"]
    return scenario(f"git.{function}", shell(script), **{**usual, **given})


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
    git("latest rev=dev branch=dev"),
    git("latest rev=v1"),
    git("latest rev=now", REMOTE + "git -C r tag now; "),
    git("latest rev=same", REMOTE + "git -C r branch same; "),
    git("latest", branch="a\udcffb"),  # no UTF-8
    git("latest rev=main depth=1 name=file://{tmp}/r remote=upstream output_encoding=utf-8"),
    git("latest bare=true"),
    git("latest mirror=true"),
    git("latest bare=true", REMOTE + "git clone -q --bare r wt", plans=False),
    git("latest fetch_tags=false", CLONE, plans=False),
    git("latest force_fetch=true sync_tags=false submodules=true", CLONE + MORE),
    git("latest update_head=false", CLONE + MORE + "git -C r tag more; "),
    git("latest update_head=false branch=other", CLONE, plans=False),
    git("latest rev=fresh branch=fresh", CLONE + "git -C r branch fresh v1; "),
    git("latest", CLONE + "git -C r tag -d v1; "),
    git("latest sync_tags=false", CLONE + "git -C r tag -d v1; ", plans=False),
    git("latest", CLONE + "git -C r tag new; "),
    git("latest refspec_tag=v*", CLONE + "git -C r tag new; ", plans=False),
    git(
        "latest rev=v1",
        CLONE + "git -C r tag -f v1; git -C wt checkout -q v1; ",
        fails="SHA1 for this tag",
    ),
    git("latest", CLONE + REWRITTEN, fails="Fetch failed"),
    git("latest force_fetch=true", CLONE + REWRITTEN, fails="not a fast-forward merge"),
    git("latest force_fetch=true force_reset=true rev=main", CLONE + REWRITTEN),
    git("latest name=file://{tmp}/r rev=main depth=1", SHALLOW + MORE),
    git("latest name=file://{tmp}/r rev=main", SHALLOW + MORE),
    git("latest name=file://{tmp}/r rev=main", SHALLOW + REWRITTEN, fails="Fetch failed"),
    git(
        "latest name=file://{tmp}/r rev=main force_fetch=true",
        SHALLOW + REWRITTEN,
        fails="not a fast-forward merge",
    ),
    git(
        "latest name=file://{tmp}/r rev=main depth=1 force_fetch=true force_reset=true",
        SHALLOW + REWRITTEN,
    ),
    git("latest rev=main", CLONE + REWRITTEN + "git -C wt fetch -q ../r; ", fails="Fetch failed"),
    git(
        "latest",
        CLONE + "git -C r checkout -q dev; ",
        fails="The default remote branch (dev) differs",
    ),
    git("latest rev=main", CLONE + "git -C wt branch --unset-upstream; "),
    git("latest", CLONE + "git -C wt remote remove origin; "),
    git("latest", REMOTE + "git init -q wt; "),
    git("latest rev=main", CLONE + "git -C wt checkout -q --detach v1; "),
    git("latest rev=v1", CLONE + "git -C wt reset -q --hard v1; "),
    git("latest rev=main branch=other", CLONE),
    git("latest rev=main branch=main", CLONE + OTHER),
    git(
        "latest rev=main branch=main",
        CLONE + OTHER + "echo x > wt/f; ",
        fails="checking out local branch 'main'",
    ),
    git(
        "latest branch=main force_reset=true",
        CLONE + OTHER + "echo x > wt/f; ",
        fails="has uncommitted changes",
    ),
    git(
        "latest branch=main force_reset=true force_checkout=true", CLONE + OTHER + "echo x > wt/f; "
    ),
    git("latest bare=true", REMOTE + "git clone -q --bare r wt; " + MORE),
    git("latest mirror=true", REMOTE + "git clone -q --mirror r wt; " + MORE),
    git(
        "latest bare=true", REMOTE + "git clone -q --bare r wt; " + REWRITTEN, fails="Fetch failed"
    ),
    git("latest", rev="1" * 40, breaks="Could not parse object"),
    git("latest", CLONE, rev="1" * 40, fails="Fetch did not successfully retrieve"),
    git("latest rev=dev", REMOTE + GONE, breaks="Remote HEAD refers to a ref that does not exist"),
    git(
        "latest rev=dev",
        REMOTE + GONE + "git clone -q r wt; ",
        fails="local HEAD refers to nonexistent branch",
    ),
    git("latest rev=dev branch=dev", REMOTE + GONE + "git clone -q r wt; "),
    git("latest identity=salt://none", fails="identity salt://none not found"),
    git("latest rev=dev branch=dev force_checkout=true", CLONE),
    git("latest rev=dev", CLONE, fails="not a fast-forward merge"),
    git("latest force_reset=true", LOCAL),
    git("latest", LOCAL + MORE, fails="not a fast-forward merge"),
    git("latest force_reset=true", LOCAL + MORE),
    git("latest refspec_branch=dev fetch_tags=false", CLONE + MORE, fails="Fetch did not"),
    git("latest", DIRTY + MORE, fails="uncommitted changes"),
    git("latest force_reset=remote-changes", DIRTY + MORE),
    git("latest force_reset=true", DIRTY),
    git("latest", CLONE + "git -C wt remote set-url origin /other"),
    git("latest", FULL, fails="non-empty and is not a git repository"),
    *(
        git(function, REMOTE + "git init -q --bare wt; ", fails="is not a git repository", **more)
        for function, more in (("latest", {}), ("cloned", {}), ("detached", {"rev": "v1"}))
    ),
    git("latest", LOCKED),
    Scenario("git.present name={tmp}/wt shared=group", setup=shell(LOCKED)),
    git("latest force_clone=true", FULL),
    git("latest", "true", fails="Failed to check remote refs"),
    git("latest rev=nothing", fails="No revision matching"),
    git("latest depth=1", fails="When 'depth' is used"),
    git("latest https_user=zoe https_pass=secret identity=[/nowhere/key] password=x"),
    git("latest user=nobody-here", fails="is not available"),
    git("latest refspec_branch=* refspec_tag=*"),
    git(
        "cloned identity=/nowhere/key https_user=zoe https_pass=x password=y output_encoding=utf-8"
    ),
    git("cloned branch=dev"),
    git("cloned branch=dev", CLONE),
    git("cloned", CLONE, plans=False),
    git("cloned branch=none", fails="Remote branch none not found"),
    git("cloned branch=none", CLONE, fails="Failed to change branch to 'none'"),
    git("cloned branch=fresh", CLONE + "git -C r branch fresh v1; "),
    git("cloned branch=dev", DIRTY, breaks="Failed to change branch to 'dev'"),
    git("cloned user=nobody-here", fails="is not available"),
    git("detached rev=v1"),
    git("detached rev=dev submodules=true force_checkout=true hard_reset=true", CLONE),
    git(
        "detached rev=v1 fetch_remote=false",
        CLONE + "git -C wt checkout -q --detach v1",
        plans=False,
    ),
    git("detached rev=none", fails="Revision 'none' does not exist"),
    git("detached rev=main", CLONE + MORE),
    git("detached rev=main", CLONE, plans=False),
    git("detached rev=v1", DIRTY, fails="would overwrite uncommitted changes of f"),
    git("detached rev=v1 force_checkout=true", DIRTY),
    git("detached rev=main hard_reset=true", DIRTY),
    git("detached rev=v1", CLONE + "git -C wt remote set-url origin /other; "),
    git("detached rev=v1 force_clone=true identity=/no https_user=z https_pass=x password=y", FULL),
    git("detached rev=v1 remote=up output_encoding=utf-8"),
    git("detached rev=v1 user=nobody-here", fails="is not available"),
    git("config_set value=true", **KEY),
    git("config_set multivar=[a,b]", REMOTE + "git -C r config foo.bar 1", **KEY),
    git("config_set value=1 password=x", REMOTE + "git -C r config foo.bar 1", plans=False, **KEY),
    git("config_set", **KEY, fails="is required"),
    git("config_set name=foo.bar value=1", fails="require the 'repo' argument"),
    git("config_set value=1 user=nobody-here", **KEY, **{"global": True}, fails="is not available"),
    git("config_set value=1 multivar=[a]", **KEY, fails="Only one of"),
    git(
        "config_set value=1", **{**KEY, "name": "nosection"}, fails="key does not contain a section"
    ),
    git("config_set value=1", **{**KEY, "repo": "{tmp}"}, fails="Failed to set 'foo.bar' to '1'"),
    git("config_set value=1", **{**KEY, "repo": "{tmp}/none"}, fails="is not a folder"),
    git("config_set value=1", **{**KEY, "name": "foo.b_r"}, fails="invalid key"),
    git("config_set value=1 user=nobody-here output_encoding=x", **KEY, fails="is not available"),
    git("config_unset", REMOTE + "git -C r config foo.bar 1", **KEY, value_regex="1"),
    git(
        "config_unset all=true",
        REMOTE + "git -C r config --add foo.bar 1; git -C r config --add foo.bar 2",
        **KEY,
    ),
    git("config_unset password=x output_encoding=utf-8", plans=False, **KEY),
    git("config_unset user=nobody-here", **KEY, fails="is not available"),
    git("config_unset user=nobody-here", **KEY, **{"global": True}, fails="is not available"),
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
    git("config_unset name=foo.bar", fails="require the 'repo' argument"),
]
