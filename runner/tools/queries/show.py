# SPDX-License-Identifier: Apache-2.0
"""Commands that look: what the tree says, what is wrong with it, what was done earlier."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from runner.engine import reaction_journal
from runner.history import query as earlier
from runner.history import versions
from runner.language.compiler import high, ordering
from runner.language.targeting import match
from runner.model.errors import RunnerError, reason_of
from runner.model.places import Value
from runner.model.requisite_kinds import REQUISITE_KEYS
from runner.model.result import PendingReaction
from runner.output import top_targets
from runner.pipeline import lock, node_scope
from runner.pipeline.gathering import Gathered, gather, learn_secrets, refuse, related
from runner.pipeline.node_scope import requests, top_requests
from runner.pipeline.pillar_data import read_pillar
from runner.pipeline.session import Session, of_named
from runner.sources.config.options import Options
from runner.support.files.trusted_folder import hint_to
from runner.support.redaction import HIDDEN

if TYPE_CHECKING:
    from runner.engine.reaction_journal import ReactionJournal

__all__ = ["forget", "past", "show"]


NAMED = ("sls", "low-sls")  # what is shown of SLS files that are named
STATES = ("sls", "low-sls", "highstate", "lowstate")
MOST = 50  # requisites under one key that a person is shown
# what says of a state with `no_log` who it is, and what it needs
_OF_SILENT = REQUISITE_KEYS | {"state", "fun", "order", "no_log"}


def show(options: Options, what: str, names: Iterable[str] = (), secrets: bool = False) -> Any:
    """The result of a stage of compiling, in Salt's shape. secrets: show them, too."""
    session = Session(of_named(options, what in NAMED))
    answer = _answer(session, what, list(names))
    if secrets:
        return answer
    if what in STATES:
        answer = _silenced(answer)
    if what in ("sls", "highstate"):
        session.run.secrets.collect(answer, options.secret_keys, "the states")
    return session.run.secrets.mask(answer)


def _silenced(answer: Value) -> Value:
    """States, without what those with `no_log` are given."""
    if isinstance(answer, list):
        said = [item for item in answer if isinstance(item, Mapping) and len(item) == 1]
        if any(item.get("no_log") for item in said):  # of a state as it is typed
            return [_shown(item) if isinstance(item, Mapping) else item for item in answer]
        return [_silenced(item) for item in answer]
    if not isinstance(answer, Mapping):
        return answer
    if answer.get("no_log") and "fun" in answer:
        return _shown(answer, "name" if answer["name"] == answer["__id__"] else "")
    return {key: _silenced(value) for key, value in answer.items()}


def _shown(arguments: Mapping[str, Value], also: str = "") -> dict[str, Value]:
    """The arguments of a state with `no_log` with those values that may be shown."""
    kept = {key for key in arguments if key in _OF_SILENT or key == also or key[:2] == "__"}
    return {key: value if key in kept else HIDDEN for key, value in arguments.items()}


def shortened(answer: Any) -> Any:
    """States for a person: of very many requisites under one key the first."""
    if not isinstance(answer, list):
        return answer
    return [
        {key: _first(value) if key in REQUISITE_KEYS else value for key, value in low.items()}
        for low in answer
    ]


def _first(value: Value) -> Value:
    more = len(value) - MOST if isinstance(value, list) else 0
    return [*value[:MOST], f"and {more} more (--verbose shows them)"] if more > 0 else value


def usage(options: Options) -> dict[str, Any]:
    """The SLS files of each environment that the top file gives this machine, and those that it
    does not.
    """
    session = Session(options)
    with session.opened():
        read_pillar(session)
        wanted = {
            (request.env, name)
            for request in top_requests(session)
            for name in high.expanded(request, session.tree.sls_names)
        }
        return {
            env: _usage(session.tree.sls_names(env), {n for e, n in wanted if e == env})
            for env in session.roots
        }


def _usage(names: Iterable[str], wanted: set[str]) -> dict[str, Any]:
    used = sorted(name for name in names if name in wanted)
    unused = sorted(name for name in names if name not in wanted)
    counts = {
        "count_all": len(used) + len(unused),
        "count_used": len(used),
        "count_unused": len(unused),
    }
    return {"used": used, "unused": unused, **counts}


