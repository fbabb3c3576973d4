# SPDX-License-Identifier: Apache-2.0
"""Programs written in Rust. Salt has nothing like it."""

from __future__ import annotations

from typing import Annotated

from modules import cmd
from modules.languages import cargo
from runner.api import AbsolutePath, Done, Name, OneOrMany, Pattern, Plan, Planned, open_at
from runner.api.kinds import comes_after
from runner.api.opposite import Opposite
from states._run_as import dry_run_check as dry_run_check
from states._tools import explained
from states.languages._programs import settled

Version = Annotated[str, Pattern(r"\d+\.\d+\.\d+[-+.\w]*", "a whole version like 1.2.3")]
Crate = Annotated[
    Name, Pattern(r"[A-Za-z0-9_][\w-]*", "the name of a package (letters, digits, - and _)")
]

DECIDES = {"installed": "version"}
MEANS = {"user": cmd.caller}
OPPOSITE = {"installed": Opposite("removed", by=("root", "user"))}


def installed(
    name: Crate,
    version: Version | None = None,
    root: AbsolutePath | None = None,
    user: Name | None = None,
    features: OneOrMany[Name] | None = None,
    locked: bool = False,
) -> Planned:
    """Make sure that a package of crates.io is installed. cargo builds it.

    name: The package.
    version: The version; without it any, and the newest when there is none.
    root: The directory whose bin gets the programs; without it .cargo of the user.
    user: The user who builds it, and whom it belongs to.
    features: The features that it is built with beside its defaults.
    locked: Build it with the dependencies of its own Cargo.lock.

        ripgrep:
          cargo.installed:
            - version: 14.1.0
            - root: /usr/local
            - locked: true
    """
    with explained(f"Error looking up '{name}'"):
        old = settled(name, cargo.list_(root, user).get(name, ""), version)
        wanted = sorted(features or [])
        is_there = bool(old) and version in (None, old)
        is_there &= not wanted or cargo.features(name, root, user) in (None, wanted)
    if is_there:
        return f"Package {name} {old} is already installed"
    changes = {name: {"old": old, "new": version or "installed"}}
    yield Plan(changes, f"Package {name} would be installed", provides=open_at(root, named=[name]))
    with explained(f"Error installing '{name}'"):
        cargo.install(name, version or old or None, root, user, features, locked)
    new = cargo.list_(root, user).get(name, "")
    return Done(f"Package {name} was installed", {name: {"old": old, "new": new}})


def removed(name: Crate, root: AbsolutePath | None = None, user: Name | None = None) -> Planned:
    """Make sure that a package is not installed.

    name: The package.
    root: The directory that it is below; without it .cargo of the user.
    user: The user whom it belongs to.

        ripgrep:
          cargo.removed: []
    """
    with explained(f"Error looking up '{name}'"):
        old = cargo.list_(root, user).get(name)
    if not old:
        return f"Package {name} is not installed"
    yield Plan({name: {"old": old, "new": ""}}, f"Package {name} would be removed")
    with explained(f"Error removing '{name}'"):
        cargo.uninstall(name, root, user)
    return f"Package {name} was removed"


autorequire = comes_after(
    "Packages come after cargo and the user who builds them.",
    ("pkg", "cargo"),
    ("pkg", "rust"),
    user="user",
)
