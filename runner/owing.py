"""What the states of one run owe each other: debts are written before a change and settled after the reaction."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence

from runner.api import StateFailed
from runner.debts import Debts
from runner.decide import Decision, Verdict
from runner.model import Chunk, Debt, Edge, Kind, Relations, Result

REACTIONS = {
    Kind.WATCH: "watch",
    Kind.WATCH_ANY: "watch",
    Kind.ONCHANGES: "onchanges",
    Kind.ONCHANGES_ANY: "onchanges",
    Kind.LISTEN: "listen",
}


class Owing:
    """The debts of one run. `unprotected` says why they could not be written."""

    def __init__(
        self,
        debts: Debts,
        chunks: Sequence[Chunk],
        relations: Relations,
        reacts: frozenset[int],
        run_id: str,
        themselves: frozenset[int] = frozenset(),
        required: bool = False,
    ) -> None:
        """reacts: the positions of the chunks whose module has a mod_watch; themselves: that react to themselves.

        required: no change without its debts.
        """
        self.unprotected = ""
        self._required = required
        self._debts = debts
        self._chunks = chunks
        self._reacts = reacts
        self._run_id = run_id
        self._reactors: dict[int, list[Edge]] = {}
        for edge in relations.edges:
            if edge.kind in REACTIONS:
                self._reactors.setdefault(edge.target, []).append(edge)
        for each in themselves:
            self._reactors.setdefault(each, []).append(Edge(each, Kind.WATCH, each, chunks[each].place))

    def owed(self, chunk: Chunk, results: Mapping[str, Result]) -> tuple[Debt, ...]:
        """What a chunk owes; not what a state of this run owes it that failed: that waits for the next run."""
        try:
            found = self._debts.owed(chunk.tag)
        except OSError as error:
            self.unprotected = str(error)
            return ()
        return tuple(debt for debt in found if debt.run != self._run_id or not _failed(results.get(debt.source)))

    def owes(self, chunk: Chunk, kind: str, results: Mapping[str, Result]) -> bool:
        """Whether a chunk owes a reaction of this kind."""
        return any(debt.kind == kind for debt in self.owed(chunk, results))

    def owe(self, positions: Iterable[int], results: Mapping[int, Result]) -> None:
        """Write down, before anything changes, who will have to react to these states (one, or an aggregate).

        Raises StateFailed when it cannot be written and has to be: nothing was changed then.
        """
        edges = [edge for position in positions for edge in self._reactors.get(position, ())]
        if not edges:
            return
        now = time.strftime("%Y-%m-%dT%H:%M:%S%z")
        debts = []
        for edge in edges:
            reacting = edge.kind in (Kind.ONCHANGES, Kind.ONCHANGES_ANY) or edge.holder in self._reacts
            if reacting and (edge.holder not in results or edge.kind is Kind.LISTEN):
                reactor = self._chunks[edge.holder].tag
                source = self._chunks[edge.target].tag
                debts.append(Debt(reactor, REACTIONS[edge.kind], source, self._run_id, now, str(edge.place.source)))
        try:
            self._debts.owe(debts)
        except OSError as error:
            if self._required and debts:
                who = ", ".join(dict.fromkeys(debt.reactor.replace("_|-", " ") for debt in debts))
                message = f"nothing was changed: it cannot be written down that {who} has to react ({error})"
                raise StateFailed(message, changes={}) from None
            self.unprotected = str(error)

    def settle(self, result: Result, decision: Decision) -> None:
        """Settle what a state has paid: its source ended without a change, or it reacted."""
        chunk = result.chunk
        if result.result is not False and not result.changes:
            self.forget(None, chunk.tag, run=self._run_id)  # what an earlier attempt of this run owed
        elif result.result is not False and result.extra.get("skip_req"):
            self.forget(None, chunk.tag, "watch", "onchanges", run=self._run_id)
        guarded = bool(result.extra.get("skip_watch"))
        if result.ran and (result.result is True or guarded) and decision.verdict is not Verdict.SKIP:
            self.forget(chunk.tag, None, "watch", "onchanges")

    def forget(self, reactor: str | None, source: str | None, *kinds: str, run: str | None = None) -> None:
        """Take debts off the list."""
        try:
            self._debts.settle(reactor, source, kinds, run)
        except OSError as error:
            self.unprotected = str(error)


def described(owed: Iterable[Debt], cause: str | None) -> tuple[str, ...]:
    """Reactions that are owed, in words. cause: the tag of the state whose failure keeps them from being done."""
    until = f"; it stays owed until {_named(cause)} does not fail" if cause else ""
    return tuple(f"{debt.kind} owed since {debt.time} by {debt.source}{until}" for debt in owed)


def _named(tag: str) -> str:
    state, id_, *_ = tag.split("_|-")
    return f"{state}: {id_}"


def _failed(found: Result | None) -> bool:
    return found is not None and found.result is False
