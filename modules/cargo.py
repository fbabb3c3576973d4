"""Programs written in Rust, with cargo."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence

from modules import cmd, file
from modules._lines import one_line, plain_name
from modules._surroundings import home
from modules._tools import TOPIC, Tool, change
from runner.api import CommandFailed, cached_look


@cached_look(TOPIC)
def list_(root: str | None = None, user: str | None = None) -> dict[str, str]:
    """The installed packages with their versions. Raises CommandFailed when cargo does not work.

    root: the directory that they are below; without it the one of cargo's settings, else .cargo of
    the user.

    {{ salt['cargo.list']() | json }}
    """
    lines = _cargo(user).output("install", "--list", *_root(root)).splitlines()
    matches = [re.match(r"(\S+) v(\S+?)(?: \(.*\))?:$", line) for line in lines]
    return {match[1]: match[2] for match in matches if match}


def features(name: str, root: str | None = None, user: str | None = None) -> list[str] | None:
    """The features that a package was built with; None where cargo keeps no record of them."""
    folder = root or os.environ.get("CARGO_INSTALL_ROOT") or os.path.join(home(user), ".cargo")
    path = os.path.join(folder, ".crates2.json")
    if not file.is_file(path):
        return None
    try:
        installs = json.loads(file.read_bytes(path))["installs"]
        entries = [entry for key, entry in installs.items() if key.split()[0] == name]
        return sorted(entries[0]["features"]) if entries else None
    except (ValueError, KeyError, TypeError, AttributeError, IndexError):  # of another cargo
        return None


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
    return change(words, _cargo(user))


def uninstall(name: str, root: str | None = None, user: str | None = None) -> str:
    """Remove a package with its programs: what cargo prints. Raises CommandFailed with what cargo
    has against it.
    """
    words = ["uninstall", *_root(root), "--", plain_name(name, "name")]
    return change(words, _cargo(user))


def _cargo(user: str | None) -> Tool:
    """Return cargo: the one on PATH, else the one that rustup installed for the user."""
    own = os.path.join(home(user), ".cargo/bin/cargo")
    program = own if not cmd.which("cargo") and os.path.exists(own) else "cargo"
    return Tool(program, "cargo", user, None, {"CARGO_TERM_COLOR": "never"})


def _root(root: str | None) -> list[str]:
    if root is not None and not os.path.isabs(root):
        raise CommandFailed(f"root: {root!r} is not an absolute path")
    return [f"--root={one_line(root, 'root')}"] if root else []


__func_alias__ = {"list_": "list"}
