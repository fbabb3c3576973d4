# SPDX-License-Identifier: Apache-2.0
"""Programs of PyPI, each in an environment of its own: what the states of pipx and uv do alike."""

from __future__ import annotations

from typing import Annotated, Protocol

from modules.languages import pipx
from runner.api import Done, Name, Pattern, Plan, Planned
from states._tools import explained

Version = Annotated[str, Pattern(r"\d[\w.+!-]*", "a whole version like 1.2.3")]
Package = Annotated[
    Name,
    Pattern(r"[A-Za-z0-9]([\w.-]*[A-Za-z0-9])?", "the name of a package (letters, ., - and _)"),
]


class Installer(Protocol):
    """The module of a tool that installs such programs."""

    def list_(self, user: str | None = None) -> dict[str, str]: ...
    def install(self, name: str, version: str | None = None, user: str | None = None) -> str: ...
    def uninstall(self, name: str, user: str | None = None) -> str: ...


def present(by: Installer, name: str, version: str | None, user: str | None) -> Planned:
    """The state that makes sure of a program in a version, or in any."""
    key = pipx.canonical(name)
    with explained(f"Error looking up '{name}'"):
        old = by.list_(user).get(key, "")
    if old and version in (None, old):
        return f"Package {name} {old} is already installed"
    changes = {name: {"old": old, "new": version or "installed"}}
    yield Plan(changes, f"Package {name} would be installed")
    with explained(f"Error installing '{name}'"):
        by.install(name, version, user)
    new = by.list_(user).get(key, "")
    return Done(f"Package {name} was installed", {name: {"old": old, "new": new}})


def absent(by: Installer, name: str, user: str | None) -> Planned:
    """The state that makes sure that there is no such program."""
    key = pipx.canonical(name)
    with explained(f"Error looking up '{name}'"):
        old = by.list_(user).get(key)
    if not old:
        return f"Package {name} is not installed"
    yield Plan({name: {"old": old, "new": ""}}, f"Package {name} would be removed")
    with explained(f"Error removing '{name}'"):
        by.uninstall(key, user)
    return f"Package {name} was removed"
