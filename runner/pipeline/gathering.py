# SPDX-License-Identifier: Apache-2.0
"""From names to high data, and from there to what waits for what: what running and looking have in
common.
"""

from __future__ import annotations

import os
from contextlib import suppress

from runner.language.compiler import high, low, requisites
from runner.model.chunk import Chunk, Relations, Request
from runner.model.diagnostics import Diagnostic
from runner.model.errors import CompileError, RunnerError
from runner.pipeline import node_scope
from runner.pipeline.pillar_data import read_pillar
from runner.pipeline.session import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from runner.model.highdata import HighData

Gathered = tuple["HighData", list[Diagnostic]]


def gather(
    session: Session,
    requests: Iterable[Request],
    read: high.Read | None = None,
    names: high.Names | None = None,
) -> Gathered:
    gatherer = high.Gatherer(
        read or session.read,
        names or session.tree.sls_names,
        session.options.state_auto_order,
        session.tree.sls_text,
    )
    return gatherer.gather(requests), gatherer.problems


def learn_secrets(session: Session) -> None:
    """Read the pillar to know what is not shown; what needs no pillar can be asked for while it is
    broken, too.
    """
    with suppress(RunnerError), session.opened():
        read_pillar(session)


def missing_sls(session: Session, sls_files: Collection[tuple[str, str]]) -> list[str]:
    """The SLS files that the top file gives to this machine and that are not among these."""
    names = (
        (request.env, name)
        for request in node_scope.requested(node_scope.top_file(session))
        for name in high.expanded(request, session.tree.sls_names)
    )
    return [name for env, name in dict.fromkeys(names) if (env, name) not in sls_files]


def all_requests(session: Session) -> list[Request]:
    """All SLS files of the tree; a pillar that lies inside of it is none of them, nor is what a top
    file includes.
    """
    session.require_tree()
    pillar = tuple(
        f"{os.path.realpath(root)}/"
        for roots in session.options.pillar_roots.values()
        for root in roots
    )
    tops = session.asked_once.get("tops", ())
    states = [(name, env) for env in session.roots for name in session.tree.sls_files(env)]
    return [
        Request(name, env)
        for name, env in states
        if (name, env) not in tops
        and not f"{os.path.realpath(session.tree.sls_path(name, env) or '')}".startswith(pillar)
    ]


def refuse(problems: Iterable[Diagnostic]) -> None:
    """Raise CompileError with the errors among them, if any."""
    errors = [problem for problem in problems if problem.severity == "error"]
    if errors:
        raise CompileError(errors)


def related(
    session: Session, data: HighData, problems: list[Diagnostic], reconcile: bool = True
) -> tuple[tuple[Chunk, ...], Relations]:
    """The chunks and what waits for what; mistakes on the way end it, those of arguments are not
    looked for.
    """
    refuse(problems)
    chunks, mistakes = low.lower(data, reconcile, session.arguments_of, session.defaults)
    refuse(mistakes)
    relations, unmet = requisites.resolve(
        chunks, without_states(data), reacts=session.registry.reacts
    )
    refuse(unmet)
    return chunks, relations


def without_states(data: HighData) -> frozenset[str]:
    declared = {declaration.sls for declaration in data.declarations.values()}
    return frozenset(sls for _, sls in data.rendered if sls not in declared)
