# SPDX-License-Identifier: Apache-2.0
"""Orphans: what earlier highstates made and no state of today's tree declares."""

from __future__ import annotations

import shlex
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from typing import Any

from runner.api import StateFailed, running
from runner.engine import made as engine_made
from runner.engine.context import Current
from runner.engine.invoke import Invoker
from runner.engine.loader import opposites
from runner.engine.step import Invocation, Mode, Step
from runner.history import made, orphan_count, undo_paths
from runner.history.made import Row
from runner.history.snapshots import at, without_target
from runner.history.store import has_history, open_history, readable
from runner.language.compiler import low
from runner.model.errors import CompileError, RunnerError
from runner.model.highdata import Made, of_states
from runner.model.records import Record
from runner.pipeline.compile import Compiled, compile_chunks, make_binder
from runner.pipeline.gathering import gather
from runner.pipeline.node_scope import top_requests
from runner.pipeline.pillar_data import read_pillar
from runner.pipeline.session import Listeners, Session, tree_of
from runner.sources.config.options import EVERYTHING, Options
from runner.support.redaction import HIDDEN


class Orphan(Record):
    """A thing that no state declares any more.

    function, arguments: the state that removes it. stays: why it is not removed; empty: it is.
    """

    row: Row
    function: str = ""
    arguments: Mapping[str, Any] = {}
    stays: str = ""

    @property
    def thing(self) -> str:
        """The thing as people call it."""
        return self.row.path or self.row.thing

    def as_data(self) -> dict[str, Any]:
        """The orphan for programs."""
        row = self.row
        made_by = {"state": row.state, "id": row.id, "sls": row.sls, "place": row.place}
        removal = {"function": self.function, "arguments": dict(self.arguments)}
        stays = {"reason": self.stays} if self.stays else {}
        return {"thing": self.thing, **removal, "run": row.run, "made_by": made_by, **stays}


class Orphans(Record):
    """What no state declares any more: what can be removed, in the order of its removal; what was
    changed since it was made, or has to stay; what no state removes.
    """

    removable: tuple[Orphan, ...] = ()
    changed: tuple[Orphan, ...] = ()
    by_hand: tuple[Orphan, ...] = ()
    gone: tuple[str, ...] = ()  # by other means

    @property
    def states(self) -> Made:
        """The states that remove them: ID -> (function, arguments)."""
        return {
            f"prune {orphan.thing}": (orphan.function, orphan.arguments)
            for orphan in self.removable
        }


def declared(compiled: Compiled) -> set[str]:
    """The names of all that the states of a tree declare."""
    chunks = [*compiled.chunks, *compiled.left_out]
    names = {f"{chunk.state} {chunk.name}" for chunk in chunks}
    names |= {f"{made.PATH}{chunk.name.rstrip('/')}" for chunk in chunks if chunk.name[:1] == "/"}
    functions = {step.chunk.function: step.call.function for step in compiled.steps if step.call}
    parted = {
        name: function for name, function in functions.items() if opposites.has_parts(function)
    }
    for chunk in chunks:
        if function := parted.get(chunk.function):
            names.update(opposites.names(function, chunk))
    return names


# ---------------------------------------------------------------- all of them, looked at


def orphans(options: Options, listeners: Listeners = ()) -> Orphans:
    """Return what earlier highstates made and no state of today's tree declares, as it is now.
    Raises RunnerError when the tree does not compile: what it declares is then not known.
    """
    whole = options._replace(**EVERYTHING, test=True, noop=False)
    session = Session(whole, tuple(listeners))
    with session.opened(), readable():
        read_pillar(session)
        compiled, problems = compile_chunks(session, gather(session, top_requests(session)), False)
        if compiled is None:
            raise CompileError(problems)
        names = declared(compiled)
        session.run.secrets.recall(options.state_dir)
        rows = _undeclared(options, names)
        return _Looks(session, tree_of(options), names)(rows)


def _undeclared(options: Options, names: set[str]) -> list[Row]:
    if not has_history(options.state_dir):
        return []
    with closing(open_history(options.state_dir)) as connection:
        return list(made.undeclared(connection, names))


def forget_gone(options: Options, things: Sequence[str]) -> None:
    """Drop from the history what others have removed."""
    if things:
        with readable(), closing(open_history(options.state_dir)) as connection:
            made.forget(connection, things)
        orphan_count.forget(options.state_dir)


