# SPDX-License-Identifier: Apache-2.0
"""A dry run of states that depend on what earlier states of the run will bring."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import cast

import pytest
from both_runs import unlike
from command import Machine

from modules._machine.tools import Tool
from runner.api import StateFailed
from runner.engine.dry_run_facts import Foreseen, PendingFacts
from runner.model.chunk import Chunk
from states._tools import explained

CHAIN = """
first:
  file.directory:
    - name: {tmp}/a
second:
  file.directory:
    - name: {tmp}/a/b
third:
  file.managed:
    - name: {tmp}/a/b/c
    - contents: hello
    - require:
      - file: second
reacts:
  test.succeed_with_changes:
    - onchanges:
      - file: third
before:
  test.succeed_with_changes:
    - prereq:
      - file: third
guarded:
  test.succeed_with_changes:
    - onlyif:
      - fun: file.file_exists
        path: {tmp}/a/b/c
    - require:
      - file: third
after:
  test.succeed_with_changes:
    - onchanges:
      - test: guarded
"""


def test_a_chain_of_files_is_foreseen_link_by_link(machine: Machine) -> None:
    machine.write(chain=CHAIN)
    dry = machine.results("sls", "chain", "--test")
    assert {name: result["result"] for name, result in dry.items()} == dict.fromkeys(dry, None)
    real = machine.results("sls", "chain")
    assert unlike(dry, real) == {}


OPEN = """
any: {box.made: [result: RESULT]}
needs: {file.exists: [name: '{tmp}/none']}
fails: {test.fail_without_changes: []}
skipped: {test.nop: [onlyif: env false]}
later: {box.made: [result: true]}
"""


@pytest.mark.parametrize(("result", "needs"), [("null", None), ("true", False)])
def test_after_a_function_of_the_tree_anything_may_be_there(
    machine: Machine, result: str, needs: bool | None
) -> None:
    (machine.folder / "states/_states").mkdir()
    (machine.folder / "states/_states/box.py").write_text(
        "def made(name, result):\n    'A box.'\n"
        "    return {'name': name, 'result': result, 'comment': '', 'changes': {}}\n"
    )
    machine.write(a=OPEN.replace("RESULT", result))
    dry = machine.results("sls", "a", "--test", code=2)
    assert (dry["needs"]["result"], dry["fails"]["result"]) == (needs, False)
    assert dry["skipped"]["comment"].startswith("onlyif condition is false")
    assert dry["skipped"]["result"] is dry["later"]["result"] is (None if needs is None else True)
    told = "decided when box: any is done" if needs is None else ""
    assert dry["later"]["comment"] == told


@pytest.mark.parametrize("words", [["--test"], []])
def test_what_nobody_brings_fails(machine: Machine, words: list[str]) -> None:
    machine.write(chain=CHAIN.replace("{tmp}/a\n", "{tmp}/other\n"))
    results = machine.results("sls", "chain", *words, code=2)
    assert (results["first"]["result"], results["second"]["result"]) == (
        None if words else True,
        False,
    )
    assert results["third"]["comment"].startswith("One or more requisite failed: chain.second")


def test_a_guard_that_runs_as_a_user_who_is_not_there_fails(machine: Machine) -> None:
    machine.write(a="x:\n  test.nop:\n    - onlyif: 'true'\n    - runas: nobody-has-this-name\n")
    for words in (["--test"], []):
        result = machine.results("sls", "a", *words, code=2)["x"]
        assert result["comment"] == "User 'nobody-has-this-name' is not available"


@pytest.mark.parametrize(
    ("command", "decided"),
    [
        ("systemctl --quiet is-active none.service", True),
        ("service none status || true", True),
        ("exit 0", True),
        ("systemctl restart none", False),
        ("service status restart", False),
    ],
)
def test_a_command_that_only_tells_leaves_guards_decided(
    machine: Machine, command: str, decided: bool
) -> None:
    machine.write(a=f"tells: {{cmd.run: [name: {command}]}}\nx: {{test.nop: [onlyif: strange]}}\n")
    x = machine.results("sls", "a", "--test")["x"]
    assert ("decided when cmd: tells" not in x["comment"], x["result"] is True) == (decided,) * 2


@pytest.mark.parametrize(
    ("guards", "decided"),
    [
        ("onlyif: 'false'", True),
        ("onlyif: [strange, exit 3]", True),
        ("onlyif: [{fun: match.glob, tgt: nobody}]", True),
        ("unless: ['true', {fun: test.true}]", True),
        ("unless: ['true', strange]", False),
        ("onlyif: 'false > {tmp}/x'", False),
    ],
)
def test_guards_that_ask_nothing_are_decided(machine: Machine, guards: str, decided: bool) -> None:
    (machine.folder / "strange").write_text("#!/bin/sh\nexit 0\n")
    (machine.folder / "strange").chmod(0o755)
    machine.environment["PATH"] += f":{machine.folder}"
    machine.write(a=f"any: {{cmd.run: [name: strange]}}\nx: {{test.nop: [{guards}]}}\n")
    x = machine.results("sls", "a", "--test")["x"]
    assert ("decided when cmd: any" not in x["comment"]) == decided


GONE = """
unpacks:
  cmd.run:
    - name: mkdir {tmp}/new; env touch {tmp}/default {tmp}/new/default
