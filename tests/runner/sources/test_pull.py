# SPDX-License-Identifier: Apache-2.0
"""`runner pull`: a tree is fetched, verified and compiled before it takes the place of another."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from command import ROOT, Machine
from needing import is_user_0, require
from starting import PATIENCE

from runner.sources.config.of_tree import MACHINES
from runner.sources.trees.source import KEYS, mistakes, seconds, source_of

AUTHOR = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main")


class Site:
    """A repository with a tree, and a machine that pulls it."""

    def __init__(self, machine: Machine) -> None:
        self.machine, self.folder = machine, machine.folder
        self.work, self.bare = self.folder / "work", self.folder / "site.git"
        self.target = self.folder / "target"
        for folder in ("states", "pillar"):
            (self.folder / folder).rmdir()
        machine.config = {"id": "m1", "tree": {"remote": f"file://{self.bare}"}}
        self.work.mkdir()
        self.git("init", "--quiet")
        self.git("init", "--quiet", "--bare", str(self.bare))
        self.write("states/top.sls", "base:\n  '*': [web]\n")
        self.write("runner.yaml", "strict: true\n")
        self.push("one")

    @property
    def source(self) -> dict[str, Any]:
        """The value of `tree`."""
        tree: dict[str, Any] = self.machine.config["tree"]
        return tree

    @property
    def trees(self) -> Path:
        return self.folder / "cache/state/trees"

    @property
    def current(self) -> str:
        """The commit of the tree that is used."""
        return os.readlink(self.trees / "current")[:40]

    def git(self, *words: str) -> str:
        require("git")
        argv = ["git", *AUTHOR, "-C", str(self.work), *words]
        done = subprocess.run(argv, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def write(self, path: str, text: str) -> None:
        file = self.work / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def push(self, contents: str | None = None, *commit: str) -> str:
        """Have the remote's main bring the target to these contents; its new commit."""
        if contents is not None:
            sls = f"{self.target}:\n  file.managed:\n    - contents: {contents}\n"
            self.write("states/web.sls", sls)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "-m", contents or "-", *commit)
        self.git("push", "--quiet", "--force", str(self.bare), "HEAD:main")
        return self.git("rev-parse", "HEAD")

    def pull(self, *words: str, code: int = 0) -> str:
        """Return what a pull writes to stderr."""
        return self.machine("pull", *words, code=code).stderr

    def text(self) -> str:
        return self.target.read_text().strip()


@pytest.fixture
def site(machine: Machine) -> Site:
    return Site(machine)


def test_a_tree_is_fetched_applied_and_used_by_all_commands(site: Site) -> None:
    first = site.git("rev-parse", "HEAD")
    for words in (["highstate"], ["show", "lowstate"], ["show", "pillar"], ["why", "x"]):
        problem = site.machine(*words, code=1).stderr
        assert "there is no tree yet" in problem and "runner pull" in problem
    assert "no tree yet" in site.machine("check", code=1).stdout
    assert site.machine("history").returncode == 0
    assert site.machine("single", "test.nop", "name=x").returncode == 0
    assert f"tree: {first[:12]} (main of file://" in site.pull("--test")
    assert not site.target.exists() and not (site.trees / "current").exists()
    site.pull()
    assert (site.text(), site.current) == ("one", first)
    assert site.machine("check").stdout == "No mistakes found.\n"
    assert "unchanged" in site.machine("highstate").stdout
    second = site.push("two")
    assert "+two" in site.machine("pull", "--test").stdout
    assert site.current == first
    assert f"{second[:12]} (main" in site.pull() and site.text() == "two"
    assert site.pull() == ""
    rows = json.loads(site.machine("history", "--out", "json").stdout)["local"]
    assert [row["revision"] for row in rows[:3]] == [second, second, second]
    assert [bool(row["dirty"]) for row in rows[:3]] == [False] * 3


def test_file_roots_of_the_machine_are_told_where_they_win(site: Site) -> None:
    (site.folder / "own").mkdir()
    (site.folder / "own/top.sls").write_text("base: {'*': [a]}\n")
    (site.folder / "own/a.sls").write_text("a: {test.nop: []}\n")
    told = "file_roots of the machine is used, so that no state of the tree is"
    assert told not in site.machine("pull", "--test").stderr
    site.machine.config["file_roots"] = {"base": [str(site.folder / "own")]}
    assert told in site.machine("pull").stderr
    assert not site.target.exists()


