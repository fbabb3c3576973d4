# SPDX-License-Identifier: Apache-2.0
"""A tree that is compiled once, for runs of parts of it: each in a process of its own, forked."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from glob import escape, glob
from typing import Any

from runner.engine.context import Listener
from runner.engine.interrupts import ending
from runner.engine.loader.looked import Look, LookLog
from runner.history.recorder import About
from runner.model.chunk import Chunk
from runner.model.errors import RunnerError
from runner.model.events import Event
from runner.model.records import Record
from runner.model.result import HIGHSTATE, Report, Result
from runner.pipeline.compile import Compiled, compile_chunks, owes
from runner.pipeline.gathering import gather
from runner.pipeline.lock import held
from runner.pipeline.node_scope import requests, top_requests
from runner.pipeline.parts import Parts
from runner.pipeline.pillar_data import read_pillar
from runner.pipeline.session import Listeners, Session, of_named
from runner.pipeline.stages import about_run, accepted, new_run_id, recorded, run_compiled
from runner.sources.config.options import Options
from runner.sources.trees.store import CURRENT, TREES, current_tree
from runner.support.log import LOG
from runner.support.redaction import Secrets

# outcomes after which a state is as it should be, or is nobody's to mend
AS_IT_SHOULD_BE = ("unchanged", "changed", "no-op", "skipped")


class Sources(Record):
    """What a tree is compiled from. folders: those of the tree, with what counts there: all (tree),
    or the names alone (sources). files: those of it that were read. own: the folders that runner
    itself writes.
    """

    folders: list[Look]
    files: list[str]
    own: list[str]


class Watched(Record):
    """A tree as who watches it knows it. states: by tag, "STATE: ID" without secrets. dependents:
    by tag, the tags of the states that have a requisite on it.
    """

    states: dict[str, str]
    dependents: dict[str, list[str]]


class Seen(Record):
    """What a look at some states found. outcomes: by tag, in a word, of those that are not as they
    should be; looks: by tag, what was looked at; files: those of the tree that were read.
    """

    outcomes: dict[str, str]
    looks: dict[str, list[Look]]
    files: list[str] = []


class Outdated(Exception):
    """`runner pull` has brought another tree than the one that was compiled."""


class NothingFound(Exception):
    """All states are as they should be. seen: what they looked at."""

    def __init__(self, seen: Seen) -> None:
        super().__init__()
        self.seen = seen


class HeldBack:
    """Keeps what listeners would hear, until there is news: nothing, where there is none."""

    def __init__(self) -> None:
        self.is_news = False
        self._kept: list[tuple[Listener, Event]] = []

    def heard(self, listener: Listener) -> Listener:
        """What a listener hears a run by."""

        def held(event: Event) -> None:
            if self.is_news:
                listener(event)
            else:
                self._kept.append((listener, event))

        if hasattr(listener, "events"):
            held.events = listener.events  # type: ignore[attr-defined]
        return held

    def hand_on(self) -> None:
        """There is news: tell all that was kept."""
        kept, self._kept, self.is_news = self._kept, [], True
        for listener, event in kept:
            with suppress(Exception):  # what only watches a run does not end it
                listener(event)


class KeptTree:
    """The SLS files that are named, or those of the top file."""

    _parts: Parts
    _pulled: str | None = None  # the tree of `runner pull` that is compiled

    def __init__(self, options: Options, names: Sequence[str]) -> None:
        self._session = Session(of_named(options, names))
        self._names = list(names)
        self._scope = "" if names else HIGHSTATE

    def compile(self) -> None:
        """Raises CompileError for what does not compile, RunnerError for what cannot be read."""
        session, options = self._session, self._session.options
        self._pulled = self._current()
        with session.opened(), LOG.timed("compiled"):
            read_pillar(session)
            if session.run.pillar.get("test") and not options.real:
                session.only_look()
            names = self._names
            wanted = requests(session, names) if names else top_requests(session)
            gathered = gather(session, wanted)
            self._parts = Parts(
                accepted(session, lambda: compile_chunks(session, gathered, options.strict))
            )

    def _current(self) -> str | None:
        """The present tree of `runner pull`, where that brings the tree."""
        tree = current_tree(self._session.options)
        return tree and tree.folder

    def files(self) -> list[str]:
        """The files of the tree that were read so far, with what says which tree that is."""
        options = self._session.options
        link = [os.path.join(options.state_dir, TREES, CURRENT)] if options.tree_source else []
        with suppress(RunnerError):
            return [*link, *self._session.watch.files]
        return link

    def facts(self) -> Watched:
        """What there is to watch."""
        secrets = self._session.run.secrets
        return Watched(
            {chunk.tag: _named(secrets.chunk(chunk)) for chunk in self._parts.whole.chunks},
            self._parts.dependents,
        )

    def sources(self) -> Sources:
        """What the tree is compiled from, as far as it was read."""
        options = self._session.options
        sources, pillar = (
            [os.path.abspath(root) for of_env in roots.values() for root in of_env]
            for roots in (options.file_roots, options.pillar_roots)
        )
        facts = os.path.join(str(options.raw.get("config_dir") or ""), "facts.d")
        # code of the tree may be loaded when a state calls it
        code = [
            file for root in sources for file in glob(f"{escape(root)}/_*/**/*.py", recursive=True)
        ]
        return Sources(
            [("sources", root) for root in sources]
            + [("tree", folder) for folder in (*pillar, os.path.abspath(facts))],
            [*map(os.path.abspath, options.files), *code, *self.files()],
            [os.path.abspath(folder) for folder in (options.cachedir, options.state_dir) if folder],
        )

    def shown(self, event: str) -> str:
        """What was seen, without secrets: only the plan knows them."""
        return str(self._session.run.secrets.mask(event))

    def look(self, tags: Collection[str] | None) -> Seen:
        """Look at some states (None: all) in this process, which then ends, as a dry run does,
        without a trace of it. Raises RunnerError.
        """
        self._session.only_look()
        return self._run(tags, "", (), in_history=False)[1]

    def run(
        self, tags: Collection[str] | None, event: str, listeners: Listeners
    ) -> tuple[Report, Seen]:
        """Run some states (None: all), as any run does, in this process, which then ends. event:
        why, for the history. Raises RunnerError.
        """
        return self._run(tags, event, tuple(listeners))

    def find(
        self, tags: Collection[str] | None, event: str, listeners: Listeners
    ) -> tuple[Report, Seen]:
        """Run states as `run` does; nobody hears of a run that finds nothing to do: it raises
        NothingFound.
        """
        return self._run(tags, event, tuple(listeners), held_back=HeldBack())

    def _run(
        self,
        tags: Collection[str] | None,
        event: str,
        listeners: tuple[Any, ...],
        in_history: bool = True,
        held_back: HeldBack | None = None,
    ) -> tuple[Report, Seen]:
        session, run_id = self._session, new_run_id()
        heard = held_back.heard if held_back else lambda listener: listener
        session.listeners = tuple(map(heard, listeners))
        for listener in session.listeners:
            session.run.listeners.add(listener)

        def about(secrets: Secrets) -> About:
            facts = about_run(session, secrets, self._scope)
            return facts._replace(command=command_of(event))

        seen, log = Seen({}, {}), LookLog()

        def observe(result: Result) -> None:
            outcome = result.outcome(session.run.dry)
            if outcome not in AS_IT_SHOULD_BE:
                seen.outcomes[result.chunk.tag] = outcome
                if held_back and not held_back.is_news:
                    held_back.hand_on()

        with ExitStack() as whole:
            whole.enter_context(log.noting(session.run.stores))
            whole.enter_context(ending(session.options.timeout))
            if in_history:
                whole.enter_context(recorded(session, run_id, about))
            options, dry = session.options, session.run.dry
            whole.enter_context(held(options.state_dir, options.wait, only_looks=dry))
            if self._current() != self._pulled:
                raise Outdated
            compiled = self._part(tags)
            report = run_compiled(
                session,
                compiled,
                run_id,
                about,
                observe=observe,
                in_history=in_history,
                heard=heard,
            )
        seen = seen._replace(looks=log.looks(), files=self.files())
        if held_back and not held_back.is_news:
            raise NothingFound(seen)
        return report, seen

    def _part(self, tags: Collection[str] | None) -> Compiled:
        session = self._session
        with session.opened():
            part = self._parts.of(tags, partial(owes, session))
            return accepted(session, lambda: (part, []))


def _named(chunk: Chunk) -> str:
    """A state as `--only` has it."""
    return f"{chunk.state}: {chunk.id}"


def command_of(event: str) -> str:
    """What the history says instead of a command line."""
    return f"runner watch: {event}"
