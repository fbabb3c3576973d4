# SPDX-License-Identifier: Apache-2.0
"""What a command's arguments probably do not mean."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from modules import cmd
from runner.api.claims import Trap


def left_behind(command: str, bg: object) -> Iterator[Trap]:
    """What is started in the background and keeps the output that is waited for."""
    if not bg and cmd.holds_output(command):
        message = "it waits until what is started in the background closes its output"
        yield Trap("name", message, "write `- bg: True`, or `>/dev/null 2>&1 &` in the command")


def added_to(env: object) -> Iterator[Trap]:
    """Variables whose values name them, as a shell's assignment would."""
    for entry in env if isinstance(env, list) else [env]:
        for key, value in entry.items() if isinstance(entry, Mapping) else ():
            name = re.escape(str(key))
            if re.search(rf"\$(?:{name}(?!\w)|\{{{name}\}})", str(value)):
                message = f"env: no shell reads the value of {key}: ${key} stays in it"
                hint = f"write `export {key}=...` in the command"
                if key == "PATH":
                    hint = "write `- prepend_path: [DIRECTORY]`"
                yield Trap("env", message, hint)