def test_a_tree_that_does_not_compile_is_never_switched_to(site: Site) -> None:
    site.pull()
    good = site.current
    breaks = {
        "states/web.sls": "a:\n  file.managd: []\n",
        "runner.yaml": "file_roots: [states]\n",
        "states/top.sls": "base: {{ broken\n",
        "states/_modules/end.py": "raise SystemExit(3)\n",
        "states/_modules/at_once.py": "import os\nos._exit(0)\n",
    }
    for path, text in breaks.items():
        site.write(path, text)
        if path.endswith(".py"):
            call = f"{{{{ salt['{Path(path).stem}.x']() }}}}"
            site.write("states/web.sls", f"a:\n  test.nop:\n    - name: {call}\n")
        site.target.write_text("altered")
        bad = site.push()
        if path == "runner.yaml":
            site.pull("--test", code=4)
            assert site.text() == "altered"
        problem = site.pull(code=4)
        assert "the last good one is: " + good[:12] in problem, problem
        assert os.path.basename(path) in problem or "fail" in problem
        assert (site.text(), site.current) == ("one", good), (path, bad)
        site.git("reset", "--quiet", "--hard", "HEAD~1")
    site.push("three")
    site.pull()
    assert site.text() == "three"
    shutil.rmtree(site.trees)
    site.write("states/web.sls", "a:\n  file.managd: []\n")
    site.push()
    assert "file.managd" in site.pull(code=1)
    answer = json.loads(site.machine("pull", "--out", "json", code=1).stdout)["local"]
    assert "file.managd" in answer[0]


def test_a_first_pull_that_fails_is_in_the_history_and_reported(site: Site) -> None:
    site.machine.config["report"] = {"to": "file:drop"}
    (site.folder / "drop").mkdir()
    site.bare.rename(site.folder / "gone")
    problem = site.pull(code=1)
    assert problem.count("error:") == 1, problem
    (site.folder / "gone").rename(site.bare)
    site.source["verify"] = {"ssh": "nobody"}
    site.pull(code=1)
    rows = json.loads(site.machine("history", "--out", "json").stdout)["local"]
    assert [row["outcome"] for row in rows] == ["did not start"] * 2
    files = sorted((site.folder / "drop").iterdir())
    reports = [json.loads(file.read_text()) for file in files]
    facts = [(each["tree"], each["outcome"], len(each["errors"])) for each in reports]
    assert facts == [("unreachable", "did not start", 1), ("refused", "did not start", 1)]


def test_a_full_disk_is_an_error_though_the_last_good_tree_is_run(site: Site) -> None:
    site.pull()
    site.push("two")
    real = shutil.which("git")
    fake = site.folder / "bin/git"
    fake.parent.mkdir()
    fake.write_text(
        '#!/bin/sh\ncase "$*" in *fetch*)\n'
        "echo 'fatal: write error: No space left on device' >&2; exit 128;; esac\n"
        f'exec {real} "$@"\n'
    )
    fake.chmod(0o755)
    site.machine.environment["PATH"] = f"{fake.parent}:{os.environ['PATH']}"
    problem = site.pull(code=4)
    assert "error:" in problem and "No space left on device" in problem and "make room" in problem
    assert "the last good one is" in problem and site.text() == "one"


def test_what_was_taken_back_is_refused(site: Site) -> None:
    site.pull()
    first, second = site.current, site.push("two")
    site.pull()
    site.git("reset", "--quiet", "--hard", first)
    site.git("push", "--quiet", "--force", str(site.bare), "HEAD:main")
    problem = site.pull(code=4)
    assert f"taken back to {first[:12]}" in problem and "--allow-rollback" in problem
    assert (site.text(), site.current) == ("two", second)
    other = site.push("other")
    assert "does not descend from" in site.pull(code=4)
    shutil.rmtree(site.trees / second)  # what was applied last is known even so
    site.pull(code=4)
    assert site.current == second
    site.pull("--allow-rollback")
    assert (site.text(), site.current) == ("other", other)
    site.git("reset", "--quiet", "--hard", first)
    site.git("push", "--quiet", "--force", str(site.bare), "HEAD:main")
    site.source["rollback"] = "allow"
    site.pull()
    assert site.current == first


