# SPDX-License-Identifier: Apache-2.0
"""`include:` of a top file, for states and for the pillar."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
import yaml
from command import Machine

from runner.language.targeting.top_includes import including
from runner.model.chunk import SlsFile
from runner.model.errors import RunnerError

MORE = {"t2": "base: {'*': [two], 'x': [three]}", "sub.t3": "dev: {'*': [four]}", "t4": "- 5"}


def whole(top: str) -> Any:
    def read(sls: str, env: str) -> SlsFile:
        return SlsFile(yaml.safe_load(MORE[sls]), f"/{sls}", False)

    return including(lambda env: yaml.safe_load(top), lambda env: list(MORE), read)("base")


@pytest.mark.parametrize(
    ("top", "found"),
    [
        (
            "include: [t2]\nbase: {'l*': [one]}",
            {"base": {"l*": ["one"], "*": ["two"], "x": ["three"]}},
        ),
        ("include: [t2]\nbase: {'*': [one]}", {"base": {"*": ["two"], "x": ["three"]}}),
        (
            "include: ['t2', '*t3']",
            {"base": {"*": ["two"], "x": ["three"]}, "dev": {"*": ["four"]}},
        ),
        ("include: [t4]\nbase: {'*': [one]}", {"base": {"*": ["one"]}}),
        ("base: {'*': [one]}", {"base": {"*": ["one"]}}),
        ("- base", ["base"]),
        ("", None),
    ],
)
def test_included_tops_are_laid_over(top: str, found: Mapping[str, Any]) -> None:
    assert whole(top) == found


@pytest.mark.parametrize(
    ("top", "told"),
    [
        ("include: t2", "is not a list"),
        ("include: [nosuch]", "'nosuch', which names no SLS in saltenv 'base'"),
        ("include: [{base: t2}]", "which names no SLS"),
    ],
)
def test_mistakes(top: str, told: str) -> None:
    with pytest.raises(RunnerError, match=told):
        whole(top)


def test_with_the_command_line(machine: Machine) -> None:
    machine.write(
        top="include:\n  - tops.t2\nbase:\n  'm*':\n    - one\n",
        tops__t2="base:\n  '*':\n    - two\n",
        one="one:\n  test.nop\n",
        two="two:\n  test.nop\n",
        pillar__top="include:\n  - t2\n",
        pillar__t2="base:\n  '*':\n    - p\n",
        pillar__p="true: {~: 1}\n",
    )
    assert machine.document("show", "top") == {"local": {"base": ["one", "two"]}}
    assert machine.document("show", "pillar") == {"local": {"true": {"null": 1}}}
    assert "states/tops/t2.sls:3" in machine("show", "top").stdout
    machine("check")
    machine.write(top="hello\n", pillar__top="5\n")
    assert "pillar/top.sls:1" in machine("show", "pillar", code=1).stderr
    machine.write(pillar__top="{}\n")
    assert "states/top.sls:1" in machine("show", "top", code=1).stderr
    machine.write(top="include:\n  - tops.t3\n")
    assert "states/top.sls:2:5" in machine("show", "top", code=1).stderr
