# SPDX-License-Identifier: Apache-2.0
"""All mistakes of a tree: this machine's highstate, and each other SLS as it would be used."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, partial

from runner.engine.loader.registry import UnavailableError
from runner.language.compiler import high, missing_references
from runner.language.targeting import top
from runner.model.chunk import Chunk, Relations, Request, SlsFile
from runner.model.diagnostics import Diagnostic, deduplicated
from runner.model.errors import RunnerError
from runner.model.highdata import Body, HighData
from runner.pipeline import node_scope
from runner.pipeline.compile import Compiled, compile_partially, expected
from runner.pipeline.gathering import Gathered, all_requests, gather, refuse
from runner.pipeline.node_scope import requests
from runner.pipeline.pillar_data import read_pillar
from runner.pipeline.session import Listeners, Session, of_named
from runner.sources import formulas
from runner.sources.config.options import Options
from runner.sources.fileroots import unreadable
from runner.support.redaction import redact_no_log
from runner.tools.check import (
    conflicts,
    lint,
    lint_yaml,
    loop_sets,
    secret_files,
    traps,
    tree_files,
    units,
    unread_files,
    validators,
)

# what depends on a machine's values; the other codes are mistakes whatever the values are
SALTS = ("missing-file", "match", "feature")  # what Salt finds out when it runs
OF_VALUES = frozenset(["undefined", "raised", "render", "python"])


class Observer:
    """Follows a check, and so learns what a tree declares. This one does nothing.

    part: the one SLS file to check, as a check of the whole tree does, and what others declare
    (`HighData.elsewhere`). own, elsewhere: what the SLS files of this machine declare, and all.
    """

    part: tuple[Request, frozenset[str]] | None = None
    own = elsewhere = frozenset[str]()

    def begins(self, session: Session) -> None:
        """Called once, before anything of the tree is read."""

    def compiled(self, chunks: Sequence[Chunk], relations: Relations) -> None:
        """Called with the states of each part of the tree, and what they depend on."""


def check(
    options: Options,
    names: Iterable[str] = (),
    lenient: bool = False,
    configuration: Iterable[Diagnostic] = (),
    listeners: Listeners = (),
    observer: Observer | None = None,
) -> list[Diagnostic]:
    """All mistakes of the tree, or of some SLS files of it.

    lenient: what Salt compiles (unknown arguments and states) is a warning only. configuration:
    what is odd about it.
    """
    observer = observer or Observer()
    options = options._replace(unknown_states="fail") if lenient else options
    wanted = list(names)
    session = Session(of_named(options, wanted), tuple(listeners))
    try:
        with session.opened():
            refuse(_formula_problems(options))
            observer.begins(session)
            problems = _Checker(session, lenient, observer)(wanted)
    except RunnerError as error:
        problems = list(error.diagnostics)
    if "watch" in session.__dict__:
        problems += session.watch.problems()
    odd = [
        problem if lenient else _grave(problem)
        for problem in configuration
        if problem.severity != "info"
    ]
    problems = [*odd, *problems]
    if "run" in session.__dict__:  # else a module for the grains is broken, and no secret was read
        problems = list(map(session.run.secrets.diagnostic, problems))
    return sorted(lint.without_ignored(deduplicated(problems)), key=_place)


def _formula_problems(options: Options) -> Iterable[Diagnostic]:
    """The mistakes of a formulas.yml beside the configuration."""
    if not options.formula_folder:
        return ()
    return formulas.problems(options.formula_folder, options.cachedir)


class _Checker:
    """Compiles what belongs together, unit by unit."""

    def __init__(self, session: Session, lenient: bool, observer: Observer) -> None:
        self._session = session
        self._observer = observer
        self._lenient = lenient
        self._problems: list[Diagnostic] = []
        self._pillar_is_broken = False
        self._reads: dict[tuple[str, str], SlsFile | RunnerError] = {}

    def __call__(self, names: Sequence[str]) -> list[Diagnostic]:
        session = self._session
        session.require_tree()
        heard: list[Diagnostic] = []
        tree_files.listening(session, heard)
        session.report_grains = self._grains
        try:
            read_pillar(session)
        except RunnerError as error:
            self._problems += error.diagnostics
            self._pillar_is_broken = True
        if self._observer.part:
            self._of_part(*self._observer.part)
        elif names:
            self._compile(self._gather(requests(session, names)))
        else:
            self._problems += tree_files.of_roots(session)
            self._tree()
            self._beside()
        return [*self._problems, *heard]

    def _grains(self, problem: Diagnostic) -> None:
        """Report mistakes of modules. What is not Python is one; what a file raises may be for want
        of something that other machines have.
        """
        self._problems.append(
            problem._replace(severity="error") if problem.code == "module" else problem
        )

    def _does_react(self, chunk: Chunk) -> bool:
        """Return whether the reaction of a state's module does something for its function."""
        try:
            able = self._session.registry.state(chunk.function).hook("REACTS")
        except RunnerError:  # it cannot work here (yet)
            return True
        return able is None or chunk.fun in able

    def _of_its_own(self, problems: Iterable[Diagnostic]) -> list[Diagnostic]:
        """The problems but for those whose values are missing as the pillar is broken: one mistake,
        one error.
        """
        told = frozenset[str]() if not self._pillar_is_broken else OF_VALUES
        return [problem for problem in problems if problem.code not in told]

    def _compile(self, gathered: Gathered, foreign: bool = False) -> None:
        compiled, problems = compile_partially(self._session, gathered, strict=not self._lenient)
        self._observer.compiled(compiled.chunks, compiled.relations)
        problems = self._of_its_own(problems)
        if self._lenient:  # Salt compiles it; the state fails
            problems = [
                _mild(problem) if problem.code in SALTS else problem for problem in problems
            ]
        if foreign:
            problems = [
                _perhaps(problem) if problem.code in OF_VALUES else problem for problem in problems
            ]
        reacts = frozenset(
            position
            for position, step in enumerate(compiled.steps)
            if step.reacts and self._does_react(step.chunk)
        )
        expects = expected(self._session)
        told = {problem.source for problem in problems}
        of_yaml = lint_yaml.warnings(compiled.chunks, expects, lint.row)
        problems += (
            *(warning for warning in of_yaml if warning.source not in told),
            *self._unavailable(compiled),
            *lint.warnings(compiled.chunks, compiled.relations, reacts),
            *conflicts.warnings(compiled, self._session.registry, self._session.tree),
            *traps.warnings(compiled.steps, foreign),
            *secret_files.warnings(self._session, compiled.chunks),
            *(() if foreign else lint_yaml.values_that_are_none(compiled.chunks)),
            *validators.hints(compiled.chunks, expects),
            *unread_files.warnings(compiled.chunks, expects, self._is_debian),
            *missing_references.templates(
                compiled.chunks, self._session.tree, self._session.renderer.compile
            ),
        )
        self._problems += redact_no_log(problems, compiled.chunks)

    def _is_debian(self) -> bool:
        return bool(self._session.grains.get("os_family") == "Debian")

    def _unavailable(self, compiled: Compiled) -> Iterator[Diagnostic]:
        """State modules that cannot work now; an earlier state may change that."""
        for chunk in compiled.chunks:
            try:
                self._session.registry.state(chunk.function)
            except UnavailableError as error:
                hint = error.hint or "it may work once an earlier state has installed what it needs"
                message = f"State '{chunk.function}' cannot work here: {error.message}"
                yield Diagnostic(
                    message, error.source or chunk.place.source, hint, "unavailable", "warning"
                )
            except RunnerError:
                continue

    def _gather(self, requests: Iterable[Request]) -> Gathered:
        return gather(self._session, requests, self._read)

    def _read(self, sls: str, env: str) -> SlsFile:
        """An SLS, rendered once however many units have it."""
        if (sls, env) not in self._reads:
            try:
                self._reads[sls, env] = self._session.read(sls, env)
                self._problems += loop_sets.warnings(self._session, sls, env)
            except RunnerError as error:
                self._reads[sls, env] = error
        sls_file = self._reads[sls, env]
        if isinstance(sls_file, RunnerError):
            raise sls_file
        return sls_file

    # -------------------------------------------------- the whole tree

    def _tree(self) -> None:
        session = self._session
        own, all_lines = self._top()
        ours = (
            [self._gather([Request(line.sls, line.env, line.place) for line in own])] if own else []
        )
        done = {key for data, _ in ours for key in data.rendered}
        assigned = [
            Request(line.sls, line.env, line.place) for line in all_lines if line not in own
        ]
        named = {key for request in assigned for key in self._expanded(request)}
        path_of = session.tree.sls_path
        # a.b and a/b are one file
        read = {(env, path_of(sls, env)) for env, sls in done if path_of(sls, env)}
        whole, left_out = tree_files.served(session, all_requests(session))
        self._problems += left_out
        rest = [
            request
            for request in (*assigned, *whole)
            if (request.env, path_of(request.sls, request.env)) not in read
        ]
        self._problems += [
            problem for path in session.tree.closed for problem in unreadable(path).diagnostics
        ]
        survey = self._gather(rest)[0] if rest else HighData()
        others = self._units(survey, rest)
        reached = done | units.reached(
            survey.includes,
            (key for request in assigned if request in rest for key in self._expanded(request)),
        )
        self._observer.own = frozenset(_declared(data for data, _ in ours))
        self._observer.elsewhere = elsewhere = self._observer.own.union(
            _declared(data for data, _ in others)
        )
        for gathered in ours:
            self._compile(gathered)
        own_end = len(self._problems)
        for gathered in others:
            gathered[0].elsewhere = elsewhere
            self._compile(gathered, foreign=bool(set(gathered[0].rendered) & named))
        tree = session.tree
        self._problems[own_end:] = [
            each for each in self._problems[own_end:] if not self._is_set_elsewhere(each)
        ]
        if all_lines:
            written = {
                (env, sls): [(env, name) for name in named]
                for env in tree.roots
                for sls, named in units.written(
                    tree.sls_names(env), partial(tree.sls_text, saltenv=env)
                ).items()
            }
            self._problems += lint.unreached(
                tree.sls_path,
                [key for data, _ in others for key in data.rendered],
                units.reached(written, reached),
            )

    def _is_set_elsewhere(self, problem: Diagnostic) -> bool:
        """Return whether a variable is undefined because its SLS is a part of others' templates,
        which are checked with it.
        """
        source = problem.source
        is_variable = _UNDEFINED.fullmatch(problem.message) and source and not source.via
        return bool(is_variable and source and source.file in self._parts)

    @cached_property
    def _parts(self) -> set[str | None]:
        tree = self._session.tree
        return {
            tree.sls_path(name, env)
            for env in tree.roots
            for name in units.parts(tree.sls_names(env), partial(tree.sls_text, saltenv=env))
        }

    def _of_part(self, request: Request, elsewhere: frozenset[str]) -> None:
        """One SLS file with what it includes, as the check of the whole tree finds it. elsewhere:
        what others declare.
        """
        own, all_lines = self._top()
        is_of = [
            {key for line in lines for key in self._expanded(Request(line.sls, line.env))}
            for lines in (own, all_lines)
        ]
        gathered = self._gather([request])
        gathered[0].elsewhere = elsewhere
        asked = {*self._expanded(request)}
        self._compile(gathered, foreign=bool(asked & is_of[1]) and not asked & is_of[0])

    def _units(self, survey: HighData, requests: Sequence[Request]) -> list[Gathered]:
        """The parts of the tree that are compiled together: those of the requests that no other
        one brings. survey: all requests gathered at once.
        """
        names = {request: self._expanded(request) for request in requests}
        gathered: dict[Request, Gathered] = {}
        brought: set[tuple[str, str]] = set()
        for request in units.includers_first(survey.includes, names):
            if (request.env, request.sls) not in brought:
                gathered[request] = self._gather([request])
                brought.update(gathered[request][0].rendered)
        return units.outermost([gathered[request] for request in requests if request in gathered])

    def _beside(self) -> None:
        """The pillar of other machines, and modules that nothing used."""
        known = {(problem.message, problem.source) for problem in self._problems}
        places = {
            (problem.source.file, problem.source.line)
            for problem in self._problems
            if problem.source
        }
        problems = [*tree_files.of_pillar(self._session), *tree_files.of_modules(self._session)]
        for problem in problems:
            source = problem.source
            if (problem.message, source) in known or (
                source and (source.file, source.line) in places
            ):
                continue
            mild = self._lenient and problem.code in SALTS
            problem = _mild(problem) if mild else problem
            self._problems.append(_perhaps(problem) if problem.code in OF_VALUES else problem)

    def _top(self) -> tuple[Sequence[top.TopLine], Sequence[top.TopLine]]:
        """The lines of the top file for this machine, and for all."""
        session = self._session
        try:
            own = node_scope.entered(session)
        except RunnerError as error:
            self._problems += self._of_its_own(error.diagnostics)
            return (), ()
        unread, session.unread = session.unread, ()
        self._problems += (
            unread if self._lenient else [problem._replace(severity="error") for problem in unread]
        )
        lines = own.lines if own else ()
        try:
            everyone = node_scope.top_file(session, matches=lambda target, kind: True)
        except RunnerError as error:  # targets of other machines are wrong
            told = {problem.message for problem in unread}
            self._problems += [
                each for each in self._of_its_own(error.diagnostics) if each.message not in told
            ]
            return lines, lines
        return lines, everyone.lines

    def _expanded(self, request: Request) -> list[tuple[str, str]]:
        return [
            (request.env, name) for name in high.expanded(request, self._session.tree.sls_names)
        ]


