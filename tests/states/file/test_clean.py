# SPDX-License-Identifier: Apache-2.0
"""What file.directory and file.recurse clean away beside other states of the run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from command import Machine
from harness import apply, look

from modules import _paths
from runner.api import StateFailed
from states.file.directory import directory
from states.file.retention_schedule import retention_schedule
from states.file.tidied import tidied

BESIDE = """
{tmp}/d:
  file.directory:
    - clean: true
{tmp}/d/file:
  file.managed:
    - contents: x
{tmp}/d/link:
  file.symlink:
    - target: {tmp}/d/pointed-at
settings:
  ini.options_present:
    - name: {tmp}/d/./settings.ini
    - sections: {a: {b: c}}
makes its file:
  cmd.run:
    - name: mkdir -p {tmp}/d/made; touch {tmp}/d/made/by-command
    - creates: {tmp}/d/made
{tmp}/d/folder:
  file.directory: []
{tmp}/d/deep/down/file:
  file.managed:
    - contents: x
    - makedirs: true
unwanted:
  file.absent:
    - name: {tmp}/d/unwanted
"""
STRANGERS = ["other", "pointed-at", "folder/other", "deep/other", "unwanted"]


def strew(machine: Machine) -> None:
    for each in STRANGERS:
        (machine.folder / "d" / each).write_text("x")


def changed(machine: Machine, *words: str) -> dict[str, object]:
    return {
        name: each["changes"]
        for name, each in machine.results("sls", "a", *words).items()
        if each["changes"]
    }


def test_cleaning_spares_what_any_state_of_the_run_manages(machine: Machine) -> None:
    machine.write(a=BESIDE)
    machine("sls", "a")
    assert changed(machine) == {}
    strew(machine)
    folder = f"{machine.folder}/d"
    gone = sorted(f"{folder}/{each}" for each in STRANGERS)
    for words in (["--test"], []):
        found = changed(machine, *words)
        assert found.pop("unwanted", None) in (None, {"removed": f"{folder}/unwanted"})
        assert found == {
            folder: {
                **{each: {"removed": "Removed due to clean"} for each in gone},
                "removed": gone,
            }
        }
    assert changed(machine) == {}


@pytest.mark.parametrize("option", [["--only", "{tmp}/d"], ["--exclude", "{tmp}/d/file"]])
def test_a_part_of_the_run_spares_what_the_rest_manages(
    machine: Machine, option: list[str]
) -> None:
    machine.write(a=BESIDE)
    machine("sls", "a")
    assert changed(machine, *(word.replace("{tmp}", str(machine.folder)) for word in option)) == {}
    assert (machine.folder / "d/file").exists()


def test_a_folder_that_is_required_is_spared_with_what_it_holds(machine: Machine) -> None:
    machine.write(
        a=BESIDE.replace(
            "    - clean: true", "    - clean: true\n    - require: [file: {tmp}/d/folder]"
        )
    )
    (machine.folder / "d/folder").mkdir(parents=True)
    (machine.folder / "d/folder/other").write_text("x")
    machine("sls", "a")
    assert (machine.folder / "d/folder/other").exists()


def test_a_cleaned_recurse_spares_what_any_state_of_the_run_manages(machine: Machine) -> None:
    machine.write(
        a=BESIDE.replace(
            "file.directory:\n    - clean", "file.recurse:\n    - source: salt://tree\n    - clean"
        )
    )
    (machine.folder / "states/tree").mkdir()
    (machine.folder / "states/tree/own").write_text("x")
    machine("sls", "a")
    assert changed(machine) == {}
    strew(machine)
    machine("sls", "a")
    assert [each for each in STRANGERS if (machine.folder / "d" / each).exists()] == []
    assert changed(machine) == {}


@pytest.mark.parametrize(("cleaned", "managed"), [("d", "link"), ("link", "d")])
def test_cleaning_spares_what_is_managed_by_another_way(
    machine: Machine, cleaned: str, managed: str
) -> None:
    (machine.folder / "d").mkdir()
    (machine.folder / "link").symlink_to("d")
    (machine.folder / "d/other").write_text("x")
    machine.write(
        a=f"""
{{tmp}}/{managed}/file: {{file.managed: [contents: x]}}
{{tmp}}/{cleaned}: {{file.directory: [clean: true]}}
"""
    )
    machine("sls", "a")
    assert [each.name for each in (machine.folder / "d").iterdir()] == ["file"]
    assert changed(machine) == {}


@pytest.mark.parametrize("name", ["/", "/usr/..", "/proc/self/root"])
@pytest.mark.parametrize(
    "arguments", [{"clean": True}, {"user": "root", "recurse": ["user"]}, {"recurse": ["mode"]}]
)
def test_a_machine_is_not_cleaned_away(name: str, arguments: dict[str, Any]) -> None:
    """A variable of a template is empty."""
    with pytest.raises(StateFailed, match=r'Refusing to .* "/"'):
        look(directory, name, **arguments)


@pytest.mark.parametrize("run", [apply, look], ids=["real", "dry"])
@pytest.mark.parametrize(
    ("cleaning", "arguments"),
    [
        (directory, {"clean": True}),
        (tidied, {"rmdirs": True}),
        (retention_schedule, {"retain": {"most_recent": 1}, "strptime_format": "2020-01-0%d"}),
    ],
    ids=["directory", "tidied", "retention_schedule"],
)
def test_nothing_goes_where_a_part_is_mounted(
    run: Any, cleaning: Any, arguments: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "2020-01-02/in").mkdir(parents=True)
    (tmp_path / "2020-01-01").write_text("x")
    (tmp_path / "2020-01-03").write_text("x")
    monkeypatch.setattr(_paths, "mount_points", lambda: [f"{tmp_path}/2020-01-02/in"])
    with pytest.raises(StateFailed, match="is a mount point"):
        run(cleaning, str(tmp_path), **arguments)
    assert len([*tmp_path.iterdir()]) == 3
