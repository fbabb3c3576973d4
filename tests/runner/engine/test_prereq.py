# SPDX-License-Identifier: Apache-2.0
"""prereq in a run: the state that prepares a change, and the state whose change it prepares."""

from __future__ import annotations

import pytest
from command import Machine

TREE = """
prepare:
  test.{prepare}:
    - prereq: [test: change]
change:
  test.{change}: []
after:
  test.nop:
    - require: [test: change]
reacts:
  test.nop:
    - onchanges: [test: change]
helps:
  test.nop:
    - onfail: [test: change]
"""


@pytest.mark.parametrize("words", [[], ["--test"]])
def test_what_could_not_be_prepared_is_not_done(machine: Machine, words: list[str]) -> None:
    machine.write(a=TREE.format(prepare="fail_without_changes", change="succeed_with_changes"))
    found = machine.results("sls", "a", *words, code=2)
    assert found["prepare"]["result"] is False
    assert found["change"]["result"] is None
    assert found["change"]["changes"] == {}
    assert found["change"]["__cause__"] == "test_|-prepare_|-prepare_|-fail_without_changes"
    assert found["helps"]["comment"] == "Success!", "it is called for, as with Salt"
    assert (
        found["reacts"]["comment"] == "State was not run because none of the onchanges reqs changed"
    )


def test_no_run_says_that_it_would_change_what_could_not_be_prepared(machine: Machine) -> None:
    machine.write(a=TREE.format(prepare="fail_without_changes", change="succeed_with_changes"))
    for words in ([], ["--test"]):
        done = machine("sls", "a", *words, code=2).stdout
        assert "skipped  test.succeed_with_changes  change" in done
        assert "would change" not in done


def test_a_state_of_the_tree_that_only_plans_in_a_real_run_is_a_no_op(machine: Machine) -> None:
    (machine.folder / "states/_states").mkdir()
    (machine.folder / "states/_states/box.py").write_text(
        "def made(name):\n    'Of Salt.'\n"
        "    return {'name': name, 'result': None, 'changes': {'a': 1}, 'comment': ''}\n"
    )
    machine.write(a="x: {box.made: []}\n")
    assert "1 no-op" in machine("sls", "a").stdout
    assert "1 would change" in machine("sls", "a", "--test").stdout


HELD = """
first: {{file.directory: [name: '{{tmp}}/d/e']}}
prepares: {{file.directory: [name: '{{tmp}}/d', prereq: [cmd: change]]}}
change: {{cmd.run: [name: 'true', cwd: '{{tmp}}/w'{requires}]}}
{later}: {{file.directory: [name: '{{tmp}}/w']}}
"""


@pytest.mark.parametrize(
    "text",
    [
        # what is looked at requires it; it comes after it by itself (a file and its directory)
        HELD.format(requires=", require: [file: later]", later="later"),
        HELD.format(requires="", later="later")
        .replace(
            "cmd.run: [name: 'true', cwd: '{tmp}/w']",
            "file.managed: [name: '{tmp}/w/f', contents: x]",
        )
        .replace("cmd: change", "file: change"),
    ],
)
def test_what_a_look_needs_is_there_although_an_automatic_order_pulls_the_state_that_looks(
    machine: Machine, text: str
) -> None:
    machine.write(a=text)
    found = machine.results("sls", "a")
    assert sorted(found, key=lambda name: found[name]["__run_num__"]) == [
        "later",
        "prepares",
        "first",
        "change",
    ]


def test_one_of_two_that_prepare_is_enough_to_keep_it_back(machine: Machine) -> None:
    more = "also:\n  test.succeed_with_changes:\n    - prereq: [test: change]\n"
    machine.write(
        a=TREE.format(prepare="fail_without_changes", change="succeed_with_changes") + more
    )
    found = machine.results("sls", "a", code=2)
    assert found["also"]["changes"]
    assert found["change"]["result"] is None


def test_what_has_nothing_to_change_needs_no_preparation(machine: Machine) -> None:
    machine.write(a=TREE.format(prepare="fail_without_changes", change="succeed_without_changes"))
    found = machine.results("sls", "a")
    assert found["prepare"]["comment"] == "No changes detected"
    assert found["change"]["result"] is True


