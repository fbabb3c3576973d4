# SPDX-License-Identifier: Apache-2.0
"""Programs of PyPI, each in an environment of its own: what the states of pipx and uv do alike."""

from __future__ import annotations

from typing import Annotated, Protocol

from modules.languages import pip
from runner.api import Done, Name, Pattern, Plan, Planned, StateFailed, Unforeseen, here
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
    def newest(self, name: str, user: str | None = None) -> str: ...
    def upgrade(self, name: str, user: str | None = None) -> str: ...
    def uninstall(self, name: str, user: str | None = None) -> str: ...


def settled(name: str, old: str, version: str | None) -> str:
    """The version that is there. Raises Unforeseen where one is asked for, and a dry run does not
    know in which a package will come.
    """
    if version and old == "installed":
        raise Unforeseen(f"in which version {name} will come")
    return old


def present(
    by: Installer, name: str, version: str | None, upgrade: bool, user: str | None
) -> Planned:
    """The state that makes sure of a program in a version, in the newest, or in any."""
    if version and upgrade:
        raise StateFailed("Only one of 'version' and 'upgrade' is permitted")
    key = pip.normal(name)
    with explained(f"Error looking up '{name}'"):
        old = settled(name, by.list_(user).get(key, ""), version)
        wanted = by.newest(name, user) if old and upgrade else version
    if old and upgrade:
        here.follows(f"{name} {wanted}")
    if old and wanted in (None, old):
        return f"Package {name} {old} is already installed{', the newest' if upgrade else ''}"
    done = "upgraded" if old and upgrade else "installed"
    changes = {name: {"old": old, "new": wanted or "installed"}}
    yield Plan(changes, f"Package {name} would be {done}")
    with explained(f"Error installing '{name}'"):
        if old and upgrade:
            by.upgrade(name, user)
        else:
            by.install(name, version, user)
    new = by.list_(user).get(key, "")
    return Done(f"Package {name} was {done}", {name: {"old": old, "new": new}})


def absent(by: Installer, name: str, user: str | None) -> Planned:
    """The state that makes sure that there is no such program."""
    key = pip.normal(name)
    with explained(f"Error looking up '{name}'"):
        old = by.list_(user).get(key)
    if not old:
        return f"Package {name} is not installed"
    yield Plan({name: {"old": old, "new": ""}}, f"Package {name} would be removed")
    with explained(f"Error removing '{name}'"):
        by.uninstall(key, user)
    return f"Package {name} was removed"
