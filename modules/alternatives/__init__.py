# SPDX-License-Identifier: Apache-2.0
"""Alternatives, Debian's and Red Hat's: which of several programs a name means."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from typing import Any

from modules import _paths, cmd
from modules._planned.overlay import overlay
from modules._texts.lines import plain_name
from modules.alternatives import _planned
from runner.api import CommandFailed, FormerState, changer, for_states


class AlternativeGroup:
    """A name with its alternatives. choices: path -> priority. current: what the name means now.
    slaves: what goes with a choice: its path, a further name, the link and the target of that.
    """

    def __init__(self) -> None:
        self.link, self.auto, self.current = "", True, ""
        self.choices: dict[str, int] = {}
        self.slaves: list[tuple[str, str, str, str]] = []


def _program() -> str:
    program = cmd.which("update-alternatives") or cmd.which("alternatives")
    if program is None:
        raise CommandFailed(
            "update-alternatives is not installed", missing=("command", "update-alternatives")
        )
    return program


def group(name: str) -> AlternativeGroup | None:
    """A name's alternatives; None where there is no such name."""
    argv = [_program(), "--query", plain_name(name, "the name of the alternatives")]
    if overlay() is not None or _planned.is_red_hats():  # which has no --query
        return _recorded_group(name)
    done = cmd.probe(argv)
    if done.retcode:
        return None
    result, path = AlternativeGroup(), ""
    links: dict[str, str] = {}
    for line in done.stdout.splitlines():
        key, _, value = line.partition(": ")
        if line.startswith(" "):  # of the slaves: first their links, then what each choice has
            slave, _, value = line[1:].partition(" ")
            if path:
                result.slaves.append((path, slave, links[slave], value))
            links.setdefault(slave, value)
        elif key == "Alternative":
            path = value
        elif key == "Priority":
            result.choices[path] = int(value)
        elif key == "Link":
            result.link = value
        elif key == "Status":
            result.auto = value == "auto"
        elif key == "Value":
            result.current = "" if value == "none" else value
    return result


@for_states
def selections() -> list[tuple[str, str, str]]:
    """All names, each with its mode (auto or manual) and the path that it means now."""
    if _planned.is_red_hats():
        known = {name: _recorded_group(name) for name in sorted(_paths.listdir(_planned.records()))}
        return [
            (name, "auto" if found.auto else "manual", found.current)
            for name, found in known.items()
            if found
        ]
    rows = [line.split(None, 2) for line in _asked("--get-selections").splitlines()]
    return [(row[0], row[1], row[2]) for row in rows if len(row) == 3]


def _asked(option: str) -> str:
    return cmd.probe([_program(), option]).or_fail().stdout


def _recorded_group(name: str) -> AlternativeGroup | None:
    planned = _planned.recorded(name)
    if planned is None or not planned.choices:
        return None
    result = AlternativeGroup()
    result.link, result.auto, result.current = planned.link, planned.auto, planned.current
    result.choices = {path: priority for path, (priority, _) in planned.choices.items()}
    result.slaves = [
        (path, slave, link, target)
        for path, (_, targets) in planned.choices.items()
        for (slave, link), target in zip(planned.slaves, targets, strict=False)
        if target
    ]
    return result


@for_states
def former_state(name: str) -> FormerState:
    """The alternatives of a name as undo restores them."""
    now = group(name)
    state = {}
    if now:
        slaves = [*map(shlex.join, now.slaves)]
        state = {"link": now.link, "auto": now.auto, "current": now.current}
        state |= {"choices": now.choices, "slaves": slaves}
    return FormerState("alternatives", name, state)


@changer(
    touches=["files"],
    # --install LINK NAME PATH PRIORITY; of the other actions the name comes first
    before=lambda action, *words: former_state(words[action == "--install"]),
    planned=_planned.change,
)
def change(*words: str) -> str:
    """Run update-alternatives. Raises CommandFailed with what it says."""
    action, *values = words
    checked = [
        value
        if value == "--slave" or _is_negative(value)
        else plain_name(value, f"update-alternatives {action}")
        for value in values
    ]
    done = cmd.probe([_program(), action, *checked])
    if done.retcode:
        raise CommandFailed(done.error_text)
    return done.stdout.strip()


def _is_negative(value: str) -> bool:
    """Return whether a word is a priority below zero, which is no option."""
    return value[:1] == "-" and value[1:].isdecimal()


# ---------------------------------------------------------------- Salt's functions


def install(name: str, link: str, path: str, priority: int) -> str:
    """Add an alternative to a name."""
    return install_again(name, link, path, priority, ())


def install_again(
    name: str, link: str, path: str, priority: int, slaves: Iterable[tuple[str, str, str]]
) -> str:
    """Add an alternative to a name. slaves: further names that go with it, each with its link and
    what that leads to.
    """
    words = (word for slave, at, target in slaves for word in ("--slave", at, slave, target))
    return change("--install", link, name, path, str(priority), *words)


def remove(name: str, path: str) -> str:
    """Take an alternative away from a name."""
    return change("--remove", name, path)


def auto(name: str) -> str:
    """Let the priorities decide what a name means."""
    return change("--auto", name)


def set_(name: str, path: str) -> str:
    """Decide by hand what a name means."""
    return change("--set", name, path)


def display(name: str) -> str:
    """Show what update-alternatives reports on a name."""
    done = cmd.probe([_program(), "--display", plain_name(name, "the name of the alternatives")])
    return done.stdout or done.stderr


def show_current(name: str) -> str | bool:
    """The path that a name means now; False where there is no such name.

    {{ salt['alternatives.show_current']('editor') }}
    """
    alternatives = group(name)
    return alternatives.current if alternatives and alternatives.current else False


def show_link(name: str) -> str | bool:
    """The link of a name; False where there is no such name."""
    alternatives = group(name)
    return alternatives.link if alternatives else False


def check_exists(name: str, path: str) -> bool:
    """Return whether a path is an alternative of a name."""
    alternatives = group(name)
    return alternatives is not None and path in alternatives.choices


def check_installed(name: str, path: str) -> bool:
    """Return whether a name means a path now."""
    return show_current(name) == path


__func_alias__: dict[str, Any] = {"set_": "set"}