with its folder:
  file.absent:
    - name: {tmp}/new/default
not there:
  file.missing:
    - name: {tmp}/default
of this run:
  file.managed:
    - name: {tmp}/managed
later:
  file.absent:
    - name: {tmp}/managed
who is nobody:
  user.absent:
    - name: who-is-nobody
    - require: [cmd: unpacks]
removed:
  file.absent:
    - name: {tmp}/default
    - require: [cmd: unpacks]
elsewhere:
  file.absent:
    - name: {tmp}/other
stopped:
  service.dead:
    - name: comes-with-the-package
disabled:
  service.disabled:
    - name: comes-with-the-package
"""


def test_what_decides_is_a_part_of_the_sentence(machine: Machine) -> None:
    machine.write(
        a="c: {cmd.run: [name: touch {tmp}/f, creates: {tmp}/f]}\n"
        "x: {file.managed: [name: {tmp}/f, contents: x]}\n"
    )
    comment = machine.results("sls", "a", "--test")["x"]["comment"]
    assert comment.endswith(" due to other states; decided when cmd: c is done")


def test_what_is_not_there_yet_may_have_to_go(machine: Machine) -> None:
    machine.write(gone=GONE)
    dry = machine.results("sls", "gone", "--test")
    told = (
        "The named service comes-with-the-package is not available; decided when cmd: unpacks is"
        " done"
    )
    assert {name: each["result"] for name, each in dry.items()} == dict.fromkeys(dry) | {
        "elsewhere": True
    }
    assert dry["removed"]["comment"].endswith(
        "/default is not present; decided when cmd: unpacks is done"
    )
    assert dry["stopped"]["comment"] == dry["disabled"]["comment"] == told
    assert dry["later"]["changes"] == {"removed": f"{machine.folder}/managed"}
    assert dry["stopped"]["__decided_by__"] == "cmd: unpacks"
    assert "__decided_by__" not in dry["elsewhere"]
    real = machine.results("sls", "gone", code=2)
    assert real["not there"]["comment"].endswith("/default exists")
    assert real["with its folder"]["changes"]
    assert real["later"]["changes"]
    assert set(real["removed"]["changes"]) == {"removed"}
    assert real["stopped"]["comment"] == "The named service comes-with-the-package is not available"
    machine.write(alone=GONE[GONE.index("stopped:") :])
    assert [each["result"] for each in machine.results("sls", "alone", "--test").values()] == [
        True,
        True,
    ]


# states that find nothing: what a dry run says of them behind a command of which nobody knows what
# it does, and behind one that they require (docs/dry-run.md, "Undecided")
FOUND_NOTHING = {
    "file.absent: [name: {tmp}/none]": ("decided", "undecided"),
    "file.missing: [name: {tmp}/none]": ("decided", "undecided"),
    "file.pruned: [name: {tmp}/none]": ("decided", "undecided"),
    "file.rename: [name: {tmp}/new, source: {tmp}/none]": ("decided", "undecided"),
    "user.absent: [name: who-is-nobody]": ("decided", "undecided"),
    "group.absent: [name: who-is-nobody]": ("decided", "undecided"),
    "host.absent: [name: none-such, ip: 10.9.8.7]": ("decided", "undecided"),
    "pkg.removed: [name: none-such]": ("decided", "undecided"),
    "process.absent: [name: none-such]": ("decided", "undecided"),
    "file.absent: [name: {tmp}/no/folder]": ("undecided", "undecided"),
    "file.rename: [name: {tmp}/new, source: {tmp}/no/folder]": ("undecided", "undecided"),
    "file.exists: [name: {tmp}/none]": ("undecided", "undecided"),
    "file.replace: [name: {tmp}/none, pattern: a, repl: b]": ("undecided", "undecided"),
    "file.managed: [name: {tmp}/no/folder, contents: a]": ("undecided", "undecided"),
    "test.nop: [onlyif: test -e {tmp}/none]": ("undecided", "undecided"),
    "file.managed: [name: {tmp}/none, contents: a]": ("decided", "decided"),
    "file.directory: [name: {tmp}/none]": ("decided", "decided"),
    "file.symlink: [name: {tmp}/none, target: /]": ("decided", "decided"),
    "file.touch: [name: {tmp}/none]": ("decided", "decided"),
}


def test_what_another_command_leaves_undecided_is_one_rule(machine: Machine) -> None:
    lines = ["unknown: {cmd.run: [name: env true]}"]
    for number, state in enumerate(FOUND_NOTHING):
        for end, more in (("free", "]"), ("requires", ", require: [cmd: unknown]]")):
            own = state.replace("{tmp}", f"{machine.folder}/{{tmp}}").removesuffix("]") + more
            own = own.replace("{tmp}/", f"{end}{number}-")
            lines.append(f"{number} {end}: {{{own}}}")
    machine.write(a="\n".join(lines))
    results = machine.results("sls", "a", "--test")
    for number, (state, wanted) in enumerate(FOUND_NOTHING.items()):
        both = (results[f"{number} {end}"] for end in ("free", "requires"))
        said = tuple(
            "undecided" if each.get("__decided_by__") == "cmd: unknown" else "decided"
            for each in both
        )
        assert said == wanted, state


@pytest.mark.parametrize(("package", "by"), [("composer", "pkg: tools"), ("other", "")])
def test_a_program_whose_package_is_planned_may_only_fail_until_that_is_there(
    package: str, by: str
) -> None:
    """A look that sees the planned program runs it without what is set up when that is installed:
    although all that its package brings is known.
    """
    pending = PendingFacts()
    tools = cast(Chunk, SimpleNamespace(state="pkg", id="tools", name="tools", args={}))
    pending.note(tools, [("pkg", package)], Foreseen.BY_LOOKS)
    failure = Tool("/usr/bin/composer", "composer").failure("install", "iconv is required")
    with pytest.raises(StateFailed) as told, explained("Error", ("composer", "/srv/app")):
        raise failure
    assert told.value.message == "Error: composer install: iconv is required"
    assert pending.brings(told.value.missing) == by


NASTY = """
few\\nlines:
  cmd.run:
    - name: touch {tmp}/few
{long}:
  cmd.run:
    - name: touch {tmp}/many
