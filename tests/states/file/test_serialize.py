# SPDX-License-Identifier: Apache-2.0
"""file.serialize: scalars, merging and what cannot be read."""

from __future__ import annotations

import plistlib
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from command import Machine
from harness import HarnessHere, apply

from runner.api import StateFailed
from states.file.serialize import serialize


@pytest.mark.parametrize(
    ("data", "kind", "text"),
    [
        ({"b": 1, "a": [None, "x: y"]}, "yaml", "a:\n- null\n- 'x: y'\nb: 1\n"),
        ("x", "yaml", "x\n"),
        (5, "yaml", "5\n"),
        ({"b": 1, "a": "é"}, "json", '{\n  "a": "é",\n  "b": 1\n}\n'),
    ],
)
def test_text(tmp_path: Path, data: Any, kind: str, text: str) -> None:
    apply(serialize, f"{tmp_path}/f", data, serializer=kind)
    assert (tmp_path / "f").read_text() == text


def test_data_that_is_there_already_is_not_written_again(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text('{"x":2, "y": 1}')
    done = apply(serialize, str(path), {"x": 2}, serializer="json", merge_if_exists=True)
    assert (done.comment, done.changes) == (f"The file {path} is in the correct state", {})
    assert path.read_text() == '{"x":2, "y": 1}'


@pytest.mark.parametrize(
    ("text", "message"), [("{", "Failed to deserialize"), ("[1]", "merges mappings only")]
)
def test_what_cannot_be_merged_stays(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "f"
    path.write_text(text)
    with pytest.raises(StateFailed, match=message):
        apply(serialize, str(path), {"x": 2}, serializer="json", merge_if_exists=True)
    assert path.read_text() == text


def test_a_binary_plist_is_read_and_written(tmp_path: Path) -> None:
    options = [{"fmt": "FMT_BINARY"}]
    for data in ({"a": {"b": "%(x)s"}}, {"a": {"c": 1}}):
        apply(
            serialize,
            f"{tmp_path}/p",
            data,
            serializer="plist",
            serializer_opts=options,
            merge_if_exists=True,
        )
    written = (tmp_path / "p").read_bytes()
    assert written.startswith(b"bplist")
    assert plistlib.loads(written) == {"a": {"b": "%(x)s", "c": 1}}


def test_ini_references_are_resolved_when_merging(tmp_path: Path) -> None:
    (tmp_path / "i").write_text("[s]\nbar = %(x)s\nbaz = %(none)s\nrate = 100%\n")
    options = [{"defaults": {"x": "seen"}}]
    apply(
        serialize,
        f"{tmp_path}/i",
        {"s": {"n": 1}},
        serializer="ini",
        merge_if_exists=True,
        deserializer_opts=options,
    )
    assert (tmp_path / "i").read_text().split("\n")[:6] == [
        "[s]",
        "x = seen",
        "bar = seen",
        "baz = %(none)s",
        "rate = 100%",
        "n = 1",
    ]


def test_options_for_reading_without_reading_are_told(tmp_path: Path) -> None:
    here = HarnessHere()
    apply(serialize, f"{tmp_path}/y", {"a": 1}, deserializer_opts=[{"x": 1}], current=here)
    assert here.warnings == [
        "The 'deserializer_opts' option is ignored unless merge_if_exists is set to True."
    ]


def test_toml_names_the_package_that_it_lacks(machine: Machine) -> None:
    """One that cannot be imported stands before any that is there."""
    (machine.folder / "tomli_w.py").write_text("raise ImportError\n")
    machine.environment["PYTHONPATH"] = f"{machine.folder}:{machine.environment['PYTHONPATH']}"
    machine.write(
        a=f"{machine.folder}/x: {{file.serialize: [dataset: {{a: 1}}, serializer: toml]}}\n"
    )
    told = machine("sls", "a", code=2).stdout
    assert f"python3 -m pip --python {shlex.quote(sys.executable)} install 'tomli-w>=" in told


def test_a_file_that_has_the_data_gets_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("# why\na: 1\n")
    path.chmod(0o644)
    for plans in (True, False):
        done = apply(serialize, str(path), {"a": 1}, merge_if_exists=True, mode="0600")
        assert bool(done.changes) == plans, done
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.read_text() == "# why\na: 1\n"


def test_comments_that_a_merge_loses_are_counted(tmp_path: Path) -> None:
    path, here = tmp_path / "f", HarnessHere()
    path.write_text("# why\na: 1 # so\n  # and\n")
    apply(serialize, str(path), {"b": 1}, merge_if_exists=True, current=here)
    assert here.warnings == [f"the comments in {path} are lost (2 lines): it is written anew"]


def test_a_pillar_that_is_not_there_empties_no_file(machine: Machine) -> None:
    (machine.folder / "f").write_text("{}")
    machine.write(
        a="{tmp}/f: {file.serialize: [{dataset_pillar: 'no:such'}, {serializer: json}]}\n"
    )
    for test in (["--test"], []):
        (result,) = machine.results("sls", "a", *test, code=2).values()
        assert result["comment"] == "Pillar no:such does not exist"
    assert (machine.folder / "f").read_text() == "{}"
    said = machine("check", "a", code=None).stdout
    assert "dataset_pillar: the pillar of this machine has no no:such [trap]" in said


@pytest.mark.parametrize("serializer", ["json", "yaml", "ini", "plist"])
def test_an_empty_file_is_merged_with(machine: Machine, serializer: str) -> None:
    (machine.folder / "f").write_text("\n")
    more = f"{{serializer: {serializer}}}, {{merge_if_exists: true}}"
    machine.write(a=f"{{tmp}}/f: {{file.serialize: [{{dataset: {{a: {{b: c}}}}}}, {more}]}}\n")
    for changes in (True, False):
        (result,) = machine.results("sls", "a").values()
        assert bool(result["changes"]) is changes


def test_json_has_keys_of_several_types(machine: Machine) -> None:
    machine.write(a="{tmp}/f: {file.serialize: [{dataset: {b: 1, 7: 2}}, {serializer: json}]}\n")
    machine("sls", "a")
    assert (machine.folder / "f").read_text() == '{\n  "7": 2,\n  "b": 1\n}\n'


@pytest.mark.parametrize(
    ("serializer", "dataset", "more", "why"),
    [
        ("json", "{a: 1}", "[{wide: 1}]", "as json: there is no option wide for it"),
        ("toml", "[1]", "[]", "as toml: it holds a mapping, and the data is a list"),
        ("toml", "{a: {b: null}}", "[]", "as toml: it has no null, as a:b is"),
        ("plist", "{a: [{7: 1}]}", "[]", "as plist: its keys are texts: put 7 in quotes"),
        ("ini", "{a: {b: 1}, c: 2}", "[]", "as ini: c has to be a section, a mapping of options"),
    ],
)
def test_what_a_format_cannot_say_is_named(
    machine: Machine, serializer: str, dataset: str, more: str, why: str
) -> None:
    arguments = f"{{serializer: {serializer}}}, {{serializer_opts: {more}}}"
    machine.write(a=f"{{tmp}}/f: {{file.serialize: [{{dataset: {dataset}}}, {arguments}]}}\n")
    for test in (["--test"], []):
        (result,) = machine.results("sls", "a", *test, code=2).values()
        assert result["comment"] == f"the data cannot be written {why}"
