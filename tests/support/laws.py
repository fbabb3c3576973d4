# SPDX-License-Identifier: Apache-2.0
"""Scenarios for the three laws: each state function says here how it is tried; tests/test_laws.py
runs them all.
"""

from __future__ import annotations

import importlib.util
import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from runner.cli.running.values import arguments_of

# what is sampled otherwise is tried as a whole; what is chosen then is always the same
EVERYTHING = os.environ.get("RUNNER_LAWS") == "all"


# what states run that have no stand-in here
PROGRAMS = {"git.*": "git", "gpg.*": "gpg", "file.patch": "patch", "redis.slaveof": "ip"}


def nothing(_: Path) -> None:
    """No preparation."""


@dataclass(frozen=True)
class Scenario:
    """One way to use a state function.

    function: "file.absent", with arguments behind it as one types them for `runner single`:
    "file.absent name={tmp}/x". args: further ones; `{tmp}` in strings becomes the scenario's own
    folder. setup: prepares the folder. plans: whether the look has something to change; none that
    fails has. fails: part of the message of a failure that is expected (dry and real alike).
    breaks: part of the message of one that only the real run can meet. machine: needs the
    throw-away machine (root); setup is then a shell script in `prepare`. layer: what that machine
    has (debian_layer.LAYERS). converges: False for functions in their module's NON_IDEMPOTENT.
    stays: what the scenario itself needs of the folder, such as the files of its server; all else
    may be only planned. after: states that make what this one needs: on a machine a look behind
    their plans says what one behind their changes says. offline: the machine, which no init has
    started, is taken for what it is (`offline: true`).
    """

    function: str
    args: Mapping[str, Any] = field(default_factory=dict)
    setup: Callable[[Path], None] = nothing
    plans: bool = True
    fails: str | None = None
    breaks: str | None = None
    machine: bool = False
    layer: str = "base"
    prepare: str = ""
    converges: bool = True
    stays: Sequence[str] = ()
    after: Sequence[tuple[str, Mapping[str, Any]]] = ()
    offline: bool = False

    def __post_init__(self) -> None:
        function, typed = as_typed(self.function)
        for name, value in (
            ("function", function),
            ("args", {**self.args, **typed}),
            ("plans", self.plans and not self.fails),
        ):
            object.__setattr__(self, name, value)

    def begin(self, tmp: Path) -> None:
        """Prepare the folder; skip the test where this machine lacks the program of the state."""
        from needing import require  # scenarios are tried without pytest, too

        for functions, program in PROGRAMS.items():
            if fnmatchcase(self.function, functions):
                require(program)
        self.setup(tmp)

    def arguments(self, tmp: Path) -> dict[str, Any]:
        """The arguments with `{tmp}` filled in."""
        return {key: _fill(value, str(tmp)) for key, value in self.args.items()}


def as_typed(line: str) -> tuple[str, dict[str, Any]]:
    """A function, and the arguments that are typed behind it."""
    function, *words = shlex.split(line)
    positional, named = arguments_of(words)
    assert not positional, f"{line}: {positional}"
    return function, named


# after and offline are arguments of functions, too
_OF_SCENARIO = set("plans fails breaks machine layer prepare converges stays".split())


def scenario(function: str, setup: Callable[[Path], None] = nothing, /, **given: Any) -> Scenario:
    """A scenario of what a helper was given: what Scenario has (`plans`, `fails`, ...), and all
    else as the arguments of the function.
    """
    own = {name: given.pop(name) for name in _OF_SCENARIO & given.keys()}
    return Scenario(function, given, setup, **own)


def in_folder(
    prefix: str = "", usual: Callable[[Path], None] = nothing, **common: Any
) -> Callable[..., Scenario]:
    """Return what makes scenarios in a folder: `on("present", prepared, name="{tmp}/x")`.

    prefix: of the functions' names. usual: what prepares the folder where a scenario does not say
    it. common: what all have.
    """

    def on(function: str, /, setup: Callable[[Path], None] = usual, **given: Any) -> Scenario:
        return scenario(prefix + function, setup, **{**common, **given})

    return on


def on_machine(
    prefix: str = "",
    usual: str = "",
    *,
    before: str = "",
    again: str = "",
    offline: bool = False,
    **common: Any,
) -> Callable[..., Scenario]:
    """Return what makes scenarios on the machine: `on("present", "touch /x", name="/x")`.

    prefix: of the functions' names (`mysql_`), or of those without a module (`ipset.`). usual: what
    prepares the machine where a scenario does not say it; before: what does in any case. again: the
    argument with which a function does it in each run. offline: as of Scenario. common: what all
    have.
    """

    def on(function: str, /, prepare: str = usual, **given: Any) -> Scenario:
        function, typed = as_typed(function)
        whole = prefix.endswith(".") and "." in function
        given = {**common, **given, **typed}
        if again:
            given["converges"] = not given.get(again)
        name = function if whole else prefix + function
        made = scenario(name, machine=True, prepare=before + prepare, **given)
        return replace(made, offline=offline)

    return on


def offline_too(scenarios: Sequence[Scenario], keep: str) -> list[Scenario]:
    """The first scenario of each function that has something to do, and the first that has not, for
    a system that does not run. keep: has its files hold what was prepared, and nothing in force.
    """
    first = {(each.function, each.plans): each for each in reversed(scenarios) if not each.fails}
    return [
        replace(each, offline=True, prepare=f"{each.prepare}\n{keep}") for each in first.values()
    ]


def _fill(value: Any, tmp: str) -> Any:
    if isinstance(value, str):
        return value.replace("{tmp}", tmp)
    if isinstance(value, list):
        return [_fill(item, tmp) for item in value]
    if isinstance(value, dict):
        return {_fill(key, tmp): _fill(item, tmp) for key, item in value.items()}
    return value


def all_scenarios() -> list[Scenario]:
    """Those of every file in tests/laws, in the order of the files' names."""
    found: list[Scenario] = []
    for path in sorted((Path(__file__).parent.parent / "laws").glob("*.py")):
        spec = importlib.util.spec_from_file_location(f"laws_{path.stem}", path)
        assert spec and spec.loader
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        found += module.SCENARIOS
    return found


def machine_scenarios() -> list[Scenario]:
    """Those that need the throw-away machine."""
    return [scenario for scenario in all_scenarios() if scenario.machine]