one:
  file.absent:
    - name: {tmp}/few
two:
  file.absent:
    - name: {tmp}/many
reaction:
  test.nop:
    - onchanges:
      - file: two
alone:
  module.run:
    - name: test.ping
"""


def test_the_end_of_a_dry_run_is_one_line_each(machine: Machine) -> None:
    """Whatever IDs are like; what decides most comes first, also by way of another state."""
    long = "a name " * 12 + "long"
    machine.write(a=NASTY.replace("{long}", long).replace("few\\nlines", '"few\\nlines"'))
    lines = machine("sls", "a", "--test", "--explain").stdout.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("6 states: "))
    told = f"4 undecided (2 because of {'cmd: ' + long[:40]}..., 1 because of cmd: few lines)"
    assert told in lines[at]
    assert lines[at + 1 : at + 8] == [
        f"Decided when cmd: {long} is done:",
        f"  file.absent  two ({machine.folder}/many)",
        "  test.nop  reaction",
        "Decided when cmd: few lines is done:",
        f"  file.absent  one ({machine.folder}/few)",
        "Decided by the real run alone:",
        "  module.run  alone (test.ping)",
    ]
    assert machine.results("sls", "a", "--test")["reaction"]["__decided_by__"] == f"cmd: {long}"


def test_the_end_of_a_dry_run_counts_what_is_undecided(machine: Machine) -> None:
    machine.write(gone=GONE)
    plain = machine("sls", "gone", "--test").stdout
    counted = r"^\d+ states: \d+ would change, (\d+) undecided \(\1 because of cmd: unpacks\), "
    assert re.search(counted, plain, re.M), plain
    assert "Decided when" not in plain
    explained = machine("sls", "gone", "--test", "--explain").stdout
    assert "Decided when cmd: unpacks is done:\n  " in explained
    assert "  service.dead  stopped (" in explained
    assert "`runner rehearse` with the same words decides them" in explained
    assert "--explain" not in explained


def test_of_several_that_may_bring_it_the_required_one_is_named(machine: Machine) -> None:
    machine.write(
        a=(
            "first:\n  cmd.run:\n    - name: 'env true'\nsecond:\n  cmd.run:\n    - name:"
            " 'env true'\n{tmp}/no/folder/any:\n  file.managed:\n    - contents:"
            " x\n{tmp}/no/folder/required:\n  file.managed:\n    - contents: x\n    - require:\n   "
            "   - cmd: second\n"
        )
    )
    found = machine.results("sls", "a", "--test")
    told = [
        each["comment"].rpartition(" (")[2]
        for each in found.values()
        if each["__id__"].startswith("/")
    ]
    assert told == ["depends on cmd: first)", "depends on cmd: second)"]


def test_of_several_that_are_required_the_one_that_may_bring_it_is_named(machine: Machine) -> None:
    """Not a required one that has nothing to do with it, nor the first of all that may; through
    others, too.
    """
    machine.write(
        a=(
            "basic:\n  cmd.run:\n    - name: 'env true'\nright:\n  cmd.run:\n    - name:"
            " 'env true'\n{tmp}/plain:\n  file.managed:\n    - contents: x\nbetween:\n "
            " test.succeed_with_changes:\n    - require: [cmd: right]\n{tmp}/no/folder/several:\n "
            " file.managed:\n    - contents: x\n    - require: [file: {tmp}/plain, cmd:"
            " right]\n{tmp}/no/folder/through:\n  file.managed:\n    - contents: x\n    - require:"
            " [test: between]\n"
        )
    )
    found = machine.results("sls", "a", "--test")
    comments = [
        each["comment"].rpartition(" (")[2]
        for key, each in found.items()
        if "/no/folder/" in each["__id__"]
    ]
    assert comments == ["depends on cmd: right)"] * 2


HOME = """
adds: {cmd.run: [{name: 'env true'}, {onlyif: 'BRINGS'}]}
inside:
  file.managed:
    - name: ~nobody-has-this-name/.profile
    - contents: x
    - require: [{cmd: adds}]