def test_without_network_the_last_good_tree_is_run(site: Site) -> None:
    site.source["fetch_timeout"] = "300ms"
    assert "fetch_timeout has to be a time" in site.pull(code=1)
    site.source["fetch_timeout"] = 0.3
    gone = site.bare.rename(site.folder / "gone")
    assert "does not appear to be a git repository" in site.pull(code=1)
    gone.rename(site.bare)
    site.source["fetch_timeout"] = 30
    site.pull()
    last = site.trees / "last.json"
    facts = json.loads(last.read_text())
    last.write_text(json.dumps({**facts, "fetched_at": time.time() - 3 * 86400}))
    site.bare.rename(gone)
    site.target.write_text("drifted")
    assert "which was fetched 3 days ago" in site.pull() and site.text() == "one"
    with socket.create_server(("127.0.0.1", 0)) as silent:  # a mirror that hangs
        site.source["remote"] = f"git://127.0.0.1:{silent.getsockname()[1]}/site.git"
        site.source["fetch_timeout"] = 0.5
        start = time.monotonic()
        warned = site.pull()
        assert "no end after 0.5 s" in warned and "verify" in warned
        assert time.monotonic() - start < PATIENCE


def test_reports_name_the_tree_and_what_became_of_the_newest_one(site: Site) -> None:
    site.machine.config["report"] = {"to": "file:drop"}
    (site.folder / "drop").mkdir()
    site.pull()
    good = site.current
    site.write("states/web.sls", "a:\n  file.managd: []\n")
    bad = site.push()
    site.pull(code=4)
    site.bare.rename(site.folder / "gone")
    site.pull()
    files = sorted((site.folder / "drop").iterdir())
    reports = [json.loads(file.read_text()) for file in files]
    facts = [(each["tree"], each["revision"], each["outcome"]) for each in reports]
    assert facts == [
        ("used", good, "done"),
        ("refused", bad, "did not compile"),
        ("refused", good, "done"),
        ("unreachable", good, "done"),
    ]
    assert {each["fun"] for each in reports} == {"state.highstate"}
    assert {each["dirty"] for each in reports} == {False}
    (site.trees / "current/states/more.sls").touch()
    site.machine("highstate")
    last = max((site.folder / "drop").iterdir())
    assert json.loads(last.read_text())["dirty"] is True


def test_what_puppetdb_is_told_of_a_tree_that_is_refused_has_no_secret(site: Site) -> None:
    site.pull()
    site.write("pillar/top.sls", "base: {'*': [p]}\n")
    site.write("pillar/p.sls", "password: geheim42\n")
    site.write("states/web.sls", "include: [web.{{ pillar.password }}]\n")
    site.push()
    told = site.machine("pull", "--out", "puppetdb", code=None).stdout
    assert "the newest tree is not used: " in told and "web.**********" in told
    assert "geheim42" not in told


def test_what_somebody_altered_in_a_tree_is_reported_and_made_anew(site: Site) -> None:
    site.pull()
    used = site.trees / "current"
    (used / "states/web.sls").write_text(f"{site.target}:\n  file.managed:\n    - contents: mine\n")
    site.machine("highstate")
    run = json.loads(site.machine("history", "--out", "json").stdout)["local"][0]
    assert (run["revision"], bool(run["dirty"]), site.text()) == (site.current, True, "mine")
    assert "altered" in site.pull("--test")
    assert "states/web.sls was changed" in site.pull() and site.text() == "one"
    assert site.pull() == ""
    os.unlink(used / "states/top.sls")
    (used / "states/more.sls").touch()
    gone = site.bare.rename(site.folder / "gone")  # the copy of the remote is enough
    problem = site.pull()
    assert "states/top.sls is gone" in problem and "states/more.sls was added" in problem
    assert (used / "states/top.sls").exists() and not (used / "states/more.sls").exists()
    shutil.rmtree(used.resolve())
    assert "all of it is gone" in site.pull() and site.text() == "one"
    gone.rename(site.bare)
    (site.trees / f"{os.readlink(used)}.files").write_text("{")
    assert "list of its files" in site.pull()
    used.unlink()
    used.mkdir()
    (site.trees / "last.json").unlink()
    (
        site.trees / "last.json"
    ).mkdir()  # when it was fetched cannot be written: it is used all the same
    new = site.push("two")
    site.pull()
    assert (site.text(), site.current, used.is_symlink()) == ("two", new, True)


