# SPDX-License-Identifier: Apache-2.0
"""Trying new contents with a program before they replace a file."""

from __future__ import annotations

import errno
import os
import shlex
import tempfile

from modules import _paths
from modules._machine import processes, salt_call
from modules.file._contents.streamed import Contents, copy_into
from runner.api import CommandFailed, Fact, Record, StateFailed, here


class CheckVerdict(Record):
    """What a program says of contents."""

    accepted: bool
    words: str


def try_contents(
    data: Contents, command: str, suffix: str = "", folder: str | None = None
) -> tuple[bool | None, str]:
    """Run a command with the path of a temporary file that holds the contents; whether it accepts
    them, and its words. Raises StateFailed when the command cannot be run.

    suffix: of the temporary file's name. folder: where it lies; a private one without it, and in a
    dry run always: what the command refuses there it may accept in the folder (None).
    """
    elsewhere = here.dry and folder is not None  # dry: it writes into no such folder
    try:
        if folder and elsewhere:
            _refuse_folder(folder)
        handle, path = tempfile.mkstemp(
            suffix=suffix,
            prefix="runner.tmp.",
            dir=here.scratch() if elsewhere or not folder else folder,
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
        verdict = run_check(command, path, "check_cmd")
    finally:
        os.unlink(path)
    return verdict.accepted or (None if elsewhere else False), verdict.words


def run_check(command: str, path: str, argument: str) -> CheckVerdict:
    """Run a command with the path of a file, which stands for `%s` in it or is added to it. Raises
    StateFailed when it cannot be run. argument: the one that gives it.
    """
    words = _argv(command, argument)
    argv = [word.replace("%s", path) for word in words]
    try:
        done = processes.run_to_end(
            argv if argv != words else [*argv, path],
            env=salt_call.environment(argv, {**os.environ, "LC_ALL": "C.UTF-8"}),
            cwd=None,
            stdin=None,
            timeout=None,
            most=1 << 20,
            view=processes.view(),
        )
    except CommandFailed as problem:
        reason = problem.message.rpartition(": ")[2]
        raise StateFailed(
            f"{argument} {command!r} cannot be run: {reason}",
            changes={},
            missing=_program(command, argv[0]),
        ) from problem
    outputs = [text.strip() for text in (done.stdout, done.stderr)]
    return CheckVerdict(done.retcode == 0, "\n".join(text for text in outputs if text))


def _program(command: str, name: str) -> list[Fact]:
    """The facts without which a command has no program to run."""
    path = [("file", name)] if name.startswith("/") else []
    return [("command", name), *path, ("check", command)]


def _refuse_folder(folder: str) -> None:
    """Raise OSError for a folder in which no file can be made."""
    if not _paths.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    if not _paths.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def _argv(command: str, argument: str) -> list[str]:
    try:
        argv = shlex.split(command)
    except ValueError as problem:
        raise StateFailed(
            f"{argument} {command!r} is not a command: {problem}", changes={}
        ) from problem
    if not argv:
        raise StateFailed(f"{argument} {command!r} is not a command: it is empty", changes={})
    return argv
