# SPDX-License-Identifier: Apache-2.0
"""A file with several names: which of them get new contents, and that it is told."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest
from command import Machine

EDITS: dict[str, dict[str, Any]] = {
    "file.managed": {"contents": "new"},
    "file.replace": {"pattern": "old", "repl": "new"},
    "file.line": {"content": "new", "mode": "insert", "location": "end"},
    "file.append": {"text": "new"},
    "file.prepend": {"text": "new"},
    "file.comment": {"regex": "old"},
    "file.keyvalue": {"key": "old", "value": "new", "append_if_not_found": True},
    "file.serialize": {"dataset": {"a": 1}, "serializer": "json"},
    "file.copy": {"source": "{tmp}/new", "force": True},
    "ini.options_present": {"sections": {"s": {"k": "new"}}},
}


@pytest.mark.parametrize("function", EDITS)
def test_names_that_keep_the_old_contents_are_told(machine: Machine, function: str) -> None:
    file, other = machine.folder / "file", machine.folder / "other"
    (machine.folder / "new").write_text("new\n")
    file.write_text("old\n")
    os.link(file, other)
    arguments = [{key: value} for key, value in EDITS[function].items()]
    machine.write(a=json.dumps({"{tmp}/file": {function: arguments}}))
    told = (
        f"{file} was one of 2 names of a file (hard links): the others keep its old contents, as a"
        " file is replaced whole"
    )
    for words in (["--test"], []):
        (result,) = machine.results("sls", "a", *words).values()
        assert result["changes"] and result["warnings"] == [told]
        assert os.path.samefile(file, other) is bool(words)
    assert other.read_text() == "old\n"
    (result,) = machine.results("sls", "a").values()
    assert "warnings" not in result


def test_names_of_a_planned_file_are_told_as_those_of_a_real_one(machine: Machine) -> None:
    (machine.folder / "other").write_text("old\n")
    (machine.folder / "other").chmod(0o600)
    steps = {
        "mode": {"file.managed": [{"name": "{tmp}/other"}, {"mode": "0644"}, {"replace": False}]},
        "link": {"file.hardlink": [{"name": "{tmp}/file"}, {"target": "{tmp}/other"}]},
        "edit": {"file.append": [{"name": "{tmp}/file"}, {"text": "new"}]},
        "alone": {"file.append": [{"name": "{tmp}/file"}, {"text": "more"}]},
    }
    machine.write(a=json.dumps(steps))
    for words in (["--test"], []):
        results = machine.results("sls", "a", *words)
        assert {name: "warnings" in result for name, result in results.items()} == {
            "mode": False,
            "link": False,
            "edit": True,
            "alone": False,
        }
    assert (machine.folder / "other").read_text() == "old\n"
