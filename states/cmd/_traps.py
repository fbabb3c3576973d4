# SPDX-License-Identifier: Apache-2.0
"""What a command's arguments probably do not mean."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from runner.api.claims import Trap


def left_behind(command: str, bg: object) -> Iterator[Trap]:
    """What is started in the background and keeps the output that is waited for."""
    parts = re.split(r";|\n|\|+|&&|(?<![>&])&(?![>&\d])", command.rstrip("& \t\n"))
    if re.search(r"(?<![&>])&\s*$", command) and ">" not in parts[-1] and not bg:
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
