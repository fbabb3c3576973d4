# SPDX-License-Identifier: Apache-2.0
"""git.latest and its neighbours on real repositories: what they say and change, compared with
Salt's real runs.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command import Machine
from harness import HarnessHere, apply, look
from needing import require, require_root

from runner.api import Done, Plan, StateFailed, changes_allowed, running
from states.git.cloned import cloned
from states.git.config import config_set, config_unset
from states.git.detached import detached
from states.git.latest import latest

REMOTE = """
git init -q -b main r; cd r; echo 1 > f; git add f; git commit -qm one; git tag v1; git branch dev
echo 2 > f; git commit -qam two; git checkout -q dev
echo d > d; git add d; git commit -qm dev; git checkout -q main
"""
CLONE = "git clone -q file://$PWD/r wt; "
MORE = "cd r; echo 3 > f; git commit -qam three; git tag v3; cd ..; "
LOCAL = "cd wt; echo l > l; git add l; git commit -qm local; cd ..; "
DEV = "git -C wt checkout -q -b dev origin/dev; "
ONE, TWO, THREE = (
    "4b7094c",
    "8543f38",
    "b95ad7f",
)  # dates and names are fixed, so the commits are, too


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    require("git")
    folder = tmp_path_factory.mktemp("remote")
    sh(REMOTE, folder)
    return folder


@pytest.fixture(autouse=True)
def who(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "n")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "a@b")
    monkeypatch.setenv("HOME", str(tmp_path))
    yield


def sh(script: str, folder: Path) -> None:
    fixed = {
        f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in WHO.items()
    }
    subprocess.run(
        ["sh", "-ec", script],
        cwd=folder,
        check=True,
        capture_output=True,
        env={**os.environ, **fixed},
    )


WHO = {"NAME": "n", "EMAIL": "a@b", "DATE": "2020-01-01T00:00:00Z"}


def start(made: Path, folder: Path, script: str) -> tuple[str, str]:
    """(the URL, the target) after a script in a folder with a copy of the remote."""
    subprocess.run(["cp", "-a", str(made / "r"), str(folder)], check=True)
    sh(script, folder)
    return f"file://{folder}/r", str(folder / "wt")


UP = "Repository WT is up-to-date"
FETCHED = "URL was fetched, resulting in updated refs"
MOVED = {"revision": (TWO, THREE)}
CASES: list[tuple[str, dict[str, Any], str, dict[str, Any]]] = [
    ("", {}, "URL cloned to WT", {"new": "URL => WT", "revision": (None, TWO)}),
    (
        "",
        {"rev": "v1"},
        f"URL cloned to WT. Repository was reset to v1 ({ONE}). Tracking branch was unset.",
        {"new": "URL => WT", "revision": (None, ONE)},
    ),
    (CLONE, {}, UP, {}),
    (
        CLONE + MORE,
        {"rev": "main"},
        f"{FETCHED}. Repository was fast-forwarded to origin/main ({THREE}).",
        {"new_tags": ["v3"], **MOVED},
    ),
    (
        CLONE + MORE,
        {"rev": "v3"},
        f"{FETCHED}. Tracking branch was unset. Repository was reset to v3 (fast-forward).",
        {"new_tags": ["v3"], **MOVED},
    ),
    (
        CLONE + LOCAL,
        {"force_reset": True},
        f"Repository was hard-reset to remote HEAD ({TWO})",
        {"forced update": True, "revision": ("058a695", TWO)},
    ),
    (
        CLONE + "echo x > wt/f",
        {"force_reset": True},
        (
            f"{UP}\n\nChanges made: Uncommitted changes were discarded. Repository was hard-reset"
            f" to remote HEAD ({TWO})."
        ),
        {"forced update": True},
    ),
    (
        CLONE + MORE,
        {"update_head": False},
        (
            f"Remote head ({THREE}) is already present and local HEAD ({TWO}) does not match, but"
            " update_head=False. HEAD has not been updated locally."
        ),
        {"new_tags": ["v3"]},
    ),
    (
        CLONE + "git -C r tag -d v1",
        {},
        f"{UP}\n\nChanges made: The following tags were removed from the local checkout: v1",
        {"deleted_tags": ["v1"]},
    ),
    (
        CLONE + "git -C wt remote remove origin",
        {},
        f"{UP}\n\nChanges made: Remote 'origin' set to URL",
        {"new": "URL => origin"},
    ),
    (
        CLONE + "git -C wt remote set-url origin /other",
        {},
        f"{UP}\n\nChanges made: Remote 'origin' changed from /other to URL",
        {"url": ("/other", "URL")},
    ),
    (
        CLONE + DEV,
        {"rev": "main", "branch": "main"},
        "'main' was checked out",
        {"revision": ("4c8e878", TWO)},
    ),
    (
        CLONE,
        {"rev": "main", "branch": "new"},
        (
            f"{UP}\n\nChanges made: New branch 'new' was checked out, with origin/main ({TWO}) as a"
            " starting point"
        ),
        {"branch": ("main", "new")},
    ),
    (
        CLONE + "git -C r branch fresh v1",
        {"rev": "fresh", "branch": "fresh"},
        (
            f"{FETCHED}. New branch 'fresh' was checked out, with origin/fresh ({ONE}) as a"
            " starting point."
        ),
        {"revision": (TWO, ONE)},
    ),
    (
        CLONE + "git -C wt branch --unset-upstream",
        {"rev": "main"},
        f"{UP}\n\nChanges made: Tracking branch was set to origin/main",
        {"upstream": (None, "origin/main")},
    ),
]


def short(changes: Any, url: str, target: str) -> Any:
    """Changes with short commits as (old, new), without the test's own paths."""
    found = {}
    for key, value in changes.items():
        if key in ("url", "branch", "upstream"):
            value = tuple(name and plain(name, url, target) for name in value.values())
        if key == "revision":
            value = tuple(sha and sha[:7] for sha in (value["old"], value["new"]))
        found[key] = plain(value, url, target) if isinstance(value, str) else value
    return found


