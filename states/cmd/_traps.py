# SPDX-License-Identifier: Apache-2.0
"""What a command's arguments probably do not mean."""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterator, Mapping

from modules import cmd, file
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


# what bash reads and other shells do not: [[ ]], source, pipefail, arrays, <( ), <<<, &>
_BEGINS = r"(?:^|[;&|(]|\b(?:then|do|else)\s)\s*"
_BASH = re.compile(
    rf"(?:^|[\s;&|(])(?P<test>\[\[)\s|{_BEGINS}(?P<word>source(?=\s)|shopt(?=\s)|\w+=\()"
    r"|(?P<sign>\bset -\w*o pipefail\b|[<>]\(|<<<|&>|\$\{\w+\[)",
    re.M,
)


def of_bash(command: str, shell: object) -> Iterator[Trap]:
    """What bash alone reads, where another shell gets it: by hand `$SHELL`, else /bin/sh."""
    found = _BASH.search(re.sub(r"'[^']*'", "''", command))
    used = str(shell or "/bin/sh")
    if found and os.path.basename(file.real_path(used)) in ("dash", "posh"):
        where = "" if shell else "from cron or a timer "
        message = (
            f"{where}{used} reads it, which does not know bash's `{found[found.lastgroup or 0]}`"
        )
        yield Trap("name", message, "add `- shell: /bin/bash`, or write it as sh reads it", True)
