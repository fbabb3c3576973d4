# SPDX-License-Identifier: Apache-2.0
"""The three laws, for every state function in the registry.

1. A dry run changes nothing. 2. What a sure Plan says is what the real run reports. 3. A second run
plans nothing. And a dry run says the same of what states before it would make as of what is there;
what writes a file has `validate`, and what that refuses changes nothing.
"""

from __future__ import annotations

import errno
import inspect
import os
import random
import re
import shutil
import stat
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from carried_out import Trial, can_be_said, snapshot
from harness import HarnessHere, apply, foresee, look
from law_table import LAWS, is_good, is_idle, is_slow, sampled
from laws import EVERYTHING, Scenario, all_scenarios
from needing import is_root
from sharing import apply_as_engine, may_share, shares
from trying import REGISTRY, WOULD, bound
from validation import WITHOUT, is_excepted, refused, takes_validate, wrote

from modules._planned.dry_run import PlannedOverlay
from modules._planned.view import View, planned_view
from modules.file._contents.copy import copy_place
from modules.file._contents.write import Owner
from modules.file._paths.place import place
from runner.api import CommandFailed, Plan, StateFailed, running
from runner.api.planning import changes_planned
from runner.engine.made import takes_away
from runner.engine.step import Call
from runner.language.arguments.schema import Parameter, schema_of

ALL = all_scenarios()
HERE = [scenario for scenario in ALL if not scenario.machine]
# the first one of each file in states/, for the fast part of the tests
FIRST = list({each.function.split(".")[0]: each for each in reversed(HERE)}.values())
# what takes seconds
LONG = [each for each in HERE if is_slow(each)]
MORE = [each for each in HERE if each not in FIRST and each not in LONG]
MORE += [LONG[number] for number in sampled(LONG) if LONG[number] not in FIRST]


def functions() -> list[str]:
    return [
        f"{module}.{name}"
        for module in REGISTRY.state_modules()
        for name in REGISTRY.state_functions(module)
    ]


LOOKS: dict[str, dict[str, Any]] = {
    "file.exists": {},
    "file.absent": {},
    "file.directory": {},
    "file.managed": {"contents": "other", "mode": "0604"},
    "file.append": {"text": "more"},
    "file.replace": {"pattern": "[aeiou]", "repl": "x"},
    "file.symlink": {"target": "/target"},
    "file.copy": {"source": "{path}", "name": "{path}.copy"},
}


def looks_at(path: str, current: HarnessHere) -> dict[str, Any]:
    """Return what each function of files says of a path."""
    found = {}
    for name, given in LOOKS.items():
        arguments = {
            key: value.replace("{path}", path) if isinstance(value, str) else value
            for key, value in {"name": path, **given}.items()
        }
        scenario = Scenario(name, arguments)
        try:
            outcome = look(
                REGISTRY.state(name).function, **bound(scenario, Path(path)), current=current
            )
            changes = {  # in the order that a folder lists them
                key: sorted(value) if isinstance(value, list) else value
                for key, value in (outcome.changes or {}).items()
            }
            found[name] = (changes, outcome.comment)
        except StateFailed as failure:
            found[name] = failure.message
    return found


def _without_folder_times(folder: Path) -> dict[str, Any]:
    """As snapshot; a check_cmd of file.managed has a temporary file in its tmp_dir."""
    found = snapshot(folder, times=True).items()
    return {path: at if at[4] is not None else at[:3] for path, at in found}


OWNS_NONE = {
    "file.pruned": "what is not empty stays, so that what makes things in it is content",
    "file.rename": "its source is another state's to begin with",
    "pip.installed": "a log",
}


