# SPDX-License-Identifier: Apache-2.0
"""A dry run sees ahead: each state looks at the machine as the plans before it would leave it.

Chains of random states on a scratch folder, planned and then carried out: results, changed keys and
diffs are equal.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import random
import sqlite3
import subprocess
import tarfile
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest
import yaml
from both_runs import unlike
from command import Machine
from needing import is_root, may_mount, needs

PATHS = ("a", "b", "c", "d", "d/a", "d/b", "d/e", "d/e/a", "link", "link/a")
TEXTS = ("one\ntwo\n", "one\n", "two\nthree\n# four\nkey = value\n", "")

Arguments = dict[str, Any]
Chosen = Callable[[random.Random, str], Arguments]


def _other(rng: random.Random, top: str) -> str:
    return f"{top}/{rng.choice(PATHS)}"


def _pattern(rng: random.Random) -> str:
    return rng.choice(["one", "two", "four", "^key"])


FUNCTIONS: dict[str, Chosen] = {
    "file.managed": lambda rng, top: {
        "contents": rng.choice(TEXTS),
        "makedirs": rng.random() < 0.3,
        **({"mode": rng.choice(["0600", "0640"])} if rng.random() < 0.4 else {}),
        **({"replace": False} if rng.random() < 0.1 else {}),
    },
    "file.append": lambda rng, top: {"text": rng.choice(["one", "five"])},
    "file.prepend": lambda rng, top: {"text": rng.choice(["one", "zero"])},
    "file.replace": lambda rng, top: {
        "pattern": _pattern(rng),
        "repl": "changed",
        "append_if_not_found": rng.random() < 0.3,
    },
    "file.comment": lambda rng, top: {"regex": _pattern(rng)},
    "file.uncomment": lambda rng, top: {"regex": "four"},
    "file.line": lambda rng, top: {"mode": "ensure", "content": "six", "after": _pattern(rng)},
    "file.keyvalue": lambda rng, top: {
        "key": "key",
        "value": rng.choice(["value", "other"]),
        "separator": " = ",
        "append_if_not_found": True,
    },
    "file.blockreplace": lambda rng, top: {
        "content": rng.choice(["block", "other block"]),
        "append_if_not_found": True,
    },
    "file.directory": lambda rng, top: {
        "makedirs": rng.random() < 0.4,
        **({"clean": True} if rng.random() < 0.2 else {}),
        **({"mode": "0750", "recurse": ["mode"]} if rng.random() < 0.3 else {}),
    },
    "file.absent": lambda rng, top: {},
    "file.touch": lambda rng, top: {"makedirs": rng.random() < 0.3},
    "file.symlink": lambda rng, top: {"target": _other(rng, top), "force": rng.random() < 0.3},
    "file.hardlink": lambda rng, top: {"target": _other(rng, top), "force": rng.random() < 0.3},
    "file.copy": lambda rng, top: {
        "source": _other(rng, top),
        "force": rng.random() < 0.5,
        "makedirs": rng.random() < 0.3,
        "preserve": rng.random() < 0.3,
    },
    "file.rename": lambda rng, top: {"source": _other(rng, top), "force": rng.random() < 0.5},
    "file.exists": lambda rng, top: {},
    "file.missing": lambda rng, top: {},
    "file.serialize": lambda rng, top: {
        "dataset": {"key": rng.choice([1, 2])},
        "serializer": "json",
        "merge_if_exists": rng.random() < 0.3,
    },
    "file.recurse": lambda rng, top: {"source": "salt://tree", "clean": rng.random() < 0.3},
    "file.tidied": lambda rng, top: {"matches": ["a"], "age": 0},
    "ini.options_present": lambda rng, top: {"sections": {"part": {"key": rng.choice("12")}}},
}


def chain(seed: int, top: str, length: int = 20) -> str:
    """An SLS file of random states on few paths, in the order that they run in."""
    rng = random.Random(seed)
    states: dict[str, Any] = {}
    for number in range(length):
        function = rng.choice(sorted(FUNCTIONS))
        arguments = {"name": f"{top}/{rng.choice(PATHS)}", **FUNCTIONS[function](rng, top)}
        states[f"s{number:02}"] = {function: [{key: value} for key, value in arguments.items()]}
    return yaml.safe_dump(states, sort_keys=False)


@pytest.mark.parametrize("seed", range(3))
def test_a_chain_of_random_states_does_what_its_dry_run_said(machine: Machine, seed: int) -> None:
    assert differing(machine, seed) == {}


GUARDED = """
p made: {file.directory: [name: '{tmp}/made']}
p script: {file.managed: [name: '{tmp}/made/script', contents: 'exit 0', mode: '0755']}
p gone: {file.absent: [name: '{tmp}/there']}
p removed: {file.absent: [name: '{tmp}/folder']}
p again: {file.directory: [name: '{tmp}/folder', require: [file: p removed]]}
met:
  test.nop:
    - unless:
      - sh {tmp}/made/script && test ! -e {tmp}/there && test -z "$(ls {tmp}/folder)"
      - test $(umask) = {umask} && touch {tmp}/elsewhere
    - require: [file: 'p *']
