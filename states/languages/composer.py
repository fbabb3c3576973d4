# SPDX-License-Identifier: Apache-2.0
"""Packages of PHP in the directory of a project."""

from __future__ import annotations

from collections.abc import Iterator

from modules.languages import composer as composers
from modules.languages.composer import Called, Composer
from runner.api import AbsolutePath, Done, Plan, Planned, open_at
from states._run_as import dry_run_check as dry_run_check
from states._tools import explained

WHY = "composer does not say what it would do"


def installed(name: AbsolutePath, how: Called = Composer(), always_check: bool = True) -> Planned:
    """Make sure that a directory has the packages of its composer.json and composer.lock.

    name: The directory.
    always_check: Ask composer even when there is a folder vendor.

        /srv/app:
          composer.installed:
            - no_dev: true
            - user: app
            - composer_home: /home/app/.composer

    Behaviour: Salt 3007's composer.installed; it changes nothing when composer has nothing to do.
    """
    if not always_check and composers.did_composer_install(name):
        return "Composer already installed this directory"
    return (yield from _run("install", name, how))


def update(name: AbsolutePath, how: Called = Composer()) -> Planned:
    """Make sure that a directory has the newest packages that its composer.json allows.

    name: As of composer.installed.

        /srv/app:
          composer.update:
            - no_dev: true

    Behaviour: Salt 3007's composer.update; it changes nothing when composer has nothing to do.
    """
    return (yield from _run("update", name, how))


def _run(command: str, name: str, how: Composer) -> Planned:
    failed = f"Error executing composer in '{name}'"
    with explained(failed, ("composer", name)):
        pending = composers.pending(command, name, how)
    if pending is None:
        return f"Composer has nothing to do in {name}"
    yield Plan(
        {"stdout": "", "stderr": pending or f"composer {command} will be run in {name}"},
        f'The state of "{name}" will be changed.',
        exact=bool(pending),
        why=WHY,
        provides=open_at(name),
    )
    with explained(failed):
        output = composers.change(command, name, how)
    silenced = ", output silenced by quiet flag" if how.quiet else ""
    return Done(f"Composer {command} completed successfully{silenced}", output)


def autorequire(name: str, user: str | None = None, **_: object) -> Iterator[tuple[str, str]]:
    """Packages come after composer, the user who installs them, and the project."""
    yield "pkg", "composer"
    if user:
        yield "user", user
    folder = name.rstrip("/")
    for path in (folder, f"{folder}/composer.json", f"{folder}/composer.lock"):
        yield "file", path
