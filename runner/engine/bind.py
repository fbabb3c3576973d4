"""Chunks -> calls: finds each state function and binds its arguments, once; every mistake has its
place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol

from runner.api import StateFailed, changes_allowed, here
from runner.arguments.scalars import SIMPLE, Mismatch
from runner.engine import slots
from runner.engine.invoke import Call, Reaction
from runner.engine.mod_aggregate import Hook
from runner.loader.hooks import asked, pairs
from runner.model.chunk import Chunk
from runner.model.diagnostics import Diagnostic
from runner.model.errors import CompileError, RunnerError

if TYPE_CHECKING:
    from runner.api.providers import Provider, Providers


class Found(Protocol):
    """A state function of the registry."""

    @property
    def name(self) -> str: ...
    @property
    def function(self) -> Callable[..., Any]: ...
    @property
    def classic(self) -> bool: ...
    @property
    def module(self) -> ModuleType: ...
    @property
    def non_idempotent(self) -> str: ...
    @property
    def mod_watch(self) -> Callable[..., Any] | None: ...
    @property
    def reaction(self) -> Found | None: ...
    def hook(self, name: str) -> Any: ...


Bind = Callable[..., Any]  # signature.bind
Needs = Callable[..., Mapping[str, tuple[str, ...]]]  # signature.needed_features
Known = Callable[[Callable[..., Any]], frozenset[str]]  # signature.known


class Binder:
    """Binds chunks for the invoker; keeps what was bound while checking."""

    def __init__(
        self,
        state: Callable[[str], Found],
        bind: Bind,
        known: Known,
        secret: Callable[[str], None],
        fail_unknown: bool = False,
        needs: Needs = lambda function, given: {},
        used: Callable[[Chunk, str], bool] = lambda chunk, name: False,
    ) -> None:
        """state: of the registry; bind, known, needs: of arguments.bind. fail_unknown: unknown
        states only fail.

        used: whether the template of a state uses a variable.
        """
        self._used = used
        self._needs = needs
        self._state = state
        self._bind = bind
        self._known = known
        self._secret = secret
        self._fail_unknown = fail_unknown
        self._hooks: dict[tuple[str, str], Callable[..., Any] | None] = {}
        self._initialised: set[str] = set()  # the state modules whose mod_init was called
        self._kept: dict[int, tuple[Chunk, Call]] = {}

    def check(self, chunks: Iterable[Chunk]) -> list[Diagnostic]:
        """Bind all chunks; what is wrong with them, unknown arguments as warnings."""
        problems: list[Diagnostic] = []
        for chunk in chunks:
            if slots.has_slot(chunk.args):
                continue
            try:
                call, unknown = self._bound(chunk)
                self._is_noop(chunk, False)
            except CompileError as error:
                # of a relative path that was typed on the command line the result tells
                if chunk.sls or any(each.subject != "path" for each in error.diagnostics):
                    problems += error.diagnostics
            except RunnerError as error:
                if error.code == "unknown-function":
                    problems.append(self._not_found(chunk, error.hint))
                elif error.code != "unavailable":  # a module of the tree is broken
                    problems += error.diagnostics
            else:
                problems += [
                    each for each in unknown if not self._variable(chunk, call, each.subject)
                ]
                self._kept[id(chunk)] = (chunk, call)
        return problems

    def _not_found(self, chunk: Chunk, hint: str | None) -> Diagnostic:
        where, end = (
            f" in SLS '{chunk.sls}'" if chunk.sls else "",
            "; it will fail" if self._fail_unknown else "",
        )
        message = (
            f"{'State' if where else 'Specified state'} '{chunk.function}' was not"
            f" found{where}{end}"
        )
        return Diagnostic(
            message, chunk.place.source, hint, "unknown-state", "warning" if end else "error"
        )

    def reacting(self, chunks: Iterable[Chunk]) -> frozenset[int]:
        """The positions of the chunks whose module has a mod_watch."""
        return frozenset(
            position for position, chunk in enumerate(chunks) if self._mod_watch(chunk) is not None
        )

    def non_idempotent(self, chunks: Iterable[Chunk]) -> frozenset[int]:
        """The positions of the chunks that change something in each run by their nature."""
        return frozenset(
            position for position, chunk in enumerate(chunks) if self._unconverging(chunk)
        )

    def self_refreshing(self, chunks: Iterable[Chunk]) -> frozenset[int]:
        """The positions of the chunks whose module reacts to changes of its own states
        (SELF_REFRESH).
        """
        found = (
            (position, self._hook(chunk, "SELF_REFRESH")) for position, chunk in enumerate(chunks)
        )
        return frozenset(position for position, said in found if said)

    def _unconverging(self, chunk: Chunk) -> bool:
        try:
            found = self._state(chunk.function)
        except RunnerError:
            return False
        return found.classic or bool(found.non_idempotent)

    def noop(self, chunks: Iterable[Chunk], default: bool) -> frozenset[int]:
        """The positions of the chunks that are only planned: by their `noop`, else by the
        configuration.
        """
        return frozenset(
            position for position, chunk in enumerate(chunks) if self._is_noop(chunk, default)
        )

    def _is_noop(self, chunk: Chunk, default: bool) -> bool:
        """Raises CompileError for what is neither true nor false. A function's own argument of that
        name is its own.
        """
        said = chunk.args.get("noop")
        if said is None or self._has_own(chunk, "noop"):
            return default
        try:
            return bool(SIMPLE[bool].convert(said))
        except Mismatch as problem:
            source = chunk.arg_places.get("noop", chunk.place).source
            raise CompileError(
                [Diagnostic(f"{chunk.function}: noop: {problem}", source, None, "argument")]
            ) from None

    def _has_own(self, chunk: Chunk, argument: str) -> bool:
        try:
            return argument in self._known(self._state(chunk.function).function)
        except RunnerError:
            return False

    def aggregating(
        self, chunks: Iterable[Chunk], default: bool | tuple[str, ...], noop: bool = False
    ) -> dict[int, Hook]:
        """The mod_aggregate of each chunk that aggregates: by its `aggregate`, else by the
        configuration; no no-op.
        """
        found = {}
        for position, chunk in enumerate(chunks):
            wanted = chunk.args.get("aggregate", default)
            if wanted is True or (isinstance(wanted, list | tuple) and chunk.state in wanted):
                hook = self._hook(chunk, "mod_aggregate")
                if hook and not self._is_noop(chunk, noop):
                    found[position] = hook
        return found

    def related(self, chunk: Chunk, kind: str) -> Iterable[tuple[str, str]]:
        """The states that a module names as before or after. kind: autorequire, autobefore, ..."""
        key = (chunk.state, kind)
        if key not in self._hooks:
            self._hooks[key] = self._hook(chunk, kind)
        hook = self._hooks[key]
        kept = self._kept.get(id(chunk)) if hook else None
        return pairs(hook, kind, chunk, kept[1].arguments) if hook and kept else ()

    def _variable(self, chunk: Chunk, call: Call, name: str) -> bool:
        """Whether an argument that the function does not have is handed on to a template which uses
        it.
        """
        return name in call.arguments and self._used(chunk, name)

    def calls(self, chunk: Chunk) -> Iterable[str]:
        """The execution functions that a state calls by the names that it was given."""
        hook = self._hook(chunk, "calls")
        kept = self._kept.get(id(chunk)) if hook else None
        return hook(**kept[1].arguments) if hook and kept else ()

    def _hook(self, chunk: Chunk, name: str) -> Any:
        try:
            return self._state(chunk.function).hook(name)
        except RunnerError:
            return None

    def refusals(self, chunks: Iterable[Chunk]) -> list[Diagnostic]:
        """What the modules' `pre_run_check` say against running these states; nothing has been run
        yet.
        """
        found = []
        for chunk in chunks:
            hook = self._hook(chunk, "pre_run_check")
            kept = self._kept.get(id(chunk)) if hook else None
            if hook and kept:
                try:
                    asked(hook, "pre_run_check", chunk, kept[1].arguments)
                except StateFailed as failure:
                    found.append(
                        Diagnostic(failure.message, chunk.place.source, None, "pre-run-check")
                    )
                except RunnerError as error:
                    found += error.diagnostics
        return found

    def _initialise(self, chunk: Chunk) -> None:
        """Call the module's mod_init before its first state."""
        if chunk.state in self._initialised:
            return
        self._initialised.add(chunk.state)
        hook = self._hook(chunk, "mod_init")
        if hook:
            with nullcontext() if here.dry else changes_allowed():
                hook(dict(chunk.low))

    def __call__(self, chunk: Chunk, reaction: Reaction | None) -> Call:
        """The call of a chunk, or of its module's mod_watch. Raises RunnerError."""
        self._initialise(chunk)
        if reaction is not None:
            return self._watch(chunk)
        kept = self._kept.get(id(chunk))
        if kept is not None:
            found = self._state(chunk.function)
            lacking = self._lacking(
                chunk, found, kept[1].arguments
            )  # an earlier state may have brought a provider
            if lacking:
                raise CompileError(lacking)
            return kept[1]
        try:
            return self._bound(chunk)[0]
        except CompileError as error:
            relative = [
                each.message.split(": ", 2)[-1]
                for each in error.diagnostics
                if each.subject == "path"
            ]
            if relative and not chunk.sls:
                raise RunnerError(relative[0]) from None
            raise
        except RunnerError as error:
            if error.code == "unknown-function":
                message = f"State '{chunk.function}' was not found in SLS '{chunk.sls}'\nReason: "
                raise RunnerError(
                    f"{message}'{chunk.function}' is not available.\n", hint=error.hint
                ) from None
            raise

    def _mod_watch(self, chunk: Chunk) -> Callable[..., Any] | None:
        try:
            return self._state(chunk.function).mod_watch
        except RunnerError:
            return None

    def _bound(self, chunk: Chunk) -> tuple[Call, tuple[Diagnostic, ...]]:
        found = self._state(chunk.function)
        if chunk.given_name is None:
            message = (
                f"{chunk.function}: a null among the names of state {chunk.id!r} is not a name"
            )
            hint = "nothing stands behind the dash: write the name, or remove the line"
            raise CompileError(
                [
                    Diagnostic(
                        message, chunk.arg_places.get("name", chunk.place).source, hint, "argument"
                    )
                ]
            )
        known = self._known(found.function)
        more = self._known(found.mod_watch) if found.mod_watch else frozenset()
        bound = self._bind(
            found.function,
            {"name": chunk.name, **chunk.args},
            places=chunk.arg_places,
            default_place=chunk.place,
            extra_known=more,
            where=chunk.function,
            named_by_id=chunk.name == chunk.id,
        )
        for secret in bound.secrets:
            self._secret(secret)
        lacking = self._lacking(chunk, found, bound.arguments)
        if lacking:
            raise CompileError(lacking)
        return Call(found, bound.arguments, "check_cmd" in known), bound.unknown

    def _lacking(self, chunk: Chunk, found: Found, given: Mapping[str, Any]) -> list[Diagnostic]:
        """The features that a state needs and the provider has not; nothing while it is not certain
        which one it is.
        """
        table: Providers[Provider] | None = found.hook("PROVIDERS")
        if table is None:
            return []
        needs = dict(self._needs(found.function, given))
        if found.mod_watch is not None:
            needs |= self._needs(found.mod_watch, chunk.args)
        return table.lacking(chunk, needs) if needs else []

    def _watch(self, chunk: Chunk) -> Call:
        found = self._state(chunk.function)
        reaction = found.reaction
        if reaction is None:
            raise RunnerError(
                f"the state module {chunk.state} cannot react to a watch", chunk.place.source
            )
        known = self._known(reaction.function)
        given: Mapping[str, Any] = {"name": chunk.name, **chunk.args, "sfun": chunk.fun}
        bound = self._bind(
            reaction.function,
            (
                {key: value for key, value in given.items() if key in known}
                if not _open(reaction)
                else given
            ),
            places=chunk.arg_places,
            default_place=chunk.place,
            extra_known=self._known(found.function),
            where=f"{chunk.state}.mod_watch",
        )
        own = self._bound(chunk)[0].arguments if _open(reaction) and not reaction.classic else {}
        return Call(reaction, {**own, **bound.arguments}, False)


def _open(found: Found) -> bool:
    code = getattr(found.function, "__wrapped__", found.function).__code__
    return bool(code.co_flags & 0x08)  # takes **kwargs