def plain(text: str, url: str, target: str) -> str:
    return text.replace(url, "URL").replace(target, "WT")


@pytest.mark.parametrize(("script", "arguments", "comment", "changes"), CASES)
def test_latest(
    made: Path,
    tmp_path: Path,
    script: str,
    arguments: dict[str, Any],
    comment: str,
    changes: dict[str, Any],
) -> None:
    url, target = start(made, tmp_path, script)
    planned = look(latest, url, target, **arguments)
    done = apply(latest, url, target, **arguments)
    assert plain(done.comment, url, target) == comment
    assert short(done.changes, url, target) == changes
    if isinstance(planned, Plan) and planned.exact:
        assert planned.changes.keys() == changes.keys()
    assert not isinstance(look(latest, url, target, **arguments), Plan), "it converges"


def test_a_dry_run_of_a_commit_that_stays_out_tells_of_the_fetch(
    made: Path, tmp_path: Path
) -> None:
    more = MORE.replace("git tag v3; ", "")
    url, target = start(made, tmp_path, CLONE + more)
    planned = look(latest, url, target, update_head=False)
    assert isinstance(planned, Done), "nothing that a result reports"
    assert planned.comment == "Remote 'origin' would be fetched."
    assert apply(latest, url, target, update_head=False).changes == {}


def test_branches_with_a_line_end_in_their_names(made: Path, tmp_path: Path) -> None:
    """Git forbids control characters only."""
    odd = "git -C r branch $(printf 'main\\342\\200\\250x') dev; "
    url, target = start(made, tmp_path, odd + CLONE + MORE)
    assert short(apply(latest, url, target).changes, url, target)["revision"] == (TWO, THREE)


