# SPDX-License-Identifier: Apache-2.0
"""A scenario of the laws as a user has it: an SLS, run by the command line."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from command import Machine
from laws import Scenario
from prestarted import STARTS


def as_sls(scenario: Scenario, tmp: Path, behind: Mapping[str, Any] | None = None) -> str:
    """The scenario as the state `it` of an SLS. behind: a state that it requires. Raises TypeError
    for what no SLS can say.
    """
    arguments = {"name": str(tmp / "thing"), **scenario.arguments(tmp)}
    if scenario.function == "module.run" and "name" not in scenario.args:
        del arguments["name"]
    body = [{key: value} for key, value in arguments.items()]
    states: dict[str, Any] = {"it": {scenario.function: body}}
    if behind:
        body.append({"require": [{name.partition(".")[0]: "behind"} for name in behind]})
        states = {"behind": behind, **states}
    return "#!json\n" + json.dumps(states)


def can_be_said(scenario: Scenario) -> bool:
    """Whether an SLS of this state alone can say it."""
    if scenario.function == "file.accumulated":  # fails without the state that it is for
        return False
    try:
        as_sls(scenario, Path("/tmp"))
    except TypeError:  # a function of Python's, a class
        return False
    return True


def snapshot(folder: Path, times: bool = False) -> dict[str, Any]:
    """Everything below a folder that a state could change. times: when it was changed, too."""
    found: dict[str, Any] = {}
    for root, folders, files in os.walk(folder):
        for name in [*folders, *files]:
            path = os.path.join(root, name)
            stat = os.lstat(path)
            content: Any = os.readlink(path) if os.path.islink(path) else None
            if content is None and os.path.isfile(path):
                content = Path(path).read_bytes()
            moment = stat.st_mtime_ns if times else None
            found[path] = (stat.st_mode, stat.st_uid, stat.st_gid, moment, content)
    return found


class Trial(Machine):
    """A scenario in its own folder, and runner beside it."""

    def __init__(
        self, scenario: Scenario, tmp: Path, behind: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(tmp.with_name(f"{tmp.name}-own"))
        root = tmp / "tree" if (tmp / "tree").is_dir() else tmp
        self.config["file_roots"] = {"base": [str(self.folder / "states"), str(root)]}
        self.config_file = root / "runner.yaml"  # the grains lie beside it
        inherited = {key: value for key, value in os.environ.items() if not key.startswith(STARTS)}
        self.environment = {**inherited, **self.environment, "PATH": os.environ["PATH"]}
        self.write(scenario=as_sls(scenario, tmp, behind))
        self.argv()

    def run(self, *words: str) -> dict[str, Any]:
        """The result of the state."""
        result = self.results("sls", "scenario", *words, code=None)["it"]
        assert isinstance(result, dict)
        return result

    def undo(self, *words: str) -> tuple[list[dict[str, Any]], list[str]]:
        """The steps of an undo, and what it says that it does not bring back."""
        answer = json.loads(self("undo", "--out", "json", *words, code=None).stdout)["local"]
        if isinstance(answer, list):  # of a run that it restores nothing of
            return [], answer
        refused = [step["refused"] for step in answer["steps"] if step["refused"]]
        return answer["steps"], [*refused, *answer["unknown"]]
