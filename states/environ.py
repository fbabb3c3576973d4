# SPDX-License-Identifier: Apache-2.0
"""Variables of the environment that the programs of this run get."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from modules import environ
from runner.api import Done, Plan, Planned, StateFailed

NON_IDEMPOTENT = {"setenv": "it holds for the run that it is in, so each run sets it anew"}


def setenv(
    name: str,
    value: Any,
    false_unsets: bool = False,
    clear_all: bool = False,
    update_minion: bool = False,
    permanent: bool = False,
) -> Planned:
    """Make sure that variables have values in the environment of what the states that follow start.

    name: The variable.
    value: A text, false for an empty one, or a mapping of several variables; the name is then free.
    false_unsets: False, as a value and by clear_all, removes a variable instead of emptying it.
    clear_all: Empty all other variables.
    update_minion: ignored; there is no process to outlive the run.
    permanent: refused; it is for Windows, write /etc/environment or a unit file to set something
      for good.

        proxy:
          environ.setenv:
            - name: http_proxy
            - value: http://proxy.example:3128

    Behaviour: Salt 3008's environ.setenv; a dry run reports a pending change.
    """
    if permanent:
        raise StateFailed(
            "permanent: there is no registry here; write /etc/environment with file.keyvalue, say"
        )
    wanted = value if isinstance(value, dict) else {name: value}
    invalid = [
        key
        for key, content in wanted.items()
        if content is not False and not isinstance(content, str)
    ]
    if invalid:
        raise StateFailed(
            f"Environ value must be string, dict or False ({invalid[0]} is {wanted[invalid[0]]!r};"
            " quote it)"
        )
    if clear_all:
        wanted = {**dict.fromkeys(environ.items(), False), **wanted}
    wanted = {str(key): content for key, content in wanted.items()}
    environ.refuse_variables(wanted)
    values = {
        key: (None if false_unsets else "") if content is False else content
        for key, content in wanted.items()
    }
    present = environ.items()
    if all(
        _has_value(present, key, content, wanted[key] is False) for key, content in values.items()
    ):
        already = "already set with the correct values"
        return Done(f"Environ values were {already}", in_dry_run=f"Environ values are {already}")
    changes = {
        key: content
        for key, content in values.items()
        if not content or present.get(key) != content
    }
    yield Plan(changes, "Environ values will be changed")
    environ.setenv(changes, false_unsets=True)
    return "Environ values were set"


def _has_value(present: Mapping[str, str], key: str, value: str | None, false: bool) -> bool:
    """Return whether a variable has its value; a text that is empty may be one that is not set."""
    return present.get(key) == value if value is None or false else present.get(key, "") == value