def not_owned(scenario: Scenario, tmp: Path, before: dict[str, Any]) -> list[str]:
    """The paths among the arguments that a state changed and does not say to own (`owns`), so that
    `runner check` would not see another state that changes them.
    """
    function = REGISTRY.state(scenario.function)
    if scenario.function in OWNS_NONE or not scenario.plans:
        return []
    after = snapshot(tmp, times=True)
    given = {"name": str(tmp / "thing"), **scenario.arguments(tmp)}
    paths = {value.rstrip("/") for value in given.values() if isinstance(value, str)}
    contents = {path: (before.get(path), after.get(path)) for path in paths}
    changed = {
        path
        for path, (old, new) in contents.items()
        if (old is None) != (new is None) or (old and new and old[-1] != new[-1])
    }
    owns = function.hook("owns")
    owned = owns(fun=scenario.function.partition(".")[2], **given) if owns else ()
    return sorted(changed - {claim.thing for claim in owned})


def names(scenario: Scenario) -> str:
    return f"{scenario.function}-{'-'.join(scenario.args)}"[:80]


@pytest.fixture(autouse=True)
def own_environment() -> Iterator[None]:
    """A setup may put programs on PATH, for its own scenario."""
    with patch.dict(os.environ):
        yield


@pytest.mark.parametrize("scenario", FIRST, ids=names)
def test_laws_of_first_scenarios(scenario: Scenario, tmp_path: Path) -> None:
    with skipping_what_needs_root():
        hold_laws(scenario, tmp_path)


@pytest.mark.parametrize("scenario", MORE, ids=names)
def test_laws(scenario: Scenario, tmp_path: Path) -> None:
    with skipping_what_needs_root():
        hold_laws(scenario, tmp_path)


@contextmanager
def skipping_what_needs_root() -> Iterator[None]:
    """Skip a scenario that gives files away or runs programs as somebody else, unless by root."""
    try:
        yield
    except (OSError, StateFailed, CommandFailed) as problem:
        if needs_root(problem):
            pytest.skip(f"needs root: {problem}")
        raise


def needs_root(problem: Exception) -> bool:
    """Return whether only root may do what a plain user was refused."""
    words = map(os.strerror, (errno.EPERM, errno.EACCES))
    return not is_root() and any(each in str(problem) for each in words)


def hold_laws(scenario: Scenario, tmp_path: Path) -> None:
    """Fail where a state does not hold the laws."""
    scenario.begin(tmp_path)
    function = REGISTRY.state(scenario.function).function
    arguments = bound(scenario, tmp_path)
    see_behind_a_plan(scenario, tmp_path)
    root = tmp_path if (tmp_path / "tree").is_dir() is False else tmp_path / "tree"
    before, still = snapshot(tmp_path, times=True), _without_folder_times(tmp_path)

    if scenario.fails is not None:
        with pytest.raises(StateFailed) as dry:
            look(function, **arguments, current=HarnessHere(root, dry=True))
        assert scenario.fails in dry.value.message
        assert snapshot(tmp_path, times=True) == before, "a dry run changes nothing"
        with pytest.raises(StateFailed) as failed:
            apply(function, **arguments, current=HarnessHere(root))
        assert scenario.fails in failed.value.message
        return

    plan = look(function, **arguments, current=HarnessHere(root, dry=True))
    assert snapshot(tmp_path, times=True) == before, "a dry run changes nothing"
    assert isinstance(plan, Plan) is scenario.plans, plan
    if scenario.breaks is not None:
        with pytest.raises(StateFailed) as broken:
            apply(function, **arguments, current=HarnessHere(root))
        assert scenario.breaks in broken.value.message
        return
    planned = HarnessHere(root, dry=True)
    foreseen = foresee(function, **bound(scenario, tmp_path), current=planned)
    assert snapshot(tmp_path, times=True) == before, "a dry run changes nothing"
    path = arguments.get("name")
    has_path = isinstance(path, str) and path.startswith(str(tmp_path))
    seen = foreseen and has_path and not scenario.function.startswith("x509.")  # at random
    expected = looks_at(path, planned) if seen else {}
    if foreseen and scenario.converges:
        converges_on(planned, scenario, tmp_path)
    refusal = refused(
        function,
        bound(scenario, tmp_path),
        lambda dry: HarnessHere(root, dry),
        lambda: _without_folder_times(tmp_path),
    )
    real = HarnessHere(root)
    done = apply_as_engine(scenario, tmp_path, arguments, real)
    assert not WOULD.search(done.comment), f"it was done: {done.comment}"
    assert refusal or is_excepted(scenario.function) or not wrote(real), (
        "what writes a file asks `validate` first"
    )
    if expected:
        assert looks_at(path, HarnessHere(root, dry=True)) == expected, (
            "a look sees the same after the plan and after the change"
        )
    unsaid = not_owned(scenario, tmp_path, before)
    assert unsaid == [], "`owns` of the module has to yield these (runner/api/claims.py)"
    if isinstance(plan, Plan) and plan.exact:
        assert set(plan.changes) == set(done.changes or {}), (
            "the keys of a sure Plan are those of the real run"
        )
    if not isinstance(plan, Plan):
        assert _without_folder_times(tmp_path) == still, (
            "a state that plans nothing changes nothing"
        )
    if scenario.converges:
        again = look(function, **arguments, current=HarnessHere(root, dry=True))
        assert not isinstance(again, Plan), f"a second run plans nothing, not {again}"