unmet:
  test.nop: [onlyif: test -e {tmp}/there, require: [file: 'p *']]
in it:
  test.nop: [onlyif: test -x script, cwd: '{tmp}/made', require: [file: 'p *']]
created:
  test.nop: [creates: '{tmp}/made/script', require: [file: 'p *']]
called:
  test.nop:
    - onlyif: [{fun: file.file_exists, path: '{tmp}/there'}]
    - require: [file: 'p *']
"""


def test_guards_see_what_is_planned(machine: Machine) -> None:
    (machine.folder / "folder").mkdir()
    (machine.folder / "folder/old").touch()
    (machine.folder / "there").touch()
    umask = subprocess.run("umask", shell=True, capture_output=True, text=True, check=True).stdout
    machine.write(guarded=GUARDED.replace("{umask}", umask.strip()))
    dry = machine.results("sls", "guarded", "--test")
    assert sorted(os.listdir(machine.folder / "folder")) == ["old"]
    assert not (machine.folder / "elsewhere").exists()
    real = machine.results("sls", "guarded")
    said = {name: each["comment"] for name, each in dry.items() if not name.startswith("p ")}
    assert said == {name: real[name]["comment"] for name in said}
    assert said["met"] == "unless condition is true"
    assert said["in it"] == "Success!"


UNPACKED = """
unpacked:
  archive.extracted: [name: '{tmp}/opt', source: 'salt://app.tar']
owned:
  archive.extracted:
    - name: '{tmp}/opt'
    - source: salt://app.tar
    - user: {owner}
    - require: [archive: unpacked]
edited:
  file.append: [name: '{tmp}/opt/app/conf', text: more, require: [archive: owned]]
linked:
  file.symlink: [name: '{tmp}/run', target: '{tmp}/opt/app/run']
met:
  test.nop: [onlyif: 'test ok = "$(sh {tmp}/run)"', require: [file: linked, archive: unpacked]]
again:
  archive.extracted: [name: '{tmp}/opt', source: 'salt://app.tar', require: [file: edited]]
moved:
  file.rename: [name: '{tmp}/moved', source: '{tmp}/opt/app', require: [archive: again]]
of the moved:
  test.nop: [onlyif: grep more {tmp}/moved/conf, require: [file: moved]]
big:
  file.managed: [name: '{tmp}/big', source: 'salt://big']
copied:
  file.copy: [name: '{tmp}/copied', source: '{tmp}/big', require: [file: big]]
longer:
  file.append: [name: '{tmp}/copied', text: more, require: [file: copied]]
"""


def test_members_of_archives_and_large_files_are_foreseen(machine: Machine) -> None:
    (machine.folder / "states/big").write_text("line\n" * 500_000)
    with tarfile.open(machine.folder / "states/app.tar", "w") as archive:
        for name, text in {"app/conf": b"conf\n", "app/run": b"echo ok\n"}.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text))
    owner = 4444 if is_root() else os.geteuid()
    machine.write(unpacked=UNPACKED.replace("{owner}", str(owner)))
    dry = machine.results("sls", "unpacked", "--test")
    assert sorted(os.listdir(machine.folder / "cache")) == ["compiled", "state", "templates"]
    real = machine.results("sls", "unpacked")
    assert unlike(dry, real) == {}
    assert real["of the moved"]["comment"] == dry["of the moved"]["comment"] == "Success!"


LOOKED_AT_BY_PROGRAMS = """
program:
  file.managed: [name: '{tmp}/bin/hello', contents: 'echo hello', mode: '0755', makedirs: true]
path:
  environ.setenv: [name: PATH, value: '{tmp}/bin:/usr/bin:/bin']
