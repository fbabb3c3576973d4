# SPDX-License-Identifier: Apache-2.0
"""Modules, sites and configurations that are enabled in Apache."""

from __future__ import annotations

from collections.abc import Iterator

from modules.web import apache
from runner.api import OPEN, Done, Plan, Planned, StateFailed

WORDS = {"mod": "module", "site": "site", "conf": "conf"}


def enabled(kind: str, name: str) -> Planned:
    """kind: mod, site or conf."""
    if apache.is_enabled(kind, name):
        return f"{name} already enabled."
    apache.exists(kind, name)
    yield Plan({"old": None, "new": name}, f"Apache {WORDS[kind]} {name} is set to be enabled.")
    status = apache.act(f"a2en{kind}", name)["Status"]
    if not apache.is_enabled(kind, name):
        raise StateFailed(
            f"Failed to enable {name} Apache {WORDS[kind]}. Status: {status}", changes={}
        )
    return f"Apache {WORDS[kind]} {name} has been enabled."


def disabled(kind: str, name: str) -> Planned:
    """kind: mod, site or conf."""
    if not apache.is_enabled(kind, name):
        installed = apache.is_installed()
        return Done(
            f"{name} already disabled.", missing=() if installed else [("pkg", "apache2"), OPEN]
        )
    yield Plan({"old": name, "new": None}, f"Apache {WORDS[kind]} {name} is set to be disabled.")
    status = apache.act(f"a2dis{kind}", name)["Status"]
    if apache.is_enabled(kind, name):
        raise StateFailed(
            f"Failed to disable {name} Apache {WORDS[kind]}. Status: {status}", changes={}
        )
    return f"Apache {WORDS[kind]} {name} has been disabled."


def after(kind: str, name: str) -> Iterator[tuple[str, str]]:
    """The states that these come after: of the package, and the file that is enabled."""
    yield "pkg", "apache2"
    yield (
        "file",
        f"{apache.ROOT}/{apache.FOLDERS[kind]}-available/{name.removesuffix('.conf')}.conf",
    )
