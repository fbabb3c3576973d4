# SPDX-License-Identifier: Apache-2.0
"""Chunks -> steps: finds each state function and binds its arguments, once; every mistake has its
place.
"""

from __future__ import annotations

from contextlib import nullcontext, suppress

from runner.api import StateFailed, changes_allowed, here
from runner.engine.loader.registry import Registry, StateFunction
from runner.engine.step import Aggregate, Call, Reaction, Step, asked
from runner.language.arguments import bind as binding
from runner.language.arguments import scalars, schema
from runner.model import nested
from runner.model.chunk import Chunk
from runner.model.errors import CompileError, Diagnostic, RunnerError
from runner.model.records import Record
from runner.sources.config.options import Options
from runner.support.redaction import Secrets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from runner.api.providers import Provider, Providers


class _Traits(Record):
    """What the states of one function have in common. reaction_arguments: those of mod_watch.
    providers: of the module.
    """

    function: StateFunction
    self_refreshing: bool
    non_idempotent: bool
    of_one_file: frozenset[str] | None  # the arguments with which it is about one file; None: never
    of_many: frozenset[str] | None  # those with which it writes many
    checks_itself: bool
    reaction_arguments: frozenset[str]
    providers: Providers[Provider] | None

    @classmethod
    def of(cls, function: StateFunction) -> _Traits:
        watch = function.mod_watch
        return cls(
            function,
            self_refreshing=bool(function.hook("SELF_REFRESH")),
            non_idempotent=function.classic or bool(function.non_idempotent),
            of_one_file=_of_one_file(function) if function.is_built_in else None,
            of_many=_of_many(function) if function.is_built_in else None,
            checks_itself="check_cmd" in schema.known(function.function),
            reaction_arguments=schema.known(watch) if watch else frozenset(),
            providers=function.hook("PROVIDERS"),
        )

    def one_file(self, chunk: Chunk) -> str:
        """The file that a state is about, or its name where the state's turn tells which file that
        is; empty where it is more than one.
        """
        if self.of_one_file is None or not self.of_one_file.issuperset(chunk.args):
            return ""
        its_file = self.function.hook("its_file")
        return its_file if isinstance(its_file, str) else chunk.name

    def writes_many(self, chunk: Chunk) -> bool:
        return self.of_many is not None and self.of_many.issuperset(chunk.args)


def _of_one_file(function: StateFunction) -> frozenset[str] | None:
    arguments = (function.hook("ABOUT_ONE_FILE") or {}).get(function.name.partition(".")[2])
    return None if arguments is None else frozenset(arguments.split())


def _of_many(function: StateFunction) -> frozenset[str] | None:
    """Its own arguments: those of every state have commands look at what it has written."""
    name = function.name.partition(".")[2]
    return schema.known(function.function) if name in (function.hook("WRITES_MANY") or ()) else None


