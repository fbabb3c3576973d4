# SPDX-License-Identifier: Apache-2.0
"""From high data to a compiled tree: bound, checked and in order."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from itertools import groupby

from runner.api import running
from runner.engine import step_hooks
from runner.engine.bind import Binder
from runner.engine.step import Step, asked
from runner.language.arguments import bind, global_checks
from runner.language.compiler import auto_requisites, low, missing_references, ordering, requisites
from runner.language.pillar import undecrypted as encrypted_values
from runner.model import diagnostics
from runner.model.chunk import Chunk, Edge, Edges, Relations
from runner.model.errors import CompileError, Diagnostic, RunnerError
from runner.model.events import CycleFound
from runner.model.records import Record
from runner.pipeline import gathering, selection, undecrypted
from runner.pipeline.compile_cache import CompileCache
from runner.pipeline.kept_plan import CompiledPlan
from runner.pipeline.node_scope import requests, top_requests
from runner.pipeline.session import Session
from runner.support import drawing
from runner.support.log import LOG
from runner.support.redaction import redact_no_log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from runner.language.arguments.scalars import Shape
    from runner.language.arguments.schema import Parameter
    from runner.language.compiler.auto_requisites import Link
    from runner.model.chunk import Request
    from runner.model.highdata import HighData
    from runner.pipeline.gathering import Gathered


class Compiled(Record):
    """A tree that is ready to run, with the warnings that compiling it gave."""

    steps: tuple[Step, ...]
    relations: Relations
    order: tuple[int, ...]
    binder: Binder
    warnings: tuple[Diagnostic, ...]
    left_out: tuple[Chunk, ...] = ()  # by --only, --exclude, --tags ...
    sls_files: frozenset[tuple[str, str]] = frozenset()  # (environment, SLS)
    said: tuple[Diagnostic, ...] = ()  # the warnings that the texts of the tree give by themselves
    recalled: bytes = b""  # what it was made from, where an earlier run compiled it

    @property
    def chunks(self) -> tuple[Chunk, ...]:
        return tuple(step.chunk for step in self.steps)


# a tree that is ready to run (None when it has errors), and all that is to be said of it
Outcome = tuple[Compiled | None, list[Diagnostic]]
Compiling = Callable[[], Outcome]


def of_requests(session: Session, names: Sequence[str] | None = None) -> Compiling:
    """Return what compiles SLS files of the tree; None: those of the top file for this machine."""

    def compiling() -> Outcome:
        wanted = top_requests(session) if names is None else requests(session, names)
        return _compile_requests(session, wanted)

    return compiling


def _compile_requests(session: Session, wanted: Sequence[Request]) -> Outcome:
    """Compile SLS files, if what they are made from is not as it was in an earlier run."""
    cache = CompileCache(session, wanted)
    kept = cache.recall()
    if kept is not None and _has_same_templates(session, kept[0]):
        LOG.info("compiled by an earlier run, from the same texts")
        return _ready(*_recalled(session, *kept))
    gathered = gathering.gather(session, wanted, cache.read, cache.names)
    compiled, problems = compile_chunks(session, gathered, session.options.strict)
    if compiled is not None:
        numbers = {id(step.chunk): number for number, step in enumerate(compiled.steps)}
        handed_on = tuple(
            (numbers[id(chunk)], name, is_used)
            for chunk, name, is_used in compiled.binder.handed_on
            if id(chunk) in numbers
        )
        plan = compiled.steps, compiled.relations, compiled.order, compiled.said
        if len(handed_on) == len(compiled.binder.handed_on):
            cache.keep(CompiledPlan(*plan, handed_on, tuple(compiled.binder.given_secrets)))
    return compiled, problems


def _has_same_templates(session: Session, plan: CompiledPlan) -> bool:
    """Return whether the templates of states use the variables that they used: files of the tree
    decide that.
    """
    used = missing_references.used_by_template(session.tree) if plan.handed_on else None
    return used is None or all(
        used(plan.steps[position].chunk, name) is is_used
        for position, name, is_used in plan.handed_on
    )


def of_gathered(session: Session, gathered: Callable[[], Gathered]) -> Compiling:
    """Return what compiles high data."""
    return lambda: compile_chunks(session, gathered(), session.options.strict)


def compile_chunks(session: Session, gathered: Gathered, strict: bool) -> Outcome:
    """Compile high data."""
    return _ready(*compile_partially(session, gathered, strict))


def _ready(compiled: Compiled, problems: list[Diagnostic]) -> Outcome:
    return None if any(problem.severity == "error" for problem in problems) else compiled, problems


def compile_partially(
    session: Session, gathered: Gathered, strict: bool
) -> tuple[Compiled, list[Diagnostic]]:
    """As much of a tree as compiles, and all that is to be said of it."""
    compiled, problems = _compiled(session, gathered, strict)
    if not (session.options.start_at and compiled.order):
        return compiled, problems
    ordered = (compiled.steps[position].chunk for position in compiled.order)
    return _compiled(session, gathered, strict, selection.starting_at(session.options, ordered))


def _compiled(
    session: Session, gathered: Gathered, strict: bool, before: Collection[str] = ()
) -> tuple[Compiled, list[Diagnostic]]:
    """The same of what is selected. before: the tags of states that `--start-at` leaves out."""
    data, said = gathered
    chunks, found = low.lower(
        data, True, session.arguments_of, session.defaults, session.functions_of
    )
    said = [*said, *found]
    selected = selection.select(session.options, chunks, _takes(session), before)
    chunks = selected.chunks
    said += selected.warnings
    session.run.secrets.collect_arguments(chunks, session.options.secret_keys)
    if session.undecrypted or any(
        encrypted_values.is_encrypted((chunk.name, chunk.args)) for chunk in chunks
    ):
        said += undecrypted.in_arguments(session, chunks)
    binder = make_binder(session)
    steps, mistakes = binder.steps(chunks)
    said += mistakes
    said += global_checks.problems(chunks, session.arguments_of)
    # what a broken file would have declared is not missing: one mistake, one error
    relations, unmet = requisites.resolve(
        chunks,
        gathering.without_states(data),
        lambda target, state: (
            data.explained_by_earlier_error(target, state) or selected.is_left_out(target, state)
        ),
        session.registry.reacts,
    )
    relations = selected.related(relations, partial(owes, session))
    said += unmet
    nodes: tuple[int, ...] = ()
    try:
        nodes = _sequence(session, chunks, relations, data)
    except CompileError as error:
        said += error.diagnostics
    problems = [
        _placed(problem, session, data)
        for problem in diagnostics.deduplicated(_all_problems(session, said, steps, strict))
    ]
    links: tuple[Link, ...] = ()
    if nodes and session.options.auto_relationships:
        nodes, links = auto_requisites.fitted(
            chunks, relations, nodes, step_hooks.automatic_links(steps)
        )
    relations = relations._replace(looks=ordering.looks(nodes))
    if links:
        relations = auto_requisites.reacting(relations, links, chunks)
    order = ordering.arrange(nodes)
    sls_files = frozenset(data.rendered)
    left_out = selected.left_out
    compiled = Compiled(steps, relations, order, binder, tuple(problems), left_out, sls_files)
    return compiled._replace(said=tuple(said)), problems


def _all_problems(
    session: Session, said: Iterable[Diagnostic], steps: tuple[Step, ...], strict: bool = False
) -> list[Diagnostic]:
    """Return what texts give by themselves, and what depends on what else is there."""
    chunks = tuple(step.chunk for step in steps)
    problems = [
        *session.unread,
        *session.node.warnings,
        *said,
        *_missing_references(session, steps, strict),
        *session.run.secrets.unhidable(),
    ]
    return redact_no_log(list(map(_strict, problems)) if strict else problems, chunks)


def _recalled(
    session: Session, plan: CompiledPlan, sls_files: frozenset[tuple[str, str]], digest: bytes
) -> tuple[Compiled, list[Diagnostic]]:
    """The same of a kept plan, which no strict run has: what depends on more than what it was made
    from is looked up.
    """
    chunks = (step.chunk for step in plan.steps)
    session.run.secrets.collect_arguments(chunks, session.options.secret_keys)
    for secret in plan.secrets:
        session.run.secrets.add(secret)
    binder = make_binder(session)
    said = [*plan.warnings, *binder.lacking(plan.steps)]
    found = [*_all_problems(session, said, plan.steps)]
    problems = diagnostics.deduplicated(found) if found else found
    compiled = Compiled(plan.steps, plan.relations, plan.order, binder, tuple(problems))
    return compiled._replace(sls_files=sls_files, recalled=digest), problems


def _takes(session: Session) -> Callable[[Chunk, str], bool]:
    return lambda chunk, name: name in session.arguments_of(chunk.state, chunk.fun)


# states; placing many more takes minutes, so that of more only those of the cycles are drawn
DRAWN = 500


def _missing_references(
    session: Session, steps: tuple[Step, ...], strict: bool
) -> Iterable[Diagnostic]:
    """The references that lead nowhere; of what is typed on the command line its result tells."""
    own = [step for step in steps if step.chunk.sls]
    calling = asked(own, "calls")
    called = step_hooks.called_functions(calling) if calling else {}
    # most states of most sites refer to nothing
    referring = [
        (step.chunk, called.get(id(step.chunk), ()))
        for step in own
        if id(step.chunk) in called or step.chunk.may_refer()
    ]
    if not referring:
        return ()
    return missing_references.problems(referring, _world(session, strict))


def _world(session: Session, strict: bool) -> missing_references.World:
    def parameters(function: str) -> Mapping[str, Parameter]:
        with suppress(RunnerError):  # no such function, which the binder says
            return bind.schema_of(session.registry.state(function).function).parameters
        return {}

    @cache
    def takes_folder(function: str) -> bool:
        with suppress(RunnerError):  # schemas are only looked at where the text says too little
            state = session.registry.state(function)
            typed = getattr(state.function, "__annotations__", {}).get("source", "")
            if state.is_built_in and isinstance(typed, str) and "Folder" not in typed:
                return False
        source = parameters(function).get("source")
        return source is not None and "folder" in source.shape.title

    def takes_words(function: str) -> bool:
        return {"source", "args"} <= parameters(function).keys()

    is_locked = cache(missing_references.is_locked)  # states share sources
    return missing_references.World(
        session.tree, session.registry, takes_folder, takes_words, is_locked, strict
    )


def expected(session: Session) -> Callable[[Chunk, str], Shape | None]:
    """A function that says what an argument of a state takes."""

    def taken(chunk: Chunk, key: str) -> Shape | None:
        try:
            function = session.registry.state(chunk.function)
        except RunnerError:
            return None
        parameter = bind.schema_of(function.function).parameters.get(key)
        return parameter.shape if parameter else None

    return taken


def make_binder(session: Session) -> Binder:
    def used(chunk: Chunk, name: str) -> bool:
        return missing_references.used_by_template(session.tree)(chunk, name)

    return Binder(session.registry, session.run.secrets, session.options, used)


def owes(session: Session, module: str) -> bool:
    """Return whether a state that is left out has to react later: what does not run reads what is
    there when it starts.
    """
    if not session.registry.reacts(module):
        return False
    with running(session.current()):
        return not session.registry.rests(module)


def _sequence(
    session: Session, chunks: tuple[Chunk, ...], relations: Relations, data: HighData
) -> tuple[int, ...]:
    chains = {chain.place: chain.text for chain in data.chains}
    try:
        return ordering.sequence(chunks, relations, chains, session.options.shuffle)
    except CompileError as error:
        where = _drawn(session, chunks, relations)
        drawn = (
            f"{'the whole graph' if len(chunks) <= DRAWN else 'it'} is drawn in {where}"
            if where
            else None
        )
        raise CompileError(
            [
                problem._replace(hint="; ".join(filter(None, (problem.hint, drawn))) or None)
                for problem in error.diagnostics
            ]
        ) from None


def _drawn(session: Session, chunks: tuple[Chunk, ...], relations: Relations) -> str:
    """Have the cycles drawn: the path of the page; empty where nobody draws it, or it would take
    long.
    """
    cyclic_edges = ordering.cyclic_edges(chunks, relations)
    if len(chunks) > DRAWN:
        chunks, relations, cyclic_edges = _of_cycles(chunks, cyclic_edges)
    if not cyclic_edges or len(chunks) > DRAWN:
        return ""
    graph = session.run.secrets.mask(drawing.picture(chunks, relations, (), cyclic_edges))
    event = CycleFound(graph, f"Dependency graph of {session.options.id}", [])
    session.emit(event)
    return event.drawn_in[0] if event.drawn_in else ""


def _of_cycles(
    chunks: tuple[Chunk, ...], cyclic_edges: list[frozenset[Edge]]
) -> tuple[tuple[Chunk, ...], Relations, list[frozenset[Edge]]]:
    """Only the states that wait for each other, with what they wait for."""
    members = sorted(
        {
            number
            for cycle in cyclic_edges
            for edge in cycle
            for number in (edge.holder, edge.target)
        }
    )
    place = {number: index for index, number in enumerate(members)}
    cycles = [
        frozenset(
            edge._replace(holder=place[edge.holder], target=place[edge.target]) for edge in cycle
        )
        for cycle in cyclic_edges
    ]
    edges = sorted(
        (edge for cycle in cycles for edge in cycle), key=lambda edge: (edge.holder, edge.target)
    )
    by_holder = {
        holder: Edges.of(own) for holder, own in groupby(edges, key=lambda edge: edge.holder)
    }
    return tuple(chunks[number] for number in members), Relations(by_holder), cycles


# what Salt takes no notice of while it compiles, and a strict reader refuses
STRICT = frozenset(["unknown-argument", "ignored", "unknown-function"])


def _strict(problem: Diagnostic) -> Diagnostic:
    return diagnostics.refused(problem) if problem.code in STRICT else problem


ELSEWHERE = ("unmet-requisite", "unknown-id")  # another SLS may have it


def _placed(problem: Diagnostic, session: Session, data: HighData) -> Diagnostic:
    """A reference to what is not in this run, with the SLS that has it."""
    if problem.code not in ELSEWHERE or (problem.hint is not None and not problem.candidates):
        return problem
    env = session.options.saltenv or "base"
    holder = session.tree.declaring(problem.subject, env)
    if holder:
        cure = ": include it"
        if any(sls == holder for _, sls in data.rendered):
            its = ", which is in this run, but its template leaves it out here"
            cure = ": an `exclude` leaves it out" if data.excludes else its
        return problem._replace(
            hint=f"{problem.subject} is declared in the SLS {holder}{cure}", declared_in=holder
        )
    if problem.hint is not None:
        return problem
    writer, typed = missing_references.written(problem.subject, session.tree.declared(env)) or (
        "",
        "",
    )
    if writer and not any(sls == writer for _, sls in data.rendered):
        return problem._replace(
            hint=f"the SLS {writer} declares {typed}: include it, if it is that"
        )
    near = diagnostics.suggested(
        diagnostics.similar(problem.subject, session.tree.declared(env), 2)
    )
    if near.text:
        return problem._replace(hint=near.text, candidates=near.candidates)
    return problem._replace(
        hint="no SLS declares it: look at the spelling; it is the ID (or the name) of a state"
    )