by its path:
  cmd.run: [name: '{tmp}/bin/hello x', python_shell: false, require: [file: program]]
by its name:
  cmd.run: [name: hello x, python_shell: false, require: [file: program, environ: path]]
patched:
  file.patch: [name: '{tmp}/bin/hello', source: 'salt://a.patch', require: [file: program]]
set:
  grains.present: [name: rv, value: 1]
unset:
  grains.absent: [name: rv, require: [grains: set]]
"""


def test_planned_programs_patches_and_grains_do_not_fail(machine: Machine) -> None:
    patch = "--- a\n+++ b\n@@ -1 +1 @@\n-echo hello\n+echo bye\n"
    (machine.folder / "states/a.patch").write_text(patch)
    machine.write(programs=LOOKED_AT_BY_PROGRAMS)
    dry = machine.results("sls", "programs", "--test")
    assert {name: each["result"] for name, each in dry.items()} == dict.fromkeys(dry)
    assert dry["patched"]["changes"]["stdout"].startswith("patching file")


GRAINS = """
first: {grains.list_present: [name: roles, value: web]}
second: {grains.list_present: [name: roles, value: [web, db]]}
third: {grains.append: [name: roles, value: cache]}
nested: {grains.present: [name: 'site:city', value: Berlin]}
beside: {grains.present: [name: 'site:rack', value: 4]}
there: {grains.exists: [name: 'site:rack']}
one less: {grains.list_absent: [name: roles, value: web]}
unset: {grains.absent: [name: 'site:city', destructive: true]}
gone: {grains.absent: [name: 'site:city']}
targeted: {test.nop: [onlyif: [{fun: match.grain, tgt: 'roles:db'}]]}
read:
  file.managed:
    - name: '{tmp}/roles'
    - contents: '{% raw %}{{ grains.roles }}{% endraw %}'
    - template: jinja
"""


def test_grains_that_earlier_states_set_are_seen(machine: Machine) -> None:
    machine.write(grains=GRAINS)
    dry = machine.results("sls", "grains", "--test")
    assert not (machine.folder / "grains").exists()
    assert unlike(dry, machine.results("sls", "grains")) == {}
    assert (machine.folder / "roles").read_text() == "['db', 'cache']\n"


CLONED = """
cloned:
  git.latest: [name: '{tmp}/repo', target: '{tmp}/app', rev: main]
edited:
  file.append: [name: '{tmp}/app/conf', text: more, require: [git: cloned]]
from it:
  file.managed: [name: '{tmp}/copy', source: '{tmp}/app/conf', require: [file: edited]]
met:
  test.nop:
    - onlyif: git log --oneline | grep -q two && grep more {tmp}/copy
    - cwd: '{tmp}/app'
    - require: [git: cloned, file: from it]
configured:
  git.config_set: [name: user.name, value: me, repo: '{tmp}/app', require: [git: cloned]]
again:
  git.latest: [name: '{tmp}/repo', target: '{tmp}/app', rev: main, require: [git: configured]]
back:
  git.latest: [name: '{tmp}/repo', target: '{tmp}/app', rev: v1, force_reset: true]
edited again:
  file.append: [name: '{tmp}/app/conf', text: last]
detached:
  git.detached: [name: '{tmp}/repo', target: '{tmp}/old/app', rev: v1]
old:
  file.replace: [name: '{tmp}/old/app/conf', pattern: one, repl: 1, require: [git: detached]]
