# SPDX-License-Identifier: Apache-2.0
"""The result of a command: its exit code, its streams, and what a stateful one says of itself."""

from __future__ import annotations

from typing import Any

from modules import cmd
from runner.api import Done, StateFailed

UNPARSED = "Failed parsing script output! Stdout must be JSON or a line of name=value pairs."


class Accepted:
    """Results that count as success beside exit code 0."""

    def __init__(
        self,
        retcodes: list[int] | None,
        stdout: list[str] | None,
        stderr: list[str] | None,
        timeout: bool,
        rstrip: bool = True,
    ) -> None:
        """rstrip: white space at the end of a stream is none of it."""
        self._retcodes = retcodes or []
        self._stdout = stdout or []
        self._stderr = stderr or []
        self._timeout = timeout
        self._rstrip = rstrip

    def streams(self, done: cmd.Completed) -> tuple[str, str]:
        """Return what it printed, as the result shows it."""
        if self._rstrip:
            return done.stdout.rstrip(), done.stderr.rstrip()
        return done.stdout, done.stderr

    def code(self, done: cmd.Completed) -> int:
        """The exit code as the result shows it."""
        out, err = self.streams(done)
        accepted = (
            done.retcode in self._retcodes
            or out in self._stdout
            or err in self._stderr
            or (done.timed_out and self._timeout)
        )
        return 0 if accepted else done.retcode


def outcome(
    comment: str, done: cmd.Completed, stateful: object, accepted: Accepted, hide: bool, bg: bool
) -> Done:
    """The result of a command. Raises StateFailed when it is none."""
    code = accepted.code(done)
    streams = ("", "") if hide else accepted.streams(done)
    changes: dict[str, Any] = {"pid": done.pid, "retcode": None if bg else code}
    changes |= {"stdout": streams[0], "stderr": streams[1]}
    if stateful:
        comment, changes = stateful_answer(done, changes)
    if code:
        raise StateFailed(comment, changes=changes)
    return Done(comment, changes)


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
    import json
    import shlex

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
