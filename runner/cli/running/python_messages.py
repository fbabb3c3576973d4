# SPDX-License-Identifier: Apache-2.0
"""What Python itself prints: messages of its `logging`, warnings, errors of threads. Code of a tree
and libraries use these, so they are masked like all that runner prints.
"""

from __future__ import annotations

import sys
from contextlib import suppress

from runner.output import text
from runner.support.own_modules import executed
from runner.support.redaction import redact_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def mask_logging(logging: Any) -> None:
    """Have all handlers, those of a tree's own code as well, write lines without secrets."""
    format_record, emit_to_stream = logging.Formatter.format, logging.StreamHandler.emit

    def format(self: Any, record: Any) -> str:
        return _masked(format_record(self, record))

    def emit(self: Any, record: Any) -> None:
        if self.stream in (sys.stdout, sys.stderr):
            _make_room()
        emit_to_stream(self, record)

    if format_record.__module__ != __name__:
        logging.Formatter.format = format
        logging.StreamHandler.emit = emit
        logging.Handler.handleError = _not_logged
        logging.lastResort.setFormatter(_plain_formatter(logging))


def _plain_formatter(logging: Any) -> Any:
    class Plain(logging.Formatter):  # type: ignore[misc]
        """A line that cannot steer a terminal."""

        def format(self, record: Any) -> str:
            return text.safe(super().format(record))

    return Plain()


def _make_room() -> None:
    """Remove the line that says what runs, where a terminal shows one."""
    live = executed("runner.output.live")
    if live is not None:
        live.make_room()


def _not_logged(handler: Any, record: Any) -> None:
    """Say why a message is not in the log, without its arguments; of a full disk only once."""
    error = sys.exc_info()[1]
    if isinstance(error, OSError):
        if not handler.__dict__.get("failed"):
            handler.failed = True
            _print(f"warning: the log cannot be written: {error.strerror}")
    else:
        where = f"{record.pathname}:{record.lineno}"
        _print(f"warning: a message for the log is wrong: {type(error).__name__} (at {where})")


def mask_warnings(warnings: Any) -> None:
    format_warning = warnings.formatwarning

    def formatwarning(*args: Any, **options: Any) -> str:
        return _masked(format_warning(*args, **options))

    if format_warning.__module__ != __name__:
        warnings.formatwarning = formatwarning


def mask_threading(threading: Any) -> None:
    threading.excepthook = _thread_failed


def _thread_failed(failure: Any) -> None:
    name = failure.thread.name if failure.thread else "a thread"
    _print(f"warning: {name} ended with {failure.exc_type.__name__}: {failure.exc_value}")


def ignored(failure: Any) -> None:
    what = failure.err_msg or "an error was ignored"
    _print(f"warning: {what}: {failure.exc_type.__name__}: {failure.exc_value}")


def _print(text: str) -> None:
    _make_room()
    with suppress(OSError, ValueError, AttributeError):  # stderr may be closed
        print(_masked(text), file=sys.stderr)


def _masked(text: str) -> str:
    return redact_all(text)
