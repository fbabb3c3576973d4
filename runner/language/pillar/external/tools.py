# SPDX-License-Identifier: Apache-2.0
"""The tools of the engine that are passed to external pillars."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from runner.model.errors import RunnerError
from runner.model.places import Source
from runner.model.records import Record


class Tools(Record):
    """The machine's name and environment, the configuration, a shell, templates."""

    id: str
    env: str
    opts: Mapping[str, Any]
    grains: Mapping[str, Any]
    shell: Callable[[str], Mapping[str, Any]]  # a command -> retcode, stdout, stderr
    names: Mapping[str, Any]  # the variables that templates see
    # (file, folder of its imports, variables) -> rendered text
    template: Callable[[str, str, Mapping[str, Any]], Any]
    data: Callable[[Any], Any]  # a rendered text as YAML
    parsed: Callable[[str, str], Any]  # (text, how a message calls it) -> the value of YAML
    # (file, options) -> what its renderers make of it
    content: Callable[[str, Mapping[str, Any]], Any]
    matches: Callable[[str, str], bool]
    seen: Callable[[str], None]  # is shown each file before it is read
    place: Callable[[], Source]  # of ext_pillar in the configuration
    folder: str  # that relative paths of ext_pillar start at
    hide: Callable[[Any], None]  # takes what data says for secrets
    vault: Callable[[str], Mapping[str, Any]]  # the secret at a path; empty where there is none
    of_git: Callable[[Any], Mapping[str, Any]]  # the pillar of these git repositories

    def problem(self, message: str, hint: str | None = None) -> RunnerError:
        """An error of the configuration."""
        return RunnerError(message, self.place(), hint, "ext_pillar")
