# SPDX-License-Identifier: Apache-2.0
"""An edit that its own result calls for again is told, before it grows a file in each run."""

from __future__ import annotations

import pytest
from command import Machine

BLOCK = "marker_start: '# S', marker_end: '# E'"


@pytest.mark.parametrize(
    ("text", "state", "unsettled"),
    [
        ("a", "replace: [{pattern: a, repl: aa}]", True),
        ("a", "replace: [{pattern: '^a$', repl: aa}]", False),
        ("a a\n", "replace: [{pattern: a, repl: b, count: 1}]", True),
        ("", r"replace: [{pattern: '^a.*', repl: 'a\\b', append_if_not_found: true}]", True),
        ("", "replace: [{pattern: '^a.*', repl: a b, append_if_not_found: true}]", False),
        ("# S\n# E\n", f'blockreplace: [{{{BLOCK}, content: "a # E b"}}]', True),
        ("# S\n# E\n", f'blockreplace: [{{{BLOCK}, content: "a # S b"}}]', True),
        ("# S\n# E\n", f"blockreplace: [{{{BLOCK}, content: a}}]", False),
        ("a 1\na 2\n", "line: [{match: '^a', mode: replace, content: b}]", True),
        ("a 1\na 2\n", "line: [{match: '^a', mode: delete}]", False),
    ],
)
def test_the_next_run_is_foretold(machine: Machine, text: str, state: str, unsettled: bool) -> None:
    (machine.folder / "f").write_text(text)
    machine.write(a=f"{{tmp}}/f:\n  file.{state}\n")
    told = f"the next run changes {machine.folder}/f again: the edit applies to its own result"
    for test in (["--test"], []):
        (result,) = machine.results("sls", "a", *test).values()
        assert result["changes"] and (told in result.get("warnings", ())) is unsettled
    (again,) = machine.results("sls", "a").values()
    assert bool(again["changes"]) is unsettled


@pytest.mark.parametrize("reason", ["unless: grep -q 2222 {tmp}/f", "onchanges: [test: other]"])
def test_an_edit_that_the_next_run_may_skip_is_not_foretold(machine: Machine, reason: str) -> None:
    (machine.folder / "f").write_text("Port 22\n")
    edit = f"file.replace: [{{pattern: '^Port 22', repl: Port 2222}}, {{{reason}}}]"
    machine.write(a=f"other: test.configurable_test_state\n{{tmp}}/f:\n  {edit}\n")
    for test in (["--test"], []):
        *_, result = machine.results("sls", "a", *test).values()
        assert result["changes"] and not result.get("warnings")
