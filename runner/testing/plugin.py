# SPDX-License-Identifier: Apache-2.0
"""The plug-in of pytest: the fixture `machine`, its options and its marker."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from runner.testing import machine as testing_machine

if TYPE_CHECKING:
    from runner.testing.machine import Machine

MARKER = (
    "runner(tree, pillar_tree, pillar, config, id, network): the tree of states and the pillar of"
    " the fixture machine, paths relative to pytest's rootdir; network: none or host"
)
SCOPES = ("function", "class", "module", "session")
INI = {
    "runner_tree": ("paths", "directories of SLS files, for the fixture machine"),
    "runner_pillar_tree": ("paths", "directories of pillar SLS files, for the fixture machine"),
    "runner_config": ("string", "runner's configuration file, for the fixture machine"),
    "runner_machine_scope": ("string", f"how long a machine lasts: {', '.join(SCOPES)}"),
    "runner_machine_required": ("bool", "fail where no machine is possible, instead of a skip"),
}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("runner", "states of runner")
    group.addoption(
        "--runner-tree", action="append", metavar="DIR", help="directory of SLS files to test"
    )
    group.addoption(
        "--runner-pillar-tree", action="append", metavar="DIR", help="directory of pillar SLS files"
    )
    group.addoption("--runner-config", metavar="FILE", help="runner's configuration file")
    group.addoption(
        "--runner-machine-required",
        action="store_true",
        help="fail where no machine is possible, instead of a skip (RUNNER_MACHINE=required too)",
    )
    for name, (kind, explanation) in INI.items():
        default = "function" if name == "runner_machine_scope" else None
        parser.addini(name, explanation, kind, default)  # type: ignore[arg-type]


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line("markers", MARKER)


def _scope(fixture_name: str, config: pytest.Config) -> Any:
    scope = config.getini("runner_machine_scope")
    if scope not in SCOPES:
        raise pytest.UsageError(
            f"runner_machine_scope: there is no {scope!r}; one of {', '.join(SCOPES)}"
        )
    return scope


@pytest.fixture(scope=_scope)
def machine(request: pytest.FixtureRequest) -> Iterator[Machine]:
    """A copy of this machine that is thrown away: what is done in it reaches nothing here."""
    try:
        made = testing_machine.Machine.start(**_settings(request))
    except testing_machine.Unavailable as reason:
        if _required(request.config):
            pytest.fail(f"a machine is required: {reason}", pytrace=False)
        pytest.skip(str(reason))
    with made:
        yield made


def _required(config: pytest.Config) -> bool:
    return bool(
        config.getoption("--runner-machine-required")
        or config.getini("runner_machine_required")
        or os.environ.get("RUNNER_MACHINE") == "required"
    )


def _settings(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Return what `Machine.start` takes: of the marker, else of options, else of the ini file."""
    config = request.config
    settings: dict[str, Any] = {"folder": str(config.rootpath)}
    for name in ("tree", "pillar_tree", "config"):
        given = config.getoption(f"--runner-{name.replace('_', '-')}")
        settings[name] = given or config.getini(f"runner_{name}")
    if marker := request.node.get_closest_marker("runner"):
        settings |= marker.kwargs
    return settings
