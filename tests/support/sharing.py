# SPDX-License-Identifier: Apache-2.0
"""The real run of a scenario as the engine has it: where states share a commit it is in one, behind
files that wait for their names.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from harness import HarnessHere, apply
from laws import Scenario

from modules import file
from runner.api import Done, changes_allowed, running
from runner.engine.bind import Binder
from runner.engine.loader.registry import Registry
from runner.engine.shared_commit import SharedCommit
from runner.engine.step import RunPlan, Step
from runner.language.arguments.schema import schema_of
from runner.model.chunk import NO_EDGES, NOWHERE, Chunk, Relations
from runner.model.result import Result
from runner.sources.config.options import Options
from runner.support.files.group_commit import GROUP_COMMIT
from runner.support.redaction import Secrets

REGISTRY = Registry({})
IT, OTHER = 0, 1  # the positions of the state, and of those whose files wait


def may_share(function: str) -> Collection[str] | None:
    """The arguments with which a state may share a commit; None where it never does."""
    found, name = REGISTRY.state(function), function.partition(".")[2]
    if name in (found.hook("WRITES_MANY") or ()):
        return schema_of(found.function).names
    words = (found.hook("ABOUT_ONE_FILE") or {}).get(name)
    return None if words is None else words.split()


def shares(scenario: Scenario) -> bool:
    """Return whether its arguments let it share a commit."""
    arguments = may_share(scenario.function)
    return arguments is not None and scenario.args.keys() <= {"name", *arguments}


def step_of(scenario: Scenario, given: Mapping[str, Any]) -> Step:
    """The scenario as a step of a run."""
    state, _, fun = scenario.function.partition(".")
    arguments = {key: value for key, value in given.items() if key != "name"}
    name = str(given["name"])
    low = {"state": state, "fun": fun, "__id__": "it", **given}
    chunk = Chunk(state, fun, "it", name, 0, "laws", "base", arguments, low, (), NOWHERE)
    steps, _ = Binder(REGISTRY, Secrets(), Options(), lambda *_: True).steps([chunk])
    return steps[0]


def apply_as_engine(
    scenario: Scenario,
    tmp: Path | None,
    arguments: Mapping[str, Any],
    current: HarnessHere,
    alone: bool = False,
) -> Done:
    """As `apply`. tmp: the scenario's own folder. arguments: converted. alone: nothing waits
    before it.
    """
    given = {"name": "thing", **scenario.args}
    if tmp is not None:
        given = {"name": str(tmp / "thing"), **scenario.arguments(tmp)}
    function = REGISTRY.state(scenario.function).function
    if not shares(scenario):
        return apply(function, **arguments, current=current)
    step = step_of(scenario, given)
    plan = RunPlan((step,), Relations({}), (IT,))
    shared = SharedCommit(plan, False, lambda chunk: running(current))
    path = shared.file_of(IT)
    if not shared.takes(IT, path):
        return apply(function, **arguments, current=current)
    if not alone:
        have_wait(_that_may_wait(scenario, tmp, path))
    shared.keep(OTHER, Result(step.chunk, True, ""))
    if not shared.admits(IT, NO_EDGES):
        commit()
    try:
        with GROUP_COMMIT.collecting(IT, path):
            done = apply(function, **arguments, current=current)
    finally:
        lost = commit()
    assert not lost, "what waits gets its name"
    return done


def commit() -> list[str]:
    """Give what waits its names; the paths that got none."""
    GROUP_COMMIT.sync()
    lost = [*GROUP_COMMIT.finish(IT), *GROUP_COMMIT.finish(OTHER)]
    GROUP_COMMIT.finish_all()
    return lost


def _that_may_wait(scenario: Scenario, tmp: Path | None, path: str) -> Collection[str]:
    """The file that a state is about; where that is not there yet, or the state has nothing to do,
    all files of its folder that no program and no file root has.
    """
    own = [path] if path and os.path.lexists(path) else []
    if tmp is None or (own and scenario.plans):
        return own
    stay = [*os.get_exec_path(), *(str(tmp / name) for name in ("tree", *scenario.stays))]
    found = [os.path.join(root, name) for root, _, names in os.walk(tmp) for name in names]
    return [each for each in found if not any(f"{each}/".startswith(f"{top}/") for top in stay)]


def have_wait(paths: Collection[str]) -> None:
    """Have files wait for their names, as if a state before had just written them: what has the
    name until then is nothing.
    """
    with running(HarnessHere()), changes_allowed():
        for path in paths:
            at = os.lstat(path)
            if not stat.S_ISREG(at.st_mode) or at.st_nlink > 1:
                continue
            with GROUP_COMMIT.collecting(OTHER, path):
                file.write(path, Path(path).read_bytes())
                if GROUP_COMMIT.is_own(path):
                    os.utime(GROUP_COMMIT.at_present(path), ns=(at.st_atime_ns, at.st_mtime_ns))
                    os.unlink(path)
