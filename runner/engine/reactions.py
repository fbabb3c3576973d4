# SPDX-License-Identifier: Apache-2.0
"""Pending reactions among the states of one run: written before a change, settled after the
reaction.
"""

from __future__ import annotations

import time
from contextlib import contextmanager

from runner.api import StateFailed
from runner.engine import decide as decisions
from runner.engine.reaction_journal import Audience, Change, ReactionJournal
from runner.engine.step import NOT_RUN, RunPlan
from runner.model.chunk import LEFT_OUT, Chunk, EdgeGroup
from runner.model.errors import reason_of
from runner.model.requisite_kinds import KINDS, WATCH
from runner.model.result import PendingReaction, Result, named, some_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from runner.engine.step import Decision


class _Reactors:
    """The states that react in one way to the same others, by the requisites that say so."""

    def __init__(self, groups: Sequence[tuple[str, EdgeGroup]]) -> None:
        """groups: with the tags of their holders."""
        _, first = groups[0]
        self.kind = first.kind.reaction
        self.places = dict(zip(first.targets, map(str, first.places), strict=False))
        self._reactors: dict[int | str, tuple[str, str]] = {  # by position, of the absent by tag
            tag if group.holder == LEFT_OUT else group.holder: (
                tag,
                "" if group.places else str(group.place),
            )
            for tag, group in groups
        }
        self._all: Audience | None = None

    def left(self, results: Mapping[int, Result]) -> Audience | None:
        """Those that react to what changes now: who has ended does not, unless it listens."""
        if self.kind == "listen" or results.keys().isdisjoint(self._reactors):
            self._all = self._all or Audience(self.kind, dict(self._reactors.values()))
            return self._all
        left = [reactor for holder, reactor in self._reactors.items() if holder not in results]
        return Audience(self.kind, dict(left)) if left else None


class ReactionTracker:
    """The pending reactions of one run. `unprotected` says why they could not be written."""

    def __init__(self, journal: ReactionJournal, plan: RunPlan) -> None:
        self.unprotected = ""
        self._journal = journal
        self._plan = plan
        reacting: list[tuple[str, EdgeGroup]] = []
        for position, step in enumerate(plan.steps):
            for group in plan.relations.of(position).groups:
                if group.kind.has_reaction(step.reacts):
                    reacting.append((step.chunk.tag, group))
            if step.self_refreshing:
                own = EdgeGroup(position, WATCH, (position,), step.chunk.place)
                reacting.append((step.chunk.tag, own))
        together: dict[object, list[tuple[str, EdgeGroup]]] = {}
        for tag, group in (*reacting, *plan.relations.absent_reactors):
            key = group.together, group.kind.reaction, group.places and id(group.places)
            together.setdefault(key, []).append((tag, group))
        self._reactors: dict[int, list[_Reactors]] = {}  # to a state
        for groups in together.values():
            reactors, (_, first) = _Reactors(groups), groups[0]
            for target in first.targets:
                self._reactors.setdefault(target, []).append(reactors)

    def has_pending(self, chunk: Chunk) -> bool:
        """Return whether a chunk has pending reactions."""
        try:
            return self._journal.has(chunk.tag)
        except OSError as error:
            self.unprotected = reason_of(error)
            return False

    def pending(self, chunk: Chunk) -> tuple[PendingReaction, ...]:
        return self._journal.pending(chunk.tag)

    def due(self, chunk: Chunk, results: Mapping[str, Result]) -> Collection[str]:
        """The kinds of a chunk's pending reactions that are to be done now. One to a state that
        failed in this run waits for a run in which it does not.
        """

        def waits(kind: str, source: str, run: str) -> bool:
            result = results.get(source)
            if result is None or not decisions.is_hindered(result):
                return False
            # a listener does not ask whether what it listens to failed
            return KINDS[kind].orders or run == self._plan.run_id

        return self._journal.due(chunk.tag, waits)

    def record(self, positions: Iterable[int], results: Mapping[int, Result]) -> None:
        """Write down, before anything changes, who will have to react to these states (one, or an
        aggregate).

        Raises StateFailed when it cannot be written and has to be: nothing was changed then.
        """
        if not self._reactors:
            return
        now, run = time.strftime("%Y-%m-%dT%H:%M:%S%z"), self._plan.run_id
        changes = [
            Change(audience, self._plan.chunk(position).tag, run, now, place)
            for position in positions
            for audience, place in self._audiences(position, results)
        ]
        if not changes:
            return
        try:
            self._journal.record(changes)
        except OSError as error:
            if self._journal.required:
                tags = dict.fromkeys(tag for each in changes for tag in each.audience.reactors)
                who = some_of([tag.replace("_|-", " ") for tag in tags])
                message = (
                    f"nothing was changed: it cannot be recorded that {who} has to react"
                    f" ({reason_of(error)})"
                )
                raise StateFailed(message, changes={}) from None
            self.unprotected = reason_of(error)

    def _audiences(
        self, position: int, results: Mapping[int, Result]
    ) -> Iterator[tuple[Audience, str]]:
        """Who will have to react to a state; those left out of the run do so in a later one."""
        for reactors in self._reactors.get(position, ()):
            if audience := reactors.left(results):
                yield audience, reactors.places.get(position, "")

    def settle(self, result: Result, decision: Decision) -> None:
        """Settle pending reactions: a source ended without a change, the reactor reacted, or it was
        not to run whatever had failed.
        """
        chunk = result.chunk
        with self._noting():
            if result.unstarted or (result.result is not False and not result.changes):
                self._journal.withdraw(chunk.tag)
            elif result.result is not False and result.extra.get("skip_req"):
                self._journal.withdraw(chunk.tag, ("watch", "onchanges"))
        if decision.verdict in NOT_RUN:
            is_settled = not decision.postponed
        else:
            is_settled = result.result is True or bool(result.extra.get("skip_watch"))
        if is_settled:
            self.forget(chunk, "watch", "onchanges")

    def forget(self, chunk: Chunk, *kinds: str) -> None:
        """Take the reactions of a chunk off the list."""
        with self._noting():
            self._journal.settle(chunk.tag, kinds)

    @contextmanager
    def _noting(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self.unprotected = reason_of(error)


def described(reactions: Iterable[PendingReaction], cause: str | None) -> tuple[str, ...]:
    """Pending reactions in words. cause: the tag of the state whose failure keeps them from being
    done.
    """
    until = f"; it stays pending until {named(cause)} no longer fails" if cause else ""
    return tuple(f"{each.kind} of {each.sources} since {each.time}{until}" for each in reactions)


class SuppressedReactions:
    """The states of one run that did not react because a no-op state changed nothing."""

    def __init__(self, plan: RunPlan) -> None:
        self._plan = plan
        self._would_send: set[int] = set()  # no-op states, and those that would react to them

    def note(self, position: int, result: Result) -> Result:
        """Add to a result what it would have reacted to. What changed something itself sends its
        own events.
        """
        if result.noop and result.changes:
            self._would_send.add(position)
        if result.noop or result.changes or result.result is not True or not self._would_send:
            return result
        reacts = self._plan.steps[position].reacts
        targets = [
            target
            for group in self._plan.relations.of(position).groups
            if group.kind.has_reaction(reacts)
            for target in group.targets
            if target in self._would_send
        ]
        if not targets:
            return result
        self._would_send.add(position)
        names = dict.fromkeys(self._plan.steps[target].title for target in targets)
        note = f"It would have reacted to a change of {some_of([*names])} (no-op)"
        return result._replace(comment=f"{result.comment}\n{note}".strip(), note=note)
