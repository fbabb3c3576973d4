# SPDX-License-Identifier: Apache-2.0
"""Profiles of AppArmor: what is loaded in the kernel, and their files."""

from __future__ import annotations

import json
import os

from modules import _paths, cmd, file
from modules._machine import processes
from modules._texts.lines import plain_name
from runner.api import CommandFailed, changer, for_states
from runner.api.offline import offline_as

FOLDER = "/etc/apparmor.d"
MODES = {"enforced": "enforce", "complain": "complain"}


def status() -> dict[str, str]:
    """The loaded profiles, each with its mode: enforce, complain, kill or unconfined.

    Raises CommandFailed where the kernel has no AppArmor.
    """
    processes.needs("aa-status", "apparmor")
    done = cmd.probe(["aa-status", "--json"])
    try:
        profiles: dict[str, str] = json.loads(done.stdout)["profiles"]
    except (ValueError, KeyError):
        said = (done.stderr or done.stdout).strip()
        raise CommandFailed(f"AppArmor is not at work in this kernel: {said}") from None
    return profiles


@for_states
def path_of(name: str) -> str:
    """The file of a profile: its path, its name below /etc/apparmor.d, or that of its program with
    dots for slashes. Raises CommandFailed where there is none.
    """
    candidates = [name] if name.startswith(f"{FOLDER}/") else []
    candidates += [f"{FOLDER}/{name.strip('/').replace('/', '.')}"]
    if ".." not in name:
        for path in candidates:
            if _paths.isfile(path):
                return path
    raise CommandFailed(f"There is no profile {name} in {FOLDER}", missing=("file", candidates[0]))


@for_states
def names(path: str) -> list[str]:
    """The profiles in a file, as the parser knows them. Raises CommandFailed for what it
    refuses.
    """
    processes.needs("apparmor_parser", "apparmor")
    done = cmd.probe(["apparmor_parser", "-N", path]).or_fail(f"apparmor_parser refuses {path}")
    return [line for line in done.stdout.splitlines() if line and "//" not in line]


@for_states
def link(path: str, kind: str) -> str:
    """The link that keeps a profile from being enforced (force-complain) or loaded (disable)."""
    return f"{FOLDER}/{kind}/{os.path.basename(path)}"


@changer
@offline_as(lambda path, complain: None)  # the next start does
def load(path: str, complain: bool) -> None:
    """Load the profiles of a file, or load them anew."""
    _finish(["apparmor_parser", "-r", *(["-C"] if complain else []), plain_name(path, "path")])


@changer
@offline_as(lambda path: None)
def unload(path: str) -> None:
    """Take the profiles of a file out of the kernel."""
    _finish(["apparmor_parser", "-R", plain_name(path, "path")])


def _finish(argv: list[str]) -> None:
    cmd.execute(argv).or_fail(" ".join(argv))


@for_states
def mark(path: str, kind: str | None) -> None:
    """Make the link of a kind, and remove the other ones."""
    for other in ("disable", "force-complain"):
        where = link(path, other)
        if other == kind and not file.lexists(where):
            file.makedirs(os.path.dirname(where), mode="0755")
            file.symlink(path, where)
        elif other != kind and file.lexists(where):
            file.remove(where)
