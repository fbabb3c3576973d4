# SPDX-License-Identifier: Apache-2.0
"""The runs that commands ask for: each is a way into the stages (stages.py)."""

from __future__ import annotations

from collections.abc import Callable

from runner.history.recorder import About
from runner.model import highdata
from runner.model.chunk import Chunk
from runner.model.errors import RunnerError
from runner.model.places import Value
from runner.model.result import HIGHSTATE, Report
from runner.pipeline import aborted, gathering
from runner.pipeline import orphans as finding
from runner.pipeline.compile import Compiled, of_gathered, of_requests
from runner.pipeline.node_scope import requests
from runner.pipeline.session import Listeners, Session, of_named
from runner.pipeline.stages import about_run, new_run_id, run_pipeline, warn
from runner.sources.config.options import Options
from runner.support.redaction import Secrets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import NoReturn

    from runner.pipeline.gathering import Gathered

Confirm = Callable[[Chunk], bool]  # asks whether a state is to run


def highstate(
    options: Options,
    listeners: Listeners = (),
    ready: Callable[[Compiled], None] = lambda compiled: None,
    confirm: Confirm | None = None,
) -> Report:
    """Bring the machine to everything that the top file gives it. ready: called before the first
    state runs.
    """
    session = Session(options, tuple(listeners), confirm)
    return run_pipeline(session, of_requests(session), HIGHSTATE, ready=ready)


def without_tree(options: Options, error: RunnerError, listeners: Listeners = ()) -> NoReturn:
    """Note a highstate that has no tree: `runner pull` could not get one. Raises the error."""
    session = Session(options, tuple(listeners))

    def about(secrets: Secrets) -> About:
        return about_run(session, secrets, HIGHSTATE)

    aborted.note_not_started(session, new_run_id(), about, error)
    raise error


def sls(
    options: Options,
    names: Iterable[str],
    listeners: Listeners = (),
    confirm: Confirm | None = None,
) -> Report:
    """Bring the machine to what these SLS files say."""
    session = Session(of_named(options), tuple(listeners), confirm)
    return run_pipeline(session, of_requests(session, list(names)))


def outside(options: Options, path: str, name: str, listeners: Listeners = ()) -> Report:
    """Bring the machine to what an SLS file says that lies in no tree. name: what its states have
    as their SLS.
    """
    session = Session(of_named(options), tuple(listeners))

    def gathered() -> Gathered:
        wanted = [request._replace(outside=True) for request in requests(session, [name])]
        return gathering.gather(session, wanted, session.reading(name, path))

    return run_pipeline(session, of_gathered(session, gathered))


def single(
    options: Options, function: str, arguments: Mapping[str, Value], listeners: Listeners = ()
) -> Report:
    """Run one state."""
    session = Session(options, tuple(listeners))
    gathered = of_gathered(session, lambda: (highdata.of_one(function, arguments), []))
    return run_pipeline(session, gathered, of_tree=False)


def several(options: Options, states: highdata.Made, listeners: Listeners = ()) -> Report:
    """Run states that a command made: ID -> (function, arguments)."""
    session = Session(options, tuple(listeners))
    gathered = of_gathered(session, lambda: (highdata.of_states(states), []))
    return run_pipeline(session, gathered, of_tree=False)


def prune(options: Options, listeners: Listeners = ()) -> Report:
    """Remove what earlier highstates made and no state of today's tree declares."""
    session = Session(options, tuple(listeners))
    gone: list[str] = []

    def gathered() -> Gathered:
        found = finding.orphans(options)
        gone.extend(found.gone)
        for orphan in found.changed:
            warn(session, f"{orphan.thing} is left: {orphan.stays}")
        return highdata.of_states(found.states), []

    report = run_pipeline(session, of_gathered(session, gathered), of_tree=False)
    if not options.test:
        finding.forget_gone(options, gone)
    return report
