# SPDX-License-Identifier: Apache-2.0
"""Runs of a part of the states: --only, --exclude, --tags, --start-at and --step."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import Machine
from starting import at_a_terminal

TREE = """
include: [more]
defaults: {{test.show_notification: {{tags: shown}}}}
first:
  test.nop:
    - tags: [web, slow]
source:
  test.succeed_with_changes:
    - name: the source
    - require: [{{test: first}}]
gated:
  test.nop:
    - onchanges: [{{test: source}}]
    - tags: web, db
watcher:
  test.nop:
    - watch: [{{test: source}}]
prepared:
  test.nop:
    - prereq: [{{test: source}}]
rescue:
  test.nop:
    - onfail: [{{test: source}}]
told:
  test.show_notification:
    - text: told
listener:
  test.nop:
    - listen: [{{test: source}}]
"""
MORE = "more [x]:\n  test.nop: []\n"
ORDER = ["more [x]", "first", "prepared", "source", "gated", "watcher", "rescue", "told"]


@pytest.fixture
def site(machine: Machine) -> Machine:
    machine.write(t=TREE.replace("{{", "{").replace("}}", "}"), more=MORE)
    return machine


def pending_of(site: Machine) -> list[dict[str, str]]:
    found: list[dict[str, str]] = site.answer("show", "pending")
    return found


@pytest.mark.parametrize(
    ("words", "ran"),
    [
        (["--only", "a*"], ["a*"]),
        (["--only", "test: a*"], ["a*"]),
        (["--only", "test: a?"], ["a*", "ab"]),
        (["--exclude", "a*"], ["ab", "abc"]),
        (["--start-at", "?bc"], ["?bc", "b"]),
    ],
)
def test_what_is_literally_the_id_of_a_state_is_no_glob(
    machine: Machine, words: list[str], ran: list[str]
) -> None:
    ids = ["abc", "ab", "?bc", "b"] if "--start-at" in words else ["abc", "ab", "a*"]
    machine.write(t="".join(f"'{id_}': {{test.nop: []}}\n" for id_ in ids))
    rows = machine.answer("sls", "t", *words)
    assert sorted(row["__id__"] for row in rows.values()) == sorted(ran)


@pytest.mark.parametrize(
    ("words", "ran"),
    [
        (["--only", "first"], ["first"]),
        (["--only", "source"], ["source"]),  # not what it requires
        (["--only", "the source", "--with-requisites"], ["first", "source"]),
        (["--only", "test:the source"], ["source"]),
        (["--only", "test: watch*", "--only", "f?rst"], ["first", "watcher"]),
        (["--only", "sls:mor*"], ["more [x]"]),
        (["--only", "more [x]"], ["more [x]"]),
        (["--tags", "web"], ["first", "gated"]),
        (["--tags", "db,slow"], ["first", "gated"]),
        (["--tags", "web", "--skip-tags", "slow"], ["gated"]),
        (["--tags", "shown"], ["told"]),
        (["--tags", "web", "--only", "f*"], ["first"]),
        (["--exclude", "sls:t"], ["more [x]"]),
        (["--exclude", "t"], ["more [x]"]),
        (["--exclude", "test: *[aeiou]r*", "--exclude", "more [x]", "--skip-tags", "shown"], None),
        (["--start-at", "watcher"], ["watcher", "rescue", "told", "listener"]),
        (["--start-at", "watcher", "--only", "*er"], ["watcher", "listener"]),
        (["--tags", "web, slow", "--skip-tags", "slow"], ["gated"]),
        (["--only", "first", "--only", "told", "--exclude", "first"], ["told"]),
    ],
)
def test_what_is_selected(site: Machine, words: list[str], ran: list[str] | None) -> None:
    results = site.results("sls", "t", "--test", *words)
    if ran is None:
        assert not {"first", "watcher", "prepared", "told", "more [x]"} & set(results)
        assert results
    else:
        assert [name for name in results if not name.startswith("listener_")] == ran


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (["--only", "frist"], "--only frist: no state of this run has", "did you mean first?"),
        (["--only", "cmd: first"], "--only cmd: first: no state of this run has", ""),
        (["--tags", "wbe"], "--tags wbe: no state of this run has that tag", "did you mean web?"),
        (["--start-at", "x y"], "--start-at x y: no state of this run has", "`*` and `?`"),
        (["--tags", ","], "--tags: no tag is named", ""),
        (["--start-at", ""], "--start-at: the value is empty", "is a variable not set?"),
    ],
)
def test_a_word_that_means_nothing(
    site: Machine, words: list[str], message: str, hint: str
) -> None:
    told = site("sls", "t", *words, code=1).stderr
    assert message in told and hint in told


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (["--exclude", "frist"], "--exclude frist: no state of this run", "did you mean first?"),
        (["--skip-tags", "slwo"], "--skip-tags slwo: no state of this run", "did you mean slow?"),
    ],
)
def test_to_leave_out_what_is_not_there_is_a_warning(
    site: Machine, words: list[str], message: str, hint: str
) -> None:
    told = site("sls", "t", *words).stderr
    assert f"warning: {message}" in told and hint in told
    site.config[words[0].removeprefix("--").replace("-", "_")] = [words[1]]  # for all machines
    assert "no state of this run" not in site("sls", "t").stderr


def test_what_is_left_out_counts_as_met_and_calls_for_nothing(site: Machine) -> None:
    results = site.results("sls", "t", "--exclude", "source")
    assert all(result["result"] is True for result in results.values())
    assert [name for name, result in results.items() if result["changes"]] == []
    comments = {name: result["comment"] for name, result in results.items()}
    assert comments["gated"] == "State was not run because none of the onchanges reqs changed"
    assert comments["prepared"] == "No changes detected"
    assert comments["rescue"] == "State was not run because onfail req did not change"
    assert comments["watcher"] == comments["first"] == "Success!"


def test_reactions_of_what_is_left_out_are_done_later(site: Machine) -> None:
    site("sls", "t", "--only", "source")
    assert sorted(
        (pending["reactor"].split("_|-")[1], pending["kind"]) for pending in pending_of(site)
    ) == [("gated", "onchanges"), ("listener", "listen"), ("watcher", "watch")]
    later = site.results("sls", "t", "--only", "watcher", "--only", "gated")
    assert "Watch statement fired." in later["watcher"]["comment"]
    assert later["gated"]["comment"] == "Success!"
    (left,) = pending_of(site)
    assert left["kind"] == "listen"


def test_an_in_form_may_name_what_is_left_out(machine: Machine) -> None:
    machine.write(
        t="a:\n  test.succeed_with_changes:\n    - listen_in: [{test: b}]\nb:\n  test.nop: []\n"
    )
    assert list(machine.results("sls", "t", "--only", "a")) == ["a"]
    (reaction,) = pending_of(machine)
    assert (reaction["reactor"].split("_|-")[1], reaction["kind"]) == ("b", "listen")
    assert machine.results("sls", "t", "--only", "b")["b"]["result"] is True


def test_tags_of_the_wrong_type_are_named_and_own_arguments_are_no_tags(site: Machine) -> None:
    site.write(wrong="a:\n  test.nop:\n    - tags: {web: 1}\n")
    told = site("sls", "wrong", code=1).stderr
    assert "wrong.sls:3" in told and "tags" in told
    own = "u:\n  rabbitmq_user.present:\n    - tags: [administrator]\n"
    site.write(own=own)
    assert "no state of this run has that tag" in site("sls", "own", "--tags", "u", code=1).stderr


def test_options_of_other_tools(site: Machine) -> None:
    for word in ("--check", "--noop", "--dry-run"):
        assert "a dry run is `--test`" in site("highstate", word, code=1).stderr


# ---------------------------------------------------------------- --step


def stepped(site: Machine, *answers: str) -> tuple[int, str]:
    """`--step` at a terminal: the exit code and what it showed."""
    argv = site.argv("sls", "t", "--step", "--only", "source", "--only", "watcher")
    typed = [f"{answer}\n".encode() for answer in answers]
    return at_a_terminal(argv, site.environment, b"uit? ", typed)


def test_step(site: Machine, tmp_path: Path) -> None:
    code, shown = stepped(site, "y", "n")
    assert code == 0 and "test.succeed_with_changes the source (source): [y]es" in shown
    assert "Watch statement fired" not in shown
    (pending,) = (item for item in pending_of(site) if item["kind"] == "watch")
    assert "watcher" in pending["reactor"], "what was declined is still to react"
    code, shown = stepped(site, "?", "all")
    assert code == 0 and "Watch statement fired" in shown
    code, shown = stepped(site, "q")
    assert code == 130 and "Ended at a step" in shown and "Not run: " in shown


def test_step_needs_a_person(site: Machine) -> None:
    assert "there is no terminal here" in site("sls", "t", "--step", code=1).stderr
    assert "--step and --test" in site("sls", "t", "--step", "--test", code=1).stderr
    assert "neither --plan nor --ask" in site("sls", "t", "--step", "--ask", code=1).stderr
