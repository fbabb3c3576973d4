# SPDX-License-Identifier: Apache-2.0
"""Packages of PHP, with composer."""

from __future__ import annotations

import os
import re
from typing import Annotated

from modules import _paths
from modules._machine import fetching
from modules._machine.surroundings import parse_variables
from modules._machine.tools import TOPIC, Tool, refuse_open, unforeseen
from modules._texts.lines import one_line, plain_name
from runner.api import AbsolutePath, Group, Line, Name, Record, changer, fetcher, for_states

_COUNTED = re.compile(r"^(?:Package|Lock file) operations: (.*)$", re.MULTILINE)
_NOTHING = re.compile(r"^Nothing to (?:install|modify)\b", re.MULTILINE)


class Composer(Record):
    """composer as it is called: the arguments of Salt's functions.

    composer: The program composer, by name or path.
    php: The program php that runs it, by name or path.
    runas: The user who runs it.
    prefer_source: Get packages from their repositories.
    prefer_dist: Get packages as archives.
    no_scripts: Run no scripts of composer.json.
    no_plugins: Load no plugins.
    optimize: Make the class map of the autoloader, too.
    no_dev: Leave out what is needed for development only.
    quiet: Leave its output out of the result.
    composer_home: The directory of its settings.
    env: Further variables, as of cmd.run.
    """

    composer: Name | None = None
    php: Name | None = None
    runas: Name | None = None
    prefer_source: bool | None = None
    prefer_dist: bool | None = None
    no_scripts: bool | None = None
    no_plugins: bool | None = None
    optimize: bool | None = None
    no_dev: bool | None = None
    quiet: bool = False
    composer_home: AbsolutePath | None = "/root"
    env: dict[Line, Line] | list[Line | dict[Line, Line]] | None = None

    def call(self, command: str, directory: str | None, *more: str) -> tuple[str, str]:
        """The standard output and error of a command. Raises CommandFailed with its reason."""
        program = plain_name(self.composer, "composer") if self.composer else "composer"
        words = [command, "--no-interaction", "--no-ansi", *more]
        if directory:
            words += [*self._options(), f"--working-dir={one_line(directory, 'directory')}"]
        if self.php:
            program, words = plain_name(self.php, "php"), [program, *words]
        variables = {"COMPOSER_ALLOW_SUPERUSER": "1", **parse_variables(self.env)}
        variables |= {"COMPOSER_HOME": self.composer_home} if self.composer_home else {}
        tool = Tool(program, "composer", self.runas, None, variables)
        done = tool.run(*words)
        if done.retcode:
            raise tool.failure(command, done.error_text)
        return done.stdout, done.stderr

    def _options(self) -> list[str]:
        chosen = {
            "--prefer-source": self.prefer_source,
            "--prefer-dist": self.prefer_dist,
            "--no-scripts": self.no_scripts,
            "--no-plugins": self.no_plugins,
            "--optimize-autoloader": self.optimize,
            "--no-dev": self.no_dev,
        }
        return [word for word, wanted in chosen.items() if wanted]


_NAMES = {("user" if field == "runas" else field): field for field in Composer._fields}
Called = Annotated[Composer, Group(_NAMES)]  # as states have it, and functions
Given = Annotated[Composer, Group()]
_OF_ITSELF = ("composer", "php", "runas", "quiet", "composer_home")
GivenToUpdateItself = Annotated[Composer, Group({field: field for field in _OF_ITSELF})]


def did_composer_install(dir: str) -> bool:
    """Return whether composer has installed something in a directory: it has a folder vendor.

    {{ salt['composer.did_composer_install']('/srv/app') }}
    """
    return _paths.exists(os.path.join(dir, "vendor"))


@for_states
@fetcher
def pending(command: str, directory: str, composer: Composer) -> str | None:
    """The packages that composer would install, update and remove; None when it would do nothing,
    an empty text when it does not say. Raises CommandFailed with what composer has against it.
    """
    refuse_open(_place(directory))
    with fetching.asking("what composer would install"):
        text = "\n".join(composer.call(command, directory, "--dry-run"))
    counted = [line for line in _COUNTED.findall(text) if re.search("[1-9]", line)]
    if counted:
        return "; ".join(dict.fromkeys(counted))
    return None if _NOTHING.search(text) else ""


def _place(directory: str | None) -> tuple[str, str]:
    return "composer", os.path.normpath(directory or "")


def _plan_change(command: str, directory: str | None, composer: Composer) -> dict[str, str]:
    raise unforeseen(_place(directory), f"what composer {command} does")


@for_states
@changer(touches=[TOPIC, "files"], planned=_plan_change)
def change(command: str, directory: str | None, composer: Composer) -> dict[str, str]:
    """Run composer: its output. Raises CommandFailed with what composer has against it."""
    quiet = ["--quiet"] if composer.quiet else []
    stdout, stderr = composer.call(command, directory, *quiet)
    return {"stdout": stdout, "stderr": stderr}


def install(directory: str, how: Given = Composer()) -> dict[str, str] | bool:
    """Install what the composer.json of a directory asks for: composer's output; True when it is
    quiet. Raises CommandFailed with what composer has against it.

    directory: The directory of the project.

    runner call composer.install /srv/app no_dev=true
    """
    return _output("install", directory, how)


def update(directory: str, how: Given = Composer()) -> dict[str, str] | bool:
    """Update what the composer.json of a directory asks for: composer's output; True when it is
    quiet. Raises CommandFailed with what composer has against it.

    directory: The directory of the project.
    """
    return _output("update", directory, how)


def selfupdate(how: GivenToUpdateItself = Composer()) -> dict[str, str] | bool:
    """Update composer itself: its output; True when it is quiet. Raises CommandFailed with what it
    has against it.
    """
    return _output("self-update", None, how)


def _output(command: str, directory: str | None, how: Composer) -> dict[str, str] | bool:
    """Run composer: its output; True when it is quiet."""
    output = change(command, directory, how)
    return True if how.quiet else output
