# SPDX-License-Identifier: Apache-2.0
"""The one place where errors become exit codes and messages."""

from __future__ import annotations

import atexit
import errno
import gc
import os
import sys
import tempfile
import traceback
from contextlib import suppress

from runner.cli.parsing import usage
from runner.cli.running import streams
from runner.engine import interrupts
from runner.model import paths, releases
from runner.model.errors import RunnerError
from runner.model.result import Report
from runner.output import diagnostics, text
from runner.support.own_modules import executed
from runner.support.redaction import redact_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn, TextIO

DONE, NOT_RUN, FAILED, LOCKED = 0, 1, 2, 3
TREE_REFUSED = 4  # the new tree, by `runner pull`: the last good one was run
LEFT_OUT = (
    "/usr/local/sbin",
    "/usr/local/bin",
    "/usr/sbin",
    "/sbin",
)  # by cron, or by a plain user's shell
INTERRUPTED, BROKEN_PIPE = 130, 141
_EXIT = os._exit
# they, or who has them, may do something at the end: the modules of a tree write what they have
# left open
_AT_THE_END = ("jinja2", "sqlite3", "threading", "runner.engine.loader.tree_imports")


def code_of(report: Report, detailed: bool = False) -> int:
    """The exit code of a run; `detailed` as Puppet's: 2 changes, 4 failures, 6 both."""
    if report.interrupted:
        return 128 + report.interrupted
    if detailed:
        return 2 * report.changed + 4 * report.failed
    return FAILED if report.failed else DONE


def program(run: Callable[[list[str]], int], arguments: list[str]) -> NoReturn:
    """Run a command line as a whole process, and end with its exit code; whatever goes wrong
    becomes a message on stderr and an exit code.
    """
    if sys.stdin is None or sys.stdout is None or sys.stderr is None:
        streams.with_streams()
    _forgiving(sys.stderr)
    _with_raising_exit()
    for stream in (sys.stdout, sys.stderr):
        stream.__dict__["close"] = stream.flush  # not for the code of a tree to close
    _with_programs()
    streams.mask_python_messages()
    try:
        code = run(arguments)
        sys.stdout.flush()
    except BaseException as error:
        code = _code_after(error)
    if _ends_at_once():
        _EXIT(code)
    gc.freeze()  # the process ends and gives all back: no last look at everything
    sys.exit(code)


def _ends_at_once() -> bool:
    """Return whether nothing waits for the end of Python, which takes apart all that it has."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        return False
    return not (any(map(executed, _AT_THE_END)) or atexit._ncallbacks())


def _with_raising_exit() -> None:
    """Have `os._exit` raise SystemExit, which is told with its place, so that no code of a tree
    ends runner without a word. Children of this process end as always.
    """
    if os._exit is not _EXIT:
        return

    def raising(status: int) -> NoReturn:
        raise SystemExit(f"os._exit({status})")

    os._exit = raising
    os.register_at_fork(after_in_child=lambda: setattr(os, "_exit", _EXIT))


def _forgiving(stream: TextIO) -> None:
    """Have a stream take what cannot be written: no run ends for a warning on a full disk."""

    def trying(call: Callable[..., Any]) -> Callable[..., Any]:
        def tried(*args: Any) -> Any:
            try:
                return call(*args)
            except BrokenPipeError:
                raise
            except OSError:
                return None

        return tried

    stream.__dict__.update(write=trying(stream.write), flush=trying(stream.flush))


def _with_programs() -> None:
    """Find the programs of the administrator, too: cron, and a plain user's shell, have no sbin in
    their PATH.
    """
    folders = (os.environ.get("PATH") or os.defpath).split(":")
    os.environ["PATH"] = ":".join(
        folder for folder in (*folders, *(new for new in LEFT_OUT if new not in folders)) if folder
    )


def _code_after(error: BaseException) -> int:
    """The exit code of what ended with an error, when that is told."""
    if isinstance(error, RunnerError):
        return _told(error)
    if isinstance(error, BrokenPipeError):
        return _pipe_closed()
    if isinstance(error, OSError):
        return _of_the_system(error)
    if isinstance(error, SystemExit):  # the command-line parser makes this of a closed pipe
        if isinstance(error.__context__, BrokenPipeError):
            return _pipe_closed()
        return report_bug(error)  # code of a tree called sys.exit()
    if isinstance(error, KeyboardInterrupt):
        return stopped(error)
    usage = _usage(error)
    return usage if usage is not None else report_bug(error)


def _of_the_system(error: OSError) -> int:
    if error.errno == errno.ENOENT and not _stands_somewhere():
        gone = "the current folder no longer exists"
        return _told(RunnerError(gone, hint="cd / or use absolute paths"))
    full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
    if not full or error.filename is not None:
        return report_bug(error)
    with suppress(OSError):
        print(f"runner: the answer could not be written: {error.strerror}", file=sys.stderr)
    _silenced()
    return FAILED


def stopped(interrupt: KeyboardInterrupt) -> int:
    """A signal that came before anything was run."""
    number, why = interrupts.number_of(interrupt)
    with suppress(OSError):
        print(f"runner: {why}; nothing was run", file=sys.stderr)
    return 128 + number


def _stands_somewhere() -> bool:
    try:
        return bool(os.getcwd())
    except OSError:
        return False


def _pipe_closed() -> int:
    _silenced()
    return BROKEN_PIPE


def _silenced() -> None:
    """Nothing more can be said; keeps Python from complaining when it flushes at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _told(error: RunnerError) -> int:
    diagnostics.show(error.diagnostics, sys.stderr, text.wants_colour(sys.stderr, os.environ))
    return LOCKED if error.code == "locked" else NOT_RUN


def _usage(error: BaseException) -> int | None:
    """The exit code if the error is the command-line parser's (whose library depends on typer's
    version).
    """
    names = {kind.__name__ for kind in type(error).__mro__}
    if "Abort" in names:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    if "Exit" in names and hasattr(error, "exit_code"):
        return int(error.exit_code)
    if "ClickException" not in names:
        return None
    print(*usage.words(error), sep="\n", file=sys.stderr)
    return NOT_RUN


def report_bug(error: BaseException) -> int:
    """Apologise for a defect of runner's own, and write what happened to a file."""
    report = redact_all("".join(traceback.format_exception(error)))
    try:
        path = _kept(f"runner {releases.version()}, Python {sys.version}\n{report}")
        where = f"What happened is written to {path}; please send it with your report."
    except OSError as problem:  # such as a full disk, which may have been the cause
        where = f"What happened cannot be written to a file: {problem.strerror or problem}."
    print(
        f"Sorry, this is a bug in runner {releases.version()}: {type(error).__name__}:"
        f" {text.safe(redact_all(str(error)), sys.stderr)}\n{where}",
        file=sys.stderr,
    )
    return NOT_RUN


def _kept(report: str) -> str:
    """The path of a new file with the report of a bug. Raises OSError."""
    with tempfile.NamedTemporaryFile(
        "w",
        dir="/var/tmp" if paths.is_away() else None,  # an image's /tmp is gone with this process
        prefix="runner-bug-",
        suffix=".log",
        delete=False,
        encoding="utf-8",
        errors="backslashreplace",
    ) as log:
        log.write(report)
    return log.name
