# SPDX-License-Identifier: Apache-2.0
"""`gitfs_remotes` and `ext_pillar: git`, with the real git on repositories in folders."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from command import Machine
from repositories import Repository
from starting import PATIENCE

from runner.model.places import Source
from runner.sources.git import Remote
from runner.sources.gitfs.environments import Refs, environments, target_in
from runner.sources.gitfs.settings import fileserver_remotes

REFS = Refs({"master": "1" * 40, "dev": "2" * 40, "a/b": "3" * 40}, {"v1": "4" * 40, "dev": "5"})


@pytest.fixture
def origin(tmp_path: Path) -> Repository:
    """Branches main, dev, feature/x and -x, a tag v1; each says in a.sls which one it is."""
    repository = Repository(tmp_path / "origin")
    repository.commit({"a.sls": named("v1"), "sub/b.sls": named("b")})
    repository.git("tag", "v1")
    for branch in ("dev", "feature/x"):
        repository.git("checkout", "-q", "-b", branch, "main")
        repository.commit({"a.sls": named(branch)})
    repository.git("update-ref", "refs/heads/-x", "dev")
    repository.git("checkout", "-q", "main")
    repository.commit({"a.sls": named("main")})
    return repository


def named(name: str) -> str:
    return f"{name}:\n  test.nop: []\n"


def serve(machine: Machine, *remotes: Any, **more: Any) -> None:
    machine.config |= {
        "fileserver_backend": ["roots", "gitfs"],
        "gitfs_remotes": list(remotes),
        "gitfs_base": "main",
        **more,
    }


def ran(machine: Machine, *words: str) -> list[str]:
    """The IDs of the states of an SLS file."""
    return list(machine.results("sls", *words))


def answer(machine: Machine, *words: str) -> Any:
    return machine.answer("call", *words)


# ---------------------------------------------------------------- branches -> environments


@pytest.mark.parametrize(
    ("settings", "served"),
    [  # each as a real Salt serves it
        ({}, {"base": "1", "dev": "2", "a/b": "3", "v1": "4"}),
        ({"base": "dev"}, {"base": "2", "master": "1", "a/b": "3", "v1": "4"}),
        ({"base": "nosuch"}, {"master": "1", "dev": "2", "a/b": "3", "v1": "4"}),
        ({"ref_types": ["branch"]}, {"base": "1", "dev": "2", "a/b": "3"}),
        ({"ref_types": ["tag"]}, {"dev": "5", "v1": "4"}),
        ({"ref_types": ["sha"], "base": "1" * 40}, {"base": "1"}),
        ({"disable_saltenv_mapping": True}, {"base": "1"}),
        ({"saltenv_whitelist": ["base", "v*"]}, {"base": "1", "v1": "4"}),
        ({"env_whitelist": "base,v*"}, {"base": "1", "v1": "4"}),
        ({"saltenv_blacklist": ["v1", "[a-c]+/."]}, {"base": "1", "dev": "2"}),
        (
            {
                "saltenv": [
                    {"prod": [{"ref": "v1"}]},
                    {"dev": [{"ref": "master"}]},
                    {"nope": [{"ref": "x"}]},
                ]
            },
            {"prod": "4", "dev": "1", "nope": None, "a/b": "3"},
        ),
        (
            {"saltenv": [{"base": [{"ref": "dev"}]}]},
            {"base": "2", "master": "1", "a/b": "3", "v1": "4"},
        ),
        ({"refspecs": ["+refs/heads/a/*:refs/remotes/origin/new/*"]}, {"new/b": "3"}),
    ],
)
def test_which_environments_a_repository_has(
    settings: Mapping[str, Any], served: Mapping[str, str | None]
) -> None:
    raw = {"gitfs_remotes": [{"file:///x": [settings]}] if settings else ["file:///x"]}
    (remote,), _ = fileserver_remotes(raw, Source)
    own = environments(remote, REFS, lambda ref: ref if ref == "1" * 40 else None)
    assert {env: target and target.commit[0] for env, target in own.items()} == served


@pytest.mark.parametrize(
    ("settings", "env", "commit"),
    [
        ({}, "other", None),
        ({"fallback": "dev"}, "other", "2"),
        ({"fallback": "dev"}, "a/b", "3"),
        ({"all_saltenvs": "a/b"}, "dev", "3"),
        ({"all_saltenvs": "a/b", "saltenv_whitelist": ["dev"]}, "other", None),
        ({"all_saltenvs": "nosuch", "fallback": "dev"}, "other", "2"),
        ({"base": "dev"}, "dev", "2"),
        ({"saltenv": [{"base": [{"ref": "dev"}]}]}, "dev", "2"),
        ({"disable_saltenv_mapping": True, "fallback": "dev"}, "a/b", None),
        ({"saltenv": [{"qa": [{"ref": "nosuch"}]}], "fallback": "dev"}, "qa", "2"),
    ],
)
def test_environments_of_others(settings: Mapping[str, Any], env: str, commit: str | None) -> None:
    (remote,), _ = fileserver_remotes(
        {"gitfs_remotes": [{"u": [settings or {"root": ""}]}]}, Source
    )
    target = target_in(remote, REFS, environments(remote, REFS, lambda ref: None), env)
    assert (target and target.commit[0]) == commit


def test_how_a_repository_is_reached() -> None:
    shared = {"gitfs_privkey": "/k", "gitfs_pubkey": "/k.pub", "gitfs_ssl_verify": False}
    more = [{"user": "me"}, {"password": "x"}, {"ssl_verify": "/ca"}, {"timeout": 5}]
    urls = ["git@h:a.git", {"https://h/b.git": more}]
    remotes, _ = fileserver_remotes({"gitfs_remotes": urls, **shared}, Source)
    assert [remote.remote for remote in remotes] == [
        Remote("git@h:a.git", deploy_key="/k", ssl_verify=False),
        Remote("https://h/b.git", ssl_verify="/ca", user="me", password="x", timeout=5.0),
    ]


# ---------------------------------------------------------------- served files


def test_environments_are_branches_and_tags(machine: Machine, origin: Repository) -> None:
    serve(machine, origin.url)
    machine.write(a=named("roots"), only="only:\n  test.nop: []\n")
    assert ran(machine, "a") == ["roots"]
    assert ran(machine, "sub.b,only") == ["b", "only"]
    assert answer(machine, "cp.envs") == ["base", "-x", "dev", "feature/x", "v1"]
    for env, name in (("feature/x", "feature/x"), ("v1", "v1"), ("-x", "dev")):
        assert ran(machine, "a", f"--saltenv={env}") == [name]
    machine.config["fileserver_backend"] = ["git", "file"]
    assert ran(machine, "a,only") == ["main", "only"]
    machine.config["fileserver_backend"] = "gitfs"
    assert "cache/gitfs/origin-" in machine("sls", "only", code=1).stderr  # in no roots
    assert ran(machine, "a", "--state-tree", str(machine.folder / "states")) == ["roots"]
    machine.config["fileserver_backend"] = ["roots"]
    assert "gitfs_remotes has no effect" in machine("check", code=None).stdout
    assert ran(machine, "a") == ["roots"]


def test_an_environment_that_other_repositories_have(
    machine: Machine, origin: Repository, tmp_path: Path
) -> None:
    """Checked beside Salt: the branch of that name serves it, even where it is `base`; a fallback
    serves any that is asked for.
    """
    second = Repository(tmp_path / "second")
    second.commit({"b.sls": named("b")})
    serve(machine, origin.url, {second.url: [{"base": "nosuch"}]})
    assert ran(machine, "a,b", "--saltenv=main") == ["main", "b"]
    assert "'a' in env 'other'" in machine("sls", "a", "--saltenv=other", code=1).stderr
    serve(machine, {origin.url: [{"fallback": "dev"}]}, second.url)
    assert ran(machine, "a", "--saltenv=other") == ["dev"]


def test_a_branch_with_a_line_end_in_its_name(machine: Machine, origin: Repository) -> None:
    """Git forbids control characters only; who may push a branch stops no machine by it."""
    origin.git("branch", "main\u2028x")
    serve(machine, origin.url)
    assert "main\u2028x" in answer(machine, "cp.envs")
    assert ran(machine, "a") == ["main"]


def test_root_mountpoint_and_several_repositories(
    machine: Machine, origin: Repository, tmp_path: Path
) -> None:
    second = Repository(tmp_path / "second")
    code = "def where():\n    return 'repository'\n"
    second.commit({"salt/c.sls": named("c"), "salt/_modules/there.py": code, "no.sls": named("no")})
    second.git("branch", "dev")
    of_dev = {"dev": [{"root": "sub"}, {"mountpoint": "salt://mm"}]}
    serve(
        machine,
        {second.url: [{"root": "salt"}, {"name": "Our states"}]},
        {origin.url: [{"mountpoint": "salt://pre/fix"}, {"saltenv": [of_dev]}]},
    )
    assert answer(machine, "cp.list_master") == [
        "_modules/there.py",
        "c.sls",
        "pre/fix/a.sls",
        "pre/fix/sub/b.sls",
    ]
    assert answer(machine, "cp.list_master", "dev")[2:] == ["mm/b.sls"]
    assert answer(machine, "there.where") == "repository"
    second.commit({"salt/c.sls": "c: {{ nothing }}: x\n"})
    machine.config["gitfs_update_interval"] = 0
    problem = machine("sls", "c", code=1).stderr
    assert "/cache/gitfs/Our_states-" in problem and "/main@" in problem


def test_the_top_file_is_that_of_each_environment(machine: Machine, origin: Repository) -> None:
    origin.commit({"top.sls": "base: {'*': [a]}\n"})
    origin.git("checkout", "-q", "dev")
    origin.commit({"top.sls": "dev: {'*': [a]}\nbase: {'*': [nothing]}\n"})
    serve(machine, origin.url)
    results = machine.results("highstate")
    assert sorted(results) == ["dev", "main"]
    exported = sorted(path.name.partition("@")[0] for path in exports(machine))
    assert exported == ["dev", "main"]  # of all five
    runs = machine.answer("history")
    assert runs[0]["revision"] == origin.git("rev-parse", "main")


def exports(machine: Machine) -> list[Path]:
    return list((machine.folder / "cache" / "gitfs").glob("*/*@*"))


# ---------------------------------------------------------------- fetching


def test_fetches_at_most_every_interval_and_without_network_not(
    machine: Machine, origin: Repository
) -> None:
    serve(machine, origin.url, gitfs_update_interval=3600)
    assert ran(machine, "a") == ["main"]
    origin.commit({"a.sls": named("newer")})
    assert ran(machine, "a") == ["main"]
    shutil.move(machine.folder / "cache" / "gitfs", machine.folder / "unused")  # nothing is known
    assert ran(machine, "a") == ["newer"]
    machine.config["gitfs_update_interval"] = 0
    origin.commit({"a.sls": named("newest")})
    assert ran(machine, "a") == ["newest"]
    origin.folder.rename(machine.folder / "away")
    done = machine("sls", "a")
    assert f"{origin.url}: " in done.stderr
    assert "seconds ago is used" in done.stderr or "second ago is used" in done.stderr
    assert "runner.yaml:1" in done.stderr and "is the URL right?" in done.stderr
    mark = next((machine.folder / "cache" / "git").glob("*.git")) / "runner-fetched"
    os.utime(mark, (1_700_000_000, 1_700_000_000))
    assert " days ago is used" in machine("sls", "a").stderr
    shutil.rmtree(machine.folder / "cache")
    done = machine("sls", "a", code=1)
    assert "there is no earlier copy of it" in done.stderr and "runner.yaml:1" in done.stderr


def test_a_server_that_hangs_is_left_and_asked_once(machine: Machine, origin: Repository) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:  # accepts, and never answers
        port = server.getsockname()[1]
        hanging = [f"git://127.0.0.1:{port}/{name}" for name in "ab"]
        serve(machine, *hanging, origin.url, gitfs_timeout=1)
        done = machine("sls", "a", code=1)
        assert "no end after 1 s" in done.stderr
        assert f"not asked: {hanging[0]} got no answer from 127.0.0.1" in done.stderr


@pytest.mark.parametrize("command", ["fetch", "checkout-index"])
def test_killed_in_the_middle_the_next_run_goes_on(
    machine: Machine, origin: Repository, command: str
) -> None:
    git = machine.folder / "bin" / "git"
    git.parent.mkdir()
    git.write_text(
        f'#!/bin/sh\n"{shutil.which("git")}" "$@"; status=$?\n'
        f'case " $* " in *" {command} "*) kill -9 $PPID;; esac\nexit $status\n'
    )
    git.chmod(0o755)
    serve(machine, origin.url)
    argv = machine.argv("sls", "a", "--out", "json")
    path = {"PATH": f"{git.parent}:{machine.environment['PATH']}"}
    killed = subprocess.run(argv, env=machine.environment | path, capture_output=True)
    assert killed.returncode == -9
    assert not exports(machine)
    with machine.start("sls", "a") as one, machine.start("sls", "a") as other:
        codes = [one.wait(PATIENCE), other.wait(PATIENCE)]
    assert sorted(codes) in ([0, 0], [0, 3])  # 3: the other run has the lock
    assert ran(machine, "a") == ["main"]
    for path_ in exports(machine):
        os.utime(path_, (1, 1))
    for left in (machine.folder / "cache" / "gitfs").glob("*/.*"):
        os.utime(left, (1, 1))
    origin.commit({"a.sls": named("newer")})
    machine.config["gitfs_update_interval"] = 0
    assert ran(machine, "a") == ["newer"]
    (repository,) = (machine.folder / "cache" / "gitfs").glob("origin-*/")
    assert [path.name.partition("@")[0] for path in repository.iterdir()] == ["main"]


def test_a_link_out_of_the_tree_is_refused(machine: Machine, origin: Repository) -> None:
    (origin.folder / "out").symlink_to("/etc/hostname")
    origin.commit()
    serve(machine, origin.url)
    done = machine("sls", "a", code=1)
    assert "the link out leads out of the tree, to /etc/hostname (main)" in done.stderr
    assert ran(machine, "a", "--saltenv", "dev") == ["dev"]


# ---------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("remotes", "more", "message"),
    [
        ([{"file:///x": [{"rooot": "a"}]}], {}, "has no setting 'rooot'"),
        ([{"file:///x": {"root": "a"}}], {}, "its settings have to be a list"),
        ([{"file:///x": None}], {}, "without settings it ends with no colon"),
        ([7], {}, "7 is not the URL of a repository"),
        (["file:///x"], {"gitfs_root": ["a"]}, "gitfs_root has to be a text, not ['a']"),
        (["file:///x"], {"gitfs_root": "../.."}, "leads out of the repository"),
        (["file:///x"], {"gitfs_update_interval": "often"}, "has to be a number of seconds"),
        (["file:///x"], {"gitfs_ref_types": ["brunch"]}, "there is no 'brunch'"),
        (["file:///x"], {"gitfs_saltenv": ["dev"]}, "has to list environments, not 'dev'"),
        ([{"http://h/x": [{"password": "p"}]}], {}, "would be sent without encryption"),
        (["ext::sh -c id"], {}, "cannot be reached by ext"),
    ],
)
def test_mistakes_are_named(
    machine: Machine, remotes: Any, more: dict[str, Any], message: str
) -> None:
    serve(machine, *remotes, **more)
    done = machine("sls", "a", code=1)
    assert message in done.stderr and "runner.yaml:1:" in done.stderr and "hint:" in done.stderr


def test_what_is_odd_is_told(machine: Machine, origin: Repository) -> None:
    serve(machine, {origin.url: [{"passphrase": "x"}, {"refspecs": ["+refs/pull/*:refs/x/*"]}]})
    machine.config |= {"gitfs_base": "master", "gitfs_passphrase": "y"}
    machine.write(local=named("local"))
    said = machine("sls", "local").stderr
    assert "the passphrase of its key is not used" in said
    assert "gitfs_passphrase has no effect in runner" in said
    assert "the refspec '+refs/pull/*:refs/x/*' has no effect" in said
    assert "has no branch 'master'" in said and "`base: main` of the remote" in said


# ---------------------------------------------------------------- pillar


@pytest.fixture
def pillars(tmp_path: Path) -> tuple[Repository, Repository]:
    one, two = Repository(tmp_path / "one"), Repository(tmp_path / "two")
    files = {"top.sls": "base: {'*': [x]}\n", "x.sls": "who: one\nl: [1]\nd: {a: 1}\n"}
    one.commit({**files, "sub/top.sls": "base: {'*': [y]}\n", "sub/y.sls": "sub: true\n"})
    one.git("checkout", "-q", "-b", "dev")
    one.commit({"top.sls": "dev: {'*': [x]}\n", "x.sls": "who: dev\nenv: {{ saltenv }}\n"})
    two.commit({"top.sls": "base: {'*': [z]}\n", "z.sls": "include: [x]\nwho: two\nl: [2]\n"})
    return one, two


def pillar(machine: Machine, items: Any, *words: str, **more: Any) -> Any:
    settings = {"ext_pillar": [{"git": items}], "git_pillar_base": "main", **more}
    kept, machine.config = machine.config, {**machine.config, **settings}
    done = machine("show", "pillar", "--out", "json", *words, code=None)
    machine.config = kept
    return json.loads(done.stdout)["local"]


def test_pillar_of_branches(machine: Machine, pillars: tuple[Repository, Repository]) -> None:
    one = pillars[0].url
    of_one = {"who": "one", "l": [1], "d": {"a": 1}}
    of_dev = {"who": "dev", "env": "dev"}
    assert pillar(machine, [f"main {one}"]) == of_one
    assert pillar(machine, f"main {one}") == of_one
    assert pillar(machine, [f"main {one}", f"dev {one}"]) == {**of_one, **of_dev}
    assert pillar(machine, [f"main {one}", f"dev {one}"], pillarenv="dev") == of_dev
    assert pillar(machine, [f"__env__ {one}"]) == of_one
    assert pillar(machine, [f"__env__ {one}"], "--saltenv", "dev") == of_dev
    assert pillar(machine, [one], git_pillar_branch="dev", git_pillar_env="dev") == of_dev
    sub = {f"main {one}": [{"root": "sub"}, {"name": "other"}]}
    assert pillar(machine, [sub]) == {"sub": True}
    assert pillar(machine, [{f"main {one}": [{"mountpoint": "mm"}]}]) == {}
    assert pillar(machine, [f"__env__ {one}"], pillarenv="nosuch") == {}
    fallback = {"git_pillar_fallback": "main", "git_pillar_env": "base"}
    assert pillar(machine, [f"nosuch {one}"], **fallback) == of_one


def test_pillar_of_several_repositories(
    machine: Machine, pillars: tuple[Repository, Repository]
) -> None:
    one, two = (repository.url for repository in pillars)
    machine.write(pillar__top="base: {'*': [q]}\n", pillar__q="who: files\nq: 1\n")
    both = [f"main {one}", f"main {two}"]
    merged = {"who": "two", "q": 1, "l": [2], "d": {"a": 1}}
    assert pillar(machine, both) == merged
    assert pillar(machine, both, pillar_merge_lists=True) == {**merged, "l": [1, 2]}
    assert pillar(machine, both, ext_pillar_first=True) == {**merged, "who": "files"}
    (problem,) = pillar(machine, both, git_pillar_includes=False)
    assert "Specified SLS x" in problem and "/cache/gitfs/two-" in problem


def test_the_environments_of_one_top_file_in_all_branches(machine: Machine, tmp_path: Path) -> None:
    """As is usual; checked beside Salt. What a top file says of others counts where no environment
    is chosen.
    """
    both = Repository(tmp_path / "both")
    both.commit({"top.sls": "base: {'*': [x]}\ndev: {'*': [x]}\n", "x.sls": "who: main\n"})
    both.git("checkout", "-q", "-b", "dev")
    both.commit({"x.sls": "who: dev\n"})
    items = [f"main {both.url}", f"dev {both.url}"]
    assert "No matching pillar environment for environment 'dev'" in pillar(machine, items)[0]
    assert pillar(machine, items, pillarenv="dev") == {"who": "dev"}
    assert pillar(machine, items, pillarenv="base") == {"who": "main"}
    assert pillar(machine, items, pillarenv_from_saltenv=True) == {"who": "main"}
    dev = pillar(machine, items, "--saltenv", "dev", pillarenv_from_saltenv=True)
    assert dev == {"who": "dev"}


def test_mistakes_of_the_pillar(machine: Machine, pillars: tuple[Repository, Repository]) -> None:
    one, two = pillars
    (problem,) = pillar(machine, [f"mian {one.url}"])
    assert "has no branch or tag 'mian'" in problem and "did you mean main?" in problem
    (problem,) = pillar(machine, [{f"dev {one.url}": [{"env": "base"}]}])
    assert "No matching pillar environment" in problem and "`- env: NAME`" in problem
    (problem,) = pillar(machine, [{f"main {one.url}": [{"brunch": 1}]}])
    assert "has no setting 'brunch'" in problem and "did you mean branch?" in problem
    machine.write(a=named("a"))
    machine.config |= {"ext_pillar": [{"git": [f"main {two.url}"]}]}
    said = machine("sls", "a").stderr  # main is no base here
    assert "is the pillar of the environment 'main'" in said and "`- env: base`" in said
    machine.config |= {"ext_pillar": [{"git": ["main file:///nothing/there"]}]}
    assert "there is no earlier copy of it" in machine("sls", "a", code=1).stderr


def test_logins_of_repositories_are_shown_nowhere(machine: Machine, origin: Repository) -> None:
    serve(machine, {origin.url: [{"user": "me"}, {"password": "of-one-remote"}]})
    machine.config["gitfs_password"] = "of-all-remotes"
    machine.write(show="say:\n  cmd.run:\n    - name: {{ opts | json | string | tojson }}\n")
    shown = machine("show", "sls", "show", "-l", "debug")
    machine.config["git_pillar_password"] = "of-the-pillar"
    machine.config["ext_pillar"] = [{"git": ["main https://me:in-the-url@localhost:1/x.git"]}]
    failed = machine("show", "sls", "show", code=1)
    assert "gitfs_password" in shown.stdout and "https://me@localhost:1" in failed.stderr
    for secret in ("of-one-remote", "of-all-remotes", "in-the-url", "of-the-pillar"):
        for text in (shown.stdout, shown.stderr, failed.stderr):
            assert secret not in text


def test_a_full_disk_is_told_in_each_run_and_what_was_fetched_is_used(
    machine: Machine, origin: Repository, tmp_path: Path
) -> None:
    serve(machine, origin.url, gitfs_update_interval=0)
    assert ran(machine, "a") == ["main"]
    origin.commit({"a.sls": named("newer")})
    fake = tmp_path / "bin/git"
    fake.parent.mkdir()
    fake.write_text(
        '#!/bin/sh\ncase "$*" in *fetch*)\n'
        "echo 'fatal: write error: No space left on device' >&2; exit 128;; esac\n"
        f'exec {shutil.which("git")} "$@"\n'
    )
    fake.chmod(0o755)
    machine.environment["PATH"] = f"{fake.parent}:{machine.environment['PATH']}"
    for _ in range(2):  # cron mails it, in a quiet run, too
        done = machine("sls", "a", "-q")
        assert "its copy cannot be written" in done.stderr and "make room" in done.stderr
        assert "is used" in done.stderr and "No space left on device" in done.stderr
    assert ran(machine, "a") == ["main"]