def test_trees_are_kept_by_number_but_never_removed_from_under_a_run(site: Site) -> None:
    site.source["keep"] = 2
    site.write("states/slow.sls", "sleep 5:\n  cmd.run: []\n")
    first = site.push("one")
    site.pull()
    words = ("single", "cmd.run", "name=touch begun; sleep 1000", f"cwd={site.folder}")
    with site.machine.start(*words, ready=site.folder / "begun"):
        assert "another run" in site.pull(code=3)
        assert site.current == first
        lock = site.trees.parent / "lock"
        lock.rename(lock.with_suffix(".held"))  # as if the run had another state folder
        commits = []
        for text in ("two", "three", "four"):
            commits.append(site.push(text))
            site.pull()
        there = {path.name for path in site.trees.iterdir() if path.is_dir()} - {"current"}
        assert there == {first, *commits[1:]}
    (site.trees / ".half.new").mkdir()
    site.pull()
    names = {path.name for path in site.trees.iterdir()}
    kept = {f"{commit}{end}" for commit in commits[1:] for end in ("", ".json", ".files")}
    assert names == {*kept, "current", "last.json", "lock"}


def test_the_settings_of_a_tree_stand_below_those_of_the_machine(site: Site) -> None:
    site.write(
        "runner.yaml",
        "file_roots: {base: [salt]}\npillar_roots: {base: data}\nid: other\ncachedir: /nowhere\n"
        "tree: {remote: x}\ngrains: {a: 1, b: 1}\nvars: {v: tree, w: tree}\nfailhard: true\n"
        "secret_keys: ['*hidden']\nstrict_permissions: false\nmodule_dirs: [more]\n"
        "default_include: conf.d/*.yaml\n",
    )
    site.write("conf.d/a.yaml", "defaults: {file.managed: {mode: '0600'}}\n")
    site.write("more/modules/own.py", "def answer():\n    return 42\n")
    site.write("data/top.sls", "base:\n  '*': [p]\n")
    site.write("data/p.sls", "my_hidden: abcdefgh1\nmy_password: abcdefgh2\n")
    site.write("salt/top.sls", "base:\n  '*': [all]\n")
    site.write(
        "salt/all.sls",
        f"{site.target}:\n  file.managed:\n    - contents: "
        "'{{ [opts.id, grains.a, grains.b, vars.v, vars.w, salt['own.answer'](), opts.failhard,"
        " opts.strict_permissions, opts.tree.remote] | join(' ') }}'\n",
    )
    site.push()
    site.machine.config |= {
        "grains": {"b": 2},
        "vars": {"v": "machine"},
        "failhard": False,
        "strict_permissions": True,
    }
    problem = site.pull()
    for key in ("id", "cachedir", "tree"):
        assert f"{key} of a tree is not used" in problem
    assert site.text() == f"m1 1 2 machine tree 42 False True file://{site.bare}"
    assert site.target.stat().st_mode & 0o777 == 0o600
    shown = json.loads(site.machine("show", "pillar", "--out", "json").stdout)["local"]
    assert set(shown.values()) == {"********"} or "abcdefgh" not in str(shown)


EXTERNAL = """
ext_pillar:
  - hiera: hiera/hiera.yaml
  - cmd_yaml: cat facts.yaml
  - file_tree: files
  - file_tree: {root_dir: [more/files]}
  - stack: [stack/stack.cfg]
master_tops: {ext_nodes: sh classes.sh}
"""


@pytest.mark.parametrize("who", ["the tree", "the machine"])
def test_relative_paths_start_at_the_file_that_says_them(site: Site, who: str) -> None:
    settings = yaml.safe_load(EXTERNAL)
    put = site.write
    if who == "the machine":
        site.machine.config |= settings

        def put(path: str, text: str) -> None:
            place = site.folder / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)

    else:
        site.write("runner.yaml", EXTERNAL)
    put("hiera/hiera.yaml", "version: 5\nhierarchy: [{name: all, path: common.yaml}]\n")
    put("hiera/data/common.yaml", "hiera: 1\n")
    put("facts.yaml", "command: 2\n")
    put("files/hosts/m1/one", "3")
    put("more/files/hosts/m1/two", "4")
    put("stack/stack.cfg", "a.yml\n")
    put("stack/a.yml", "stacked: 5\n")
    put("classes.sh", "echo 'classes: [web]'\n")
    site.write("states/top.sls", "base: {}\n")
    site.push("{{ [pillar.hiera, pillar.command, pillar.one, pillar.two, pillar.stacked] }}")
    site.pull()
    assert site.text().split() == list("12345")


