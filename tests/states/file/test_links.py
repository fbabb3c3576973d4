# SPDX-License-Identifier: Apache-2.0
"""file.symlink does not put a link to nothing where something is."""

from __future__ import annotations

from typing import Any

import pytest
from command import Machine

CLONE = """
{tmp}/no repository:
  git.latest:
    - target: {tmp}/dotfiles
"""
LINK = """
{tmp}/rc:
  file.symlink:
    - target: {tmp}/dotfiles/rc
"""
MAKER = "{tmp}/dotfiles/rc:\n  file.managed:\n    - contents: new\n    - makedirs: true\n"


def results(machine: Machine, *words: str, code: int) -> dict[str, Any]:
    answer = machine.answer("sls", "a", *words, code=code)
    return {value["__id__"]: value for value in answer.values()}


@pytest.mark.parametrize("there", ["a file", "a link", "nothing"])
@pytest.mark.parametrize("words", [[], ["--test"]])
def test_a_target_that_could_not_be_made_keeps_what_is_there(
    machine: Machine, there: str, words: list[str]
) -> None:
    place = machine.folder / "rc"
    if there == "a file":
        place.write_text("old")
    elif there == "a link":
        place.symlink_to("elsewhere")
    machine.write(a=CLONE + LINK + "    - force: true\n")
    result = results(machine, *words, code=2)[str(place)]
    assert result["result"] is False and not result["changes"]
    target, clone = machine.folder / "dotfiles/rc", machine.folder / "no repository"
    failed = f"which is not there: git: {clone} failed to make it"
    assert result["comment"] == f"{place} would point to {target}, {failed}"
    assert place.is_symlink() is (there == "a link") and place.is_file() is (there == "a file")


def test_a_tree_that_links_because_it_failed(machine: Machine) -> None:
    onfail = f"    - force: true\n    - onfail: [{{git: '{machine.folder}/no repository'}}]\n"
    machine.write(a=CLONE + LINK + onfail)
    (machine.folder / "rc").write_text("old")
    assert results(machine, code=2)[f"{machine.folder}/rc"]["changes"]
    assert (machine.folder / "rc").is_symlink()


def test_a_link_to_what_no_state_makes_is_warned_of(machine: Machine) -> None:
    machine.write(a=LINK + "    - force: true\n")
    (machine.folder / "rc").write_text("old")
    warning = f"{machine.folder}/rc is replaced by a link to {machine.folder}/dotfiles/rc, which is"
    for words in (["--test"], []):
        result = results(machine, *words, code=0)[f"{machine.folder}/rc"]
        assert result["warnings"] == [f"{warning} not there"]


def test_a_dry_run_does_not_warn_where_a_pending_command_may_make_the_target(
    machine: Machine,
) -> None:
    command = "unpack:\n  cmd.run:\n    - name: mkdir {tmp}/dotfiles; touch {tmp}/dotfiles/rc\n"
    machine.write(a=command + LINK + "    - force: true\n")
    (machine.folder / "rc").write_text("old")
    for words in (["--test"], []):
        result = results(machine, *words, code=0)[f"{machine.folder}/rc"]
        assert "warnings" not in result and result["changes"]
    assert (machine.folder / "rc").exists()


@pytest.mark.parametrize("maker", ["before", "failed above"])
def test_a_target_that_is_made_or_was_another_state_s(machine: Machine, maker: str) -> None:
    failing = "{tmp}/dot:\n  file.exists: []\n"
    machine.write(
        a=(MAKER if maker == "before" else failing + MAKER) + LINK + "    - force: true\n"
    )
    (machine.folder / "rc").write_text("old")
    for words in (["--test"], []):
        code = 0 if maker == "before" else 2
        result = results(machine, *words, code=code)[f"{machine.folder}/rc"]
        assert result["changes"] and "warnings" not in result
    assert (machine.folder / "rc").read_text() == "new\n"
