"""Reactions of the states of one run: they are recorded before a change and settled after
the reaction.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence

from runner.api import StateFailed
from runner.engine.decide import Decision, Verdict
from runner.engine.reaction_journal import Journal
from runner.model.chunk import Chunk, Edge, Relations
from runner.model.requisite_kinds import Kind
from runner.model.result import PendingReaction, Result

REACTIONS = {
    Kind.WATCH: "watch",
    Kind.WATCH_ANY: "watch",
    Kind.ONCHANGES: "onchanges",
    Kind.ONCHANGES_ANY: "onchanges",
    Kind.LISTEN: "listen",
}


class ReactionTracker:
    """The pending reactions of one run. `unprotected` says why they could not be written."""

    def __init__(
        self,
        pending_reactions: Journal,
        chunks: Sequence[Chunk],
        relations: Relations,
        reacts: frozenset[int],
        run_id: str,
        themselves: frozenset[int] = frozenset(),
        required: bool = False,
    ) -> None:
        """reacts: the positions of the chunks whose module has a mod_watch; themselves: that react
        to themselves.

        required: no change without a record of its reactions.
        """
        self.unprotected = ""
        self._required = required
        self._journal = pending_reactions
        self._chunks = chunks
        self._reacts = reacts
        self._run_id = run_id
        self._reactors: dict[int, list[Edge]] = {}
        for edge in relations.edges:
            if edge.kind in REACTIONS:
                self._reactors.setdefault(edge.target, []).append(edge)
        for each in themselves:
            self._reactors.setdefault(each, []).append(
                Edge(each, Kind.WATCH, each, chunks[each].place)
            )

    def owed(self, chunk: Chunk, results: Mapping[str, Result]) -> tuple[PendingReaction, ...]:
        """What a chunk owes; not what a state of this run owes it that failed: that waits for the
        next run.
        """
        try:
            found = self._journal.owed(chunk.tag)
        except OSError as error:
            self.unprotected = str(error)
            return ()
        return tuple(
            pending
            for pending in found
            if pending.run != self._run_id or not _failed(results.get(pending.source))
        )

    def owes(self, chunk: Chunk, kind: str, results: Mapping[str, Result]) -> bool:
        """Whether a chunk owes a reaction of this kind."""
        return any(pending.kind == kind for pending in self.owed(chunk, results))

    def owe(self, positions: Iterable[int], results: Mapping[int, Result]) -> None:
        """Write down, before anything changes, who will have to react to these states (one, or an
        aggregate).

        Raises StateFailed when it cannot be written and has to be: nothing was changed then.
        """
        edges = [edge for position in positions for edge in self._reactors.get(position, ())]
        if not edges:
            return
        now = time.strftime("%Y-%m-%dT%H:%M:%S%z")
        pending_reactions = []
        for edge in edges:
            reacting = (
                edge.kind in (Kind.ONCHANGES, Kind.ONCHANGES_ANY) or edge.holder in self._reacts
            )
            if reacting and (edge.holder not in results or edge.kind is Kind.LISTEN):
                reactor = self._chunks[edge.holder].tag
                source = self._chunks[edge.target].tag
                pending_reactions.append(
                    PendingReaction(
                        reactor,
                        REACTIONS[edge.kind],
                        source,
                        self._run_id,
                        now,
                        str(edge.place.source),
                    )
                )
        try:
            self._journal.owe(pending_reactions)
        except OSError as error:
            if self._required and pending_reactions:
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

    def settle(self, result: Result, decision: Decision) -> None:
        """Settle what a state has paid: its source ended without a change, or it reacted."""
        chunk = result.chunk
        if result.unstarted or (result.result is not False and not result.changes):
            self.forget(
                None, chunk.tag, run=self._run_id
            )  # what an earlier attempt of this run owed
        elif result.result is not False and result.extra.get("skip_req"):
            self.forget(None, chunk.tag, "watch", "onchanges", run=self._run_id)
        guarded = bool(result.extra.get("skip_watch"))
        if (
            result.ran
            and (result.result is True or guarded)
            and decision.verdict is not Verdict.SKIP
        ):
            self.forget(chunk.tag, None, "watch", "onchanges")

    def forget(
        self, reactor: str | None, source: str | None, *kinds: str, run: str | None = None
    ) -> None:
        """Remove pending reactions from the list."""
        try:
            self._journal.settle(reactor, source, kinds, run)
        except OSError as error:
            self.unprotected = str(error)


def described(owed: Iterable[PendingReaction], cause: str | None) -> tuple[str, ...]:
    """Describe pending reactions. cause: the tag of the state whose failure keeps them from
    being done.
    """
    until = f"; it stays pending until {_named(cause)} no longer fails" if cause else ""
    return tuple(
        f"{pending.kind} pending since {pending.time} from {pending.source}{until}"
        for pending in owed
    )


def _named(tag: str) -> str:
    state, id_, *_ = tag.split("_|-")
    return f"{state}: {id_}"


def _failed(found: Result | None) -> bool:
    return found is not None and found.result is False