_UNDEFINED = re.compile(r"Jinja variable '\w+' is undefined")


def _place(problem: Diagnostic) -> tuple[str, int, int]:
    source = problem.source
    return (source.file, source.line, source.column) if source else ("", 0, 0)


def _grave(problem: Diagnostic) -> Diagnostic:
    """A key of the configuration that was probably mistyped is a mistake; any other unknown one may
    be a module's.
    """
    return (
        problem._replace(severity="error") if problem.code == "config" and problem.hint else problem
    )


def _mild(problem: Diagnostic) -> Diagnostic:
    return problem._replace(severity="warning")


def _perhaps(problem: Diagnostic) -> Diagnostic:
    """A mistake that may be due to the values of this machine, which does not get the SLS."""
    more = "; the top file gives this to other machines only: check it with --id or --grains"
    return problem._replace(message=problem.message + more, severity="warning")


def _declared(data: Iterable[HighData]) -> Iterator[str]:
    """SLS files, IDs and names, each as a requisite names it (`HighData.elsewhere`)."""
    for unit in data:
        yield from (f"sls: {sls}" for _, sls in unit.rendered)
        for declaration in unit.declarations.values():
            for state, body in declaration.bodies.items():
                for name in (declaration.id, *_names(body)):
                    yield f"id: {name}"
                    yield f"{state}: {name}"


def _names(body: Body) -> Iterator[str]:
    for item in body.items:
        if item.key == "name":
            yield str(item.value)
        elif item.key == "names" and isinstance(item.value, list):
            yield from (
                str(next(iter(name), "")) if isinstance(name, dict) else str(name)
                for name in item.value
            )
