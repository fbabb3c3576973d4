# SPDX-License-Identifier: Apache-2.0
"""The result of a command: its exit code, its streams, and what a stateful one says of itself."""

from __future__ import annotations

import json
import shlex

from modules import cmd
from runner.api import Done, StateFailed
from states.cmd._command import Command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

UNPARSED = "Failed parsing script output! Stdout must be JSON or a line of name=value pairs."


def outcome(comment: str, done: cmd.Completed, command: Command) -> Done:
    """The result of a command. Raises StateFailed when it is none."""
    out, err = done.stdout, done.stderr
    if command.rstrip:
        out, err = out.rstrip(), err.rstrip()
    succeeds = cmd.succeeds(
        (done.retcode, out, err),
        (command.success_retcodes, command.success_stdout, command.success_stderr),
    )
    code = 0 if succeeds or (done.timed_out and command.ignore_timeout) else done.retcode
    changes: dict[str, Any] = {"pid": done.pid, "retcode": None if command.bg else code}
    changes |= (
        {"stdout": "", "stderr": ""} if command.hide_output else {"stdout": out, "stderr": err}
    )
    if command.stateful:
        comment, changes = stateful_answer(done, changes)
    if code:
        raise StateFailed(comment or why_failed(done), changes=changes)
    return Done(comment, changes)


def why_failed(done: cmd.Completed) -> str:
    """What a command that says nothing of itself has failed with."""
    told = done.error_text.rpartition("\n")[2]
    return f"exit code {done.retcode}" + (f": {told}" if told else "")


def stateful_answer(done: cmd.Completed, changes: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Parse the last line of a stateful command. Raises StateFailed when it reports nothing."""
    lines = [line for line in done.stdout.splitlines() if line.strip()]
    if not lines:
        return "", {}
    answer = _parse(lines[-1])
    if answer is None:
        raise StateFailed(UNPARSED, changes=changes)
    changes["stdout"] = "\n".join(lines[:-1])
    changed = str(answer.get("changed", "")).lower() in ("true", "yes", "1")
    comment = str(answer.pop("comment", ""))
    return comment, {**answer, **changes} if changed else {}


def _parse(line: str) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
        if isinstance(value, dict):
            return value
    except ValueError:
        pass
    try:
        words = shlex.split(line)
    except ValueError:
        return None
    pairs = dict(word.split("=", 1) for word in words if "=" in word)
    return pairs if len(pairs) == len(words) else None