RIGHTS = {"user": str(os.geteuid()), "group": os.getegid(), "mode": "0710", "file_mode": "0710"}


def with_rights(scenario: Scenario) -> Scenario:
    """The same with all the rights that it may be given where it shares a commit."""
    arguments = may_share(scenario.function) or ()
    rights = {key: value for key, value in RIGHTS.items() if key in arguments}
    if "file_mode" in rights:  # `mode` means something else there
        rights.pop("mode", None)
    return replace(scenario, args={**rights, **scenario.args})


SHARING = [each for each in HERE if is_good(each) and shares(each)]
WITH_RIGHTS = [full for each in SHARING if (full := with_rights(each)) != each]


@pytest.mark.parametrize("scenario", WITH_RIGHTS, ids=names)
def test_what_shares_a_commit_gets_its_rights(scenario: Scenario, tmp_path: Path) -> None:
    """Whatever else the state is told, and whether its file waits for its name."""
    scenario.begin(tmp_path)
    root = tmp_path / "tree" if (tmp_path / "tree").is_dir() else tmp_path
    arguments = bound(scenario, tmp_path)
    function = REGISTRY.state(scenario.function).function
    plan = look(function, **arguments, current=HarnessHere(root, dry=True))
    with skipping_what_needs_root():
        done = apply_as_engine(scenario, tmp_path, arguments, HarnessHere(root))
    assert isinstance(plan, Plan) and plan.changes.keys() == (done.changes or {}).keys()
    again = look(function, **arguments, current=HarnessHere(root, dry=True))
    assert not isinstance(again, Plan) or not scenario.converges, again


def test_what_may_share_a_commit_is_tried_in_one() -> None:
    tried = {each.function for each in ALL if is_good(each) and shares(each)}
    assert {each for each in functions() if may_share(each) is not None} == tried


def converges_on(planned: HarnessHere, scenario: Scenario, tmp_path: Path) -> None:
    """Fail where a state has something to do behind its own plan."""
    function = REGISTRY.state(scenario.function).function
    with noting_views() as views:
        try:
            again = look(function, **bound(scenario, tmp_path), current=planned)
        except CommandFailed:
            assert None in views  # who may not mount has commands that do not see the plan
            return
    assert not isinstance(again, Plan), f"what a dry run foresees has converged, not {again}"


GOOD = [each for each in HERE if LAWS["undone"].tries(each) and can_be_said(each)]
OF_EACH = list({each.function: each for each in reversed(GOOD)}.values())
UNDONE = GOOD if EVERYTHING else [*OF_EACH, *random.Random(33).sample(GOOD, min(20, len(GOOD)))]


