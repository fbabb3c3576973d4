# SPDX-License-Identifier: Apache-2.0
"""Pending reactions among the states of one run: written before a change, settled after the
reaction.
"""

from __future__ import annotations

import time

from runner.api import StateFailed
from runner.engine import decide as decisions
from runner.engine.reaction_journal import ReactionJournal
from runner.engine.step import NOT_RUN, RunPlan
from runner.model.chunk import Chunk, Edge, EdgeGroup
from runner.model.requisite_kinds import KINDS, WATCH
from runner.model.result import PendingReaction, Result

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from runner.engine.step import Decision
    from runner.model.places import Place
    from runner.model.requisite_kinds import RequisiteKind


class ReactionTracker:
    """The pending reactions of one run. `unprotected` says why they could not be written."""

    def __init__(self, journal: ReactionJournal, plan: RunPlan) -> None:
        self.unprotected = ""
        self._journal = journal
        self._plan = plan
        # a state -> the groups whose targets have it, each list once for all of these
        self._reactors: dict[int, list[list[EdgeGroup]]] = {}
        by_targets: dict[tuple[int, ...], list[EdgeGroup]] = {}
        for group in plan.relations.edges.groups:
            if group.kind.reaction:
                if group.targets not in by_targets:
                    by_targets[group.targets] = []
                    for target in group.targets:
                        self._reactors.setdefault(target, []).append(by_targets[group.targets])
                by_targets[group.targets].append(group)
        for position, step in enumerate(plan.steps):
            if step.self_refreshing:
                own = EdgeGroup(position, WATCH, (position,), step.chunk.place)
                self._reactors.setdefault(position, []).append([own])

    def pending(self, chunk: Chunk) -> tuple[PendingReaction, ...]:
        """The pending reactions of a chunk."""
        try:
            return self._journal.pending(chunk.tag)
        except OSError as error:
            self.unprotected = str(error)
            return ()

    def due(
        self, pending_reactions: Iterable[PendingReaction], results: Mapping[str, Result]
    ) -> tuple[str, ...]:
        """The kinds of those pending reactions that are to be done now. One to a state that failed
        in this run waits for a run in which it does not.
        """
        return tuple(
            pending.kind
            for pending in pending_reactions
            if not self._waits(pending, results.get(pending.source))
        )

    def _waits(self, pending: PendingReaction, source: Result | None) -> bool:
        if source is None or not decisions.is_hindered(source):
            return False
        # a listener does not ask whether what it listens to failed
        return KINDS[pending.kind].orders or pending.run == self._plan.run_id

    def record(self, positions: Iterable[int], results: Mapping[int, Result]) -> None:
        """Write down, before anything changes, who will have to react to these states (one, or an
        aggregate).

        Raises StateFailed when it cannot be written and has to be: nothing was changed then.
        """
        if not (self._reactors or self._plan.relations.absent_reactors):
            return
        pending_reactions = [
            pending for position in positions for pending in self._due(position, results)
        ]
        if not pending_reactions:
            return
        try:
            self._journal.record(pending_reactions)
        except OSError as error:
            if self._journal.required:
                who = ", ".join(
                    dict.fromkeys(
                        pending.reactor.replace("_|-", " ") for pending in pending_reactions
                    )
                )
                message = (
                    f"nothing was changed: it cannot be recorded that {who} has to react ({error})"
                )
                raise StateFailed(message, changes={}) from None
            self.unprotected = str(error)

    def _due(self, position: int, results: Mapping[int, Result]) -> Iterator[PendingReaction]:
        """Who will have to react to a state; those left out of the run do so in a later one."""
        groups = self._reactors.get(position, ())
        absents = self._plan.relations.absent_reactors.get(position, ())
        if not (groups or absents):
            return
        now = time.strftime("%Y-%m-%dT%H:%M:%S%z")
        source, run = self._plan.chunk(position).tag, self._plan.run_id
        for holder, kind, at in self._reactions(position):
            reacting = not kind.needs_mod_watch or self._plan.steps[holder].reacts
            if reacting and (holder not in results or kind.reaction == "listen"):
                reactor, place = self._plan.chunk(holder).tag, str(at)
                yield PendingReaction(reactor, kind.reaction, source, run, now, place)
        for absent in absents:
            place = str(absent.place)
            yield PendingReaction(absent.tag, absent.reaction, source, run, now, place)

    def _reactions(self, position: int) -> Iterator[tuple[int, RequisiteKind, Place]]:
        """Who would react to a state, by what, and where that is said."""
        groups = (group for groups in self._reactors.get(position, ()) for group in groups)
        for group in sorted(groups, key=lambda group: group.holder):
            yield group.holder, group.kind, group.on(position).place

    def settle(self, result: Result, decision: Decision) -> None:
        """Settle pending reactions: a source ended without a change, the reactor reacted, or it was
        not to run whatever had failed.
        """
        chunk = result.chunk
        if result.unstarted or (result.result is not False and not result.changes):
            self.forget(None, chunk.tag, run=self._plan.run_id)  # of an earlier attempt of this run
        elif result.result is not False and result.extra.get("skip_req"):
            self.forget(None, chunk.tag, "watch", "onchanges", run=self._plan.run_id)
        if decision.verdict in NOT_RUN:
            is_settled = not decision.postponed
        else:
            is_settled = result.result is True or bool(result.extra.get("skip_watch"))
        if is_settled:
            self.forget(chunk.tag, None, "watch", "onchanges")

    def forget(
        self, reactor: str | None, source: str | None, *kinds: str, run: str | None = None
    ) -> None:
        """Take pending reactions off the list."""
        try:
            self._journal.settle(reactor, source, kinds, run)
        except OSError as error:
            self.unprotected = str(error)


def described(reactions: Iterable[PendingReaction], cause: str | None) -> tuple[str, ...]:
    """Pending reactions in words. cause: the tag of the state whose failure keeps them from being
    done.
    """
    until = f"; it stays pending until {_named(cause)} no longer fails" if cause else ""
    return tuple(
        f"{pending.kind} of {_named(pending.source)} since {pending.time}{until}"
        for pending in reactions
    )


def _named(tag: str) -> str:
    state, id_, *_ = tag.split("_|-")
    return f"{state}: {id_}"


class SuppressedReactions:
    """The states of one run that did not react because a no-op state changed nothing."""

    def __init__(self, plan: RunPlan, results: Mapping[int, Result]) -> None:
        """results: those so far, by position."""
        self._plan = plan
        self._results = results
        self._suppressed: set[int] = set()

    def note(self, position: int, result: Result) -> Result:
        """Add to a result what it would have reacted to. What changed something itself sends its
        own events.
        """
        if result.noop or result.changes or result.result is not True:
            return result
        edges = self._plan.relations.of(position)
        targets = [edge.target for edge in edges if self._would_send(edge)]
        if not targets:
            return result
        self._suppressed.add(position)
        names = dict.fromkeys(self._plan.steps[target].title for target in targets)
        note = f"It would have reacted to a change of {', '.join(names)} (no-op)"
        return result._replace(comment=f"{result.comment}\n{note}".strip(), note=note)

    def _would_send(self, edge: Edge) -> bool:
        can_react = not edge.kind.needs_mod_watch or self._plan.steps[edge.holder].reacts
        if not edge.kind.reaction or not can_react:
            return False
        target = self._results.get(edge.target)
        return edge.target in self._suppressed or (
            target is not None and target.noop and bool(target.changes)
        )
