# SPDX-License-Identifier: Apache-2.0
"""Commands in the configuration of logrotate."""

from __future__ import annotations

from typing import Any

from modules import file, logrotate
from runner.api import FilePath, Line, Plan, Planned, Trimmed, WordsLine
from runner.api.claims import edits

owns = edits("conf_file", logrotate.CONFIGURATION)


@file.validated
def set_(
    name: Line,
    key: Trimmed,
    value: bool | int | WordsLine,
    setting: bool | int | WordsLine | None = None,
    conf_file: FilePath = logrotate.CONFIGURATION,
) -> Planned:
    """Make sure that a command of logrotate has a value.

    name: Names the state.
    key: The command, or with setting a block: the path of a log.
    value: The value of the command; true for one without a value, false for none of it. With
      setting, it is the command in the block.
    setting: The value of the command in a block, which is also looked for in the files that are
      included.
    conf_file: The configuration, whose rest stays; `logrotate -d` reads it first, where it is
      installed.

        keep few:
          logrotate.set:
            - key: /var/log/wtmp
            - value: rotate
            - setting: 2
    """
    command = str(key if setting is None else value)
    wanted: Any = value if setting is None else setting
    old = logrotate.get(key, None if setting is None else command, conf_file)
    edited = logrotate.edit(key, value, setting, conf_file)
    new = _typed(wanted)
    what = f"Command '{key}'" if setting is None else f"Block '{key}' command '{value}'"
    if old == new and type(old) is type(new):
        return f"{what} already has value: {new}"
    logrotate.verify(edited)
    file.refuse_rewrite(edited.path)
    yield Plan({"old": old, "new": new}, f"{what} will be set to value: {new}")
    file.write(edited.path, edited.after.encode("utf-8", "surrogateescape"))
    return f"Set {what[0].lower()}{what[1:]} value: {new}"


def _typed(value: Any) -> Any:
    """A value as the configuration gives it back."""
    text = str(value)
    if logrotate.is_off(text):
        return False
    if text.lower() in ("true", "yes", "on", ""):
        return True
    return int(text) if text.isdigit() else text
