# SPDX-License-Identifier: Apache-2.0
"""What is recorded of packages before a transaction, for undo."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from harness import HarnessHere

from modules import pkg
from modules.pkg._former import former_packages
from modules.pkg.package_manager import Target, Transaction
from runner.api import FormerState, running

FILES = ["/etc/passwd", "/etc/ssl", "/etc/ssl/certs", "/etc/not there", "/usr/bin/env"]


def test_a_purge_has_the_configuration_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    manager = SimpleNamespace(
        list_pkgs=lambda: {"a": "1"}, has=lambda feature: True, file_list=lambda name: FILES
    )
    monkeypatch.setattr(pkg, "provider", lambda: manager)
    packages = FormerState("package", "", {"a": {"version": "1"}})
    with running(HarnessHere()):
        removed = former_packages(Transaction("remove", (Target("a"),)))
        purged = former_packages(Transaction("purge", (Target("a"),)))
    assert removed == {"several": [packages]}
    assert purged == {
        "several": [
            {"path": "/etc/ssl/certs", "type": "dir"},
            {"path": "/etc/ssl", "type": "dir"},
            {"path": "/etc/passwd", "type": "file"},
            packages,
        ]
    }
