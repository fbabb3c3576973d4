# SPDX-License-Identifier: Apache-2.0
"""Programs written in Python, each in an environment of its own. Salt has nothing like it."""

from __future__ import annotations

from modules import cmd
from modules.languages import pipx
from runner.api import Name, Planned
from runner.api.kinds import comes_after
from runner.api.opposite import Opposite
from states._run_as import dry_run_check as dry_run_check
from states.languages._programs import Package, Version, absent, present

DECIDES = {"installed": "version"}
MEANS = {"user": cmd.caller}
OPPOSITE = {"installed": Opposite("removed", by=("user",))}


def installed(
    name: Package, version: Version | None = None, upgrade: bool = False, user: Name | None = None
) -> Planned:
    """Make sure that a program of PyPI is installed, with pipx.

    name: The package.
    version: The version; without it any, and the newest when there is none.
    upgrade: Bring it to its newest version, which each run asks for.
    user: Whose it is; without it that of whoever runs runner.

        black:
          pipx.installed:
            - version: 24.1.0
            - user: zoe
    """
    return (yield from present(pipx, name, version, upgrade, user))


def removed(name: Package, user: Name | None = None) -> Planned:
    """Make sure that a program is not installed with pipx.

    name: The package.
    user: Whose it is; without it that of whoever runs runner.

        black:
          pipx.removed: []
    """
    return (yield from absent(pipx, name, user))


autorequire = comes_after(
    "Packages come after pipx and the user whose they are.", ("pkg", "pipx"), user="user"
)
