"""Debian's alternatives: which of several programs a name means (update-alternatives)."""

from __future__ import annotations

from typing import Any

from modules import cmd
from modules._lines import plain_name
from runner.api import CommandFailed, changer


class Group:
    """A name with its alternatives. choices: path -> priority. current: what the name means now."""

    def __init__(self) -> None:
        self.link, self.auto, self.current = "", True, ""
        self.choices: dict[str, int] = {}


def _program() -> str:
    program = cmd.which("update-alternatives")
    if program is None:
        raise CommandFailed(
            "update-alternatives is not installed", missing=("command", "update-alternatives")
        )
    return program


def group(name: str) -> Group | None:
    """A name's alternatives; None where there is no such name."""
    done = cmd.probe([_program(), "--query", plain_name(name, "the name of the alternatives")])
    if done.retcode:
        return None
    result, path = Group(), ""
    for line in done.stdout.splitlines():
        key, _, value = line.partition(": ")
        if key == "Alternative":
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


@changer(touches=["files"])
def change(*words: str) -> str:
    """Run update-alternatives. Raises CommandFailed with what it says."""
    action, *values = words
    done = cmd.probe(
        [
            _program(),
            action,
            *(plain_name(value, f"update-alternatives {action}") for value in values),
        ]
    )
    if done.retcode:
        raise CommandFailed(done.error_text)
    return done.stdout.strip()


# ---------------------------------------------------------------- Salt's functions


def install(name: str, link: str, path: str, priority: int) -> str:
    """Add an alternative to a name."""
    return change("--install", link, name, path, str(priority))


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
