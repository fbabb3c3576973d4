# SPDX-License-Identifier: Apache-2.0
"""pkg.purged: which packages go, by a package manager that is played."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from harness import look

from modules import pkg
from runner.api import Plan
from states.pkg import _simulation as simulation
from states.pkg import purged


@pytest.fixture(autouse=True)
def _machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Greeting and words are installed; of words2 the configuration is left."""
    manager = SimpleNamespace(
        normal=lambda name: name, compare=lambda one, other: (one > other) - (one < other)
    )
    monkeypatch.setattr(pkg, "provider", lambda: manager)
    monkeypatch.setattr(pkg, "leftovers", lambda: {"words2": "1.0"})
    monkeypatch.setattr(simulation, "present", lambda: {"greeting": "1:1.0", "words": "2.0"})
    monkeypatch.setattr(simulation, "to_purge", lambda names: None)
    monkeypatch.setattr(simulation, "plan", lambda changes: None)


@pytest.mark.parametrize(
    ("arguments", "going"),
    [
        ({"name": "greeting"}, ["greeting"]),
        ({"name": "greeting", "version": "1:1.0"}, ["greeting"]),
        ({"name": "greeting", "version": "0.9"}, []),
        ({"name": "greeting", "version": "1.0", "ignore_epoch": True}, ["greeting"]),
        ({"name": "x", "pkgs": [{"greeting": ">=2"}, {"words": ">=2"}, "words2"]}, ["words", 2]),
        ({"name": "nothing"}, []),
    ],
)
def test_only_the_versions_that_are_named_go(arguments: dict[str, Any], going: list[Any]) -> None:
    seen = look(purged, **arguments)
    if not going:
        assert not isinstance(seen, Plan)
        return
    assert isinstance(seen, Plan)
    assert list(seen.changes["installed"]) == going[:1]
    assert list(seen.changes["removed"]) == (["words2"] if 2 in going else [])
