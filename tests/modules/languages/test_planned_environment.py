# SPDX-License-Identifier: Apache-2.0
"""Python environments that a dry run plans, and what pip would install in them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from command import Machine
from wheels import write_demo


def tree(machine: Machine) -> dict[str, Any]:
    """An environment, packages in it, and what looks at them."""
    for version in ("1.0", "2.0"):
        write_demo(machine.folder / "wheels", version)
    own = f"{machine.folder}/own"
    where = [{"bin_env": own}, {"no_index": True}, {"find_links": f"{machine.folder}/wheels"}]
    guard = [{"name": "true"}, {"unless": f"{own}/bin/pip show demo"}]
    return {
        own: {"virtualenv.managed": []},
        "old": {"pip.installed": [{"name": "demo==1.0"}, *where]},
        "asked": {"cmd.run": guard},
        "new": {"pip.installed": [{"name": "demo"}, {"upgrade": True}, *where]},
        "gone": {"pip.removed": [{"name": "demo"}, where[0]]},
        "activate": {"file.append": [{"name": f"{own}/bin/activate"}, {"text": "# x"}]},
    }


@pytest.fixture
def results(machine: Machine) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    machine.write(all=json.dumps(tree(machine)))
    planned = machine.results("sls", "all", "--test")
    assert not machine.folder.joinpath("own").exists()
    yield planned, machine.results("sls", "all")


def test_packages_of_a_planned_environment_are_decided(
    results: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    planned, real = results
    assert real["old"]["changes"] == {"demo==1.0": "Installed"}
    asked = planned.pop("asked")
    assert "decided when pip: " in asked["comment"], "which nobody has installed yet"
    for name, result in planned.items():
        assert result["changes"] == real[name]["changes"], name
        assert (result["result"] is None) is bool(real[name]["changes"]), name