@pytest.mark.parametrize("scenario", UNDONE, ids=names)
def test_undo_brings_back_what_was_there(scenario: Scenario, tmp_path: Path) -> None:
    with skipping_what_needs_root():
        scenario.begin(tmp_path)
    trial = Trial(scenario, tmp_path)
    before = snapshot(tmp_path)
    result = trial.run()
    if not is_root() and result["result"] is False:
        pytest.skip(f"needs root: {result['comment']}")
    assert result["result"], result["comment"]
    foreseen = trial.undo("--test")
    assert trial.undo() == foreseen, "its dry run says what it does"
    if LAWS["undone"].holds(scenario.function):
        assert result["changes"] and not foreseen[1], foreseen
        assert snapshot(tmp_path) == before
    else:
        assert foreseen[1] or snapshot(tmp_path) == before, "it says what it does not bring back"


IDLE = [each for each in HERE if is_idle(each) and can_be_said(each) and not is_slow(each)]
IDLE_OF_EACH = {each.function: each for each in reversed(IDLE)}.values()
TAKES = [each for each in IDLE_OF_EACH if takes_away(each.function.partition(".")[2])]
SOME = [
    each
    for many, count in ((TAKES, 8), (IDLE, 4))
    for each in random.Random(34).sample(many, min(count, len(many)))
]
BEHIND = IDLE if EVERYTHING else SOME


@pytest.mark.parametrize("scenario", BEHIND, ids=names)
def test_what_finds_nothing_to_take_away_is_undecided_behind_what_it_requires(
    scenario: Scenario, tmp_path: Path
) -> None:
    """Behind a command of which nobody knows what it does; all else that has nothing to do stays
    decided.
    """
    with skipping_what_needs_root():
        scenario.begin(tmp_path)
    result = Trial(scenario, tmp_path, behind={"cmd.run": [{"name": "env true"}]}).run("--test")
    takes = takes_away(scenario.function.partition(".")[2])
    assert result.get("__decided_by__", "") == ("cmd: behind" if takes else ""), result
    assert result["result"] is (None if takes else True), result


def test_what_removes_what_another_makes_is_known_to_take_it_away() -> None:
    wrong = []
    for name in functions():
        module, _, own = name.partition(".")
        makes = REGISTRY.state(name).hook("OPPOSITE") or {}
        wrong += [f"{module}.{fun}" for fun in makes if fun == own and takes_away(own)]
        for opposite in makes.values():
            fun = opposite if isinstance(opposite, str) else opposite.function
            wrong += [] if takes_away(fun) else [f"{module}.{fun}"]
    assert not {*wrong}, "their names are to be in runner/engine/made.py"


def see_behind_a_plan(scenario: Scenario, tmp_path: Path) -> None:
    """Fail where a dry run says something else of what states before would make than of what is
    there.
    """
    tree, elsewhere = (tmp_path.with_name(f"{tmp_path.name}-{what}") for what in ("tree", "else"))
    top = tmp_path / "tree" if (tmp_path / "tree").is_dir() else tmp_path
    shutil.copytree(top, tree, symlinks=True, ignore=_no_sockets)
    expected = said(scenario, tmp_path, HarnessHere(tree, dry=True))
    stay = {path.partition(f"{tmp_path}/")[2].split("/")[0] for path in os.get_exec_path()}
    elsewhere.mkdir()
    for name in {*os.listdir(tmp_path)} - stay - {*scenario.stays}:
        (tmp_path / name).rename(elsewhere / name)
    planned = HarnessHere(tree, dry=True)
    with (
        running(planned),
        changes_planned(),
        place(str(elsewhere)) as old,
        place(str(tmp_path)) as new,
    ):
        copy_place(old, new, Owner(), preserve=True, special=True)
    with noting_views() as views:
        found = said(scenario, tmp_path, planned)
    # a command of who may not mount sees the machine as it is
    assert found == expected or None in views, "a look sees what is only planned"
    for name in os.listdir(elsewhere):
        (elsewhere / name).rename(tmp_path / name)


