# SPDX-License-Identifier: Apache-2.0
"""What an undo did, and the reactions to it."""

from __future__ import annotations

from collections.abc import Iterable

from runner.engine.invoke import Invoker
from runner.engine.step import Invocation, Mode, Reaction
from runner.history.undo import Undo, Watcher
from runner.model.errors import CompileError
from runner.model.events import StateFinished
from runner.model.highdata import of_states
from runner.model.records import Record
from runner.model.result import Result
from runner.pipeline.compile import compile_chunks
from runner.pipeline.session import Session


class Undone(Record):
    """An undo as it was planned, or as it went. done: something was restored. earlier: the number
    of a run before, which could be undone instead. reactions: the results of the states that
    reacted.
    """

    undo: Undo
    done: bool = False
    earlier: int | None = None
    reactions: tuple[Result, ...] = ()

    @property
    def is_partial(self) -> bool:
        return self.undo.is_partial or any(result.result is False for result in self.reactions)


def reacted(session: Session, watchers: Iterable[Watcher]) -> list[Result]:
    """Have states react to what was restored, as to a change of what they watch."""
    results = []
    for watcher in watchers:
        arguments = {"name": watcher.name, **watcher.arguments}
        states = {watcher.id: (f"{watcher.state}.{watcher.function}", arguments)}
        compiled, problems = compile_chunks(session, (of_states(states), []), strict=False)
        if compiled is None:
            raise CompileError(problems)
        invoke = Invoker(session.run, compiled.binder.call)
        reaction = Reaction(tuple(f"undo: {id_}" for id_ in watcher.of))
        for step in compiled.steps:
            result = invoke(Invocation(step, Mode.REAL, reaction))
            result = session.run.secrets.result(result)
            session.run.emit(StateFinished(result))
            results.append(result)
    return results