other: {test.nop: []}
"""


def test_a_path_in_the_home_folder_of_a_user_who_may_come(machine: Machine) -> None:
    missing = "Specified file ~nobody-has-this-name/.profile is not an absolute path"
    for brings, words, told in (
        ("true", ["--test"], (None, f"{missing} (depends on cmd: adds)")),
        ("true", [], (False, missing)),
        ("false", ["--test"], (False, missing)),
    ):
        machine.write(a=HOME.replace("BRINGS", brings))
        found = machine.results("sls", "a", *words, code=2 if told[0] is False else 0)
        assert (found["inside"]["result"], found["inside"]["comment"]) == told
        assert found["other"]["result"] is True


NAMED = """
makes: {cmd.run: [name: touch made other put listed]}
makes too: {cmd.run: [name: mkdir -p {tmp}/new/in && echo x > {tmp}/new/in/it]}
removes: {cmd.run: [name: rm -r {tmp}/gone {tmp}/link/far {tmp}/folder]}
alters: {cmd.run: [name: echo five >>{tmp}/altered]}
edits: {cmd.run: [name: sed -i s/here/new/ {tmp}/edited]}
u edited: {file.append: [name: '{tmp}/edited', text: new]}
u kept: {file.managed: [name: '{tmp}/made', contents: x, replace: False]}
u made: {cmd.run: [name: 'true', creates: '{tmp}/other']}
u above: {file.directory: [name: '{tmp}/new']}
u below: {test.nop: [onlyif: 'test -e {tmp}/new/in/it']}
u gone: {file.managed: [name: '{tmp}/gone', contents: here]}
u in it: {test.nop: [unless: test -e {tmp}/folder/it]}
u altered: {file.append: [name: '{tmp}/altered', text: five]}
u link: {test.nop: [unless: 'test -e {tmp}/real/far']}
u listed: {test.nop: [onlyif: 'ls {tmp}/listed']}
u script: {test.nop: [onlyif: sh -c false]}
u missing: {file.missing: [name: '{tmp}/listed']}
d account: {test.nop: [onlyif: id nobody-has-this-name]}
d put: {file.managed: [name: '{tmp}/put', contents: y]}
d put again: {file.append: [name: '{tmp}/put', text: y]}
d there: {test.nop: [unless: test -e {tmp}/there]}
d nowhere: {test.nop: [unless: test -e {tmp}/nowhere]}
d user: {user.absent: [name: nobody-has-this-name]}
d failed: {file.append: [name: '{tmp}/no/folder', text: x]}
"""


def test_what_a_command_names_is_undecided_and_nothing_else(machine: Machine) -> None:
    """Of a command whose words tell all that it does."""
    for name in ("gone", "folder/it", "altered", "edited", "there", "real/far"):
        (machine.folder / name).parent.mkdir(exist_ok=True)
        (machine.folder / name).write_text("here\n")
    (machine.folder / "link").symlink_to("real")
    machine.write(named=NAMED.replace("name: touch made", "cwd: '{tmp}', name: touch made"))
    dry = machine.results("sls", "named", "--test", code=2)
    undecided = {name for name, each in dry.items() if "decided when cmd: " in each["comment"]}
    assert undecided == {name for name in dry if name.startswith("u ")}
    assert dry["d failed"]["result"] is False
    real = machine.results("sls", "named", code=2)
    for name, each in dry.items():
        if name not in undecided:
            assert bool(each["changes"]) == bool(real[name]["changes"]), name


MADE = """
a file: {cmd.run: [name: cp /etc/hostname {tmp}/file && chmod 0600 {tmp}/file]}
its mode: {file.managed: [name: '{tmp}/file', replace: false, mode: '0600']}
a folder: {cmd.run: [name: mkdir -p {tmp}/folder && chmod 0700 {tmp}/folder]}
the mode: {file.directory: [name: '{tmp}/folder', mode: '0700']}
something: {cmd.run: [name: 'env sh -c "cd {tmp} && umask 077 && touch s"', creates: '{tmp}/s']}
the same: {file.managed: [name: '{tmp}/s', replace: false, mode: '0600']}
it: {file.exists: [name: '{tmp}/s']}
other: {file.managed: [name: '{tmp}/other', replace: false, mode: '0600']}
"""
DECIDED_BY = {
    "its mode": "cmd: a file",
    "the mode": "cmd: a folder",
    "the same": "cmd: something",
    "it": None,
    "other": None,
}


def test_what_a_command_surely_makes_is_not_made_by_the_next_state(machine: Machine) -> None:
    machine.write(made=MADE)
    dry = machine.results("sls", "made", "--test")
    assert {name: dry[name].get("__decided_by__") for name in DECIDED_BY} == DECIDED_BY
    real = machine.results("sls", "made")
    assert [name for name in DECIDED_BY if real[name]["changes"]] == ["other"]


AGAIN = """
planned: {file.managed: [name: '{tmp}/x', contents: a]}
removes: {cmd.run: [name: rm '{tmp}/x']}
unsure: {file.absent: [name: '{tmp}/x']}
reacts: {test.succeed_with_changes: [onchanges: [file: unsure]]}
in any case: {test.succeed_with_changes: [onchanges: [file: unsure, file: planned]]}
"""


def test_what_reacts_to_what_is_undecided_is_so_too(machine: Machine) -> None:
    """And what was planned before a command that names it may be otherwise after that."""
    machine.write(again=AGAIN)
    dry = machine.results("sls", "again", "--test")
    assert dry["unsure"]["comment"].endswith("decided when cmd: removes is done")
    assert dry["reacts"]["comment"] == "It would be run if file: unsure changed something"
    assert (dry["reacts"]["result"], dry["reacts"]["changes"]) == (None, {})
    assert dry["in any case"]["changes"]
    real = machine.results("sls", "again")
    assert (real["reacts"]["changes"], bool(real["in any case"]["changes"])) == ({}, True)


OPEN_CHANGES = """
script: {cmd.script: [name: salt://hello.sh]}
called: {module.run: [test.echo: [text: hello]]}
stateful: {cmd.run: [name: echo changed=yes, stateful: true]}
of the tree: {box.made: []}
"""
MAY_CHANGE = {"script": "cmd", "called": "module", "stateful": "cmd", "of the tree": "box"}


def test_what_reacts_to_a_change_that_nobody_can_foresee_is_undecided(machine: Machine) -> None:
    """It is a change for a prereq, too, in the dry run as in the real one."""
    (machine.folder / "states/hello.sh").write_text("echo hello\n")
    (machine.folder / "states/_states").mkdir()
    (machine.folder / "states/_states/box.py").write_text(
        "def made(name):\n    'As many are: its dry run names no changes.'\n"
        "    dry = __opts__['test']\n"
        "    changes = {} if dry else {name: 'made'}\n"
        "    return {'name': name, 'result': not dry or None, 'changes': changes, 'comment': ''}\n"
    )
    reacting = "".join(
        f"{kind} {name}: {{{function}: [name: 'true', {kind}: [{module}: {name}]]}}\n"
        for name, module in MAY_CHANGE.items()
        for kind, function in {
            "onchanges": "cmd.run",
            "watch": "cmd.wait",
            "listen": "cmd.wait",
            "prereq": "cmd.run",
        }.items()
    )
    machine.write(open=OPEN_CHANGES + reacting)
    dry = machine.results("sls", "open", "--test")
    real = machine.results("sls", "open")
    assert set(dry) == set(real)
    for id_, each in real.items():
        if each["changes"]:
            assert dry[id_]["result"] is None, id_
    unchanged = [id_ for id_, each in real.items() if not each["changes"]]
    assert sorted(unchanged) == sorted(f"listen {name}" for name in MAY_CHANGE)
    assert dry["onchanges script"]["comment"] == "It would be run if cmd: script changed something"
    assert dry["watch script"]["comment"].endswith("; decided when cmd: script is done")
    assert f"{len(MAY_CHANGE) * 4} undecided" in machine("sls", "open", "--test").stdout


MAY_REACT = """
script: {cmd.script: [name: salt://hello.sh]}
sure: {test.succeed_with_changes: []}
both: {cmd.wait: [name: echo, watch: [cmd: script, test: sure]]}
late: {cmd.wait: [name: echo, listen: [cmd: script, test: sure]]}
alone: {cmd.wait: [name: echo, watch: [cmd: script]]}
next: {cmd.wait: [name: echo, watch: [cmd: alone]]}
itself: {test.succeed_with_changes: [watch: [cmd: script]]}
"""


def test_a_reaction_to_what_is_undecided_is_so_too(machine: Machine) -> None:
    """But not where something surely changes, nor what a state does itself."""
    machine.write(open=MAY_REACT)
    (machine.folder / "states/hello.sh").write_text("echo hello\n")
    dry = machine.results("sls", "open", "--test")
    surely = {id_ for id_, each in dry.items() if each["changes"]}
    assert surely == {"sure", "both", "listener_late", "itself"}
    assert dry["next"]["comment"].endswith("; decided when cmd: script is done")
    assert dry["alone"]["__decided_by__"] == "cmd: script"
    assert "__decided_by__" not in dry["itself"]
    assert machine.results("sls", "open")["next"]["changes"]


LISTED = """
puts: {cmd.run: [name: '{tmp}/tool {tmp}/clean/new {tmp}/tidied/new {tmp}/pruned/a/new']}
cds: {cmd.run: [name: 'for i in free; do echo x > $i/new; done', cwd: '{tmp}']}
d above: {file.pruned: [name: '{tmp}/pruned/a/b/d']}
u clean: {file.directory: [name: '{tmp}/clean', clean: True]}
u tidied: {file.tidied: [name: '{tmp}/tidied', age: 0, rmdirs: True]}
u pruned: {file.pruned: [name: '{tmp}/pruned', recurse: True, ignore_errors: True]}
u required: {file.directory: [name: '{tmp}/free', clean: True, require: [cmd: cds]]}
d mode: {file.directory: [name: '{tmp}/clean', mode: '0700']}
d clean: {file.directory: [name: '{tmp}/other', clean: True]}
d tidied: {file.tidied: [name: '{tmp}/other', age: 0]}
d pruned: {file.pruned: [name: '{tmp}/empty']}
"""


def test_what_is_in_a_folder_that_a_command_puts_into_is_undecided(machine: Machine) -> None:
    """A listing of it is not known: nor is what is to be removed beside what is there now."""
    for name in ("clean", "tidied/old", "pruned/a/b/c", "pruned/a/b/d", "free", "other", "empty"):
        (machine.folder / name).mkdir(parents=True)
    for name in ("tidied/there", "other/there"):
        (machine.folder / name).touch()
    (machine.folder / "tool").write_text('#!/bin/sh\nfor path; do echo x > "$path"; done\n')
    (machine.folder / "tool").chmod(0o755)
    machine.write(listed=LISTED)
    dry = machine.results("sls", "listed", "--test")
    undecided = {name for name, each in dry.items() if "decided when cmd: " in each["comment"]}
    assert undecided == {name for name in dry if name.startswith("u ")}
    assert dry["u required"]["comment"].endswith("decided when cmd: cds is done")
    real = machine.results("sls", "listed")
    for name, each in dry.items():
        if name.startswith("d "):
            assert each["changes"] == real[name]["changes"], name
    assert real["u clean"]["changes"]["removed"] == [f"{machine.folder}/clean/new"]
    assert f"{machine.folder}/tidied/new" in real["u tidied"]["changes"]["removed"]
