# SPDX-License-Identifier: Apache-2.0
"""Modules, sites and configurations that are enabled in Apache."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from modules.web import apache
from runner.api import OPEN, Done, Plan, Planned, StateFailed

WORDS = {"mod": "module", "site": "site", "conf": "conf"}


def switched(kind: str, name: str, on: bool) -> Planned:
    """The state of what is enabled or not. kind: mod, site or conf."""
    word, program = ("enabled", f"a2en{kind}") if on else ("disabled", f"a2dis{kind}")
    if apache.is_enabled(kind, name) is on:
        lacking = not on and not apache.is_installed()
        return Done(f"{name} already {word}.", missing=[("pkg", "apache2"), OPEN] * lacking)
    if on:
        apache.exists(kind, name)
    title = f"Apache {WORDS[kind]} {name}"
    changes = {"old": None if on else name, "new": name if on else None}
    yield Plan(changes, f"{title} is set to be {word}.")
    status = apache.act(program, name)["Status"]
    if apache.is_enabled(kind, name) is not on:
        problem = f"Failed to {word[:-1]} {name} Apache {WORDS[kind]}. Status: {status}"
        raise StateFailed(problem, changes={})
    return f"{title} has been {word}."


def after(kind: str) -> Callable[..., Iterator[tuple[str, str]]]:
    """The `autorequire` of states about a kind."""
    folder = f"{apache.ROOT}/{apache.FOLDERS[kind]}-available"

    def autorequire(name: str, **_: object) -> Iterator[tuple[str, str]]:
        """The package and the file that it comes after."""
        yield "pkg", "apache2"
        yield "file", f"{folder}/{name.removesuffix('.conf')}.conf"

    return autorequire