folder: {file.directory: [name: '{tmp}/folder']}
link: {file.symlink: [name: '{tmp}/link', target: folder]}
behind a link: {git.latest: [name: '{tmp}/repo', target: '{tmp}/link', rev: main]}
edited there: {file.append: [name: '{tmp}/folder/conf', text: more, require: [git: behind a link]]}
"""


@needs("git")
def test_clones_of_what_can_be_reached_are_foreseen(machine: Machine) -> None:
    repo = machine.folder / "repo"
    git = ["git", "-C", str(repo), "-c", "user.name=n", "-c", "user.email=n@example.org"]
    subprocess.run(["git", "init", "-q", "-b", "main", str(repo)], check=True)
    for text, tag in {"one\n": "v1", "one\ntwo\n": "v2"}.items():
        (repo / "conf").write_text(text)
        for words in (["add", "conf"], ["commit", "-qm", text], ["tag", tag]):
            subprocess.run([*git, *words], check=True)
    machine.write(cloned=CLONED)
    dry = machine.results("sls", "cloned", "--test")
    assert not (machine.folder / "app").exists()
    real = machine.results("sls", "cloned")
    assert unlike(dry, real) == {}
    assert (dry["met"]["comment"], dry["again"]["result"]) == ("Success!", True)


MADE_BY_A_COMMAND = """
made:
  cmd.run: [name: 'git init -q {tmp}/made && git -C {tmp}/made -c user.name=n -c user.email=e commit
      -q --allow-empty -m one', creates: '{tmp}/made']
by path: {git.latest: [name: '{tmp}/made', target: '{tmp}/a']}
by address: {git.latest: [name: 'file://{tmp}/made', target: '{tmp}/b']}
"""


@needs("git")
def test_a_repository_that_a_command_may_make_decides_nothing(machine: Machine) -> None:
    machine.write(made=MADE_BY_A_COMMAND)
    dry = machine.results("sls", "made", "--test")
    assert [dry[id_]["result"] for id_ in ("by path", "by address")] == [None, None]
    machine("sls", "made")


SOURCES = """
archive: {file.copy: [name: '{tmp}/made.tar', source: '{tmp}/app.tar']}
unpacked: {archive.extracted: [name: '{tmp}/opt', source: '{tmp}/made.tar']}
on a member: {file.append: [name: '{tmp}/opt/app/conf', text: more]}
text: {file.managed: [name: '{tmp}/text', contents: 'echo hello']}
verified:
  file.managed: [name: '{tmp}/verified', source: '{tmp}/text', source_hash: '{hash}']
added: {file.append: [name: '{tmp}/verified', source: '{tmp}/text']}
by a list: {file.prepend: [name: '{tmp}/verified', sources: ['file://{tmp}/text']]}
cached: {file.cached: [name: '{tmp}/text', source_hash: '{hash}']}
patch:
  file.managed:
    - name: '{tmp}/a.patch'
    - contents: "--- a\\n+++ b\\n@@ -1 +1 @@\\n-echo hello\\n+echo bye\\n"
patched: {file.patch: [name: '{tmp}/text', source: '{tmp}/a.patch']}
script: {cmd.script: [name: '{tmp}/text']}
its name: {file.exists: [name: '{tmp}/text']}
repository: {git.present: [name: '{tmp}/bare']}
cloned: {git.latest: [name: '{tmp}/other', target: '{tmp}/app']}
folder: {file.directory: [name: '{tmp}/app/sub']}
in the clone: {test.nop: [onlyif: git rev-parse, cwd: '{tmp}/app/sub']}
"""
IN_A_CLONE = """
made: {file.managed: [name: '{tmp}/other/sub/f', contents: x]}
there: {test.nop: [onlyif: git rev-parse && test -e f, cwd: '{tmp}/other/sub']}
"""


@needs("git")
def test_what_earlier_states_make_is_a_source_of_later_ones(machine: Machine) -> None:
    other = machine.folder / "other"
    git = ["git", "-C", str(other), "-c", "user.name=n", "-c", "user.email=n@example.org"]
    subprocess.run(["git", "init", "-q", "-b", "main", str(other)], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "one"], check=True)
    with tarfile.open(machine.folder / "app.tar", "w") as archive:
        member = tarfile.TarInfo("app/conf")
        member.size = 3
        archive.addfile(member, io.BytesIO(b"one"))
    digits = hashlib.sha256(b"echo hello\n").hexdigest()
    machine.write(sources=SOURCES.replace("{hash}", f"sha256={digits}"))
    dry = machine.results("sls", "sources", "--test")
    real = machine.results("sls", "sources")
    for result in (*dry.values(), *real.values()):
        result["changes"].pop("pid", None)
    del dry["script"]["changes"], real["script"]["changes"]
    assert {name: each.get("changes") for name, each in dry.items()} == {
        name: each.get("changes") for name, each in real.items()
    }
    assert dry["in the clone"]["comment"] == "Success!"
    (other / "sub").mkdir()
    machine.write(clone=IN_A_CLONE)
    assert machine.results("sls", "clone", "--test")["there"]["comment"] == "Success!"


# functions that look at paths, each as a guard behind the states that make these, with its answer
LOOKS = {
    "which": "{fun: cmd.which, cmd: '{tmp}/made/run'}",
    "has_exec": "{fun: cmd.has_exec, cmd: '{tmp}/made/run'}",
    "diskusage": "{fun: file.diskusage, path: '{tmp}/made'}",
    "find": "{fun: file.find, path: '{tmp}/made', name: run}",
    "find a link": "{fun: file.find, path: '{tmp}', name: link, type: l}",
    "statvfs": "{fun: file.statvfs, path: '{tmp}/made/deep'}",
    "disk_usage": "{fun: ps.disk_usage, path: '{tmp}/made/deep'}",
    "stored secret": "{fun: sdb.get, uri: 'sdb://store/key'}",
    "expired": "{fun: x509.get_pem_entries, glob_path: '{tmp}/made/*.pem'}",
    "posted": "{fun: file.file_exists, path: '{tmp}/link/run'}",
    "gone": "{fun: file.directory_exists, path: '{tmp}/gone'}",
    "folder": "{fun: cmd.has_exec, cmd: '{tmp}/made/deep'}",
    "no program": "{fun: cmd.has_exec, cmd: '{tmp}/made/a.pem'}",
}
MADE = """
p folder: {file.directory: [name: '{tmp}/made/deep', makedirs: true]}
p program: {file.managed: [name: '{tmp}/made/run', contents: 'exit 0', mode: '0755']}
p link: {file.symlink: [name: '{tmp}/link', target: made]}
p store: {file.copy: [name: '{tmp}/store', source: '{tmp}/old store']}
p key: {file.copy: [name: '{tmp}/made/a.pem', source: '{tmp}/old.pem']}
p gone: {file.absent: [name: '{tmp}/gone']}
"""


def test_functions_look_at_what_is_planned(machine: Machine) -> None:
    (machine.folder / "gone").mkdir()
    with closing(sqlite3.connect(machine.folder / "old store")) as store, store:
        store.execute("CREATE TABLE sdb (key text, value blob)")
        store.execute("INSERT INTO sdb VALUES ('key', ?)", (b"\xa1x",))
    (machine.folder / "old.pem").write_text("-----BEGIN X-----\nMAMCAQE=\n-----END X-----\n")
    machine.config["store"] = {"driver": "sqlite3", "database": str(machine.folder / "store")}
    guarded = "".join(
        f"{name}: {{test.nop: [onlyif: [{look}], require: [file: 'p *']]}}\n"
        for name, look in LOOKS.items()
    )
    machine.write(looked=MADE + guarded)
    dry = machine.results("sls", "looked", "--test")
    real = machine.results("sls", "looked")
    said = {name: dry[name]["comment"] for name in LOOKS}
    assert said == {name: real[name]["comment"] for name in LOOKS}
    assert {name for name in said if said[name] != "Success!"} == {"gone", "folder", "no program"}


def differing(machine: Machine, seed: int) -> dict[str, Any]:
    """Return what the dry run of a chain and its real run report otherwise than each other."""
    top = machine.folder / "top"
    top.mkdir()
    (machine.folder / "states/tree/d").mkdir(parents=True, exist_ok=True)
    (machine.folder / "states/tree/d/a").write_text("of the tree\n")
    machine.write(chain=chain(seed, str(top)))
    dry = machine.results("sls", "chain", "--test", code=None)
    assert not list(top.iterdir())
    return unlike(dry, machine.results("sls", "chain", code=None))


ONLY_PLANNED = """
held:
  file.managed: [name: '{tmp}/sub/f', contents: planned, makedirs: True, noop: True]
its watcher:
  file.managed: [name: '{tmp}/g', contents: g, onchanges: [file: held]]
on it:
  file.append: [name: '{tmp}/sub/f', text: more]
planned on it:
  file.append: [name: '{tmp}/sub/f', text: more, noop: True]
guarded by it:
  test.nop: [onlyif: 'test -e {tmp}/sub/f', require: [file: held]]
stop:
  cmd.run: [name: 'false', prereq: [file: not prepared]]
not prepared:
  file.managed: [name: '{tmp}/h', contents: h, retry: {attempts: 5, interval: 30}]
on that:
  file.append: [name: '{tmp}/h', text: more]
refused:
  file.line: [name: '{tmp}', mode: ensure, content: x, location: end, prereq: [file: kept]]
kept:
  file.absent: [name: '{tmp}/kept']
there all the same:
  file.exists: [name: '{tmp}/kept']
"""


def test_what_the_real_run_only_plans_is_not_foreseen(machine: Machine) -> None:
    (machine.folder / "kept").touch()
    machine.write(planned=ONLY_PLANNED)
    dry = machine.results("sls", "planned", "--test", code=2)
    real = machine.results("sls", "planned", code=2)
    commands = ("stop", "not prepared", "on that")  # a dry run does not know that `false` fails
    said = {name: each["result"] for name, each in dry.items() if name not in commands}
    assert said == {name: real[name]["result"] for name in said}
    assert dry["its watcher"]["comment"] == real["its watcher"]["comment"]
    assert dry["planned on it"]["comment"] == real["planned on it"]["comment"]
    assert (dry["on it"]["result"], dry["there all the same"]["result"]) == (False, True)
    assert (dry["held"]["__noop__"], dry["not prepared"]["result"]) == (True, None)


CIRCLES = """
circle: {file.symlink: [name: '{tmp}/link', target: link]}
appended: {file.append: [name: '{tmp}/link', text: one]}
again: {file.symlink: [name: '{tmp}/link', target: link, force: True]}
touched: {file.touch: [name: '{tmp}/link']}
through itself: {file.symlink: [name: '{tmp}/odd', target: odd/a]}
not there: {file.append: [name: '{tmp}/odd', text: one]}
"""


def test_links_in_a_circle_are_written_as_the_real_run_writes_them(machine: Machine) -> None:
    machine.write(circles=CIRCLES)
    dry = machine.results("sls", "circles", "--test", code=2)
    real = machine.results("sls", "circles", code=2)
    for run in (dry, real):  # each names the path at which it notices
        failed = run["not there"] | {"comment": "it fails"}
        assert run["not there"]["comment"].endswith(": Too many levels of symbolic links")
        run["not there"] = failed
    assert unlike(dry, real) == {}


PATCHED = """
patched: {file.patch: [name: '{tmp}/conf', source: 'salt://a.diff']}
on it: {file.append: [name: '{tmp}/conf', text: more]}
with an offset: {file.patch: [name: '{tmp}/longer', source: 'salt://a.diff']}
kept: {file.exists: [name: '{tmp}/longer.orig']}
tidied: {file.tidied: [name: '{tmp}/folder', age: 0, rmdirs: True]}
several: {file.patch: [name: '{tmp}/several', source: 'salt://several.diff', strip: 1]}
on one: {file.append: [name: '{tmp}/several/below/one', text: more]}
on a new one: {file.append: [name: '{tmp}/several/new/one', text: more]}
"""
SEVERAL = """
--- a/below/one
+++ b/below/one
@@ -1,1 +1,1 @@
-one
+uno
--- /dev/null
+++ b/new/one
@@ -0,0 +1 @@
+new
"""


def test_patched_files_are_foreseen_and_restored(machine: Machine) -> None:
    texts = {"conf": "one\ntwo\n", "longer": "zero\none\ntwo\n", "several/below/one": "one\n"}
    (machine.folder / "several/below").mkdir(parents=True)
    (machine.folder / "states/several.diff").write_text(SEVERAL.lstrip())
    for name, text in texts.items():
        (machine.folder / name).write_text(text)
    for name in ("x", "b", "t", "a/c", "a/b"):
        (machine.folder / "folder" / name).parent.mkdir(parents=True, exist_ok=True)
        (machine.folder / "folder" / name).touch()
    diff = "--- a\n+++ b\n@@ -1,2 +1,2 @@\n-one\n+uno\n two\n"
    (machine.folder / "states/a.diff").write_text(diff)
    machine.write(patched=PATCHED)
    dry = machine.results("sls", "patched", "--test")
    real = machine.results("sls", "patched")
    for result in (*dry.values(), *real.values()):
        result["changes"].pop("pid", None)
    assert unlike(dry, real) == {}
    assert "+more" in dry["on it"]["changes"]["diff"] and " uno" in dry["on it"]["changes"]["diff"]
    names = [path.rsplit("folder/")[1] for path in real["tidied"]["changes"]["removed"]]
    assert names == ["a/b", "a/c", "b", "t", "x", "a"]
    machine("undo")
    assert {name: (machine.folder / name).read_text() for name in texts} == texts
    assert not (machine.folder / "longer.orig").exists()
    assert os.listdir(machine.folder / "several") == ["below"]


BEHIND_A_SCRIPT = """
made: {file.managed: [name: '{tmp}/sub/f', contents: "one\\ntwo\\n"]}
script: {cmd.script: [source: 'salt://s.sh']}
patched: {file.patch: [name: '{tmp}/sub/f', source: 'salt://a.diff']}
"""


def test_programs_see_what_is_planned_behind_a_pending_script(machine: Machine) -> None:
    """The script is planned in a scratch folder, which is gone after its state."""
    (machine.folder / "sub").mkdir()
    (machine.folder / "states/s.sh").write_text("true\n")
    (machine.folder / "states/a.diff").write_text(
        "--- a\n+++ b\n@@ -1,2 +1,2 @@\n-one\n+uno\n two\n"
    )
    machine.write(script=BEHIND_A_SCRIPT)
    dry = machine.results("sls", "script", "--test")["patched"]
    real = machine.results("sls", "script")["patched"]
    assert (dry["result"], real["result"]) == (None, True)
    if may_mount():
        assert dry["changes"]["stdout"] == real["changes"]["stdout"]


TOO_MUCH = """
big: {file.copy: [name: '{tmp}/sub/big', source: '{tmp}/big']}
made: {file.managed: [name: '{tmp}/sub/f', contents: "one\\ntwo\\n"]}
patched: {file.patch: [name: '{tmp}/sub/f', source: 'salt://a.diff']}
elsewhere: {file.patch: [name: '{tmp}/other', source: 'salt://a.diff']}
"""


def test_a_program_that_cannot_see_what_is_planned_decides_nothing(machine: Machine) -> None:
    """More is planned than is laid over the machine."""
    (machine.folder / "sub").mkdir()
    (machine.folder / "other").write_text("three\n")
    with open(machine.folder / "big", "wb") as big:
        big.truncate(65 << 20)
    (machine.folder / "states/a.diff").write_text(
        "--- a\n+++ b\n@@ -1,2 +1,2 @@\n-one\n+uno\n two\n"
    )
    machine.write(much=TOO_MUCH)
    dry = machine.results("sls", "much", "--test", code=2)
    told = f"{machine.folder}/sub/f is only planned (depends on file: made)"
    assert (dry["patched"]["result"], dry["patched"]["comment"]) == (None, told)
    assert dry["elsewhere"]["result"] is False


# guards on what is planned, and on what is not, with what they say there
ON_PLANNED = (
    "grep exit {tmp}/sub/own",
    "{tmp}/sub/own",
    "own",
    "true && own >/dev/null",
    "ls {tmp}/gone",
    "grep -q exit {tmp}/sub/*",
    "cat '{tmp}/sub/own' | grep exit",
)
ON_OTHERS = {"grep three {tmp}/other": True, "ls {tmp}/nothing": False, "ls {tmp}/states/*": True}


def test_guards_that_cannot_see_what_is_planned_are_undecided(machine: Machine) -> None:
    """Nothing is laid over the machine: it is too much, or a plain user's."""
    (machine.folder / "sub").mkdir()
    (machine.folder / "gone").touch()
    (machine.folder / "other").write_text("three\n")
    with open(machine.folder / "big", "wb") as big:
        big.truncate(65 << 20)
    path = f"{machine.folder}/sub:{os.environ['PATH']}"
    states: dict[str, Any] = {
        "{tmp}/sub/big": {"file.copy": [{"source": "{tmp}/big"}]},
        "{tmp}/sub/own": {"file.managed": [{"contents": "exit 0"}, {"mode": "0755"}]},
        "{tmp}/gone": {"file.absent": []},
        "PATH": {"environ.setenv": [{"value": path}]},
    }
    for command in (*ON_PLANNED, *ON_OTHERS):
        for kind in ("onlyif", "unless"):
            states[f"{kind} {command}"] = {"test.nop": [{kind: command}]}
    machine.write(unseen=json.dumps(states))
    dry = machine.results("sls", "unseen", "--test")
    for command in (*ON_PLANNED, *ON_OTHERS):
        for kind in ("onlyif", "unless"):
            said = dry[f"{kind} {command}".replace("{tmp}", str(machine.folder))]
            if command in ON_PLANNED:
                assert said["result"] is None, said
                assert "is only planned (depends on " in said["comment"], said
                continue
            holds = ON_OTHERS[command]
            skipped = f"{kind} condition is {'true' if holds else 'false'}"
            assert said["comment"] == ("Success!" if holds == (kind == "onlyif") else skipped)
