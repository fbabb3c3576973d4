# SPDX-License-Identifier: Apache-2.0
"""What `runner undo` does."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING

from runner.api import changes_allowed
from runner.engine.context import Execution, from_first_change
from runner.engine.interrupts import ending
from runner.history import undo as undoing
from runner.history.store import open_history, readable
from runner.pipeline import awake, undone
from runner.pipeline.gathering import learn_secrets
from runner.pipeline.lock import held
from runner.pipeline.pillar_data import read_pillar
from runner.pipeline.session import Listeners, Session
from runner.pipeline.stages import facts_of, history, new_run_id, temp_file_cleanup, warn
from runner.sources.config.options import Options

if TYPE_CHECKING:
    from runner.pipeline.undone import Undone


def undo(
    options: Options,
    number: str | None,
    listeners: Listeners = (),
    *,
    path: str = "",
    strict: bool = False,
    react: bool = False,
) -> Undone:
    """Restore what a run altered, or one path of it. strict: raise RunnerError rather than leave
    something out. react: have the states react that watch what is restored.
    """
    session = Session(options, tuple(listeners))
    with (
        ending(options.timeout),
        held(options.state_dir, options.wait),
        session.opened(),
        readable(),
        closing(open_history(options.state_dir)) as connection,
    ):
        functions = session.registry.function
        plan = undoing.plan(connection, options.state_dir, number, functions, path)
        other = undoing.earlier(connection, plan.run)
        if react:
            read_pillar(session)
        learn_secrets(session)
        session.run.secrets.recall(options.state_dir)
        mask = partial(session.run.secrets.mask, former=True)
        if strict:
            plan.masked(mask).refuse_part()
        if options.test or (plan.refused and not plan.restored):
            return undone.Undone(plan.masked(mask), earlier=other)
        past = history(session, facts_of(session, "undo", session.run.secrets))
        session.run.listeners.add(past)
        with (
            temp_file_cleanup(session) as intends,
            from_first_change(session.run.listeners, lambda end: awake.keep(end)),
            past.around(new_run_id(), len(plan.steps) + len(plan.unknown)) as left_out,
            changes_allowed(),
        ):
            session.run.begin(Execution(intends=intends))
            plan = undoing.carry_out(
                plan, connection, options.state_dir, functions, session.run.secrets
            )
            past.note_undone(
                {step.kept.tag for step in plan.restored if step.kept.tag},
                [watcher[:5] for watcher in plan.all_watchers],
            )
            results = undone.reacted(session, plan.watchers) if react else []
            shown = plan.masked(mask)
            left_out += [f"{step.subject} was left out: {step.refused}" for step in shown.refused]
            left_out += [f"{call} was left out: it cannot be undone" for call in shown.unknown]
        warn(session, past.problem and f"this undo is not kept in the history: {past.problem}")
        done = bool(plan.restored or not plan.unknown)
        return undone.Undone(shown, done, other, tuple(results))