class Binder:
    """Makes the steps of a run, and the calls of those that are bound only when they run."""

    def __init__(
        self,
        registry: Registry,
        secrets: Secrets,
        options: Options,
        used_by_template: Callable[[Chunk, str], bool],
    ) -> None:
        """secrets: learn the secret arguments. options: say what holds for states that do not say
        it themselves (noop, aggregate), and whether unknown states only fail.

        used_by_template: tells whether the template of a state uses a variable.
        """
        self._registry = registry
        self._secrets = secrets
        self._options = options
        self._used_by_template = used_by_template
        self.given_secrets: list[str] = []
        # arguments that a function does not have: the chunk, the name, whether its template uses it
        self.handed_on: list[tuple[Chunk, str, bool]] = []
        self._initialised: set[str] = set()  # the state modules whose mod_init was called
        self._traits: dict[int, _Traits] = {}  # by the identity of the function, which they hold

    # -------------------------------------------------- before the run

    def steps(self, chunks: Iterable[Chunk]) -> tuple[tuple[Step, ...], list[Diagnostic]]:
        """The steps of a run, and all that is wrong with them; unknown arguments as warnings."""
        steps: list[Step] = []
        problems: list[Diagnostic] = []
        for chunk in chunks:
            step, mistakes = self._step(chunk)
            steps.append(step)
            problems += mistakes
        return tuple(steps), problems

    def lacking(self, steps: Iterable[Step]) -> list[Diagnostic]:
        """Return what steps of an earlier run need and the providers of this one do not have."""
        return [
            problem
            for step, call, _ in asked(steps, "PROVIDERS")
            for problem in self._lacking(step.chunk, call)
        ]

    def _lacking(self, chunk: Chunk, call: Call) -> list[Diagnostic]:
        return _missing_features(chunk, self._traits_of(call.function), call.arguments)

    def _step(self, chunk: Chunk) -> tuple[Step, list[Diagnostic]]:
        call, problems = self._checked(chunk)
        try:
            function = call.function if call else self._registry.state(chunk.function)
        except RunnerError:  # _checked reports it; an earlier state may bring it
            function = None
        noop = self._is_noop(chunk, function)
        if function is None:
            return Step(chunk, noop=noop), problems
        traits = self._traits_of(function)
        step = Step(
            chunk,
            call,
            reacts=function.reaction is not None,
            self_refreshing=traits.self_refreshing,
            non_idempotent=traits.non_idempotent,
            noop=noop,
            one_file="" if call is None else traits.one_file(chunk),
            writes_many=call is not None and traits.writes_many(chunk),
            aggregate=None if noop else self._aggregate(chunk, function),
        )
        return step, problems

    def _traits_of(self, function: StateFunction) -> _Traits:
        traits = self._traits.get(id(function))
        if traits is None:
            traits = self._traits[id(function)] = _Traits.of(function)
        return traits

    def _checked(self, chunk: Chunk) -> tuple[Call | None, list[Diagnostic]]:
        """The call of a chunk, where it can be bound by now, and what is wrong with it."""
        if nested.has_slot(chunk.args):
            return None, []
        try:
            call, unknown = self._bound(chunk)
        except CompileError as error:
            # of a relative path that was typed on the command line the result tells, and of a home
            # folder, whose user an earlier state may add
            later = all(
                problem.subject[:1] == "~" or (problem.subject == "path" and not chunk.sls)
                for problem in error.diagnostics
            )
            hands_on = schema.schema_of(self._registry.state(chunk.function).function).leftover
            doubtful = "unknown-argument" if hands_on else None
            return None, [
                problem
                for problem in (() if later else error.diagnostics)
                if problem.code != doubtful or not self._used_by_template(chunk, problem.subject)
            ]
        except RunnerError as error:
            if error.code == "unknown-function":
                return None, [self._not_found(chunk, error.hint)]
            # unavailable: an earlier state may change that; else a module of the tree is broken
            return None, [] if error.code == "unavailable" else list(error.diagnostics)
        return call, [
            diagnostic
            for diagnostic in unknown
            if not self._is_variable(chunk, call, diagnostic.subject)
        ]

    def _is_variable(self, chunk: Chunk, call: Call, name: str) -> bool:
        """Return whether an argument that the function does not have is handed on to a template
        which uses it.
        """
        if name not in call.arguments:
            return False
        is_used = self._used_by_template(chunk, name)
        self.handed_on.append((chunk, name, is_used))
        return is_used

    def _not_found(self, chunk: Chunk, hint: str | None) -> Diagnostic:
        fails = self._options.unknown_states == "fail"
        where, end = (
            f" in SLS '{chunk.sls}'" if chunk.sls else "",
            "; it will fail" if fails else "",
        )
        message = (
            f"{'State' if where else 'Specified state'} '{chunk.function}' was not"
            f" found{where}{end}"
        )
        return Diagnostic(
            message, chunk.place.source, hint, "unknown-state", "warning" if end else "error"
        )

    def _is_noop(self, chunk: Chunk, function: StateFunction | None) -> bool:
        """Return whether a chunk is only planned: by its `noop`, else by the configuration. A
        function's own argument of that name is its own.
        """
        value = chunk.args.get("noop")
        if value is None or (function and "noop" in schema.known(function.function)):
            return self._options.noop
        with suppress(scalars.Mismatch):  # which global_checks reports
            return bool(scalars.SIMPLE[bool].convert(value))
        return True

    def _aggregate(self, chunk: Chunk, function: StateFunction) -> Aggregate | None:
        """The mod_aggregate of a chunk that aggregates: by its `aggregate`, else by the
        configuration.
        """
        value = chunk.args.get("aggregate", self._options.state_aggregate)
        if value and (value is True or (isinstance(value, list | tuple) and chunk.state in value)):
            hook: Aggregate | None = function.hook("mod_aggregate")
            return hook
        return None

    # -------------------------------------------------- while it runs

    def call(self, step: Step, reaction: Reaction | None) -> Call:
        """The call of a step, or of its module's mod_watch. Raises RunnerError with what is
        wrong.
        """
        chunk = step.chunk
        if chunk.state not in self._initialised:
            self._initialise(chunk)
        if reaction is not None:
            return self._reaction_call(chunk)
        if step.call is not None:
            # an earlier state may have brought a provider
            has_providers = "PROVIDERS" in step.call.function.module.__dict__
            if has_providers and (missing := self._lacking(chunk, step.call)):
                raise CompileError(missing)
            return step.call
        try:
            return self._bound(chunk)[0]
        except CompileError as error:
            for problem in error.diagnostics:
                if problem.subject[:1] == "~":
                    raise StateFailed(
                        problem.detail, missing=("user", problem.subject[1:])
                    ) from None
                if problem.subject == "path" and not chunk.sls:
                    raise RunnerError(problem.detail) from None
            raise
        except RunnerError as error:
            if error.code == "unknown-function":
                message = f"State '{chunk.function}' was not found in SLS '{chunk.sls}'\nReason: "
                raise RunnerError(
                    f"{message}'{chunk.function}' is not available.\n", hint=error.hint
                ) from None
            raise

    def _initialise(self, chunk: Chunk) -> None:
        """Call the module's mod_init before its first state."""
        self._initialised.add(chunk.state)
        try:
            hook = self._registry.state(chunk.function).hook("mod_init")
        except RunnerError:
            return
        if hook:
            with nullcontext() if here.dry else changes_allowed():
                hook(dict(chunk.low))

    def _reaction_call(self, chunk: Chunk) -> Call:
        function = self._registry.state(chunk.function)
        reaction = function.reaction
        if reaction is None:
            raise RunnerError(
                f"the state module {chunk.state} cannot react to a watch", chunk.place.source
            )
        takes_all = schema.schema_of(reaction.function).open is not None
        names = schema.known(reaction.function)
        arguments = {"name": chunk.name, **chunk.args, "sfun": chunk.fun}
        bound = binding.bind(
            reaction.function,
            {key: value for key, value in arguments.items() if takes_all or key in names},
            places=chunk.arg_places,
            default_place=chunk.place,
            extra_known=schema.known(function.function),
            where=f"{chunk.state}.mod_watch",
        )
        own = self._bound(chunk)[0].arguments if takes_all and not reaction.classic else {}
        return Call(reaction, {**own, **bound.arguments})

    # -------------------------------------------------- arguments

    def _bound(self, chunk: Chunk) -> tuple[Call, tuple[Diagnostic, ...]]:
        """The call of a chunk, and the arguments that its function does not have."""
        function = self._registry.state(chunk.function)
        traits = self._traits_of(function)
        if chunk.given_name is None:
            message = (
                f"{chunk.function}: a null among the names of state {chunk.id!r} is not a name"
            )
            hint = "nothing follows the dash: write the name, or remove the line"
            source = chunk.arg_places.get("name", chunk.place).source
            raise CompileError([Diagnostic(message, source, hint, "argument")])
        bound = binding.bind(
            function.function,
            {"name": chunk.name, **chunk.args},
            places=chunk.arg_places,
            default_place=chunk.place,
            extra_known=traits.reaction_arguments,
            where=chunk.function,
            named_by_id=chunk.name == chunk.id,
        )
        for secret in bound.secrets:
            self._secrets.add(secret)
            self.given_secrets.append(secret)
        if traits.providers is not None and (
            missing := _missing_features(chunk, traits, bound.arguments)
        ):
            raise CompileError(missing)
        return Call(function, bound.arguments, traits.checks_itself), bound.unknown


def _missing_features(
    chunk: Chunk, traits: _Traits, arguments: Mapping[str, Any]
) -> list[Diagnostic]:
    """The features that a state needs and the provider has not; nothing while it is not certain
    which one it is.
    """
    table, function = traits.providers, traits.function
    if table is None:
        return []
    needs = dict(schema.needed_features(function.function, arguments))
    if function.mod_watch is not None:
        needs |= schema.needed_features(function.mod_watch, chunk.args)
    return table.lacking(chunk, needs) if needs else []