@pytest.mark.parametrize("who", ["the tree", "the machine"])
def test_what_runs_write_starts_at_the_file_that_says_it(site: Site, who: str) -> None:
    settings = {"log_file": "run.log", "log_level_logfile": "info", "html_report": "pages"}
    if who == "the machine":
        site.machine.config |= settings
        (site.folder / "pages").mkdir()
    else:
        site.write("runner.yaml", yaml.safe_dump(settings))
        site.write("pages/.keep", "")
    site.push("x")
    site.pull()
    for name, above in (("run.log", 0), ("runner-*.html", 1)):
        (place,) = site.folder.rglob(name)
        folder = place.parents[above]
        assert (folder / "states/top.sls").exists() is (who == "the tree"), place
        assert (folder / "runner.yaml").exists() and place.stat().st_size


def test_mistakes_of_the_trees_external_pillars_are_at_their_place(site: Site) -> None:
    site.write("runner.yaml", "ext_pillar:\n  - file_tree: nowhere\n")
    site.push("x")
    said = site.pull(code=1)
    assert "/nowhere is not a folder" in said and "runner.yaml:1" in said


WRONG_CONFIGURATIONS = {
    "file_roots: {base: [/etc]}": "file_roots leads out of the tree, to /etc",
    "pillar_roots: {base: [../..]}": "pillar_roots leads out of the tree",
    "states_dirs: [/srv/code]": "states_dirs leads out of the tree",
    "include: /etc/hostname": "include leads out of the tree",
    "strict: perhaps": "strict has to be true or false",
    "- a": "the configuration is not a mapping",
}


def test_a_tree_whose_configuration_is_wrong_is_refused(site: Site) -> None:
    for text, problem in WRONG_CONFIGURATIONS.items():
        site.write("runner.yaml", f"{text}\n")
        site.push()
        shown = site.pull(code=1)
        assert problem in shown and "/runner.yaml:1:" in shown, shown
        assert not (site.trees / "current").exists()


def test_links_that_leave_the_tree_and_odd_names(site: Site) -> None:
    site.write("states/..data/...", "x")
    site.write("states/-rf", "x")
    site.write("states/a\nb ü\"'", "x")
    (site.work / "states/inner").symlink_to("..data")
    site.push("one")
    site.pull()
    assert (site.trees / "current/states/-rf").exists()
    assert site.pull() == "" and site.machine("check").returncode == 0
    site.write("states/large", "version https://git-lfs.github.com/spec/v1\noid sha256:0\n")
    (site.work / "states/other").mkdir()
    site.git("update-index", "--add", "--cacheinfo", f"160000,{site.current},states/other")
    site.push()
    problem = site.pull()
    assert "states/other is a submodule" in problem and "states/large is a pointer" in problem
    for number, to in enumerate(("/etc", "../../../..", "inner/../../..")):
        (site.work / f"states/out{number}").symlink_to(to)
        site.push("two")
        assert "leads out of the tree" in site.pull(code=4)
        (site.work / f"states/out{number}").unlink()
    assert site.text() == "one"


