# SPDX-License-Identifier: Apache-2.0
"""What only a dry run asks and says: Plan.in_dry_run, Done.in_dry_run, planned_as."""

from __future__ import annotations

from typing import Any

import pytest
from command import Machine
from harness import HarnessHere

from runner.api import planned_as, running
from runner.api.planning import changes_planned

STATES = """
from runner.api import Done, Plan, Planned, StateFailed
from runner.api.composition import combine_plans

def wanted(name: str, answer: str = "") -> Planned:
    def ask():
        if answer == "refused":
            raise StateFailed(f"{name} will be refused")
        return {"plan": Plan({name: "exactly"}, "as asked"), "done": "all is there"}.get(answer)
    yield Plan({name: "about"}, "as it seems", in_dry_run=ask)
    return Done("made", {name: "made"})

def there(name: str) -> Done:
    return Done("is there", in_dry_run="would be there")

def several(name: str, answer: str = "") -> Planned:
    outcomes = yield from combine_plans({key: wanted(key, answer) for key in ("a", "b")})
    made = {}
    for done in outcomes.values():
        made.update(done.changes)
    return Done("both", made)
"""
CLASSIC = """
def called(name, function, **words):
    return __states__[function](name, **words)
"""


def results(machine: Machine, test: bool, **state: Any) -> tuple[Any, str, Any]:
    folder = machine.folder / "states/_states"
    folder.mkdir(exist_ok=True)
    (folder / "box.py").write_text(STATES)
    (folder / "classic.py").write_text(CLASSIC)
    (function, words), *_ = state.items()
    arguments = ", ".join(f"{key}: {value}" for key, value in words.items())
    machine.write(t=f"x:\n  {function.replace('_', '.')}: [{arguments}]\n")
    found = machine.results("sls", "t", *(["--test"] if test else []), code=None)["x"]
    return found["result"], found["comment"], found["changes"]


DRY = {
    "": (None, "as it seems", {"x": "about"}),
    "plan": (None, "as asked", {"x": "exactly"}),
    "done": (True, "all is there", {}),
    "refused": (False, "x will be refused", {}),
}


@pytest.mark.parametrize("answer", DRY)
def test_a_dry_run_goes_by_what_it_alone_asks(machine: Machine, answer: str) -> None:
    words = {"answer": repr(answer)}
    classic = {"function": "box.wanted", **words}
    assert results(machine, True, box_wanted=words) == DRY[answer]
    assert results(machine, True, classic_called=classic) == DRY[answer]
    for state in ({"box_wanted": words}, {"classic_called": classic}):
        assert results(machine, False, **state) == (True, "made", {"x": "made"})


def test_states_made_of_states_go_by_it_too(machine: Machine) -> None:
    def several(answer: str) -> Any:
        return results(machine, True, box_several={"answer": answer})

    assert several("plan")[2] == {"a": "exactly", "b": "exactly"}
    assert several("done") == (True, "both", {})
    assert several("refused")[:2] == (False, "a will be refused\nb will be refused")


def test_a_dry_run_has_comments_of_its_own(machine: Machine) -> None:
    assert results(machine, True, box_there={})[:2] == (True, "would be there")
    assert results(machine, False, box_there={})[:2] == (True, "is there")
    called = {"function": "box.there"}
    assert results(machine, True, classic_called=called)[1] == "would be there"


def test_a_stand_in_is_called_where_a_state_is_only_planned() -> None:
    @planned_as(lambda name: f"no log of {name}")
    def log(name: str) -> str:
        return "its log"

    with running(HarnessHere(dry=True)):
        assert log("x") == "its log"
        with changes_planned():
            assert log("x") == "no log of x"
