# SPDX-License-Identifier: Apache-2.0
"""The scenarios of the laws by a user who is not root, in a process of its own: what a dry run and
a real run say of each, a line of JSON.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from harness import HarnessHere, apply, foresee, look
from laws import Scenario, all_scenarios

from runner.api import Plan, RunnerError, StateFailed, running
from runner.engine.loader.registry import Registry
from runner.engine.partial_changes import apology
from runner.language.arguments.bind import bind
from runner.model.places import Place, Untyped

REGISTRY = Registry({})
# only this capability: the tests, and the Python that runs them, may lie in root's home
SOMEBODY = (
    "setpriv",
    "--reuid",
    "65534",
    "--regid",
    "65534",
    "--clear-groups",
    "--bounding-set",
    "-all,+dac_read_search",
    "--inh-caps",
    "+dac_read_search",
    "--ambient-caps",
    "+dac_read_search",
)
Answer = tuple[str, str]  # "fails" | "plans" | "done", and the comment


def bound(scenario: Scenario, tmp: Path) -> dict[str, Any]:
    given = {"name": str(tmp / "thing"), **scenario.arguments(tmp)}
    function = REGISTRY.state(scenario.function).function
    with running(HarnessHere()):
        where = scenario.function
        found = bind(function, given, places={}, default_place=Place(Untyped("x")), where=where)
        return dict(found.arguments)


def dry(scenario: Scenario, tmp: Path, root: Path) -> Answer:
    """As the engine finds it: the look, the module's own check, the planned machine."""
    found = REGISTRY.state(scenario.function)
    plan = look(found.function, **bound(scenario, tmp), current=HarnessHere(root, dry=True))
    if not isinstance(plan, Plan):
        return "done", plan.comment
    if check := found.hook("dry_run_check"):
        with running(HarnessHere(root, dry=True)):
            check(plan, **bound(scenario, tmp))
    foresee(found.function, **bound(scenario, tmp), current=HarnessHere(root, dry=True))
    return "plans", plan.comment


def real(scenario: Scenario, tmp: Path, root: Path) -> Answer:
    function = REGISTRY.state(scenario.function).function
    return "done", apply(function, **bound(scenario, tmp), current=HarnessHere(root)).comment


def answer(way: Any, *args: Any) -> Answer:
    try:
        return way(*args)
    except (StateFailed, RunnerError) as failure:
        return "fails", failure.message
    except Exception as error:
        return "fails", apology(error, is_built_in=True)


def tried(scenario: Scenario) -> dict[str, Any] | None:
    """Return what both runs say; None where the scenario cannot be prepared by such a user."""
    tmp = Path(tempfile.mkdtemp(prefix="somebody-"))
    environment = dict(os.environ)
    try:
        scenario.setup(tmp)
        root = tmp / "tree" if (tmp / "tree").is_dir() else tmp
        first, second = answer(dry, scenario, tmp, root), answer(real, scenario, tmp, root)
    except PermissionError:
        return None
    finally:
        os.environ.clear()
        os.environ.update(environment)
        shutil.rmtree(tmp, ignore_errors=True)
    args = {key: str(value) for key, value in scenario.args.items()}
    result = {"function": scenario.function, "args": args, "dry": first, "real": second}
    return {**result, "only real": scenario.breaks is not None}


def main(part: int, parts: int) -> None:
    """Try each scenario of a part."""
    scenarios = [each for each in all_scenarios() if not each.machine]
    for scenario in scenarios[part::parts]:
        result = tried(scenario)
        if result is not None:
            print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
