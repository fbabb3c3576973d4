# SPDX-License-Identifier: Apache-2.0
"""Texts that a program puts in their place wait as files do for their names, and beside nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from harness import HarnessHere

from runner.api import changer, changes_allowed, make_names_durable, running
from runner.support.files.group_commit import GROUP_COMMIT, GroupCommit, WaitingText, version_at

WHOSE = "crontab of me"


def text_of(*lines: str, install: Callable[[], bool] = lambda: True) -> WaitingText:
    return WaitingText(WHOSE, lines, install, {})


def test_the_last_version_is_put_in_its_place_once() -> None:
    commit, made = GroupCommit(), list[str]()
    assert not commit.add_text(text_of()), "nobody collects"
    for owner in (3, 4):
        with commit.collecting(owner, WHOSE):
            assert commit.text_of(WHOSE) == (None if owner == 3 else ("3",))
            assert commit.add_text(
                text_of(str(owner), install=lambda n=owner: made.append(n) is None)
            )
        assert commit.may_follow(WHOSE) and not commit.may_follow("crontab of you")
        assert not commit.may_follow("/srv/f") and commit.stand_in(WHOSE) is None
    commit.sync()
    assert made == [] and commit.finish(3) == commit.finish(4) == []
    assert made == [4] and commit.text_of(WHOSE) is None and not commit.may_follow(WHOSE)
    assert commit.may_follow("/srv/f") and commit.has_room


def test_what_was_altered_since_is_not_written_over(tmp_path: Path) -> None:
    commit, made = GroupCommit(), list[int]()
    at = str(tmp_path / "tab")
    text = text_of("mine", install=lambda: made.append(1) is None)
    with commit.collecting(1, WHOSE):
        assert commit.add_text(text._replace(looked_at={at: version_at(at)}))
    with commit.collecting(2, WHOSE):  # it has looked at no file: it goes on from the first
        assert commit.add_text(text)
    (tmp_path / "tab").write_text("of another")
    assert commit.finish(1) == commit.finish(2) == [WHOSE] and made == []


def test_a_program_that_is_interrupted_has_done_nothing() -> None:
    def interrupted() -> bool:
        raise KeyboardInterrupt

    commit = GroupCommit()
    with commit.collecting(1, WHOSE):
        assert commit.add_text(text_of(install=interrupted))
    with commit.collecting(2, "/srv/f"), pytest.raises(KeyboardInterrupt):
        commit.look_beside("/srv/f")
    assert commit.finish(1) == [WHOSE] and commit.text_of(WHOSE) is None


def test_who_looks_meanwhile_goes_by_what_the_program_did() -> None:
    """The program's own start is a look around, too, in the same thread."""
    commit, seen = GroupCommit(), list[bool]()

    def refused() -> bool:
        commit.look_around()
        commit.write_at_once()
        seen.append(commit.is_collecting)
        return False

    with commit.collecting(1, WHOSE):
        assert commit.add_text(text_of(install=refused))
    with commit.collecting(2, "/srv/f"):
        commit.look_around()
        assert seen == [False] and commit.is_collecting and commit.has_to_run_again
    assert commit.finish(1) == [WHOSE] and commit.finish(2)


@pytest.mark.parametrize("starts", [False, True])
def test_a_change_that_is_made_at_once_is_noted_before_it(starts: bool) -> None:
    """Where a look for the former state starts a program, since what was known is out of date."""

    def former() -> None:
        if starts:
            make_names_durable(for_program=True)

    @changer(touches=["crontabs"], before=former, waits=True)
    def write() -> bool:
        return GROUP_COMMIT.is_collecting

    here = HarnessHere()
    with running(here), changes_allowed(), GROUP_COMMIT.collecting(1, WHOSE):
        assert write() is here.events[0].waits is not starts
