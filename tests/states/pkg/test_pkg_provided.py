# SPDX-License-Identifier: Apache-2.0
"""Names that packages only provide: asked once for all states, each with its own mistakes."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from harness import HarnessHere, look

from modules import pkg
from runner.api import Chunk, CommandFailed, StateFailed
from runner.model.places import Place, Untyped
from states import pkg as states

THERE = {"nginx": "1.0", "vim-nox": "9.0"}


class Manager(SimpleNamespace):
    NAMES = ("played",)

    def __init__(self, provided: dict[str, list[str]]) -> None:
        super().__init__(provided=provided, asked=[])

    def list_pkgs(self) -> dict[str, str]:
        return THERE

    def normal(self, name: str) -> str:
        return name

    def has(self, feature: str) -> bool:
        return feature == "capabilities"

    def candidates(self, names: tuple[str, ...]) -> dict[str, str]:
        return {}

    def held(self) -> list[str]:
        return []

    def resolve_capabilities(self, names: tuple[str, ...]) -> dict[str, str]:
        self.asked.append(names)
        for name in names:
            if len(self.provided[name]) > 1:
                raise CommandFailed(f"{name} is no package; {self.provided[name]} provide it")
        return {name: self.provided[name][0] for name in names}


def looked(manager: Manager, monkeypatch: pytest.MonkeyPatch, *names: str) -> list[str]:
    """What states of these names come to, one after another in a run."""
    monkeypatch.setattr(pkg, "provider", lambda: manager)
    monkeypatch.setattr("modules.pkg._planned.provider", lambda: manager)
    current = HarnessHere(dry=True)
    place = Place(Untyped("test"))
    current.chunks = tuple(  # type: ignore[assignment]
        Chunk("pkg", "installed", name, name, 1, "site", "base", {}, {}, (), place)
        for name in manager.provided
    )
    said = []
    for name in names:
        try:
            said.append(str(look(states.installed, name, current=current)))
        except StateFailed as failure:
            said.append(failure.message)
    return said


def test_one_question_is_for_all_states(monkeypatch: pytest.MonkeyPatch) -> None:
    manager = Manager({"httpd": ["nginx"], "editor": ["vim-nox"]})
    said = looked(manager, monkeypatch, "httpd", "editor")
    assert all("already installed" in text for text in said), said
    assert {*manager.asked} == {("editor", "httpd")}


def test_a_name_that_is_not_clear_is_its_states_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    manager = Manager({"httpd": ["nginx"], "mta": ["exim", "postfix"]})
    fine, wrong = looked(manager, monkeypatch, "httpd", "mta")
    assert "already installed" in fine
    assert "mta is no package" in wrong