MISTAKES: list[tuple[dict[str, Any], str]] = [
    ({}, "`remote` is missing"),
    ({"remote": 5}, "remote has to be a text"),
    ({"remote": "--upload-pack=touch /tmp/x"}, "remote may not begin with a dash"),
    ({"remote": "ext::sh -c id"}, "cannot be reached by ext"),
    ({"ref": 1.5}, "write it in quotes: ref: '1.5'"),
    ({"ref": "-x"}, "ref may not begin with a dash"),
    ({"ref": "mian"}, "did you mean main?"),
    ({"reff": "main"}, "did you mean ref?"),
    ({"verify": True}, "verify has to name one kind of signature"),
    ({"verify": {"ssh": "a", "gpg": "b"}}, "verify has to name one kind of signature"),
    ({"verify": {"pgp": "a"}}, "there is no kind 'pgp'"),
    ({"verify": {"ssh": ["a"]}}, "ssh has to be a file"),
    ({"verify": {"ssh": "none"}}, "the file of the signers"),
    ({"rollback": True}, "rollback has to be refuse or allow"),
    ({"sparse": ["/etc"]}, "sparse has to be a list of folders"),
    ({"sparse": ["../x"]}, "sparse has to be a list of folders"),
    ({"sparse": ["absent"]}, "has no absent"),
    ({"fetch_timeout": "soon"}, "fetch_timeout has to be a time"),
    ({"keep": 0}, "keep has to be a whole number"),
    ({"deploy_key": "none"}, "the deploy key"),
]


@pytest.mark.parametrize(
    "remote, reached",
    [
        ("site.git", "/base/site.git"),
        ("../a/site", "/a/site"),
        ("/srv/site.git", "/srv/site.git"),
        ("git:site.git", "git:site.git"),
        ("https://h/site.git", "https://h/site.git"),
    ],
)
def test_a_remote_that_is_a_path_is_relative_to_the_file(remote: str, reached: str) -> None:
    assert source_of({"remote": remote}, "/base").remote == reached


def test_mistakes_below_tree(site: Site) -> None:
    right = site.source
    for tree, problem in MISTAKES:
        site.machine.config["tree"] = {**right, **tree} if tree else {"ref": "main"}
        shown = site.pull(code=1)
        assert problem in shown, shown
        if "has to" in problem:
            assert "runner.yaml:1:" in shown
        assert not (site.trees / "current").exists()


def test_keys_that_others_can_use_are_refused(site: Site) -> None:
    key, signers = site.folder / "key", site.folder / "signers"
    key.write_text("x")
    signers.write_text("x")
    key.chmod(0o640)
    signers.chmod(0o666)
    site.pull()
    for setting, cure in (
        ({"deploy_key": "key"}, f"chmod 600 {key}"),
        ({"verify": {"ssh": "signers"}}, f"chmod go-w {signers}"),
    ):
        site.machine.config["tree"] = {"remote": f"file://{site.bare}", **setting}
        assert cure in site.pull(code=4)


def test_only_a_part_of_a_tree(site: Site) -> None:
    site.write("docs/large", "x")
    site.push("one")
    site.source["sparse"] = ["states"]
    site.pull()
    assert sorted(path.name for path in (site.trees / "current").iterdir()) == [
        "runner.yaml",
        "states",
    ]
    del site.source["sparse"]
    assert site.pull() == ""
    assert (site.trees / "current/docs/large").exists()


def test_a_tag_or_a_commit(site: Site) -> None:
    first = site.git("rev-parse", "HEAD")
    site.git("tag", "v1")
    site.push("two")
    site.git("push", "--quiet", str(site.bare), "v1")
    site.source["ref"] = "v1"
    site.pull()
    assert site.current == first and site.text() == "one"
    site.source["ref"] = site.git("rev-parse", "HEAD")
    site.pull()
    assert site.text() == "two"


# ---------------------------------------------------------------- who signed it


@pytest.fixture
def keys(site: Site) -> Iterator[Site]:
    """A site with two ssh keys, one of a signer."""
    for name in ("ours", "theirs"):
        key = site.folder / name
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    public = (site.folder / "ours.pub").read_text()
    (site.folder / "signers").write_text(f"ops@example.org {public}")
    site.source["verify"] = {"ssh": "signers"}
    return site  # type: ignore[return-value]


def _signing(site: Site, key: str) -> None:
    site.git("config", "gpg.format", "ssh")
    site.git("config", "user.signingKey", str(site.folder / key))