FAILURES: list[tuple[str, dict[str, Any], str]] = [
    (
        CLONE + "git -C r checkout -q dev",
        {},
        "it may be advisable to set the 'branch' argument to 'dev' instead",
    ),
    (
        CLONE,
        {"rev": "dev"},
        r"The desired rev \(dev\) differs from the name of the local branch \(main\)",
    ),
    (
        CLONE + "echo x > wt/f; " + MORE,
        {},
        f"updated from {TWO} to {THREE}, but there are uncommitted changes",
    ),
    (
        CLONE + DEV + "echo x > wt/f",
        {"branch": "main"},
        r"\(after checking out local branch 'main'\), but there are",
    ),
    (CLONE + "cd r; git commit -q --amend -m new", {}, "Set 'force_fetch' to True"),
    (CLONE + LOCAL + MORE, {}, "not a fast-forward merge(.|\n)*Changes already made: file://"),
    ("mkdir wt; touch wt/x", {}, "non-empty and is not a git repository"),
    (CLONE + "mkdir wt/x; touch wt/x/y", {"target": "x"}, "non-empty and is not a git repository"),
    ("", {"target": "/"}, "Target '/' exists, is non-empty"),
]


@pytest.mark.parametrize(("script", "arguments", "message"), FAILURES)
def test_latest_loses_nothing(
    made: Path, tmp_path: Path, script: str, arguments: dict[str, Any], message: str
) -> None:
    url, target = start(made, tmp_path, script)
    kept = {path: path.read_bytes() for path in Path(target).glob("*") if path.is_file()}
    if "target" in arguments:
        target, arguments = os.path.join(target, arguments["target"]), {}
    with pytest.raises(StateFailed, match=message):
        apply(latest, url, target, **arguments)
    assert all(path.read_bytes() == data for path, data in kept.items())


def test_submodules_are_told_and_keep_what_no_reset_undoes(made: Path, tmp_path: Path) -> None:
    (tmp_path / ".gitconfig").write_text("[protocol.file]\nallow = always\n")
    add = "cp -a r s; cd r; git submodule -q add -b main file://$PWD/../s sub; git commit -qm s; "
    url, target = start(made, tmp_path, add + "cd ..; " + CLONE)
    given: dict[str, Any] = {"submodules": True, "force_reset": True}
    plan = look(latest, url, target, **given)
    assert isinstance(plan, Plan)
    assert plan.changes == {"submodules": "updated"} == apply(latest, url, target, **given).changes
    changed = Path(target, "sub/f")
    assert changed.read_text() == "2\n"
    changed.write_text("mine\n")
    assert not isinstance(look(latest, url, target, **given), Plan), "each run would reset"
    sha = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=target, text=True).strip()
    assert not isinstance(look(detached, url, sha, target=target, hard_reset=True), Plan)
    assert changed.read_text() == "mine\n"


def test_a_plan_doubts_what_local_commits_may_stop(made: Path, tmp_path: Path) -> None:
    url, target = start(made, tmp_path, CLONE + LOCAL + MORE)
    with running(HarnessHere()):
        plan, forced = next(latest(url, target)), next(latest(url, target, force_reset=True))
    assert (plan.changes, plan.exact) == ({}, False)
    assert plan.comment.endswith("this fails unless the remote has them by now.")
    assert forced.changes and "this fails" not in forced.comment


def test_somebody_elses_repository_is_not_emptied(made: Path, tmp_path: Path) -> None:
    require_root("to give files away")
    url, target = start(made, tmp_path, CLONE + "chown -R 1234 wt")
    with pytest.raises(StateFailed, match="belongs to somebody else"):
        apply(latest, url, target, force_clone=True)
    assert Path(target, "f").exists()


def test_a_failed_clone_leaves_nothing(made: Path, tmp_path: Path) -> None:
    url, target = start(made, tmp_path, "")
    generator = latest(url, target)
    with running(HarnessHere()), changes_allowed():
        next(generator)
        (tmp_path / "r").rename(tmp_path / "gone")
        with pytest.raises(StateFailed, match="Clone failed: ") as failure:
            next(generator)
    assert failure.value.changes == {}
    assert not Path(target).exists()


