# SPDX-License-Identifier: Apache-2.0
"""Which reactions stay pending when a run has not done them, and which the next run does."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from typing import Any

import pytest
from command import Machine

from runner.engine.reactions import described
from runner.model.result import PendingReaction, named

CHANGED = "c: {test.succeed_with_changes: []}\n"
SAME = "c: {test.succeed_without_changes: []}\n"


def pending(machine: Machine) -> list[tuple[str, str, str]]:
    """The kind, and the IDs of reactor and sources, of each."""
    answer = machine.answer("show", "pending")
    assert all(each["sources"].startswith(named(each["source"])) for each in answer)
    return [
        (each["kind"], each["reactor"].split("_|-")[1], re.sub(r"\w+: ", "", each["sources"]))
        for each in answer
    ]


def test_who_only_looks_makes_no_folder(machine: Machine) -> None:
    assert pending(machine) == []
    machine("history")
    assert not (machine.folder / "cache/state").exists()


def reactor(kind: str) -> str:
    """A state that fails as long as there is no file `well`."""
    function = "run" if kind == "onchanges" else "wait"
    return f"r: {{cmd.{function}: [name: 'test -e {{tmp}}/well', {kind}: [test: c]]}}\n"


@pytest.mark.parametrize(
    ("kind", "answer"), [("watch", "r"), ("onchanges", "r"), ("listen", "listener_r")]
)
def test_a_reaction_that_failed_is_done_by_the_next_run(
    machine: Machine, kind: str, answer: str
) -> None:
    machine.write(a=CHANGED + reactor(kind))
    machine("sls", "a", code=2)
    machine("sls", "a", "--test")
    assert pending(machine) == [(kind, "r", "c")]
    (machine.folder / "well").touch()
    machine.write(a=SAME + reactor(kind))
    assert machine.results("sls", "a")[answer]["changes"]
    assert pending(machine) == []
    results = machine.results("sls", "a")
    assert not results.get(answer, results["r"])["changes"]


@pytest.mark.parametrize("kind", ["watch", "onchanges"])
def test_a_reaction_that_was_done_is_not_pending(machine: Machine, kind: str) -> None:
    (machine.folder / "well").touch()
    machine.write(a=CHANGED + reactor(kind))
    assert machine.results("sls", "a")["r"]["changes"]
    assert pending(machine) == []


@pytest.mark.parametrize("kind", ["watch", "onchanges"])
def test_a_reaction_to_a_state_that_fails_waits_for_a_run_in_which_it_does_not(
    machine: Machine, kind: str
) -> None:
    source = "c: {{test.configurable_test_state: [changes: {}, result: {}]}}\n"
    machine.write(a=source.format(True, True) + reactor(kind))
    machine("sls", "a", code=2)
    (machine.folder / "well").touch()
    machine.write(a=source.format(False, False) + reactor(kind))
    assert not machine.results("sls", "a", code=2)["r"]["changes"]
    assert pending(machine) == [(kind, "r", "c")]
    machine.write(a=source.format(False, True) + reactor(kind))
    assert machine.results("sls", "a")["r"]["changes"]


def test_a_listener_does_not_ask_whether_its_source_has_failed(machine: Machine) -> None:
    source = "c: {{test.configurable_test_state: [changes: {0}, result: {0}]}}\n"
    machine.write(a=source.format(True) + reactor("listen"))
    machine("sls", "a", code=2)
    (machine.folder / "well").touch()
    machine.write(a=source.format(False) + reactor("listen"))
    assert machine.results("sls", "a", code=2)["listener_r"]["changes"]
    assert pending(machine) == []


@pytest.mark.parametrize(
    ("cause", "until"),
    [(None, ""), ("file_|-f_|-/f_|-managed", "; it stays pending until file: f no longer fails")],
)
def test_pending_reactions_in_words(cause: str | None, until: str) -> None:
    one = PendingReaction("r", "watch", "c", "1", "noon", "a:1", "test: c")
    told = [f"{kind} of test: c since noon{until}" for kind in ("watch", "onchanges")]
    assert [*described([one, one._replace(kind="onchanges")], cause)] == told


def test_what_cannot_react_owes_nothing(machine: Machine) -> None:
    machine.write(a=CHANGED + "r: {file.exists: [name: '{tmp}/none', watch: [test: c]]}\n")
    machine("sls", "a", code=2)
    assert pending(machine) == []


def test_a_reaction_of_a_state_that_is_left_out_is_done_when_it_is_not(machine: Machine) -> None:
    (machine.folder / "well").touch()
    machine.write(a=CHANGED + reactor("watch"))
    machine("sls", "a", "--only", "c")
    assert pending(machine) == [("watch", "r", "c")]
    machine.write(a=SAME + reactor("watch"))
    assert machine.results("sls", "a")["r"]["changes"]
    assert pending(machine) == []


RETRIED = """
c: {{test.configurable_test_state: [changes: {changes}, result: {result}]}}
r: {{cmd.wait: [name: 'true', watch: [test: c]]}}
"""


@pytest.mark.parametrize(
    ("result", "changes", "left"),
    [(False, True, [("watch", "r", "c")]), (False, False, []), (True, False, []), (True, True, [])],
)
def test_a_source_that_changed_and_failed_owes_its_reaction(
    machine: Machine, result: bool, changes: bool, left: list[Any]
) -> None:
    machine.write(a=RETRIED.format(changes=changes, result=result))
    machine("sls", "a", code=None)
    assert pending(machine) == left


BOX = """
def made(name, result, skip_watch):
    'Of a tree.'
    return {'name': name, 'result': result, 'comment': '', 'changes': {}, 'skip_watch': skip_watch}

