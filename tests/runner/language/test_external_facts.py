# SPDX-License-Identifier: Apache-2.0
"""Facts from the folders `facts.d` of this and of other tools."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command import Machine

import runner.language.grains.external as external
from runner.language.grains import Grains


def program(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "facts.d"
    folder.mkdir()
    return folder


def grains(*folders: Path, **static: Any) -> Grains:
    return Grains(static, id="me", report=lambda problem: None, folders=tuple(map(str, folders)))


def test_each_form(folder: Path) -> None:
    (folder / "a.json").write_text('{"role": "web", "deep": {"er": [1]}}')
    (folder / "b.yaml").write_text("site: north\nrole: second\n")
    (folder / "c.txt").write_text("rack=12\n# a comment\nline = with = more\n")
    (folder / "d.ini").write_text("[section]\nkey = 100%\n")
    program(folder / "e", "echo '{\"from_json\": true}'")
    program(folder / "f.sh", "echo kernel_owner=me; echo other=2")
    program(folder / "g.py", "echo 'from_yaml: [a, b]'")
    program(folder / "h", ":")
    (folder / "a.json.bak").write_text('{"no": 1}')
    (folder / ".hidden.json").write_text('{"no": 1}')
    found = grains(folder)
    assert {key: found[key] for key in ("role", "deep", "site", "rack", "line", "section")} == {
        "role": "web",
        "deep": {"er": [1]},
        "site": "north",
        "rack": "12",
        "line": "with = more",
        "section": {"key": "100%"},
    }
    assert (found["from_json"], found["kernel_owner"], found["other"]) == (True, "me", "2")
    assert found["from_yaml"] == ["a", "b"]
    assert found.problems == [] and "no" not in found
    assert set(found) >= {"role", "os", "id"}


def test_they_add_names_and_replace_nothing(folder: Path, tmp_path: Path) -> None:
    first = tmp_path / "first"
    first.mkdir()
    (first / "a.json").write_text('{"who": "first"}')
    (folder / "a.json").write_text('{"who": "second", "os": "Plan 9", "id": "you", "set": 1}')
    found = grains(first, folder, set=2)
    assert (found["who"], found["id"], found["set"]) == ("first", "me", 2)
    assert found["os"] != "Plan 9"


def test_facts_of_ansible(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(external, "ANSIBLE", str(folder))
    (folder / "plain.fact").write_text("[general]\nAsdf=1\n")
    (folder / "data.fact").write_text("[1, 2]")
    program(folder / "run.fact", "echo '{\"a\": 1}'")
    (folder / "other.json").write_text('{"no": 1}')
    found = grains(folder)
    assert found["ansible_local"] == {
        "plain": {"general": {"asdf": "1"}},
        "data": [1, 2],
        "run": {"a": 1},
    }
    assert "no" not in found


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("a.json", "{", "Expecting property name"),
        ("a.yaml", "a: [", "did not find expected node content (line 2)"),
        ("a.yaml", "- 1", "it has to be a mapping of names, not list"),
        ("a.ini", "no section", "File contains no section headers"),
        ("a.conf", "x", "its name has to end in"),
        ("a.json", "\udcff", "it is not UTF-8"),
        ("a.txt", "x" * (1024 * 1024 + 1), "it is larger than 1024 KiB"),
        ("!a", "exit 3", "it ended with 3"),
        ("!a", "sleep 60", "it did not end in 0.2 s"),
        ("!a", "echo 'a: [}'", "it prints neither JSON nor YAML nor lines"),
        ("!a", "yes | head -c 1100000", "it is larger than"),
    ],
)
def test_what_cannot_be_used_is_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str, why: str
) -> None:
    monkeypatch.setattr(external, "SECONDS", 0.2 if "sleep" in text else 10)
    path = folder / name.removeprefix("!")
    if name.startswith("!"):
        program(path, text)
    else:
        path.write_text(text, errors="surrogateescape")
    (folder / "z.json").write_text('{"good": 1}')
    found = grains(folder)
    assert found["good"] == 1
    (problem,) = found.problems
    assert f"the facts of {path} are missing: " in problem.message and why in problem.message


def test_what_others_can_write_is_not_run(folder: Path, tmp_path: Path) -> None:
    program(folder / "open", f"touch {tmp_path}/ran; echo a=1")
    (folder / "open").chmod(0o777)
    (folder / "good.json").write_text('{"b": 1}')
    found = grains(folder)
    assert "a" not in found and found["b"] == 1
    assert "others can write" in found.problems[0].message
    assert not (tmp_path / "ran").exists()
    folder.chmod(0o777)
    assert "b" not in grains(folder)


def test_in_templates_and_in_check(machine: Machine) -> None:
    facts = machine.folder / "facts.d"
    facts.mkdir()
    (facts / "site.yaml").write_text("role: web\n")
    (facts / "bad.json").write_text("{")
    machine.write(
        top="base: {'G@role:web': [a]}", a="{{ grains.role }} {{ grains.os }}:\n  test.nop: []\n"
    )
    (id_,) = machine.results("highstate")
    assert id_.startswith("web ")
    answer = machine("call", "grains.get", "role", "--out", "json").stdout
    assert json.loads(answer)["local"] == "web"
    assert f"the facts of {facts}/bad.json are missing" in machine("check").stdout
