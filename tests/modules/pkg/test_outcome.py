# SPDX-License-Identifier: Apache-2.0
"""What a package manager says it did is compared with what is there, for each of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from harness import HarnessHere

from modules import pkg
from modules._machine.processes import Completed
from modules.pkg import InstallOptions, NotDone, PackageTarget, Transaction
from modules.pkg.apt import get
from runner.api import running


class Idle:
    """A package manager that does nothing, and says nothing of it."""

    NAMES = ("idle",)

    def list_pkgs(self) -> dict[str, str]:
        return {"old": "1.0", "several": "1.0,2.0", "real": "1"}

    def leftovers(self) -> dict[str, str]:
        return {"removed": "1.0"}

    def normal(self, name: str) -> str:
        return name.removesuffix(":own")

    def compare(self, left: str, right: str) -> int:
        return (left > right) - (left < right)

    def file_info(self, path: str) -> tuple[str, str]:
        return "old", path

    def has(self, feature: str) -> bool:
        return feature == "capabilities"

    def resolve_capabilities(self, names: Sequence[str]) -> dict[str, str]:
        return {"virtual": "real"} if "virtual" in names else {}

    def simulate(self, transaction: Transaction) -> pkg.Simulation:
        changes = {"old": {"old": "1.0", "new": "2.0"}, "new": {"old": "", "new": "1"}}
        return pkg.Simulation(changes)

    def held(self) -> list[str]:
        return ["held"]

    def run(self, transaction: Transaction) -> None: ...

    def hold(self, names: Sequence[str], release: Sequence[str] = ()) -> None: ...


@pytest.fixture(autouse=True)
def idle(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr("modules.pkg._outcome.provider", Idle)
    with running(HarnessHere()):
        yield


def refusal(transaction: Transaction) -> str:
    with pytest.raises(NotDone) as caught:
        pkg.carry_out(transaction)
    assert caught.value.packages
    return caught.value.message


@pytest.mark.parametrize(
    ("action", "target", "wanted"),
    [
        ("install", PackageTarget("new"), "new is not installed"),
        ("install", PackageTarget("old", "2.0"), "old is there in version 1.0 instead of 2.0"),
        ("install", PackageTarget("old", path="2.0"), "old is there in version 1.0 instead of 2.0"),
        ("install", PackageTarget("unreal"), "unreal is not installed"),
        ("remove", PackageTarget("old:own"), "old is still installed"),
        ("purge", PackageTarget("old"), "old is still installed"),
        ("purge", PackageTarget("removed"), "removed has still its configuration"),
    ],
)
def test_what_is_not_done_is_said(action: Any, target: PackageTarget, wanted: str) -> None:
    transaction = Transaction(
        action, (target, PackageTarget("real") if action == "install" else target)
    )
    message = refusal(transaction)
    assert message == f"errors:\n    - idle ended without an error, but {wanted}"


@pytest.mark.parametrize("action", ["upgrade", "full-upgrade"])
def test_an_upgrade_that_upgrades_nothing(action: Any) -> None:
    assert "old is still there in version 1.0" in refusal(Transaction(action))


@pytest.mark.parametrize(
    "transaction",
    [
        Transaction(
            "install",
            (
                PackageTarget("old"),
                PackageTarget("old:own", "1.0"),
                PackageTarget("several", "1.0"),
            ),
        ),
        Transaction("install", (PackageTarget("virtual"),)),
        Transaction("install", (PackageTarget("new"),), InstallOptions(only_upgrade=True)),
        Transaction("remove", (PackageTarget("new"), PackageTarget("removed"))),
        Transaction("purge", (PackageTarget("new"),)),
        Transaction("autoremove"),
    ],
)
def test_what_is_there_is_no_failure(transaction: Transaction) -> None:
    pkg.carry_out(transaction)


def test_holds_that_are_not_made() -> None:
    pkg.set_holds(["held"], ["old"])
    with pytest.raises(NotDone, match="but old is not held"):
        pkg.set_holds(["old"])
    with pytest.raises(NotDone, match="but held is still held"):
        pkg.set_holds([], ["held"])


def test_held_packages_that_apt_refuses_to_change_are_named() -> None:
    said = "Reading package lists...\nThe following held packages will be changed:\n  cron nginx\n"
    refused = "E: Held packages were changed\n"
    told = get.errors(Completed(100, said + "0 upgraded\n", refused, 1))
    assert told.endswith("- held: cron, nginx; the state pkg.unheld releases packages"), told