def test_a_hooks_environment_does_no_harm(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, target = start(made, tmp_path, "")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_WORK_TREE", str(tmp_path))
    apply(latest, url, target)
    assert Path(target, "f").read_text() == "2\n"
    assert not (tmp_path / "elsewhere").exists()


def test_a_clone_with_a_depth_gets_another_branch(made: Path, tmp_path: Path) -> None:
    more = "cd r; git checkout -q -b rel; echo 4 >f; git commit -qam 4; git checkout -q main"
    for number, branch in enumerate(({}, {"branch": "rel"})):
        (folder := tmp_path / str(number)).mkdir()
        url, target = start(made, folder, "")
        apply(latest, url, target, rev="main", depth=1)
        sh(more, folder)
        wanted = {"rev": "rel", "depth": 1, "force_reset": True, **branch}
        done = apply(latest, url, target, **wanted)
        assert Path(target, "f").read_text() == "4\n", done.comment
        assert not isinstance(look(latest, url, target, **wanted), Plan), "it converges"
        tracked = subprocess.check_output(["git", "-C", target, "rev-parse", "@{u}"], text=True)
        assert tracked.startswith(str(done.changes["revision"]["new"]))
    (folder := tmp_path / "cloned").mkdir()
    url, target = start(made, folder, CLONE + "git -C wt remote set-branches origin main")
    sh(more, folder)
    assert apply(cloned, url, target, branch="rel").comment == "Branch changed to 'rel'"


def test_cloned(made: Path, tmp_path: Path) -> None:
    url, target = start(made, tmp_path, "")
    done = apply(cloned, url, target, branch="dev")
    assert plain(done.comment, url, target) == "URL cloned to WT with branch 'dev'"
    assert done.changes == {"new": f"{url} => {target}"}
    done = apply(cloned, url, target, branch="main")
    assert (done.comment, done.changes) == (
        "Branch changed to 'main'",
        {"branch": {"old": "dev", "new": "main"}},
    )
    assert apply(cloned, url, target).comment == f"Repository already exists at {target}"


def test_detached(made: Path, tmp_path: Path) -> None:
    url, target = start(made, tmp_path, CLONE + MORE)
    done = apply(detached, url, "v3", target)
    sha = done.changes["HEAD"]["new"] if done.changes else ""
    assert (
        done.comment
        == f"Remote origin was fetched, resulting in updated refs. Commit ID {sha} was checked out"
        f" at {target}."
    )
    assert sha.startswith(THREE)
    assert apply(detached, url, "v3", target).comment == "Already checked out at correct revision"
    Path(target, "f").write_text("changed")
    with pytest.raises(StateFailed, match="would overwrite uncommitted changes of f"):
        apply(detached, url, "v1", target)
    done = apply(detached, url, "v1", target, hard_reset=True)
    assert done.comment.startswith(
        "Repository was reset to HEAD before checking out revision. Commit ID 4b7094c"
    )


def test_detached_follows_a_tag_that_was_moved(made: Path, tmp_path: Path) -> None:
    url, target = start(made, tmp_path, CLONE)
    apply(detached, url, "v1", target)
    sh("cd r; echo 4 > f; git commit -qam four; git tag -f v1", tmp_path)
    assert apply(detached, url, "v1", target).changes
    assert Path(target, "f").read_text() == "4\n"


def test_config(made: Path, tmp_path: Path) -> None:
    start(made, tmp_path, "")
    repo = str(tmp_path / "r")
    done = apply(config_set, "foo.bar", multivar=["a", "b"], repo=repo)
    assert (done.comment, done.changes) == (
        "'foo.bar' was added as ['a', 'b']",
        {"foo.bar": {"old": None, "new": ["a", "b"]}},
    )
    done = apply(config_unset, "foo\\..+", value_regex="^a$", repo=repo)
    assert (done.comment, done.changes) == ("Value(s) successfully unset", {"foo.bar": ["a"]})
    done = apply(config_set, "foo.bar", value="", repo=repo)
    assert done.comment == "'foo.bar' was set to ''"
    assert (
        apply(config_set, "foo.bar", value="", repo=repo).comment
        == "'foo.bar' is already set to ''"
    )
    done = apply(config_set, "user.name", value="Zoë", global_=True)
    assert done.comment == "Global key 'user.name' was added as 'Zoë'"
    assert (tmp_path / ".gitconfig").exists()


@pytest.mark.parametrize("where", ["global: true", "repo: '{tmp}/r'"])
def test_a_dry_run_sees_a_configuration_that_is_planned(machine: Machine, where: str) -> None:
    subprocess.run(["git", "init", "-q", machine.folder / "r"], check=True)
    machine.write(
        a=f"one: {{git.config_set: [name: a.b, multivar: [p, q], {where}]}}\n"
        f"two: {{git.config_set: [name: a.b, multivar: [p, q], {where}]}}\n"
        f"three: {{git.config_unset: [name: a.b, value_regex: p, {where}]}}\n"
        f"four: {{git.config_set: [name: a.b, value: q, {where}]}}\n"
        "asks: {cmd.run: [name: 'true', cwd: '{tmp}/r', unless: test q = $(git config a.b)]}\n"
    )
    before = (machine.folder / "r/.git/config").read_text()
    planned, done = [
        [one["changes"] for one in machine.results("sls", "a", *options).values()]
        for options in (["--test"], [])
    ]
    assert [bool(changes) for changes in planned] == [True, False, True, False, False]
    assert planned == done
    machine("undo")
    assert (machine.folder / "r/.git/config").read_text() == before


@pytest.mark.parametrize("forced", [True, "remote-changes"])
def test_a_dry_run_names_uncommitted_changes_that_go(
    machine: Machine, made: Path, forced: object
) -> None:
    url, target = start(made, machine.folder, CLONE + MORE + "echo x > wt/f")
    state = {"name": url, "target": target, "rev": "main", "force_reset": forced}
    machine.write(a=json.dumps({"a": {"git.latest": [{key: state[key]} for key in state]}}))
    assert (
        "Uncommitted changes would be discarded. "
        in machine.results("sls", "a", "--test")["a"]["comment"]
    )
    assert "Uncommitted changes were discarded. " in machine.results("sls", "a")["a"]["comment"]


@pytest.mark.parametrize(
    ("function", "more"),
    [
        ("git.latest", {"rev": "main"}),
        ("git.detached", {"rev": "v1"}),
        ("git.cloned", {"branch": "dev"}),
    ],
)
def test_the_lock_of_another_git_is_foreseen(
    machine: Machine, made: Path, function: str, more: dict[str, str]
) -> None:
    url, target = start(made, machine.folder, CLONE + MORE + "touch wt/.git/index.lock")
    arguments = [{"name": url}, {"target": target}, more]
    states: dict[str, Any] = {"a": {function: arguments}}
    machine.write(a=json.dumps(states))
    dry = machine.results("sls", "a", "--test", code=2)["a"]
    real = machine.results("sls", "a", code=2)["a"]
    assert dry["comment"] == real["comment"]
    assert dry["comment"].startswith(f"{target}/.git/index.lock is there: another git works on")
    assert not Path(target, ".git/refs/tags/v3").exists(), "nothing was fetched before"

    removal = {"file.absent": [{"name": f"{target}/.git/index.lock"}, {"order": 1}]}
    machine.write(a=json.dumps({"lock": removal, **states}))
    assert machine.results("sls", "a", "--test")["a"]["result"] is None
    assert machine.results("sls", "a")["a"]["changes"]
