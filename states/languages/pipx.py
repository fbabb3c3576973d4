# SPDX-License-Identifier: Apache-2.0
"""Programs written in Python, each in an environment of its own."""

from __future__ import annotations

from typing import Annotated

from modules.languages import pipx
from runner.api import Done, Name, Pattern, Plan, Planned
from runner.api.kinds import comes_after
from runner.api.opposite import Opposite
from states._run_as import dry_run_check as dry_run_check
from states._tools import explained

Version = Annotated[str, Pattern(r"\d[\w.+!-]*", "a whole version like 1.2.3")]
Package = Annotated[
    Name,
    Pattern(r"[A-Za-z0-9]([\w.-]*[A-Za-z0-9])?", "the name of a package (letters, ., - and _)"),
]

OPPOSITE = {"installed": Opposite("removed", by=("user",))}


def installed(name: Package, version: Version | None = None, user: Name | None = None) -> Planned:
    """Make sure that a program of PyPI is installed, with pipx.

    name: The package.
    version: The version; without it any, and the newest when there is none.
    user: Whose it is; without it that of whoever runs runner.

        black:
          pipx.installed:
            - version: 24.1.0
            - user: zoe

    Salt has nothing like it.
    """
    key = pipx.canonical(name)
    with explained(f"Error looking up '{name}'"):
        old = pipx.list_(user).get(key, "")
    if old and version in (None, old):
        return f"Package {name} {old} is already installed"
    changes = {name: {"old": old, "new": version or "installed"}}
    yield Plan(changes, f"Package {name} would be installed")
    with explained(f"Error installing '{name}'"):
        pipx.install(name, version, user)
    new = pipx.list_(user).get(key, "")
    return Done(f"Package {name} was installed", {name: {"old": old, "new": new}})


def removed(name: Package, user: Name | None = None) -> Planned:
    """Make sure that a program is not installed with pipx.

    name: The package.
    user: Whose it is; without it that of whoever runs runner.

        black:
          pipx.removed: []

    Salt has nothing like it.
    """
    key = pipx.canonical(name)
    with explained(f"Error looking up '{name}'"):
        old = pipx.list_(user).get(key)
    if not old:
        return f"Package {name} is not installed"
    yield Plan({name: {"old": old, "new": ""}}, f"Package {name} would be removed")
    with explained(f"Error removing '{name}'"):
        pipx.uninstall(key, user)
    return f"Package {name} was removed"


autorequire = comes_after(
    "Packages come after pipx and the user whose they are.", ("pkg", "pipx"), user="user"
)

__all__ = ["autorequire", "installed", "removed"]
