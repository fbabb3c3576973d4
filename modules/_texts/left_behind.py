# SPDX-License-Identifier: Apache-2.0
"""What a command line starts in the background, with its output still open when the shell ends."""

from __future__ import annotations

from collections.abc import Iterator

from modules._texts import shell

_OPEN = {"1": True, "2": True}  # whether standard output and error are those of the shell


def holds_output(command: str) -> bool:
    """Return whether the last thing of a command line goes on in the background with an output of
    the shell, whichever shell it is. What is not understood holds none.

    >>> holds_output("sleep 9 &"), holds_output("sleep 9 >/dev/null 2>&1 &")
    (True, False)
    """
    if "&>" in command:  # the one shell redirects by it, the other goes on beside
        return False
    try:
        return _left(shell.parse(command), _OPEN)
    except shell.Unread:
        return False


def _left(body: shell.Body, out: dict[str, bool], behind: bool = False) -> bool:
    """behind: this goes on in the background itself. Of several commands the last one is looked at,
    which is all that remains of a shell.
    """
    if not body:
        return False
    pipeline = body[-1].links[-1][1]
    behind = behind or body[-1].in_background
    *feeding, last = pipeline.commands
    piped = {**out, "1": False}
    if behind and any(_streams(command, piped)[1]["2"] for command in feeding):
        return True
    command, streams = _streams(last, out)
    inner = [*_bodies(command)]
    if not inner:
        return behind and any(streams.values())
    return any(_left(each, streams, behind) for each in inner)


def _streams(command: shell.Command, out: dict[str, bool]) -> tuple[shell.Command, dict[str, bool]]:
    """A command without its redirections, and which of its outputs are those of the shell."""
    if not isinstance(command, shell.Redirected | shell.Simple):
        return command, out
    streams = dict(out)
    for each in command.redirections:
        if each.operator == ">&":
            streams[each.stream or "1"] = streams.get(each.target.literal or "", False)
        elif each.operator.startswith((">", "<>")):
            streams[each.stream or "1"] = False
    return (command.command if isinstance(command, shell.Redirected) else command), streams


def _bodies(command: shell.Command) -> Iterator[shell.Body]:
    if isinstance(command, shell.If):
        yield from (body for _, body in command.branches)
        yield command.otherwise
    elif isinstance(command, shell.Case):
        yield from (body for _, body in command.branches)
    elif isinstance(command, shell.For | shell.While | shell.Compound):
        yield command.body
