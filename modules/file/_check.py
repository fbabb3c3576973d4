"""Trying new contents with a program before they replace a file."""

from __future__ import annotations

import os

from modules import _processes
from modules.file._streamed import Contents, copy_into
from runner.api import CommandFailed, StateFailed, for_states, here


def try_contents(
    data: Contents, command: str, suffix: str = "", folder: str | None = None
) -> tuple[bool, str]:
    """Run a command with the path of a temporary file that holds the contents; whether it likes
    them, and its words. Raises StateFailed when the command cannot be run.

    suffix: of the temporary file's name. folder: where it lies; a private one without it.
    """
    import tempfile

    argv = _argv(command)
    try:
        handle, path = tempfile.mkstemp(
            suffix=suffix, prefix="runner.tmp.", dir=folder or here.scratch()
        )
    except OSError as problem:
        raise StateFailed(
            f"no temporary file for check_cmd in tmp_dir {folder}: {problem.strerror}",
            changes={},
            missing=("file", folder) if folder else None,
        ) from problem
    try:
        with open(handle, "wb") as file:
            copy_into(data, file)
        done = _processes.run_to_end(
            [*argv, path],
            env={**os.environ, "LC_ALL": "C.UTF-8"},
            cwd=None,
            stdin=None,
            timeout=None,
            most=1 << 20,
        )
    except CommandFailed as problem:
        problem_text = f"check_cmd {command!r} cannot be run: {problem.message.rpartition(': ')[2]}"
        raise StateFailed(problem_text, changes={}, missing=("command", argv[0])) from problem
    finally:
        os.unlink(path)
    outputs = [text.strip() for text in (done.stdout, done.stderr)]
    return done.retcode == 0, "\n".join(text for text in outputs if text)


@for_states
def refuse_check(command: str) -> None:
    """Raise StateFailed for a command whose program is not there."""
    import shutil

    argv = _argv(command)
    if argv and not shutil.which(argv[0]):
        problem_text = f"check_cmd {command!r} cannot be run: No such file or directory"
        raise StateFailed(problem_text, missing=("command", argv[0]))


def _argv(command: str) -> list[str]:
    import shlex

    try:
        return shlex.split(command)
    except ValueError as problem:
        raise StateFailed(
            f"check_cmd {command!r} is not a command: {problem}", changes={}
        ) from problem