def test_only_what_a_known_signer_has_signed_is_used(keys: Site) -> None:
    site = keys
    assert "is not signed" in site.pull(code=1)
    _signing(site, "ours")
    good = site.push("signed", "-S")
    assert "signed by ops@example.org" in site.pull()
    site.push("unsigned")
    assert "is not signed" in site.pull(code=4)
    _signing(site, "theirs")
    site.push("foreign", "-S")
    assert "is not signed by one of" in site.pull(code=4)
    assert (site.current, site.text()) == (good, "signed")
    site.git("config", "gpg.format", "openpgp")  # another kind than the one that is named
    home = site.folder / "gnupg"
    home.mkdir(mode=0o700)
    os.environ["GNUPGHOME"] = str(home)
    try:
        words = [
            "gpg",
            "--batch",
            "--quiet",
            "--passphrase",
            "",
            "--quick-gen-key",
            "g@example.org",
        ]
        subprocess.run([*words, "ed25519", "sign"], check=True, capture_output=True)
        site.git("config", "user.signingKey", "g@example.org")
        by_gpg = site.push("by gpg", "-S")
        exported = subprocess.run(
            ["gpg", "--batch", "--export", "g@example.org"], check=True, capture_output=True
        )
        (site.folder / "ring.gpg").write_bytes(exported.stdout)
    finally:
        subprocess.run(["gpgconf", "--kill", "all"], check=False)
        del os.environ["GNUPGHOME"]
    assert "has a gpg signature" in site.pull(code=4)
    site.source["verify"] = {"gpg": "ring.gpg"}
    assert "signed by g@example.org" in site.pull()
    assert (site.current, site.text()) == (by_gpg, "by gpg")


def test_a_signed_tag_counts(keys: Site) -> None:
    site = keys
    _signing(site, "ours")
    site.push("tagged")
    site.git("tag", "-s", "-m", "v1", "v1")
    site.git("push", "--quiet", str(site.bare), "v1")
    assert "is not signed" in site.pull(code=1)
    site.source["ref"] = "v1"
    site.pull()
    assert site.text() == "tagged"


# ---------------------------------------------------------------- a new machine


def test_one_command_sets_a_new_machine_up(keys: Site, tmp_path: Path) -> None:
    site = keys
    _signing(site, "ours")
    first = site.push("first", "-S")
    argv = [sys.executable, "-c", "from runner.cli import main; main()"]

    def runner(*words: str, code: int = 0) -> str:
        """runner as a user who has no configuration; what it writes to stderr."""
        environment = site.machine.environment | {"HOME": str(tmp_path / "home")}
        if is_user_0():  # root's configuration is the machine's: not in a test
            own = "import os; os.geteuid = lambda: 1000; from runner.cli import main; main()"
            argv[2] = own
        done = subprocess.run(
            [*argv, *words], capture_output=True, text=True, env=environment, cwd=tmp_path
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stderr

    url = f"file://{site.bare}"
    own = tmp_path / "home/.config/runner"
    for words, problem in {
        ("--verify", "ssh:none"): "none: No such file",
        ("here",): "in FOLDER, or sets this machine up",
    }.items():
        assert problem in runner("init", "--from", url, *words, code=1)
    assert not own.exists()
    site.bare.rename(tmp_path / "away")
    line = ("init", "--from", url, "--verify", f"ssh:{site.folder}/signers")
    assert "`runner pull` goes on from here" in runner(*line, code=1)
    (tmp_path / "away").rename(site.bare)
    assert f"tree: {first[:12]} (main of {url}), signed by ops@" in runner(*line)
    assert site.text() == "first"
    assert sorted(path.name for path in own.iterdir()) == ["allowed_signers", "runner.yaml"]
    site.push("unsigned")
    assert "is not signed" in runner("pull", code=4)
    assert "is there already; nothing was written" in runner(*line[:3], code=1)


def test_the_document_is_true(site: Site) -> None:
    text = (ROOT / "docs/pull.md").read_text()
    reference = (ROOT / "docs/reference/configuration.md").read_text()
    said = re.findall(r"^### `tree\.(\w+)`\n\n.+\n\n.+; default: (.+?); since", reference, re.M)
    shown = dict(said)
    assert tuple(shown) == KEYS
    default = source_of({"remote": "x"}, "/")
    assert (shown["ref"], int(shown["keep"])) == (default.ref, default.keep)
    assert seconds(shown["fetch_timeout"]) == default.fetch_timeout
    example = yaml.safe_load(re.findall(r"```yaml\n(.*?)```", text, re.S)[0])["tree"]
    assert list(mistakes(example)) == []
    for key in MACHINES:
        assert f"`{key}`" in text
    for line in re.findall(r"^    (runner pull.*?)(?:  .*)?$", text, re.M):
        site.machine(*line.split()[1:])
