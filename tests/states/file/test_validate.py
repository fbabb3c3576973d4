# SPDX-License-Identifier: Apache-2.0
"""`validate`: what a program refuses never takes its place, as a user meets it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from command import Machine
from needing import needs_root

SUDOERS = """
{tmp}/new/deep/sudoers:
  file.append: [text: broken, makedirs: true, validate: '{tmp}/visudo -cf']
{tmp}/again:
  file.managed: [contents: "right\\n", validate: 'sh -c ''test "$(basename $0)" = again'' %s']
after:
  test.succeed_without_changes: [onchanges: [{file: '{tmp}/new/deep/sudoers'}]]
"""
PROGRAM = """#!/bin/sh
if grep -q broken "$2"; then echo "$2: syntax error near line 1"; exit 1; fi
"""


@pytest.fixture
def visudo(machine: Machine) -> Path:
    """A program that refuses the word broken, and counts its calls."""
    program = machine.folder / "visudo"
    program.write_text(f'{PROGRAM}echo "$2" >>{machine.folder}/calls\n')
    program.chmod(0o755)
    return program


def test_what_is_refused_changes_nothing_and_says_why(machine: Machine, visudo: Path) -> None:
    machine.write(all=SUDOERS)
    path = f"{machine.folder}/new/deep/sudoers"
    for options in (("--test",), ()):
        results = machine.results("sls", "all", *options, code=2)
        refused = results[path]
        assert refused["result"] is False
        assert refused["comment"] == (
            f"{path} is not written: validate refuses it\n{path}: syntax error near line 1"
        )
        assert not refused["changes"]
        assert not os.path.exists(f"{machine.folder}/new")
        assert results[f"{machine.folder}/again"]["result"] is (None if options else True)
    assert Path(machine.folder, "again").read_text() == "right\n"


def test_none_of_many_is_written_when_one_is_refused(machine: Machine, visudo: Path) -> None:
    machine.write(
        all=f"{{tmp}}/d:\n  file.recurse: [source: 'salt://files', validate: '{visudo} -c']"
    )
    files = machine.folder / "states/files"
    (files / "b").mkdir(parents=True)
    for name, text in {"a": "right", "b/c": "broken", "d": "right"}.items():
        (files / name).write_text(text)
    for options in (("--test",), ()):
        result = machine.results("sls", "all", *options, code=2)[f"{machine.folder}/d"]
        assert f"{machine.folder}/d/b/c is not written: validate refuses it" in result["comment"]
        assert not os.path.exists(f"{machine.folder}/d")
    (files / "b/c").write_text("right")
    (machine.folder / "calls").unlink()
    machine.results("sls", "all")
    calls = (machine.folder / "calls").read_text().split()
    assert sorted(map(os.path.basename, calls)) == ["a", "c", "d"], "each is asked about once"


PENDING = """
{tmp}/checks:
  file.managed: [contents: '#!/bin/sh', mode: '0755']
{tmp}/by a script to come:
  file.managed: [contents: x, validate: '{tmp}/checks']
{tmp}/no program:
  file.managed: [contents: x, validate: no-such-program -t]
{tmp}/no command:
  file.managed: [contents: x, validate: "'"]
{tmp}/silent:
  file.managed: [contents: x, validate: /bin/false]
{tmp}/there:
  file.line:
    [mode: ensure, content: broken, after: first, validate: '{tmp}/visudo -cf', backup: .old]
"""


def test_what_a_dry_run_knows(machine: Machine, visudo: Path) -> None:
    (machine.folder / "there").write_text("first\n")
    machine.write(all=PENDING)
    dry = {
        os.path.basename(key): each
        for key, each in machine.results("sls", "all", "--test", code=2).items()
    }
    # where commands do not see the plan, the script is a program to come
    assert dry["by a script to come"]["result"] is None
    real = {
        os.path.basename(key): each for key, each in machine.results("sls", "all", code=2).items()
    }
    assert "validate 'no-such-program -t' cannot be run" in dry["no program"]["comment"]
    assert "(no word of /bin/false)" in dry["silent"]["comment"]
    for name in ("no program", "no command", "there", "silent"):
        assert (dry[name]["result"], dry[name]["comment"]) == (False, real[name]["comment"])
    assert real["by a script to come"]["result"] is True
    assert sorted(os.listdir(machine.folder)).count("there.old") == 0
    assert (machine.folder / "there").read_text() == "first\n"


BY_CHANCE = """{% raw %}
{tmp}/f:
  file.managed:
    - contents: "{{ salt['cmd.run']('{tmp}/word') }}"
    - template: jinja
    - validate: '{tmp}/visudo -cf'
{% endraw %}"""
WORD = """#!/bin/sh
if mkdir {tmp}/asked; then echo broken; else echo right; fi 2>/dev/null
"""


def test_contents_that_differ_each_time_are_asked_about_when_they_are_written(
    machine: Machine, visudo: Path
) -> None:
    """The state's own look sees `broken`, the trial `right`."""
    (machine.folder / "word").write_text(WORD.replace("{tmp}", str(machine.folder)))
    (machine.folder / "word").chmod(0o755)
    (machine.folder / "f").write_text("before\n")
    machine.write(all=BY_CHANCE)
    result = machine.results("sls", "all", code=2)[f"{machine.folder}/f"]
    assert (result["result"], (machine.folder / "f").read_text()) == (False, "before\n")
    assert len((machine.folder / "calls").read_text().split()) == 1, "right was accepted before"


@needs_root("to change /etc/aliases")
def test_a_module_with_a_check_of_its_own_needs_not_know_of_it(machine: Machine) -> None:
    alias = ("alias.present", "zoe", "target=root", "validate=/bin/true")
    result = machine.results("single", *alias, "--test")["zoe"]
    assert "mistake of runner" not in result["comment"]
