# SPDX-License-Identifier: Apache-2.0
"""Programs that install packages of a language or of an application store (npm, gem, flatpak, ...):
the one place that runs them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from modules import _paths, cmd
from modules._machine.processes import Completed, needs
from modules._planned.overlay import planned_machine
from runner.api import CommandFailed, FormerState, Record, Unforeseen, changer, leave_pending

TOPIC = "tool packages"  # of looks at what such a program has installed
Former = FormerState | Callable[[], FormerState]
UNPINNED = "installed"  # in a dry run the version of what is to come in the newest


class Tool(Record):
    """A program, the package that it comes with, and how it runs. env: as of cmd.run. folder: what
    it installs below, where neither the user nor a project says that.
    """

    program: str
    package: str
    user: str | None = None
    cwd: str | None = None
    env: Any = None
    folder: str = ""

    @property
    def place(self) -> tuple[str, str]:
        """Whose packages it has, for the planned machine: of a user, without a project."""
        return self.program, self.folder or self.cwd or f"~{self.user or ''}"

    @property
    def planned(self) -> dict[str, Any]:
        """Which of its packages a dry run has planned; None for those that go."""
        return planned_machine().tool_packages.get(self.place, {})

    def newest_planned(self, name: str) -> str | None:
        """The newest version of a package that is only planned: it itself where none was asked for;
        None of another one. Raises Unforeseen where that is not known.
        """
        version: str | None = self.planned.get(name)
        if version not in (None, UNPINNED):
            raise Unforeseen(f"the newest version of {name}, which is only planned")
        return version

    def require(self) -> None:
        """Raise StateFailed where the program is not there."""
        if os.path.isabs(self.program) and not _paths.exists(self.program):
            raise CommandFailed(f"there is no {self.program}", missing=("file", self.program))
        if not os.path.isabs(self.program):
            needs(self.program, self.package)

    def run(self, *words: str) -> Completed:
        """Run the program. Raises StateFailed where it is not there."""
        self.require()
        return cmd.complete(
            [self.program, *words], cwd=self.cwd, runas=self.user, env=self.env, python_shell=False
        )

    def output(self, *words: str) -> str:
        """Return what the program prints. Raises CommandFailed with the reason when it fails."""
        done = self.run(*words)
        if done.retcode:
            raise self.failure(words[0], done.error_text)
        return done.stdout

    def failure(self, command: str, reason: str) -> CommandFailed:
        """The error of a command that failed: once its package has come it may not."""
        name = os.path.basename(self.program)
        why = f"{name} {command}: {reason or 'failed without a message'}"
        return CommandFailed(why, missing=("pkg", self.package))


def owned(name: str, user: str | None) -> str:
    """The name of what a user has, for undo: USER/NAME; NAME alone of whoever runs runner."""
    return f"{user}/{name}" if user else name


def former_program(
    kind: str, versions: Mapping[str, str], name: str, user: str | None
) -> FormerState:
    """A program of a user as undo restores it. kind: the module that installs it."""
    version = versions.get(name)
    return FormerState(kind, owned(name, user), {"version": version} if version else {})


def unforeseen(place: tuple[str, str], what: str) -> Unforeseen:
    """What a dry run does not know of a place, for the states that follow (`refuse_open`), too."""
    planned_machine().open_tools.add(place)
    return Unforeseen(what)


def refuse_open(place: tuple[str, str]) -> None:
    """Raise Unforeseen for a look at a place of which a dry run knows no more what is there."""
    if place in planned_machine().open_tools:
        raise Unforeseen(f"what {os.path.basename(place[0])} has made of it by then")


def _plan_change(
    words: list[str],
    tool: Tool,
    was: Former | None = None,
    becomes: Mapping[str, Any] | None = None,
) -> str:
    """Plan which packages there are; what is in them stays open."""
    if becomes is None:
        raise unforeseen(tool.place, f"what {os.path.basename(tool.program)} makes of it")
    planned_machine().tool_packages.setdefault(tool.place, {}).update(becomes)
    leave_pending()
    return ""


def _was(
    words: list[str], tool: Tool, was: Former | None = None, becomes: object = None
) -> FormerState | None:
    return was() if callable(was) else was


@changer(touches=[TOPIC, "files"], before=_was, planned=_plan_change)
def change(
    words: list[str],
    tool: Tool,
    was: Former | None = None,
    becomes: Mapping[str, Any] | None = None,
) -> str:
    """Have the program change something: what it prints. Raises CommandFailed with the reason when
    it fails.

    was: what it changes, as it is, for undo, or how to ask that; without it undo says that it does
    not know. becomes: for a dry run, the packages that there are then, None for those that are
    gone; without it a dry run does not know.
    """
    return tool.output(*words)
