# SPDX-License-Identifier: Apache-2.0
"""What is recorded of packages before a transaction, for undo."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from harness import HarnessHere

from modules import pkg
from modules.pkg._former import former_packages
from modules.pkg.package_manager import PackageTarget, Transaction
from runner.api import CommandFailed, FormerState, running

FILES = ["/etc/passwd", "/etc/ssl", "/etc/ssl/certs", "/etc/not there", "/usr/bin/env"]


def test_a_purge_has_the_configuration_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    manager = SimpleNamespace(
        list_pkgs=lambda: {"a": "1", "b": "2"},
        has=lambda feature: True,
        file_list=lambda name: FILES,
        manually_installed=lambda: ["a"],
    )
    monkeypatch.setattr(pkg, "provider", lambda: manager)
    packages = FormerState("package", "", {"a": {"version": "1"}, "b": {"version": "2"}})
    reasons = FormerState("automatic package", "", {"b": {"automatic": True}})
    with running(HarnessHere()):
        removed = former_packages(Transaction("remove", (PackageTarget("a"),)))
        purged = former_packages(Transaction("purge", (PackageTarget("a"),)))
    assert removed == {"several": [reasons, packages]}
    assert purged == {
        "several": [
            reasons,
            {"path": "/etc/ssl/certs", "type": "dir"},
            {"path": "/etc/ssl", "type": "dir"},
            {"path": "/etc/passwd", "type": "file"},
            packages,
        ]
    }


def test_a_broken_package_manager_keeps_nothing_from_being_recorded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken() -> list[str]:
        raise CommandFailed("apt-mark: no")

    manager = SimpleNamespace(
        list_pkgs=lambda: {"a": "1"}, has=lambda feature: True, manually_installed=broken
    )
    monkeypatch.setattr(pkg, "provider", lambda: manager)
    with running(HarnessHere()):
        (packages,) = former_packages(Transaction("remove", (PackageTarget("a"),)))["several"]
    assert packages == FormerState("package", "", {"a": {"version": "1"}})