class _Looks:
    """Looks at what is left of things, and says what is to become of them."""

    def __init__(self, session: Session, tree: str, names: set[str]) -> None:
        self._session, self._tree = session, tree
        self._paths = sorted(name for name in names if name.startswith(made.PATH))
        self._replaced: set[str] = set()  # folders that are something else now
        self._secrets = session.run.secrets
        self._binder = make_binder(session)
        self._invoke = Invoker(session.run, self._binder.call)

    def __call__(self, rows: Iterable[Row]) -> Orphans:
        kinds: dict[str, list[Orphan]] = {"removable": [], "changed": [], "by_hand": []}
        gone = []
        for orphan in map(self._orphan, rows):
            if orphan is None:
                continue
            # what a look says of what is there now, which no result has passed
            orphan = orphan._replace(stays=self._secrets.mask(orphan.stays, former=True))
            if orphan.stays == _GONE:
                gone.append(orphan.row.thing)
            elif not orphan.function:
                kinds["by_hand"].append(orphan)
            else:
                kinds["changed" if orphan.stays else "removable"].append(orphan)
        found = Orphans(**{kind: tuple(found) for kind, found in kinds.items()}, gone=tuple(gone))
        elsewhere = {orphan.thing: self._elsewhere(orphan) for orphan in found.removable}
        return self._without_needed(self._without(found, elsewhere))

    def _elsewhere(self, orphan: Orphan) -> str:
        """Why a path is not the one that was made; empty when it is."""
        above = orphan.row.path.rpartition("/")[0]
        while above and above not in self._replaced:
            above = above.rpartition("/")[0]
        return f"changed since: {above} is no longer the folder that was made" if above else ""

    def _orphan(self, row: Row) -> Orphan | None:
        """One orphan as it is now; None for what is none of this tree's."""
        if row.tree != self._tree and made.tree_exists(row.tree):
            return None  # that tree may declare it still
        if row.path:
            return self._path(row)
        if row.existed:
            return None
        if not row.removal:
            return Orphan(row, stays="no state removes what this one made")
        orphan = Orphan(row, row.removal, row.arguments)
        if HIDDEN in str(row.arguments):
            return Orphan(row, stays=f"{row.removal} removes it, with arguments that are secret")
        try:
            there = engine_made.exists(self._session.run, orphan.function, orphan.arguments)
        except StateFailed as failure:
            return orphan._replace(stays=f"it cannot be looked at: {failure.message}")
        except RunnerError as error:
            return orphan._replace(stays=f"it cannot be looked at: {error.message}")
        return orphan._replace(stays=self._difference(row) if there else _GONE)

    def _difference(self, row: Row) -> str:
        """Return what was changed since a state made a thing; empty when it is as it was left."""
        looks = {key: value for key, value in row.looks.items() if HIDDEN not in str(value)}
        if not looks:
            return "its arguments are secret (no_log): nobody can tell whether it was changed since"
        look = self._look(row.state, looks)
        if look.result and not look.changes:
            return ""
        secret = ", ".join(row.looks.keys() - looks.keys())
        or_secret = f", or its arguments {secret}, which are not kept, say so" if secret else ""
        return f"changed since{or_secret}: {' '.join(look.comment.split())}"

    def _path(self, row: Row) -> Orphan | None:
        if row.existed:
            path = shlex.quote(row.path)
            hint = f"`runner undo {row.run} --path {path}` restores it as far as it is kept"
            return Orphan(row, stays=f"it was there before run {row.run}: {hint}")
        now, function = at(row.path), "file.absent"
        if now.type == "none":
            return Orphan(row, function, stays=_GONE)
        if row.snapshot and row.snapshot.type == "dir":
            function = "file.pruned"
            below = f"{made.PATH}{row.path}/"
            position = bisect_left(self._paths, below)
            if "".join(self._paths[position : position + 1]).startswith(below):
                return None  # of what is declared below it
            if now.type != "dir":
                self._replaced.add(row.path)
        orphan = Orphan(row, function, {"name": row.path})
        if row.snapshot is None:
            return orphan._replace(stays="the run was killed before it noted how it left the path")
        if not without_target(now).is_same(row.snapshot):
            both_links = now.type == row.snapshot.type == "link"  # where it led to is not in there
            what = (
                f"points to {now.target}"
                if both_links
                else undo_paths.difference(now, row.snapshot)
            )
            return orphan._replace(stays=f"changed since: {what}")
        return orphan

    # -------------------------------------------------- what has to stay

    def _without_needed(self, found: Orphans) -> Orphans:
        """The orphans without those that something else needs: again until all others can go."""
        while staying := self._needed(found.removable):
            found = self._without(found, staying)
        return found

    def _without(self, found: Orphans, staying: Mapping[str, str]) -> Orphans:
        """The orphans, of which these stay: thing -> why, if it does."""
        looked = [item._replace(stays=staying.get(item.thing, "")) for item in found.removable]
        return found._replace(
            removable=tuple(item for item in looked if not item.stays),
            changed=(*found.changed, *(item for item in looked if item.stays)),
        )

    def _needed(self, orphans: Sequence[Orphan]) -> dict[str, str]:
        """Why things have to stay, by the `prune_check` of their modules."""
        going = frozenset(orphan.thing for orphan in orphans)
        functions: dict[str, list[Orphan]] = {}
        for orphan in orphans:
            functions.setdefault(orphan.function, []).append(orphan)
        staying: dict[str, str] = {}
        for function, members in functions.items():
            check = self._session.registry.state(function).hook("prune_check")
            if check is None:
                continue
            things = {str(orphan.arguments["name"]): orphan.thing for orphan in members}
            with running(Current(self._session.run, dry=True)):
                staying |= {
                    things[name]: why
                    for name, why in check(function.partition(".")[2], [*things], going)
                }
        return staying

    # -------------------------------------------------- looking

    def _look(self, function: str, arguments: Mapping[str, Any]) -> Any:
        """The result of a state that only looks."""
        chunks, problems = low.lower(of_states({"orphan": (function, arguments)}))
        if problems:
            raise CompileError(problems)
        step = self._binder.steps(chunks)[0][0]
        return self._invoke(Invocation(Step(step.chunk), Mode.LOOK))


_GONE = "gone"