def test_each_state_that_prepares_looks_for_itself(machine: Machine) -> None:
    machine.write(
        a="first: {cmd.run: [name: 'echo x > {tmp}/f', prereq: [file: f]]}\n"
        "second: {test.succeed_with_changes: [prereq: [file: f]]}\n"
        "f: {file.managed: [name: '{tmp}/f', contents: x]}\n"
    )
    changed = {name: bool(found["changes"]) for name, found in machine.results("sls", "a").items()}
    assert changed == {"first": True, "second": False, "f": False}


@pytest.mark.parametrize("between", ["nop", "fail_without_changes"])
def test_a_look_holds_as_long_as_nothing_is_called(machine: Machine, between: str) -> None:
    held = "{test.succeed_with_changes: [prereq: [{cmd: c}, {cmd: d}]]}"
    guarded = "{cmd.run: [name: 'true', unless: 'echo >> {tmp}/looks']}"
    machine.write(a=f"h1: {held}\nh2: {held}\nh3: {held}\nc: {guarded}\nd: {guarded}\n")
    assert not any(found["changes"] for found in machine.results("sls", "a").values())
    assert (machine.folder / "looks").read_text() == 4 * "\n", "a look and a turn each"
    machine.write(
        b=f"h1: {held}\nbetween: test.{between}\nh2: {held}\nc: {guarded}\nd: {guarded}\n"
    )
    (machine.folder / "looks").unlink()
    machine("sls", "b", code=2 if "fail" in between else 0)
    assert (machine.folder / "looks").read_text() == 6 * "\n", "it may have made something new"


def test_a_look_that_shows_that_a_state_is_kept_from_running_is_final(machine: Machine) -> None:
    machine.write(
        a=(
            "x:\n  test.fail_without_changes: []\n"
            "prepare:\n  test.nop:\n    - prereq: [test: change]\n"
            "change:\n  test.succeed_with_changes:\n    - require: [test: x]\n"
        )
    )
    found = machine.results("sls", "a", code=2)
    assert [each for each in found if not found[each]["result"]] == ["x", "change", "prepare"]
    assert found["change"]["__run_num__"] < found["prepare"]["__run_num__"]


def test_listen_takes_globs_and_whole_files_and_outlives_a_failhard(machine: Machine) -> None:
    machine.write(
        a=(
            "include: [b]\na1:\n  test.succeed_with_changes: []\na2:\n "
            " test.succeed_without_changes: []\nglob:\n  test.nop:\n    - listen: [test:"
            " 'a*']\nfile:\n  test.nop:\n    - listen: [sls: b]\nunchanged:\n  test.nop:\n    -"
            " listen: [test: 'a2*']\nfails:\n  test.fail_without_changes:\n    - failhard:"
            " True\nlater:\n  test.nop:\n    - listen: [test: a1]\n"
        ),
        b="o:\n  test.succeed_with_changes: []\n",
    )
    found = machine.results("sls", "a", code=2)
    assert "later" not in found
    assert [each for each in found if each.startswith("listener")] == [
        "listener_glob",
        "listener_file",
        "listener_later",
    ]


def test_a_look_takes_in_the_prereqs_of_what_it_looks_at(machine: Machine) -> None:
    machine.write(
        a=(
            "b:\n  test.succeed_with_changes:\n    - prereq: [test: x]\n"
            "a:\n  test.succeed_with_changes:\n    - prereq: [test: b]\nx:\n  test.nop: []\n"
        )
    )
    found = machine.results("sls", "a")
    assert {found[name]["comment"] for name in "ab"} == {"No changes detected"}


def test_nothing_is_prepared_for_a_change_that_would_fail(machine: Machine) -> None:
    change = "change:\n  file.managed: [name: '{tmp}/d/f', contents: x]\n"
    prepare = "prepare:\n  test.nop: [prereq: [file: change]]\n"
    machine.write(a=prepare + change)
    found = machine.results("sls", "a", code=2)
    assert found["prepare"]["comment"] == "One or more requisite failed: a.change"
    assert found["change"]["comment"].startswith("Parent directory not present: ")
    machine.write(a=prepare + change + "{tmp}/d:\n  file.directory: []\n")
    found = machine.results("sls", "a")
    assert found["prepare"]["comment"] == "Success!", "the directory comes first"