def mod_watch(name, sfun=None, **others):
    return {'name': name, 'result': True, 'comment': '', 'changes': {'reacted': True}}
"""
BOXED = "r: {{box.made: [result: {result}, skip_watch: {skip}, watch: [test: c]]}}\n"


@pytest.mark.parametrize(
    ("result", "skip", "reacts", "left"),
    [
        (True, False, True, []),
        (True, True, False, []),
        (False, False, True, []),  # as with Salt
        (False, True, False, []),
    ],
)
def test_a_state_says_itself_whether_it_has_reacted(
    machine: Machine, result: bool, skip: bool, reacts: bool, left: list[Any]
) -> None:
    (machine.folder / "states/_states").mkdir()
    (machine.folder / "states/_states/box.py").write_text(BOX)
    machine.write(a=CHANGED + BOXED.format(result=result, skip=skip))
    assert bool(machine.results("sls", "a", code=None)["r"]["changes"]) is reacts
    assert pending(machine) == left


def test_a_reaction_that_does_nothing_hides_no_failure(machine: Machine) -> None:
    """As that of a service of an image that is not there: its next start is not looked at."""
    (machine.folder / "states/_states").mkdir()
    (machine.folder / "states/_states/box.py").write_text(BOX.replace("{'reacted': True}", "{}"))
    machine.write(a=CHANGED + BOXED.format(result=False, skip=False))
    assert machine.results("sls", "a", code=2)["r"]["result"] is False


HINDERED = """
from runner.api import Plan, StateFailed
def made(name: str, hindered: bool):
    'Of a tree.'
    yield Plan({'x': 'y'}, 'to be made')
    raise StateFailed('no program', {}, missing=('file', '/none') if hindered else None)
"""


@pytest.mark.parametrize(("hindered", "left"), [(True, []), (False, [("watch", "r", "c")])])
def test_what_could_not_even_begin_owes_no_reaction(
    machine: Machine, hindered: bool, left: list[Any]
) -> None:
    (machine.folder / "states/_states").mkdir()
    (machine.folder / "states/_states/box.py").write_text(HINDERED)
    source = f"c: {{box.made: [hindered: {hindered}]}}\n"
    machine.write(a=source + reactor("watch").replace("test: c", "box: c"))
    machine("sls", "a", code=2)
    assert pending(machine) == left


DYING = """
import os
def made(name):
    'Of a tree.'
    if not __opts__['test']:
        os.kill(os.getpid(), 9)
    return {'name': name, 'result': None, 'comment': '', 'changes': {'x': 'y'}}
"""


def test_a_reaction_is_written_down_before_a_function_of_the_tree_changes_anything(
    machine: Machine,
) -> None:
    (machine.folder / "states/_states").mkdir()
    (machine.folder / "states/_states/box.py").write_text(DYING)
    machine.write(a="c: {box.made: []}\n" + reactor("watch").replace("test: c", "box: c"))
    machine("sls", "a", "--test")
    assert pending(machine) == []
    machine("sls", "a", code=-9)
    assert pending(machine) == [("watch", "r", "c")]


def test_what_has_run_listens_to_what_comes_after_it(machine: Machine) -> None:
    (machine.folder / "states/_states").mkdir()
    (machine.folder / "states/_states/box.py").write_text(DYING)
    machine.write(a=reactor("listen") + CHANGED + "k: {box.made: []}\n")
    machine("sls", "a", code=-9)
    assert pending(machine) == [("listen", "r", "c")]


ODD = """
def made(name):
    'As a tree has them.'
    return {'name': name, 'result': True, 'comment': 5, 'changes': {1: {2}, name: Exception}}