def explained_top(options: Options) -> str:
    """The top file's contents for this machine, for a person: with the lines that said so, and
    those that did not.
    """
    session = Session(options)
    with session.opened():
        read_pillar(session)

        def problem(expression: str, kind: str) -> str | None:
            mistake = match.mistake(expression, kind, options.nodegroups)
            return mistake.message if mistake else None

        shown = top_targets.text(node_scope.top_file(session), problem)
    return str(session.run.secrets.mask(shown))


def _answer(session: Session, what: str, names: list[str]) -> Any:
    options = session.options
    if what == "pending":
        reactions = [
            pending._asdict()
            for pending in _pending(
                reaction_journal.ReactionJournal(options.state_dir, looking=True)
            )
        ]
        if reactions:
            learn_secrets(session)
        return reactions
    with session.opened():
        if what == "grains":
            return dict(session.grains)
        session.require_tree()
        read_pillar(session)
        if what == "pillar":
            return dict(session.run.pillar)
        if what == "top":
            return node_scope.top_file(session).as_data()
        wanted = requests(session, names) if what in NAMED else top_requests(session)
        gathered = gather(session, wanted)
        if what in ("sls", "highstate"):
            refuse(gathered[1])
            session.run.secrets.learn_names(ids=gathered[0].declarations.values())
            return high.as_data(gathered[0])
        return _show_low(session, gathered, what)


def past(options: Options, words: Sequence[str], limit: int = 20, real: bool = False) -> Any:
    """The runs of the history. words: nothing for a list, or `show RUN`, `diff RUN RUN` or `file
    PATH`.

    real: list neither dry runs nor undos.
    """
    if not words:
        return earlier.runs(options.state_dir, limit, real)
    if words[0] == "show":
        return earlier.run_details(options.state_dir, words[1])
    if words[0] == "file":
        return _versions(options, os.path.abspath(words[1]))
    return earlier.difference(options.state_dir, words[1], words[2])


def _versions(options: Options, path: str) -> dict[str, Any]:
    """The changes of a path, with the commands that restore what was before each. Raises
    RunnerError when no run altered it.
    """
    session = Session(options)
    learn_secrets(session)
    secrets = session.run.secrets
    secrets.recall(options.state_dir)
    mask = partial(secrets.mask, former=True)
    with session.opened(), earlier.opened(options.state_dir) as connection:
        changes = connection and versions.changes(connection, options.state_dir, path, mask)
    if not changes:
        raise RunnerError(
            f"no run of the history altered {path}", hint="`runner history` lists the runs"
        )
    # what a version has is hidden already, seen from later ones; here, the path and the commands
    masked: dict[str, Any] = mask(
        {"path": path, "changes": [versions.as_value(change, path) for change in changes]}
    )
    return masked


def forget(options: Options, wanted: Sequence[str] | None) -> list[dict[str, str]]:
    """Forget the pending reactions of some states (ID or name), or of all (None); return those that
    were forgotten. Raises RunnerError for a state that has none, and when the list cannot be
    written.
    """
    journal = reaction_journal.ReactionJournal(options.state_dir)
    with lock.held(options.state_dir, options.wait):
        reactions = [
            pending
            for pending in _pending(journal)
            if wanted is None or set(pending.reactor.split("_|-")[1:3]) & set(wanted)
        ]
        unknown = set(wanted or ()) - {
            part for pending in reactions for part in pending.reactor.split("_|-")[1:3]
        }
        if unknown:
            raise RunnerError(
                f"{sorted(unknown)[0]} has no pending reaction",
                hint="`runner show pending` lists them",
            )
        try:
            for reactor in dict.fromkeys(pending.reactor for pending in reactions):
                journal.settle(reactor)
        except OSError as error:
            raise RunnerError(
                f"the list of pending reactions cannot be written: {reason_of(error)}"
            ) from None
    session = Session(options)
    learn_secrets(session)
    forgotten: list[dict[str, str]] = session.run.secrets.mask(
        [pending._asdict() for pending in reactions]
    )
    return forgotten


def _show_low(session: Session, gathered: Gathered, what: str) -> Any:
    chunks, relations = related(session, *gathered, reconcile=what != "low-sls")
    session.run.secrets.collect_arguments(chunks, session.options.secret_keys)
    return ordering.lowstate(chunks, relations, session.registry.reacts)


def _pending(journal: ReactionJournal) -> tuple[PendingReaction, ...]:
    try:
        return journal.all()
    except OSError as error:
        message = f"the list of pending reactions cannot be read: {error.strerror or error}"
        raise RunnerError(message, hint=hint_to(journal.folder, error)) from None