def test_what_a_chain_of_prereqs_keeps_from_running_ends_with_the_look(machine: Machine) -> None:
    machine.write(
        a=(
            "fine:\n  test.nop: []\nfirst:\n  test.succeed_with_changes: [prereq: [test: second]]\n"
            "second:\n  test.succeed_with_changes: [prereq: [test: kept]]\n"
            "kept:\n  test.succeed_with_changes: [onfail_any: [test: fine]]\n"
        )
    )
    found = machine.results("sls", "a")
    order = sorted(found, key=lambda name: found[name]["__run_num__"])
    assert order == ["fine", "kept", "second", "first"]
    assert [found[name]["changes"] for name in order] == [{}] * 4


def test_what_is_kept_from_running_ends_where_the_look_stands(machine: Machine) -> None:
    machine.write(
        a=(
            "fine:\n  test.nop: []\nother:\n  test.nop: []\nkept:\n  test.succeed_with_changes:\n  "
            "  - order: 3\n    - onfail_any: [test: fine]\nprepares:\n  test.nop:\n    - prereq:"
            " [{test: kept}, {test: last}]\nlast:\n  test.nop: []\n"
        )
    )
    found = machine.results("sls", "a")
    order = sorted(found, key=lambda name: found[name]["__run_num__"])
    assert order == ["fine", "kept", "other", "prepares", "last"]


def test_a_dry_run_expects_no_failure_of_what_would_change(machine: Machine) -> None:
    machine.write(
        a="a:\n  test.succeed_with_changes: []\nb:\n  test.nop:\n    - onfail: [test: a]\n"
    )
    found = machine.results("sls", "a", "--test")
    assert found["b"]["comment"] == "State was not run because onfail req did not change"


def test_listeners_are_told_in_the_order_of_who_says_so(machine: Machine) -> None:
    machine.write(
        a=(
            "last:\n  test.nop: []\nfirst:\n  test.nop: []\nsource:\n  test.succeed_with_changes:\n"
            "    - listen_in: [{test: own}, {test: first}, {test: last}]\nown:\n  test.nop:\n    -"
            " listen: [test: source]\nearly:\n  test.nop:\n    - order: 1\n    - listen: [test:"
            " source]\n"
        )
    )
    found = machine.results("sls", "a")
    told = [name.removeprefix("listener_") for name in found if name.startswith("listener_")]
    assert told == ["early", "own", "first", "last"]


@pytest.mark.parametrize(
    ("prepares", "more", "told"),
    [
        ("succeed_with_changes", "", True),
        ("fail_with_changes", "", True),
        ("succeed_with_changes", "    - onfail: [test: fine]\n", None),
        ("succeed_with_changes", "    - require: [test: fails]\n", None),
    ],
)
def test_what_is_prepared_listens_unless_its_requisites_keep_it(
    machine: Machine, prepares: str, more: str, told: bool | None
) -> None:
    machine.write(
        a=(
            "fine:\n  test.succeed_with_changes: []\nfails:\n  test.fail_without_changes: []\n"
            f"prepares:\n  test.{prepares}:\n    - prereq: [test: change]\n"
            f"change:\n  test.succeed_with_changes:\n    - listen: [test: fine]\n{more}"
        )
    )
    assert (
        machine.results("sls", "a", code=2).get("listener_change", {"result": None})["result"]
        is told
    )


def test_a_look_sees_the_reaction_that_is_due(machine: Machine) -> None:
    machine.write(
        a=(
            "prepares:\n  test.nop:\n    - prereq: [test: reacts]\n"
            "source:\n  test.succeed_with_changes: []\n"
            "reacts:\n  test.succeed_without_changes:\n    - watch: [test: source]\n"
        )
    )
    found = machine.results("sls", "a")
    assert found["prepares"]["comment"] == "Success!"
    assert found["reacts"]["comment"] == "Watch statement fired."