"""


def test_what_a_state_of_a_tree_returns_is_shown_in_all_events(machine: Machine) -> None:
    (machine.folder / "states/_states").mkdir()
    (machine.folder / "states/_states/odd.py").write_text(ODD)
    machine.write(a="x: {odd.made: []}\n" + CHANGED)
    path = machine.folder / "events"
    machine("sls", "a", "--events", str(path))
    events = [json.loads(line) for line in path.read_text().splitlines()]
    names = [each["event"] for each in events if each["event"].startswith("state")]
    finished, planned = ["state_started", "state_finished"], "state_planned"
    assert names == [*finished, finished[0], planned, finished[1]]
    odd = next(each for each in events if each["event"] == "state_finished")
    assert (odd["comment"], odd["changes"]) == ("5", {"1": [2], "x": "<class 'Exception'>"})


def test_listeners_of_an_sls_come_by_the_first_that_is_heard_or_due(
    machine: Machine,
) -> None:
    flag = machine.folder / "flag"
    machine.write(
        a="include: [b]\nquiet: {test.nop: [listen_in: [{sls: b}]]}\n"
        "between: {test.succeed_with_changes: [listen: [loud]]}\n"
        "loud: {test.succeed_with_changes: [listen_in: [{sls: b}]]}\n",
        b=f"one: {{cmd.wait: [name: 'test -e {flag}', order: last]}}\n"
        "two: {test.nop: [order: last]}\n",
    )

    def listeners(*words: str, code: int = 0) -> list[str]:
        answer = machine.results("sls", "a", *words, code=code)
        ran = sorted(answer.values(), key=lambda result: result["__run_num__"])
        ids = (result["__id__"] for result in ran)
        return [each.removeprefix("listener_") for each in ids if each.startswith("listener_")]

    assert listeners("--test") == ["between", "one", "two"]  # nothing is pending
    assert listeners(code=2) == ["one", "two", "between"]
    flag.touch()
    assert listeners("--test") == ["one", "between", "two"]
    assert listeners() == ["one", "two", "between"]


def file_reacts_to_file(kind: str) -> dict[str, str]:
    """Two SLS files of two states; all of `react` react to all of `change`. The second state of
    either kills the run instead of doing its work, as long as there is a file of its name.
    """
    function = "run" if kind == "onchanges" else "wait"
    asks = "change" if kind.endswith("_in") else "react"
    other = "react" if asks == "change" else "change"
    files = {other: "", asks: f"include: [{other}]\n"}
    for number in range(4):
        name = "react" if number > 1 else "change"
        dies = f"if test -e {{tmp}}/x{number}; then kill -9 $PPID; exit; fi"
        work = [f"name: '{dies}; echo {number} >> {{tmp}}/log'", f"order: {number + 1}"]
        work += [f"{kind}: [sls: {other}]"] if name == asks else []
        work += [f"unless: grep -sq {number} {{tmp}}/log"] if name == "change" else []
        state = f"cmd.{function if name == 'react' else 'run'}"
        files[name] += f"x{number}: {{{state}: [{', '.join(work)}]}}\n"
    return files


@pytest.mark.parametrize("kind", ["watch", "watch_any", "onchanges", "listen", "listen_in"])
@pytest.mark.parametrize(
    ("ends", "done", "owing"),
    [("x1", "0", ["x2", "x3"]), ("x3", "012", ["x3"]), ("--only", "01", ["x2", "x3"])],
)
def test_reactions_to_whole_files_are_done_once_whenever_a_run_ends(
    machine: Machine, kind: str, ends: str, done: str, owing: list[str]
) -> None:
    machine.write(**file_reacts_to_file(kind))
    name = "change" if kind.endswith("_in") else "react"
    if ends == "--only":
        machine("sls", name, "--only", "x[01]")
    else:
        (machine.folder / ends).touch()
        machine("sls", name, code=-9)
        (machine.folder / ends).unlink()
    assert "".join((machine.folder / "log").read_text().split()) == done
    reaction = kind.split("_")[0]
    assert set(pending(machine)) == {(reaction, r, "x0, x1") for r in owing}
    machine("sls", name)
    assert "".join((machine.folder / "log").read_text().split()) == "0123"
    assert pending(machine) == []


def many(function: str, more: str = "") -> str:
    """The SLS `many`: 25 states."""
    return "".join(f"u{n:02}: {{test.{function}: [{more}]}}\n" for n in range(25))


@pytest.mark.parametrize(
    ("states", "reactor", "said"),
    [
        (
            many("fail_without_changes"),
            "test.nop: [require: [sls: many]]",
            "One or more requisite failed: many.u00, many.u01, ",
        ),
        (
            many("succeed_with_changes", "noop: true"),
            "cmd.wait: [name: 'true', watch: [sls: many]]",
            "It would have reacted to a change of test: u00, test: u01, ",
        ),
        (
            many("succeed_with_changes"),
            "cmd.wait: [name: 'true', watch: [sls: many]]",
            ", because test: u00, test: u01, ",
        ),
    ],
)
def test_a_sentence_names_a_few_of_very_many_states(
    machine: Machine, states: str, reactor: str, said: str
) -> None:
    machine.write(many=states, a=f"include: [many]\nr: {{{reactor}}}\n")
    result = machine.results("sls", "a", code=2 if "fail" in states else 0)["r"]
    text = result["comment"] + machine("history", "show", "last").stdout
    if "because" in said:
        text = machine("sls", "a").stdout
    assert said in text and " and 5 more" in text
    assert "u19" in text and "u20" not in text.partition(said)[2].partition("\n")[0]


def test_a_dry_run_reports_a_few_of_very_many_pending_reactions(machine: Machine) -> None:
    reactor = "r: {cmd.wait: [name: 'true', watch: [sls: many]]}\n"
    machine.write(many=many("succeed_with_changes"), a=f"include: [many]\n{reactor}")
    machine("sls", "a", "--exclude", "r")
    owed = machine.results("sls", "a", "--test")["r"]["__owed__"]
    assert len(owed) == 1 and owed[0].startswith("watch of test: u00, test: u01, ")
    assert ", test: u19 and 5 more since " in owed[0]
    machine("sls", "a")
    assert pending(machine) == []


def test_many_pending_reactions_to_many_states_stay_few_rows(machine: Machine) -> None:
    """What a run leaves pending takes no more room in the next one, nor where it is told."""
    reactors = "".join(
        f"r{n}: {{cmd.wait: [name: 'true', watch: [sls: many]]}}\n" for n in range(40)
    )
    machine.write(many=many("succeed_with_changes"), a=f"include: [many]\n{reactors}")
    metrics, reports = machine.folder / "metrics", machine.folder / "reports"
    reports.mkdir()
    machine.config |= {"prometheus_textfile": str(metrics), "report": {"to": f"file:{reports}"}}
    for _ in range(3):
        machine("sls", "a", "--exclude", "r*")
    with closing(sqlite3.connect(machine.folder / "cache/state/debts.sqlite")) as database:
        tables = ("debts", "reactors", "changes")
        rows = [database.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in tables]
    assert rows == [0, 80, 50]  # of the first run, and of the last
    answer = machine.answer("show", "pending")
    assert [each["reactor"].split("_|-")[1] for each in answer] == [f"r{n}" for n in range(40)]
    assert {each["sources"][-22:] for each in answer} == {", test: u19 and 5 more"}
    assert [json.loads(each.read_text())["pending_reactions"] for each in reports.iterdir()] == (
        [answer] * 3
    )
    assert "\nrunner_pending_reactions 40\n" in metrics.read_text()
    assert "\n40 forgotten." in machine("forget", "--all").stdout


NEVER = """
r: {{cmd.wait: [name: 'test -e {{tmp}}/well', watch: [test: c], onfail: [test: left]{more}]}}
left: {{test.fail_without_changes: []}}
"""


@pytest.mark.parametrize(
    ("more", "left"), [("", [("watch", "r", "c")]), (", onchanges: [test: c]", [])]
)
def test_what_is_kept_from_running_by_more_than_a_choice_is_settled(
    machine: Machine, more: str, left: list[Any]
) -> None:
    machine.write(a=CHANGED + reactor("watch"))
    machine("sls", "a", code=2)
    machine.write(a=SAME + NEVER.format(more=more))
    machine("sls", "a", "--exclude", "left")
    assert pending(machine) == left


@pytest.mark.parametrize(
    ("kind", "result", "is_owed"),
    [
        ("watch", True, False),
        ("onchanges", True, False),
        ("listen", True, True),
        ("watch", False, True),
    ],
)
def test_a_change_that_sets_nothing_off_owes_nothing_to_who_is_left_out(
    machine: Machine, kind: str, result: bool, is_owed: bool
) -> None:
    (machine.folder / "states/_states").mkdir()
    (machine.folder / "states/_states/quiet.py").write_text(
        f"def made(name):\n    return {{'name': name, 'result': {result}, 'comment': '',"
        " 'changes': {'a': 1}, 'skip_req': True}\n"
    )
    tree = reactor(kind).replace("[test: c]", "[quiet: c]")
    machine.write(a="c: {quiet.made: []}\n" + tree)
    machine("sls", "a", "--only", "c", code=None)
    assert pending(machine) == [(kind, "r", "c")] * is_owed


def test_a_state_of_several_names_is_one_reason(machine: Machine) -> None:
    machine.write(
        t="f: {file.managed: [names: [{tmp}/a, {tmp}/b], contents: x]}\n"
        "r: {cmd.wait: [name: 'true', watch: [file: f]]}\n"
    )
    assert "because file: f changed" in machine("sls", "t").stdout