@contextmanager
def noting_views() -> Iterator[list[View | None]]:
    """The views of the planned machine that commands are given meanwhile."""
    views: list[View | None] = []

    def view(planned: PlannedOverlay) -> View | None:
        views.append(planned_view(planned))
        return views[-1]

    with patch.object(PlannedOverlay, "view", view):
        yield views


def _no_sockets(folder: str, names: list[str]) -> list[str]:
    kinds = (stat.S_ISSOCK, stat.S_ISFIFO)
    modes = {name: os.lstat(os.path.join(folder, name)).st_mode for name in names}
    return [name for name in names if any(kind(modes[name]) for kind in kinds)]


def said(scenario: Scenario, tmp: Path, current: HarnessHere) -> tuple[str, str, Any]:
    """Return what a dry run says."""
    function = REGISTRY.state(scenario.function).function
    try:
        outcome = look(function, **bound(scenario, tmp), current=current)
    except StateFailed as failure:
        if needs_root(failure):
            raise
        return (
            "fails",
            re.sub(rf"{current.cache_dir}/(scratch-\w+)?", "CACHE/", failure.message),
            None,
        )
    kind = "plans" if isinstance(outcome, Plan) else "done"
    changes = {key: each for key, each in (outcome.changes or {}).items() if key != "pid"}
    return kind, outcome.comment, changes


@pytest.mark.parametrize("name", WITHOUT)
def test_what_is_excepted_from_validate_has_none(name: str) -> None:
    named = [each for each in functions() if fnmatchcase(each, name)]
    assert named
    assert not [each for each in named if takes_validate(REGISTRY.state(each).function)]


@pytest.mark.parametrize("law", LAWS)
def test_every_function_keeps_every_law_or_the_table_says_why_not(law: str) -> None:
    tried = {scenario.function for scenario in ALL if LAWS[law].tries(scenario)}
    own = [name for name in functions() if not name.endswith(".mod_watch")]
    left_out = [name for name in own if name not in tried and LAWS[law].holds(name)]
    assert not left_out, f"write a scenario that tries it, or the reason: {LAWS[law].says}"
    assert LAWS[law].holds("new.function"), "no reason is for functions that nobody has seen"
    idle = [glob for glob in LAWS[law].without if not any(fnmatchcase(n, glob) for n in own)]
    assert not idle, "these names in the table are of no function"


def test_every_argument_is_tried() -> None:
    tried: dict[
        object, set[str]
    ] = {}  # by the function itself: one with two names is tried by either
    for scenario in ALL:
        tried.setdefault(REGISTRY.state(scenario.function).function, set()).update(scenario.args)
    untried = []
    for name in functions():
        function = REGISTRY.state(name).function
        by_decorators = function.__dict__.get("adds", {}).keys()
        wanted = schema_of(function).names - {"name"} - by_decorators
        untried += [f"{name}: {each}" for each in sorted(wanted - tried.get(function, set()))]
    assert not untried


def test_the_check_of_a_dry_run_takes_what_its_functions_take() -> None:
    wrong = []
    for name in functions():
        found = REGISTRY.state(name)
        check = found.hook("dry_run_check")
        given = Call(found, dict.fromkeys(each.name for each in _parameters(found.function)))
        try:
            if check:
                inspect.signature(check).bind(None, **given.own_arguments)
        except TypeError as problem:
            wrong.append(f"{name}: {problem}")
    assert not wrong


def _parameters(function: Callable[..., Any]) -> Collection[Parameter]:
    return schema_of(function).parameters.values()


def test_scenarios_are_of_real_functions() -> None:
    assert {scenario.function for scenario in ALL} <= set(functions())
