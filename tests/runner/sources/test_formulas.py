# SPDX-License-Identifier: Apache-2.0
"""formulas.yml and formulas.lock, through the command line and real repositories."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from command import ROOT, Machine
from repositories import Repository
from starting import PATIENCE

from runner.cli.commands.formulas import ACTIONS
from runner.sources.formulas.declared import KEYS
from runner.sources.formulas.versions import InvalidRange, bounds, nearest_tags, newest

TAGS = """
    v0.9 v1.0.0 v2.9.0 2.9.1 v2.10.0 v3.0.0-rc1 3.0.0-beta.2 stable -x v99999999999999999999
    1.2.x
""".split()


@pytest.mark.parametrize(
    ("version", "tag"),
    [
        (">=2.9,<3", "v2.10.0"),
        (">= 2.9 , <2.10", "2.9.1"),
        ("~=2.9", "v2.10.0"),
        ("~=2.9.0", "2.9.1"),
        ("==2.9", "v2.9.0"),
        ("=2.9.1", "2.9.1"),
        ("2.9.*", "2.9.1"),
        ("!=2.10.*", "2.9.1"),
        ("!=v2.10.0,!=2.9.1", "v2.9.0"),
        ("<=1", "v1.0.0"),
        ("*", "v2.10.0"),
        (">=3", ""),
        (">2.10", ""),
    ],
)
def test_a_range_means_the_newest_release_in_it(version: str, tag: str) -> None:
    assert newest(version, TAGS) == ([tag] if tag else [])


def test_what_a_range_just_misses_is_named_and_what_is_none_is_refused() -> None:
    assert nearest_tags(">=3", TAGS) == ["3.0.0-beta.2", "v3.0.0-rc1"]
    assert nearest_tags(">=4,<5", TAGS) == ["3.0.0-beta.2", "v3.0.0-rc1"]
    assert nearest_tags("<0.5", TAGS)[0] == "v0.9"
    assert newest("*", ["v1.0", "1.0.0"]) == ["1.0.0", "v1.0"]
    for version in ("^2", "~>2.9", ">=", "2,<3", "~=2", ">=2.*", ">=2,", "<v", ">=2-rc1"):
        with pytest.raises(InvalidRange):
            bounds(version)


class Site:
    """A tree with formulas, and their repositories."""

    def __init__(self, machine: Machine) -> None:
        self.machine, self.folder = machine, machine.folder
        self.made: dict[str, Repository] = {}
        machine.write(top="base:\n  '*': [web]\n")

    def repository(self, name: str, **files: str) -> Repository:
        """A formula with the releases 1.0.0 and v1.1.0, a pre-release, and a branch main."""
        made = self.made[name] = Repository(self.folder / f"{name}-formula")
        made.commit({"FORMULA": f"name: {name}\n", "README": name, "docs/a.sls": "", **files})
        for contents, tag in (("one", "1.0.0"), ("two", "v1.1.0"), ("rc", "v2.0.0-rc1")):
            self.state(name, contents)
            made.git("tag", tag)
        self.state(name, "head")
        return made

    def state(self, name: str, contents: str) -> str:
        """Commit a state of a formula; the commit."""
        target = self.folder / f"out-{name}"
        sls = f"{target}:\n  file.managed:\n    - contents: {contents}\n"
        return self.made[name].commit({f"{name}/init.sls": sls})

    def declare(self, *entries: str) -> None:
        lines = [f"  - {{{entry}}}\n" for entry in entries]
        self.yml.write_text(f"formulas:\n{''.join(lines)}".replace("{tmp}", str(self.folder)))

    @property
    def yml(self) -> Path:
        return self.folder / "formulas.yml"

    @property
    def lock(self) -> Path:
        return self.folder / "formulas.lock"

    @property
    def installed(self) -> Path:
        return self.folder / "cache/formulas"

    def __call__(self, *words: str, code: int = 0) -> str:
        """Return what `runner formulas` writes."""
        done = self.machine("formulas", *words, code=code)
        return done.stdout + done.stderr

    def rows(self, *words: str) -> list[dict[str, str]]:
        answer = json.loads(self.machine("formulas", *words, "--out", "json").stdout)["local"]
        assert isinstance(answer, list)
        return answer

    def checked(self) -> list[dict[str, Any]]:
        """The errors of `runner check`."""
        done = self.machine("check", "--out", "json", code=None)
        problems = json.loads(done.stdout)["diagnostics"]
        return [problem for problem in problems if problem["severity"] == "error"]

    def out(self, name: str) -> str:
        return (self.folder / f"out-{name}").read_text().strip()


@pytest.fixture
def site(machine: Machine) -> Site:
    made = Site(machine)
    made.repository("web")
    made.declare("src: 'file://{tmp}/web-formula', version: '>=1,<3'")
    return made


def test_lock_install_run_update(site: Site) -> None:
    failed = site.machine("highstate", code=1)
    assert "it is not in formulas.lock" in failed.stderr
    assert f"{site.yml}:2:5" in failed.stderr and "runner formulas install" in failed.stderr
    [problem] = site.checked()
    assert (problem["code"], problem["line"]) == ("formulas", 2)
    assert "it is not in formulas.lock" in site("install", "--locked", code=1)
    assert not site.lock.exists()

    assert site.rows("install") == [{"name": "web", "before": "", "after": "v1.1.0"}]
    text = site.lock.read_text()
    commit = site.made["web"].git("rev-parse", "v1.1.0")
    assert f"  web:\n    src: file://{site.folder}/web-formula\n" in text
    assert (
        f'    version: ">=1,<3"\n    tag: v1.1.0\n    commit: {commit}\n    hash: sha256:' in text
    )
    assert site.checked() == []
    site.made["web"].git("tag", "v1.2.0", site.state("web", "three"))
    shutil.move(site.made["web"].folder, site.folder / "away")  # no network from here on
    assert "up to date" in site("install", "--locked")
    site.machine("highstate")
    assert site.out("web") == "two"
    lost = site("outdated", code=1)
    assert "web-formula" in lost and f"{site.yml}:2:5" in lost  # unreachable: which formula
    shutil.move(site.folder / "away", site.made["web"].folder)

    newer = {"name": "web", "locked": "v1.1.0", "allowed": "v1.2.0", "newest": "v1.2.0"}
    assert site.rows("outdated") == [newer]
    assert site.lock.read_text() == text
    commented = text.replace("  web:", "  # ask Ann before you update it\n  web:")
    site.lock.write_text(commented)
    assert site.rows("update", "web") == [{"name": "web", "before": "v1.1.0", "after": "v1.2.0"}]
    assert "  # ask Ann before you update it\n  web:" in site.lock.read_text()
    site.machine("highstate")
    assert site.out("web") == "three"
    assert "did you mean web?" in site("update", "wep", code=1)
    site.made["web"].commit({"web/init.sls": "a: test.nop\n"})
    site.made["web"].git("tag", "v1.3.0")
    site("update")
    site.machine("highstate")  # of the same tree, though the formula's root is another
    assert f"{site.folder}/out-web:" in site.machine("orphans").stdout


def test_a_tag_a_branch_a_commit_a_root_and_a_path(site: Site) -> None:
    site.repository("db")
    db = site.made["db"]
    site.repository("site", **{"salt/inner/init.sls": "a: test.nop\n"})
    (site.folder / "own/mine").mkdir(parents=True)
    (site.folder / "own/mine/init.sls").write_text("b: test.nop\n")
    first = db.git("rev-parse", "1.0.0")
    site.declare(
        "src: './web-formula', version: v1.0.0",
        f"src: 'file://{{tmp}}/db-formula', version: '{first[:12]}', name: base",
        "src: 'file://{tmp}/site-formula', version: main, root: salt",
        "path: ./own",
    )
    site("lock")
    shown = {row["name"]: row for row in site.rows("list")}
    assert shown["web"]["locked"] == "1.0.0" and shown["base"]["commit"] == first
    assert shown["own"]["state"].startswith("a path") and "not locked" in shown["own"]["state"]
    assert "own" not in site.lock.read_text()
    head = site.made["site"].git("rev-parse", "main")
    states = site.machine.results("sls", "web,db,inner,mine", "--test")
    assert len(states) == 4
    site.state("site", "more")
    assert "up to date" in site("install")
    [row] = site.rows("outdated")[-1:]
    assert row["locked"] == f"main {head[:10]}" and row["allowed"] != row["locked"]
    assert [row["name"] for row in site.rows("update")] == ["site"]
    shutil.rmtree(site.folder / "own")
    [problem] = site.checked()
    assert "there is no directory" in problem["message"] and problem["line"] == 5


def test_a_branch_that_is_called_like_a_commit(site: Site) -> None:
    web = site.made["web"]
    first = web.git("rev-parse", "1.0.0")
    for kind in ("heads", "tags"):
        web.git("update-ref", f"refs/{kind}/{first}", "main")
    site.declare(f"src: './web-formula', version: '{first}'")
    site("lock")
    assert [row["commit"] for row in site.rows("list")] == [first]


def test_the_file_changes_under_the_lock(site: Site) -> None:
    site("lock")
    before = site.lock.read_text()
    site.declare("src: 'file://{tmp}/web-formula', version: '>=1.1'")
    assert site.checked() == []  # what is locked suits the new range
    site("install", "--locked")
    assert site.lock.read_text() == before
    site.declare("src: 'file://{tmp}/web-formula', version: '<1.1'")
    [problem] = site.checked()
    assert "formulas.lock has v1.1.0" in problem["message"] and "<1.1" in problem["message"]
    assert "formulas.lock has v1.1.0" in site.machine("highstate", code=1).stderr
    assert site.rows("lock") == [{"name": "web", "before": "v1.1.0", "after": "1.0.0"}]
    site.yml.write_text("formulas: []\n")
    [problem] = site.checked()
    assert "formulas.yml does not ask for it" in problem["message"]
    assert site.rows("lock") == [{"name": "web", "before": "1.0.0", "after": ""}]
    shutil.rmtree(site.installed)
    site.declare("src: 'file://{tmp}/web-formula', version: '<1.1'")
    site("lock")
    shutil.rmtree(site.installed)
    assert "1.0.0 is not installed" in site.machine("highstate", code=1).stderr
    assert site.checked()[0]["hint"] == "runner formulas install"
    site.machine("show", "grains")  # what needs no tree goes on
    site.machine("history")


def test_a_moved_tag_and_altered_files_are_errors(site: Site) -> None:
    site("lock")
    web = site.made["web"]
    old, new = web.git("rev-parse", "v1.1.0"), site.state("web", "evil")
    web.git("tag", "-f", "v1.1.0", new)
    for words in (["update"], ["outdated"]):
        message = site(*words, code=1)
        assert "the tag v1.1.0 was moved" in message and old in message and new in message
        assert "remove web from formulas.lock" in message
    site("install", "--locked")  # nothing is fetched: what is locked is there
    text = site.lock.read_text()
    folder = site.installed / "web" / old
    (folder / "web/init.sls").write_text("x: test.nop\n")
    [problem] = site.checked()
    assert "its files were altered" in problem["message"] and str(folder) in problem["hint"]
    assert "its files were altered" in site("install", code=1)
    shutil.rmtree(folder)
    assert "the tag v1.1.0 was moved" in site("install", code=1)
    web.git("tag", "-f", "v1.1.0", old)
    site.lock.write_text(text.replace("hash: sha256:", "hash: sha256:0")[:-2] + "\n")
    assert "is not what was locked" in site("install", code=1)
    assert not folder.exists() and list((site.installed / "web").iterdir()) == []
    site.lock.write_text(text)
    site("install", "--locked")
    web.git("tag", "-f", "v1.1.0", new)
    shutil.rmtree(site.folder / "cache")  # a machine that has never seen it
    for _ in range(2):  # the second time, the copy of the repository is there
        assert "the tag v1.1.0 was moved" in site("install", "--locked", code=1)
    site.lock.unlink()
    site("lock")
    assert new in site.lock.read_text()


def test_two_formulas_with_one_path_or_one_name(site: Site) -> None:
    site.repository("other", **{"web/init.sls": "", "web/map.jinja": "", "docs/b.sls": ""})
    site.declare(
        "src: 'file://{tmp}/web-formula', version: '>=1'",
        "src: 'file://{tmp}/other-formula', version: main",
    )
    message = site("lock", code=1)
    assert "formulas web and other both have web/init.sls" in message
    assert f"{site.yml}:3:5" in message and f"web is declared at {site.yml}:2:5" in message
    assert "docs" not in message and "README" not in message
    assert not site.lock.exists()
    site.declare("src: './web-formula', version: '>=1'", "path: ./web-formula")
    message = site("lock", code=1)
    assert "two formulas are called web" in message and f"{site.yml}:3:5" in message


@pytest.mark.parametrize(
    ("entry", "message", "hint"),
    [
        ("sr: x, version: main", "a formula has no key 'sr'", "did you mean src?"),
        ("src: x, version: 2.9", "version: 2.9 is not a text", "write it in quotes"),
        ("src: x, version: '^2'", "'^2' is no condition of a range", "the operators are >="),
        ("src: x, version: '-x'", "'-x' is no version", None),
        ("version: main", "a formula without src", "src is the URL"),
        ("src: x, path: y", "a formula has src or path, not both", None),
        ("path: y, version: main", "version: a path is used as it stands", "remove version"),
        ("src: x, name: a/b", "'a/b' is no name of a formula", None),
        ("src: x, name: ..", "'..' is no name of a formula", None),
        ("src: x, root: ../up", "'../up' is no folder of the repository", None),
        ('src: "a\\nb"', "is not a src", None),
        ("src: 'ext::sh -c id'", "a repository cannot be reached by ext", None),
        ("src: --upload-pack=id", "is no URL of a repository", None),
        (
            "src: ./web-formula, version: '>=5'",
            "no tag is in >=5",
            "the nearest are v1.1.0, v2.0.0-rc1",
        ),
        ("src: ./web-formula, version: mian", "no tag, branch or commit mian", "mean main?"),
        ("src: ./web-formula, version: main, root: nix", "there is no folder nix in ", "`root`"),
        ("src: ./none-formula", "none-formula", None),
        ("src: ./nameless-formula, version: main", "no FORMULA file", "`name: nameless`"),
        ("src: ./odd-formula, version: main", "says that its name is '../odd'", "`name: odd`"),
        ("src: ./link-formula, version: main", "leads out of the tree, to /etc", None),
    ],
)
def test_each_mistake_is_named_with_its_place(
    mistaken: Site, entry: str, message: str, hint: str | None
) -> None:
    mistaken.declare("name: first, src: ./web-formula, version: '>=1'", entry)
    text = mistaken("lock", code=1)
    assert message in text and (hint or "") in text
    assert f"{mistaken.yml}:3:" in text
    assert not mistaken.lock.exists()


@pytest.fixture(scope="module")
def mistaken(tmp_path_factory: pytest.TempPathFactory) -> Site:
    site = Site(Machine(tmp_path_factory.mktemp("mistaken")))
    site.repository("web")
    Repository(site.folder / "nameless-formula").commit({"nameless/init.sls": ""})
    Repository(site.folder / "odd-formula").commit({"FORMULA": "name: ../odd\n"})
    link = Repository(site.folder / "link-formula")
    os.symlink("/etc", link.folder / "etc")
    link.commit({"FORMULA": "name: link\n"})
    return site


def test_a_formulas_yml_that_is_no_file(mistaken: Site) -> None:
    site = mistaken
    site.yml.unlink(missing_ok=True)
    site.yml.symlink_to("nothing")
    for words in (("formulas", "lock"), ("highstate", "--test")):
        shown = site.machine(*words, code=1).stderr
        assert "formulas.yml cannot be read: No such file or directory" in shown
    site.yml.unlink()
    site.yml.mkdir()
    assert "formulas.yml is not a regular file" in site.machine("highstate", code=1).stderr
    site.yml.rmdir()


def test_what_is_no_formulas_yml_or_lock(mistaken: Site) -> None:
    site = mistaken
    for text, message, place in (
        ("formulas: [\n", "is not closed", ":1:11"),
        ("- a\n", "formulas.yml is not a mapping", ":1:1"),
        ("formula: []\n", "formulas.yml has no key 'formula'", ":1:1"),
        ("formulas: x\n", "formulas has to be a list", ":1:11"),
        ("formulas:\n  - web\n  - {src: x, sr: 1}\n", "a formula is a mapping", ":2:5"),
        ("formulas:\n<<<<<<< HEAD\n=======\n", "a merge that is not done", ":2"),
        ("formulas:\n- {src: a, name: n}\n- {src: b, name: n}\n", "are called n", ":3:3"),
    ):
        site.yml.write_text(text)
        shown = site("lock", code=1)
        assert message in shown and f"formulas.yml{place}" in shown, shown
        assert site.checked()
    site.declare("src: ./web-formula, version: '>=1'")
    site("lock")
    good = site.lock.read_text()
    for damage in (
        good.replace("  web:", "  ../web:"),
        good.replace("commit: ", "commit: x"),
        good.replace("    hash: ", "    root: ../..\n    hash: "),
        good.replace("    hash: ", "    hsah: "),
        "formulas: 1\n",
        "formulas:\n  web: {}\n",
    ):
        site.lock.write_text(damage)
        assert "formulas.lock is damaged" in site("install", code=1)
    site.lock.write_text(good.replace("  web:", "<<<<<<< ours\n  web:"))
    shown = site("lock", code=1)
    assert "a merge that is not done" in shown and "git checkout --ours formulas.lock" in shown
    site.lock.unlink()


def test_passwords_and_hostile_tags(site: Site) -> None:
    web = site.made["web"]
    commit = web.git("rev-parse", "HEAD")
    for ref in ("-rf", "--exec=id", "v1.9.0;id", "$(id)", "v9.9.9-\u202e1", "v1.5.0"):
        web.git("update-ref", f"refs/tags/{ref}", commit)
    (site.folder / "home").mkdir()
    insteadof = f'[url "file://{web.folder}"]\n\tinsteadOf = https://git.example.org/web.git\n'
    (site.folder / ".gitconfig").write_text(insteadof)
    site.declare("src: 'https://ann:hunter22@git.example.org/web.git', version: '>=1,<2'")
    shown = [site("lock"), site("list"), site.lock.read_text()]
    assert "tag: v1.5.0" in site.lock.read_text()
    assert "src: https://git.example.org/web.git" in site.lock.read_text()
    site.declare("src: 'https://ann:hunter22@git.example.org/web.git', version: '>=7'")
    shown += [site("lock", code=1), site.machine("check", code=1).stdout, site("list")]
    (site.folder / ".gitconfig").unlink()
    site.declare("src: 'https://ann@localhost:1/web.git', version: '>=7'")
    shown += [site("lock", code=1), str(site.checked())]
    site.declare("src: 'https://ann:hunter22@localhost:1/web.git', version: '>=7'", "{")
    shown += [site("lock", code=1), site.machine("highstate", code=1).stderr]
    everything = "".join(shown)
    assert "hunter22" not in everything and "ann" not in everything.replace("cannot", "")
    assert subprocess.run(["grep", "-r", "hunter22", site.folder / "cache"]).returncode == 1


def test_a_cachedir_that_others_can_write_is_refused(site: Site) -> None:
    site("lock")
    site.machine("highstate", "--test")
    site.installed.chmod(0o777)
    for words in (["formulas", "install"], ["highstate", "--test"]):
        done = site.machine(*words, code=1)
        assert "others can write" in done.stderr
    assert site.checked()


def test_vendor(site: Site) -> None:
    site("lock")
    shown = site("vendor", str(site.folder / "vendor"))
    assert "{name: web, path: vendor/web}" in shown
    copy = site.folder / "vendor/web/web/init.sls"
    note = (site.folder / "vendor/VENDORED.yml").read_text()
    commit = site.made["web"].git("rev-parse", "v1.1.0")
    assert "two" in copy.read_text() and f"commit: {commit}" in note and "tag: v1.1.0" in note
    site("vendor", str(site.folder / "vendor"))  # again
    copy.write_text("mine\n")
    assert "was altered since it was copied" in site("vendor", str(site.folder / "vendor"), code=1)
    assert copy.read_text() == "mine\n"
    shutil.rmtree(site.folder / "vendor/web")
    (site.folder / "vendor/VENDORED.yml").unlink()
    (site.folder / "vendor/web").mkdir()
    assert "is in the way" in site("vendor", str(site.folder / "vendor"), code=1)
    (site.folder / "vendor/web").rmdir()
    site("vendor", str(site.folder / "vendor"))
    site.declare("name: web, path: vendor/web")
    site("lock")
    shutil.rmtree(site.made["web"].folder)
    shutil.rmtree(site.folder / "cache")
    site.machine("highstate")
    assert site.out("web") == "two"
    site.declare("name: web, path: .")
    message = site("vendor", str(site.folder / "new"), code=1)
    assert "lies in the formula web" in message and not (site.folder / "new").exists()


def test_import(site: Site) -> None:
    site.yml.unlink()
    minion = site.folder / "minion"
    minion.write_text(
        "gitfs_base: main\n"
        "gitfs_remotes:\n"
        "  - https://github.com/saltstack-formulas/nginx-formula.git\n"
        "  - https://ann:hunter22@git.example.org/ops/site.git:\n"
        "    - root: salt\n"
        "    - base: release\n"
        "    - mountpoint: salt://site\n"
        "    - password: hunter23\n"
    )
    shown = site("import", str(minion))
    assert "{name: nginx, src: https://github.com/saltstack-formulas/nginx-formula.git" in shown
    assert "{name: site, src: https://git.example.org/ops/site.git, version: release" in shown
    assert "root: salt" in shown and "# site: mountpoint: salt://site is not taken over" in shown
    assert "hunter" not in shown
    puppetfile = site.folder / "Puppetfile"
    puppetfile.write_text(
        "forge 'https://forge.example.org'\n"
        "mod 'ops/web',\n"
        f"  :git => 'file://{site.made['web'].folder}', # ours\n"
        "  :tag => '1.0.0'\n"
        "mod 'db', git: 'https://git.example.org/db.git', ref: 'abc1234'\n"
        "mod 'puppetlabs-stdlib', '9.0.0'\n"
    )
    assert "Wrote" in site("import", str(puppetfile), "--write")
    text = site.yml.read_text()
    assert "name: web, src: " in text and 'version: "1.0.0"' in text
    assert "version: abc1234" in text and "# stdlib: it is not from a git repository" in text
    assert "already exists; nothing was written" in site("import", str(minion), "--write", code=1)
    assert site.yml.read_text() == text
    site.yml.write_text("".join(line for line in text.splitlines(True) if "db" not in line))
    assert site.rows("lock") == [{"name": "web", "before": "", "after": "1.0.0"}]

    around = Repository(site.folder / "around", protocol__file__allow="always")
    web = site.made["web"]
    allow = ("-c", "protocol.file.allow=always")
    around.git(*allow, "submodule", "add", "--quiet", web.url, "formulas/web")
    around.git(*allow, "submodule", "add", "--quiet", "-b", "main", web.url, "formulas/b")
    text = site("import", str(around.folder / ".gitmodules"))
    assert f"version: {web.git('rev-parse', 'HEAD')}" in text and "version: main" in text
    assert "name: web-2" in text
    minion.write_text("gitfs_remotes:\n- {https://a/b.git: x}\n- {https://a/cd.git: [r, 1]}\n")
    assert "name: cd, src: https://a/cd.git" in site("import", str(minion))
    minion.write_text("gitfs_remotes: 3\n")
    assert "3 is no URL of a repository" in site("import", str(minion), code=1)
    assert "names no formulas" in site("import", str(site.folder / "runner.yaml"), code=1)
    assert "cannot be read" in site("import", str(site.folder / "none"), code=1)


def test_two_installs_at_once_and_one_that_was_killed(site: Site) -> None:
    site("lock")
    shutil.rmtree(site.installed)
    left = site.installed / "web" / "0123.new"
    left.mkdir(parents=True, mode=0o700)
    site.installed.chmod(0o700)
    (left / "half").write_text("")
    with ExitStack() as ends:
        starts = [site.machine.start("formulas", "install", "--locked") for _ in range(3)]
        runs = [ends.enter_context(start) for start in starts]
        assert [run.wait(PATIENCE) for run in runs] == [0, 0, 0]
    assert not left.exists() and len(list((site.installed / "web").iterdir())) == 1


def test_a_pulled_tree_brings_its_formulas(machine: Machine) -> None:
    site = Site(machine)
    site.repository("web")
    tree = Repository(site.folder / "tree")
    url = f"file://{site.made['web'].folder}"
    entry = f"formulas:\n  - {{src: '{url}', version: '>=1'}}\n"
    shutil.copytree(site.folder / "states", tree.folder / "states")
    site.yml.write_text(entry)
    site("lock")
    lock = site.lock.read_text()
    shutil.rmtree(site.folder / "cache")
    site.yml.unlink()
    site.lock.unlink()
    machine.config = {"id": "m1", "tree": {"remote": tree.url}}
    tree.commit({"formulas.yml": entry, "formulas.lock": lock, "runner.yaml": "strict: true\n"})
    machine("pull")
    assert site.out("web") == "two"
    tree.commit({"formulas.yml": entry.replace(">=1", "==1.0.0")})  # the lock was forgotten
    done = machine("pull", code=4)
    assert "formulas.lock has v1.1.0" in done.stderr and site.out("web") == "two"
    tree.commit({"formulas.yml": entry + "  - {path: ../../../..}\n"})
    done = machine("pull", code=4)
    assert "its path leads out of the tree" in done.stderr
    machine("highstate", "--test")  # with the tree and the formulas of the last good one
    assert "installed" in machine("formulas", "list").stdout
    assert "locked in its repository" in machine("formulas", "update", code=1).stderr


def test_the_page_about_formulas(site: Site) -> None:
    page = (ROOT / "docs/formulas.md").read_text()
    (site.folder / "my-formula").mkdir()
    site.yml.write_text(page.split("```yaml\n")[1].split("```")[0].replace("../my", "./my"))
    assert [row["state"][:10] for row in site.rows("list")] == ["not locked"] * 2 + ["a path: us"]
    named = set(re.findall(r"^    runner formulas (\w+)", page, re.M))
    assert named == set(ACTIONS)
    table = re.findall(r"^\| `(\w+)` \|", page, re.M)
    assert sorted(table) == sorted(KEYS)
