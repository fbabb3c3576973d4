# SPDX-License-Identifier: Apache-2.0
"""A scenario of the laws, tried: what a dry run and a real run say of it, and what is wrong with
that.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from harness import HarnessHere, foresee, look
from law_table import LAWS
from laws import Scenario
from sharing import REGISTRY as REGISTRY
from sharing import apply_as_engine

from runner.api import Plan, RunnerError, StateFailed, running
from runner.engine.partial_changes import apology
from runner.engine.step import Call
from runner.language.arguments.bind import bind
from runner.model.places import Place, Untyped

EXCEPTIONS = [
    name
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, Exception) and name.endswith(("Error", "Exit"))
]
CLASS = re.compile(rf"\b({'|'.join(EXCEPTIONS)}|StateFailed|CommandFailed|Traceback)\b")
WOULD = re.compile(r"\bwould\b")  # what a dry run says, and a real one does not
Answer = tuple[str, str]  # "fails" | "plans" | "done", and the comment
Current = Callable[[bool], HarnessHere]  # a run, dry or not


def bound(scenario: Scenario, tmp: Path | None = None) -> dict[str, Any]:
    """The scenario's arguments as the engine would hand them over. tmp: the scenario's own folder;
    without it there is none.
    """
    given = {"name": "thing", **scenario.args}
    if tmp is not None:
        given = {"name": str(tmp / "thing"), **scenario.arguments(tmp)}
    function = REGISTRY.state(scenario.function).function
    place = Place(Untyped("scenario"))
    with running(HarnessHere()):
        where = scenario.function
        found = bind(function, given, places={}, default_place=place, where=where)
        return dict(found.arguments)


def dry(scenario: Scenario, tmp: Path | None, current: Current) -> Answer:
    """As the engine finds it: the look, the module's own check, the planned machine."""
    found = REGISTRY.state(scenario.function)
    plan = look(found.function, **bound(scenario, tmp), current=current(True))
    if not isinstance(plan, Plan):
        return "done", plan.comment
    if check := found.hook("dry_run_check"):
        with running(current(True)):
            check(plan, **Call(found, bound(scenario, tmp)).own_arguments)
    foresee(found.function, **bound(scenario, tmp), current=current(True))
    return "plans", plan.comment


def real(scenario: Scenario, tmp: Path | None, current: Current) -> Answer:
    arguments = bound(scenario, tmp)
    done = apply_as_engine(scenario, tmp, arguments, current(False), alone=True)
    return "done", done.comment


def answer(way: Any, *args: Any) -> Answer:
    try:
        return way(*args)  # type: ignore[no-any-return]
    except (StateFailed, RunnerError) as failure:
        return "fails", failure.message
    except Exception as error:
        return "fails", apology(error, is_built_in=True)


def tried(scenario: Scenario, tmp: Path | None, current: Current) -> dict[str, Any]:
    """What a dry run, a real one and a second dry run say."""
    first = answer(dry, scenario, tmp, current)
    second = answer(real, scenario, tmp, current)
    third = answer(dry, scenario, tmp, current) if second[0] == "done" else ("", "")
    args = {key: repr(value)[:80] for key, value in scenario.args.items()}
    return {
        "function": scenario.function,
        "args": args,
        "dry": first,
        "real": second,
        "again": third,
        "only real": scenario.breaks is not None,
        "converges": scenario.converges,
    }


def wrong(result: dict[str, Any]) -> Iterator[str]:
    """What a scenario that may fail has to keep, and does not."""
    said = result["dry"][1] + result["real"][1]
    if CLASS.search(said) or "a mistake of runner" in said:
        yield "what Python says is no comment"
    if result["real"][0] == "done" and WOULD.search(result["real"][1]):
        yield "a real run says what it did, not what it would do"
    fails = {result[run][0] == "fails" for run in ("dry", "real")}
    if len(fails) == 2 and not result["only real"] and LAWS["alike"].holds(result["function"]):
        yield "a dry run says what the real run is denied"
    again = result["again"][0] == "plans" and result["converges"]
    if again and LAWS["repeated"].holds(result["function"]):
        yield "a second run has nothing to do"