def test_a_look_at_a_test_state_that_will_fail_without_changes(machine: Machine) -> None:
    """As with Salt a look learns of its failure only by `allow_test_mode_failure`."""
    for failure, comment in (
        (False, "No changes detected"),
        (True, "One or more requisite failed: a.fails"),
    ):
        machine.write(
            a=(
                "prepares:\n  test.nop:\n    - prereq: [test: fails]\nfails:\n "
                " test.configurable_test_state:\n    - changes: false\n    - result: false\n    -"
                f" allow_test_mode_failure: {failure}\n"
            )
        )
        found = machine.results("sls", "a", "--test", code=2 if failure else 0)
        assert (found["fails"]["result"], found["prepares"]["comment"]) == (not failure, comment)
        found = machine.results("sls", "a", code=2)
        assert (found["fails"]["result"], found["prepares"]["comment"]) == (False, comment)


def test_the_reaction_of_a_test_state(machine: Machine) -> None:
    machine.write(
        a=(
            "source:\n  test.succeed_with_changes: []\n"
            "fine:\n  test.nop:\n    - watch: [test: source]\n"
            "fails:\n  test.nop:\n    - result: False\n    - watch: [test: source]\n"
        )
    )
    found = machine.results("sls", "a", "--test")
    assert (found["fine"]["result"], found["fails"]["result"]) == (None, None)
    found = machine.results("sls", "a", code=2)
    assert (found["fine"]["result"], found["fails"]["result"]) == (True, False)


def test_failhard_ends_a_dry_run_too(machine: Machine) -> None:
    machine.write(a="x: {test.fail_without_changes: [failhard: true]}\ny: {test.nop: []}\n")
    assert list(machine.results("sls", "a", "--test", code=2)) == ["x"]


def test_a_test_state_that_reacts_says_what_it_was_told_to_say(machine: Machine) -> None:
    machine.write(
        a=(
            "source: test.succeed_with_changes\n"
            "said: {test.nop: [comment: hello, watch: [test: source]]}\n"
            "done: {test.nop: [changes: {x: 1}, watch: [test: source]]}\n"
            "set: {test.configurable_test_state: [changes: false, watch: [test: source]]}\n"
        )
    )
    found = machine.results("sls", "a")
    assert found["said"]["comment"] == "hello"
    assert found["done"]["changes"] == {"x": 1}
    assert found["set"]["changes"] == {"Requisites with changes": ["test: source"]}


def test_listen_in_takes_an_id_alone(machine: Machine) -> None:
    machine.write(
        a="source: {test.succeed_with_changes: [listen_in: [hears]]}\nhears: {test.nop: []}\n"
    )
    assert machine.results("sls", "a")["listener_hears"]["comment"] == "Watch statement fired."


def test_a_retry_is_mentioned_where_a_prereq_has_looked(machine: Machine) -> None:
    machine.write(
        a=(
            "prepares: {test.nop: [prereq: [grains: nothing]]}\n"
            "nothing: {grains.exists: [retry: {attempts: 2, interval: 0}]}\n"
        )
    )
    found = machine.results("sls", "a", "--test", code=2)
    assert "The state would be retried every 0 seconds" in found["nothing"]["comment"]


def test_a_guard_of_what_is_prepared_runs_among_planned_files(machine: Machine) -> None:
    machine.write(
        a=(
            "{tmp}/new/f:\n  file.managed:\n    - makedirs: true\n"
            "change:\n  test.succeed_with_changes:\n    - unless: test -e {tmp}/new/f\n"
            "prepare:\n  test.nop:\n    - prereq: [test: change]\n"
        )
    )
    dry = machine.results("sls", "a", "--test")
    assert dry["change"]["comment"] == "unless condition is true"
    assert dry["prepare"]["comment"] == "No changes detected"


RETRIED = """
prepare: {test.nop: [prereq: [test: change]]}
change:
  test.succeed_with_changes:
    - retry: {attempts: 2, interval: 1}
    - unless: 'echo >> {tmp}/looks; false'
"""


def test_a_look_at_what_is_retried_is_taken_once(machine: Machine) -> None:
    machine.write(a=RETRIED)
    machine("sls", "a")
    assert (machine.folder / "looks").read_text() == "\n\n", "one to prepare, one to change"
