# SPDX-License-Identifier: Apache-2.0
"""Changes of file.managed that are made and reported, and set nothing off."""

from __future__ import annotations

from typing import Any

import pytest
from command import Machine

WORDS = "requisites were skipped by another state"
FILE = """
{tmp}/f:
  file.managed:
    - contents: |
        NEW
    - ARGUMENT
{tmp}/other:
  file.managed:
    - contents: x
"""
REACTORS = """
onchanges:
  test.succeed_with_changes:
    - onchanges: [file: {tmp}/f]
prereq:
  test.succeed_with_changes:
    - prereq: [file: {tmp}/f]
watch:
  cmd.wait:
    - name: echo reacted
    - watch: [file: {tmp}/f]
require:
  test.succeed_with_changes:
    - require: [file: {tmp}/f]
listen:
  test.succeed_without_changes:
    - listen: [file: {tmp}/f]
"""


def results(
    machine: Machine, old: str, new: str, argument: str, *words: str, more: str = REACTORS
) -> dict[str, Any]:
    new = new.rstrip("\n").replace("\n", "\n        ")
    machine.write(a=FILE.replace("NEW", new).replace("ARGUMENT", argument) + more)
    (machine.folder / "f").write_text(old)
    return machine.results("sls", "a", *words)


@pytest.mark.parametrize(
    ("old", "new", "argument", "ignored"),
    [
        ("a\nb\n", "b\na\n", "ignore_ordering: true", True),
        ("a\nb\n", "b\na\na\n", "ignore_ordering: true", False),
        ("a b\nc\n", "c\n  a b\n", "ignore_whitespace: true", True),
        ("a\n\nb\n", "a\nb\n", "ignore_whitespace: true", True),
        ("a  b\n", "a b\n", "ignore_whitespace: true", False),
        ("# one\na # x\n", "# two\na # y\n", "ignore_comment_characters: '#'", True),
        ("; one\n# x\na\n", "# two\na\n", "ignore_comment_characters: ['#', ;]", True),
        ("# one\na\n", "# one\nb\n", "ignore_comment_characters: '#'", False),
        ("a\n", "b\n", "show_changes: true", False),
    ],
)
def test_what_sets_nothing_off(
    machine: Machine, old: str, new: str, argument: str, ignored: bool
) -> None:
    for words in (["--test"], []):
        found = results(machine, old, new, argument, *words)
        changed = found[f"{machine.folder}/f"]
        assert "diff" in changed["changes"]
        assert changed.get("skip_req", False) is ignored
        assert {
            name: bool(found[name]["changes"])
            for name in ("onchanges", "prereq", "watch", "require")
        } == {**dict.fromkeys(("onchanges", "prereq", "watch"), not ignored), "require": True}
        if ignored:
            assert (
                found["onchanges"]["comment"]
                == found["prereq"]["comment"]
                == f"State was not run because {WORDS}"
            )
            assert found["watch"]["comment"] == f" mod_watch was not run because {WORDS}"
        assert "listener_listen" in found, "as with Salt"
    assert (machine.folder / "f").read_text() == new
    assert not machine.results("sls", "a")["onchanges"]["changes"], "nothing is owed"


def test_a_change_beside_it_is_reacted_to(machine: Machine) -> None:
    sources = "[file: {tmp}/f, file: {tmp}/other]"
    more = f"after:\n  test.succeed_with_changes:\n    - onchanges: {sources}\n"
    more += f"by:\n  cmd.wait:\n    - name: echo reacted\n    - watch: {sources}\n"
    found = results(machine, "a\nb\n", "b\na\n", "ignore_ordering: true", more=more)
    assert found["after"]["changes"] and found["by"]["changes"]
