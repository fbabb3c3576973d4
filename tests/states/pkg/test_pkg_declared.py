# SPDX-License-Identifier: Apache-2.0
"""pkg.declared: which packages stay, by a package manager that is played."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from harness import HarnessHere, look

from modules import pkg
from modules.pkg import PackageGroup, Simulation
from runner.api import Chunk, Plan, StateFailed
from runner.model.places import Place, Untyped
from states import pkg as states

THERE = ("app", "vim-enhanced", "gcc", "gdb", "make", "pinned", "kernel", "shell", "loner")


def chunk(function: str, name: str, **args: Any) -> Chunk:
    return Chunk(
        "pkg", function, name, name, 1, "site", "base", args, {}, (), Place(Untyped("test"))
    )


class Manager(SimpleNamespace):
    """All of THERE is installed by hand but `shell`. refuses: its marks are as it is asked."""

    NAMES = ("played",)
    asked: tuple[Any, ...] = ()

    def list_pkgs(self) -> dict[str, str]:
        return dict.fromkeys(THERE, "1.0")

    def manually_installed(self) -> list[str]:
        return [name for name in THERE if name != "shell"]

    def has(self, feature: str) -> bool:
        return feature in ("install_reasons", "groups", "capabilities")

    def normal(self, name: str) -> str:
        return name

    def group(self, name: str) -> PackageGroup:
        assert name == "tools"
        return PackageGroup(("gcc",), ("gdb",), ("make",))

    def resolve_capabilities(self, names: tuple[str, ...]) -> dict[str, str]:
        return {"vim": "vim-enhanced"} if "vim" in names else {}

    def simulate_marks(self, automatic: tuple[str, ...], manual: tuple[str, ...]) -> Simulation:
        """`shell` goes unless it is marked."""
        self.asked = (automatic, manual)
        going = [*automatic, *({"shell"} - {*manual})]
        return Simulation({name: {"old": "1.0", "new": ""} for name in going})


@pytest.fixture
def manager(monkeypatch: pytest.MonkeyPatch) -> Iterator[Manager]:
    played = Manager()
    monkeypatch.setattr(pkg, "provider", lambda: played)
    monkeypatch.setattr("modules.pkg._planned.provider", lambda: played)
    monkeypatch.setattr(pkg, "indispensable", lambda: {"kernel", "shell"})
    yield played


def here(*chunks: Chunk, left_out: tuple[Chunk, ...] = ()) -> HarnessHere:
    current = HarnessHere(dry=True)
    current.chunks, current.left_out = chunks, left_out  # type: ignore[assignment]
    return current


def test_all_kinds_of_declarations_count(manager: Manager) -> None:
    current = here(
        chunk("declared", "prune", keep="pin*"),
        chunk("installed", "vim", resolve_capabilities=True),
        chunk("group_installed", "tools"),
        chunk("removed", "loner"),
        # --only leaves it out of the run: it is declared all the same
        left_out=(chunk("latest", "x", pkgs=["app"]), chunk("uptodate", "loner")),
    )
    plan = look(states.declared, "prune", current=current)
    assert isinstance(plan, Plan)
    # what is indispensable and would go is marked; the rest is not touched
    assert plan.changes == {
        "loner": {"old": "1.0", "new": ""},
        "shell": {"old": "automatic", "new": "manual"},
    }
    assert manager.asked == (("loner",), ("shell",))


def test_it_refuses_what_would_take_more_than_it_should(
    manager: Manager, monkeypatch: pytest.MonkeyPatch
) -> None:
    def attempt(*chunks: Chunk) -> None:
        look(states.declared, "prune", current=here(chunk("declared", "prune"), *chunks))

    with pytest.raises(StateFailed, match="no other state of this run declares a package"):
        attempt(chunk("removed", "loner"), chunk("uptodate", "all"))
    app = chunk("installed", "app")
    going = {"app": {"old": "1.0", "new": ""}}
    monkeypatch.setattr(manager, "simulate_marks", lambda *_: Simulation(going), raising=False)
    with pytest.raises(StateFailed, match="the package manager would remove app, too"):
        attempt(app)
    refusal = Simulation(None, "broken")
    monkeypatch.setattr(manager, "simulate_marks", lambda *_: refusal, raising=False)
    with pytest.raises(StateFailed, match="Nothing is removed: broken"):
        attempt(app)


def test_autoremoved_spares_what_the_machine_works_by(
    manager: Manager, monkeypatch: pytest.MonkeyPatch
) -> None:
    def attempt(*going: str) -> Any:
        changes = {name: {"old": "1.0", "new": ""} for name in going}
        simulate = lambda _: Simulation(changes)  # noqa: E731
        monkeypatch.setattr(manager, "simulate", simulate, raising=False)
        return look(states.autoremoved, "x", current=here())

    plan = attempt("app")
    assert isinstance(plan, Plan)
    assert plan.changes == {"app": {"old": "1.0", "new": ""}}
    with pytest.raises(StateFailed, match="Nothing is removed: kernel, shell would go, too"):
        attempt("app", "kernel", "shell")
