# SPDX-License-Identifier: Apache-2.0
"""Programs written in Rust, with cargo."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Sequence

from modules import _paths, cmd, file
from modules._machine.surroundings import home
from modules._machine.tools import TOPIC, UNPINNED, Tool, change
from modules._planned.machine import merged
from modules._texts.lines import one_line, plain_name
from runner.api import CommandFailed, cached_look


@cached_look(TOPIC)
def list_(root: str | None = None, user: str | None = None) -> dict[str, str]:
    """The installed packages with their versions. Raises CommandFailed when there is no cargo, or
    its record of them cannot be read.

    root: the directory that they are below; without it the one of cargo's settings, else .cargo of
    the user.

    {{ salt['cargo.list']() | json }}
    """
    tool = _cargo(user, root)
    tool.require()
    _root(root)
    # `cargo install --list` would create the record where there is none
    path = os.path.join(_folder(root, user), ".crates.toml")
    there: dict[str, str] = {}
    try:
        if file.is_file(path):
            packages = tomllib.loads(file.read_bytes(path).decode()).get("v1", {})
            there = {key.split()[0]: key.split()[1] for key in packages}
    except (ValueError, IndexError, AttributeError):
        raise CommandFailed(f"{path} is not a record of packages as cargo writes it") from None
    return merged(there, {name: new and new[0] for name, new in tool.planned.items()})


def features(name: str, root: str | None = None, user: str | None = None) -> list[str] | None:
    """The features that a package was built with; None where cargo keeps no record of them."""
    if planned := _cargo(user, root).planned.get(name):
        return list(planned[1])
    path = os.path.join(_folder(root, user), ".crates2.json")
    if not file.is_file(path):
        return None
    try:
        installs = json.loads(file.read_bytes(path))["installs"]
        entries = [entry for key, entry in installs.items() if key.split()[0] == name]
        return sorted(entries[0]["features"]) if entries else None
    except (ValueError, KeyError, TypeError, AttributeError, IndexError):  # of another cargo
        return None


def _folder(root: str | None, user: str | None) -> str:
    """The directory that cargo installs below, as it chooses it itself."""
    if root or os.environ.get("CARGO_INSTALL_ROOT"):
        return root or os.environ["CARGO_INSTALL_ROOT"]
    own = os.environ.get("CARGO_HOME") or os.path.join(home(user), ".cargo")
    for path in (os.path.join(own, "config"), os.path.join(own, "config.toml")):
        if file.is_file(path):  # cargo prefers the one without an ending
            try:
                settings = tomllib.loads(file.read_bytes(path).decode())
                return os.path.join(os.path.dirname(own), settings["install"]["root"])
            except (ValueError, KeyError, TypeError):  # it does not say
                break
    return own


def install(
    name: str,
    version: str | None = None,
    root: str | None = None,
    user: str | None = None,
    features: Sequence[str] | None = None,
    locked: bool = False,
) -> str:
    """Build and install a package: what cargo prints. Raises CommandFailed with what cargo has
    against it.

    version: this one. root: the directory that it is installed below. features: what it is built
    with. locked: with the dependencies of its own Cargo.lock.

    runner call cargo.install ripgrep version=14.1.0
    """
    words = [f"--version={one_line(version, 'version')}"] if version else []
    words += [f"--features={one_line(','.join(features), 'features')}"] if features else []
    words += ["--locked"] if locked else []
    words = ["install", *_root(root), *words, "--", plain_name(name, "name")]
    becomes = {name: (version or UNPINNED, sorted(features or ()))}
    return change(words, _cargo(user, root), becomes=becomes)


def uninstall(name: str, root: str | None = None, user: str | None = None) -> str:
    """Remove a package with its programs: what cargo prints. Raises CommandFailed with what cargo
    has against it.
    """
    words = ["uninstall", *_root(root), "--", plain_name(name, "name")]
    return change(words, _cargo(user, root), becomes={name: None})


def _cargo(user: str | None, root: str | None) -> Tool:
    """Return cargo: the one on PATH, else the one that rustup installed for the user."""
    own = os.path.join(home(user), ".cargo/bin/cargo")
    program = own if not cmd.which("cargo") and _paths.exists(own) else "cargo"
    env = {"CARGO_TERM_COLOR": "never"}
    return Tool(program, "cargo", user, None, env, os.path.normpath(_folder(root, user)))


def _root(root: str | None) -> list[str]:
    if root is not None and not os.path.isabs(root):
        raise CommandFailed(f"root: {root!r} is not an absolute path")
    return [f"--root={one_line(root, 'root')}"] if root else []


__func_alias__ = {"list_": "list"}
