# SPDX-License-Identifier: Apache-2.0
"""Providers: several ways to manage the same kind of thing, one of which suits the machine; what
each can do.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from runner.api import StateFailed, here, setting
from runner.api.offline import DESCRIBED as DESCRIBED
from runner.api.offline import is_offline
from runner.model.chunk import Chunk
from runner.model.diagnostics import Diagnostic
from runner.model.errors import RunnerError
from runner.model.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from typing import Any, ClassVar, Generic, TypeVar, cast

    from runner.api.provider import Provider as Provider

    P = TypeVar("P")
else:  # typing costs more than a run of some packages
    P = None

    class _Subscriptable:
        def __class_getitem__(cls, kind: object) -> type:
            return cls

    Generic = {None: _Subscriptable}

    class Interface:
        """Stands for Provider in the interface of a kind that is not to import typing."""

        _is_protocol = True
        NAMES: tuple[str, ...]

        def suits(self) -> bool: ...

    def cast(kind: object, value: object) -> object:
        return value


class Feature(Record):
    """An ability that a provider may have.

    description: of one line, for people.
    methods: a provider that defines them all has it. Without methods (the default) the provider
    has to declare it: `FEATURES = ("name",)`.
    """

    description: str
    methods: tuple[str, ...] = ()


class ProviderModule(Record):
    """A provider that is imported only where one of its programs is there, or when it is named."""

    module: str
    programs: tuple[str, ...]


ADDED = ("features", "has")


class Providers(Generic[P]):
    """The providers of one kind; calling it gives the one to work with, chosen once a run.

    It is the one that the state names with `provider:`, that the configuration names for the
    module (`providers: {pkg: apt}`), or the first that suits; of several that suit, one whose
    FAMILIES have the machine's os_family comes first.

    >>> FEATURES = {"holdable": Feature("keeps packages at their version", ("hold",))}
    >>> PROVIDERS = Providers("package manager", Provider, [apt, dnf], FEATURES)
    >>> PROVIDERS().list_pkgs()
    """

    _modules: ClassVar[set[str]] = set()  # the states that have providers of a kind of their own

    def __init__(
        self,
        kind: str,
        protocol: type[Any],
        candidates: Sequence[Any],
        features: Mapping[str, Feature] | None = None,
        missing: str = "",
        module: str = "",
        follows: str = "",
        offline: Callable[[Any], Any] | None = None,
    ) -> None:
        """kind: the name of the kind, for messages.
        protocol: the functions that each provider has to define, except those of features.
        candidates: modules, objects, or ProviderModules that are imported when needed.
        features: the features by name, none by default.
        missing: the message where none suits; by default "this machine has no KIND".
        module: the name below `providers` in the configuration; empty: it names none.
        follows: the grain that says which one another machine has, by a value among the NAMES or
        FAMILIES of a candidate; empty: none does.
        offline: makes of a provider the one for a system that does not run; None: it is the same.
        """
        self.kind = kind
        self.protocol = protocol
        self.feature_table = dict(features or {})
        self._candidates = list(candidates)
        self._missing = missing or f"this machine has no {kind}"
        self._module = module
        self._modules.add(module)
        self._follows = follows
        self._offline = offline
        optional = {method for feature in self.feature_table.values() for method in feature.methods}
        self._needed = sorted(_public_names(protocol) - optional - set(ADDED))
        self._chosen: dict[tuple[int, bool], P] = {}

    def __call__(self, named: str | None = None) -> P:
        """The provider that the current state names with `provider:`, else the one that suits.

        Raises StateFailed without one, RunnerError for one that lacks a method.
        """
        named = named or self._of_state()
        chosen = here.store("providers").get((id(self), named))
        if chosen is None:
            chosen = self.certain(named)
            if chosen is None:
                named = named or self._configured()
                raise StateFailed(f"there is no {self.kind} {named!r}" if named else self._missing)
            here.store("providers")[id(self), named] = chosen
        return cast(P, chosen)

    def certain(self, named: str | None = None) -> P | None:
        """The provider of a name, else the one that suits; None where there is none (yet)."""
        named = named or self._configured()
        if named:
            named_so = (
                provider for provider in map(_imported, self._candidates) if named in provider.NAMES
            )
            provider_module = next(named_so, None)
        elif described := _described():
            provider_module = self._following(described)
        else:
            provider_module = self._suiting()
        return None if provider_module is None else self._completed(provider_module)

    def _of_state(self) -> str | None:
        """The name that the current state has for its own kind of provider."""
        chunk = here.chunk
        if chunk is None or (chunk.state in self._modules and chunk.state != self._module):
            return None
        return chunk.args.get("provider")

    def _configured(self) -> str | None:
        """The name that the configuration has for the module; None outside of a run."""
        table = setting("providers")
        return table.get(self._module) if isinstance(table, Mapping) else None

    def _following(self, described: Collection[str]) -> Any:
        """The candidate of another machine by its grains; None where they do not say it."""
        if self._follows not in described:
            return None
        value = here.grains.get(self._follows)
        every = map(_imported, self._candidates)
        named = (*((each, each.NAMES + getattr(each, "FAMILIES", ())) for each in every),)
        return next((each for each, names in named if value in names), None)

    def _suiting(self) -> Any:
        """The candidate for this machine, or None."""
        suiting = list(self._suiting_candidates())
        if len(suiting) > 1:
            family = here.grains.get("os_family")
            suiting.sort(key=lambda candidate: family not in getattr(candidate, "FAMILIES", ()))
        return suiting[0] if suiting else None

    def _suiting_candidates(self) -> Iterator[Any]:
        for candidate in self._candidates:
            if isinstance(candidate, ProviderModule) and not any(
                map(os.path.exists, candidate.programs)
            ):
                continue
            provider = _imported(candidate)
            if provider.suits():
                yield provider

    def all(self) -> list[P]:
        """All providers, for the manual."""
        return [self._completed(_imported(candidate)) for candidate in self._candidates]

    def lacking(self, chunk: Chunk, needs: Mapping[str, tuple[str, ...]]) -> list[Diagnostic]:
        """The features that a state needs and the provider has not; nothing while it is not certain
        which one it is.

        needs: features by the argument that needs them, "" for the function itself.
        """
        provider = cast("Provider | None", self.certain(chunk.args.get("provider")))
        if provider is None:
            return []
        problems = []
        for argument, names in needs.items():
            what = f"{chunk.function}: {argument}" if argument else chunk.function
            source = chunk.arg_places.get(argument, chunk.place).source
            for name in (feature for feature in names if not provider.has(feature)):
                message = (
                    f"{what} needs the feature {name}, which the provider {provider.NAMES[0]} lacks"
                )
                hint = self.description_of(name)
                said = chunk.args.get("provider") or self._configured() or _described()
                if self._module and not said:
                    hint += (
                        f"; {provider.NAMES[0]} is what this machine looks like: for one that has"
                        f" another, the configuration says `providers: {{{self._module}: NAME}}`"
                    )
                problems.append(Diagnostic(message, source, hint, "feature"))
        return problems

    def description_of(self, feature: str) -> str:
        """The description of a feature, for people."""
        declared = self.feature_table.get(feature)
        return (
            f"{feature}: {declared.description}"
            if declared
            else f"a {self.kind} has no feature {feature}"
        )

    def _completed(self, provider: Any) -> P:
        key = id(provider), self._offline is not None and is_offline()
        if key not in self._chosen:
            lacking = [name for name in self._needed if not hasattr(provider, name)]
            if lacking:
                message = (
                    f"the provider {provider.NAMES[0]} of {self.kind} lacks {', '.join(lacking)}"
                )
                raise RunnerError(message, code="provider")
            here_now = self._offline(provider) if self._offline and key[1] else provider
            self._chosen[key] = cast(P, _Chosen(here_now, self._features_of(provider)))
        return self._chosen[key]

    def _features_of(self, provider: Any) -> list[str]:
        declared = getattr(provider, "FEATURES", ())
        unknown = sorted(set(declared) - set(self.feature_table))
        if unknown:
            known = ", ".join(self.feature_table) or "none"
            message = (
                f"the provider {provider.NAMES[0]} of {self.kind} declares an unknown feature"
                f" {unknown[0]!r}"
            )
            raise RunnerError(message, hint=f"there is {known}", code="provider")
        return [
            name
            for name, feature in self.feature_table.items()
            if name in declared
            or (feature.methods and all(hasattr(provider, method) for method in feature.methods))
        ]


def _described() -> Collection[str]:
    """The grains by which another machine is described; none while it is about this one."""
    return setting(DESCRIBED) or ()


def _imported(candidate: Any) -> Any:
    if not isinstance(candidate, ProviderModule):
        return candidate
    __import__(candidate.module)  # importlib imports more
    return sys.modules[candidate.module]


class _Chosen:
    """A provider with what it can do."""

    def __init__(self, provider: Any, features: list[str]) -> None:
        self._provider = provider
        self._features = features

    def __getattr__(self, name: str) -> Any:
        return getattr(self._provider, name)

    def features(self) -> list[str]:
        return list(self._features)

    def has(self, *names: str) -> bool:
        return set(names) <= set(self._features)


def _public_names(protocol: type) -> set[str]:
    """The names that a Protocol asks for."""
    classes = [
        base
        for base in protocol.__mro__
        if getattr(base, "_is_protocol", False) and base.__module__ != "typing"
    ]
    members = {name for base in classes for name in (*vars(base), *base.__annotations__)}
    return {name for name in members if not name.startswith("_")}
