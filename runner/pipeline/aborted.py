# SPDX-License-Identifier: Apache-2.0
"""Runs that ended before their first state: the listeners and the history learn of them, as of any
other run.
"""

from __future__ import annotations

from contextlib import suppress

from runner.engine.interrupts import number_of
from runner.history.recorder import About, History
from runner.model.diagnostics import Diagnostic, bug
from runner.model.errors import RunnerError
from runner.model.events import Event, RunFinished, RunStarted
from runner.model.result import CRASHED, LOCKED, NOT_COMPILED, NOT_STARTED, Report
from runner.pipeline.session import Session
from runner.support.redaction import Secrets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def note(
    session: Session, run_id: str, about: Callable[[Secrets], About], error: BaseException
) -> None:
    """Report what ends a run, if it has not started, to the listeners and the history."""
    begun = session.run if "run" in session.__dict__ else None
    if not (begun and begun.listeners.started) and isinstance(error, Exception | KeyboardInterrupt):
        _note(session, run_id, about, begun.secrets if begun else Secrets(), error)


def note_not_started(
    session: Session, run_id: str, about: Callable[[Secrets], About], error: RunnerError
) -> None:
    """Report a run that has no tree to begin with to the listeners and the history."""
    _note(session, run_id, about, Secrets(), error, NOT_STARTED)


def _note(
    session: Session,
    run_id: str,
    about: Callable[[Secrets], About],
    secrets: Secrets,
    error: BaseException,
    why: str = "",
) -> None:
    options = session.options
    secrets.collect(options.pillar, options.secret_keys)
    report = _report(error, options.test, secrets, why)
    past = History(
        options.state_dir, about(secrets), (), options.history_runs, options.history_days
    )
    for event in (RunStarted(0, options.test, run_id), RunFinished(report)):
        _tell([*session.listeners, past], event)


def _tell(listeners: list[Callable[[Event], None]], event: Event) -> None:
    for listener in listeners:
        with suppress(Exception):  # the error on its way says more than theirs
            listener(event)


def _report(error: BaseException, dry: bool, secrets: Secrets, why: str) -> Report:
    if isinstance(error, KeyboardInterrupt):
        number, reason = number_of(error)
        return Report((), dry, number, reason)
    problems = error.diagnostics if isinstance(error, RunnerError) else (bug(error),)
    shown = tuple(
        secrets.diagnostic(problem) for problem in problems if problem.severity == "error"
    )
    return Report((), dry, why=why or _why(error), errors=shown or (Diagnostic(str(error)),))


def _why(error: BaseException) -> str:
    if not isinstance(error, RunnerError):
        return CRASHED
    reasons = {"locked": LOCKED, "no-lock": NOT_STARTED, "plan": NOT_STARTED}
    return reasons.get(error.code, NOT_COMPILED)
