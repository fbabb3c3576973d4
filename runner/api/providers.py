"""Providers: several ways to manage the same kind of thing, one of which suits the machine; what
each can do.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar, cast

from runner.model.chunk import Chunk
from runner.model.diagnostics import Diagnostic
from runner.model.errors import RunnerError
from runner.model.records import Record


class Feature(Record):
    """Something that a provider may be able to do.

    methods: a provider that defines them all has it. Without methods it has to say so: `FEATURES =
    ("name",)`.
    """

    description: str
    methods: tuple[str, ...] = ()


class Provider(Protocol):
    """What every provider has. A module, class instance or any other object with NAMES and suits();
    the rest is added.

    NAMES: what `provider:` of a state may call it.
    """

    NAMES: tuple[str, ...]

    def suits(self) -> bool:
        """Whether it is the one for this machine."""
        ...

    def features(self) -> list[str]:
        """What it can do."""
        ...

    def has(self, *names: str) -> bool:
        """Whether it has all these features."""
        ...


P = TypeVar("P")
ADDED = ("features", "has")


class Providers(Generic[P]):
    """The providers of one kind; calling it gives the one to work with.

    >>> PROVIDERS = Providers("package manager", Provider, [apt, dnf], {"holdable": Feature("...",
    ("hold",))})
    >>> PROVIDERS().install(["nginx"])
    """

    def __init__(
        self,
        kind: str,
        protocol: type[Any],
        candidates: Sequence[Any],
        features: Mapping[str, Feature] | None = None,
        missing: str = "",
    ) -> None:
        """kind: for messages. protocol: what each has to define; what belongs to a feature may be
        left out.

        missing: the message where none suits.
        """
        self.kind = kind
        self.feature_table = dict(features or {})
        self._candidates = list(candidates)
        self._missing = missing or f"this machine has no {kind}"
        optional = {method for feature in self.feature_table.values() for method in feature.methods}
        self._needed = sorted(_members(protocol) - optional - set(ADDED))
        self._chosen: dict[int, P] = {}

    def __call__(self, named: str | None = None) -> P:
        """The provider that the current state names with `provider:`, else the one that suits.

        Raises StateFailed without one, RunnerError for one that lacks a method.
        """
        from runner.api import StateFailed, here

        named = named or (here.chunk.args.get("provider") if here.chunk else None)
        found = self.certain(named)
        if found is None:
            raise StateFailed(f"there is no {self.kind} {named!r}" if named else self._missing)
        return found

    def certain(self, named: str | None = None) -> P | None:
        """The provider of a name, else the one that suits; None where there is none (yet)."""
        for each in self._candidates:
            if named in each.NAMES if named else each.suits():
                return self._loaded(each)
        return None

    def all(self) -> list[P]:
        """All providers, for the manual."""
        return [self._loaded(each) for each in self._candidates]

    def lacking(self, chunk: Chunk, needs: Mapping[str, tuple[str, ...]]) -> list[Diagnostic]:
        """The features that a state needs and the provider has not; nothing while it is not certain
        which one it is.

        needs: features by the argument that needs them, "" for the function itself.
        """
        provider = cast(Provider | None, self.certain(chunk.args.get("provider")))
        if provider is None:
            return []
        problems = []
        for argument, names in needs.items():
            what = f"{chunk.function}: {argument}" if argument else chunk.function
            source = chunk.arg_places.get(argument, chunk.place).source
            for name in (each for each in names if not provider.has(each)):
                message = (
                    f"{what} needs the feature {name}, which the provider {provider.NAMES[0]}"
                    " has not"
                )
                problems.append(Diagnostic(message, source, self.told(name), "feature"))
        return problems

    def told(self, feature: str) -> str:
        """What a feature is, for people."""
        found = self.feature_table.get(feature)
        return (
            f"{feature}: {found.description}"
            if found
            else f"a {self.kind} has no feature {feature}"
        )

    def _loaded(self, each: Any) -> P:
        if id(each) not in self._chosen:
            lacking = [name for name in self._needed if not hasattr(each, name)]
            if lacking:
                message = f"the provider {each.NAMES[0]} of {self.kind} lacks {', '.join(lacking)}"
                raise RunnerError(message, code="provider")
            self._chosen[id(each)] = cast(P, _Chosen(each, self._features_of(each)))
        return self._chosen[id(each)]

    def _features_of(self, each: Any) -> list[str]:
        declared = getattr(each, "FEATURES", ())
        unknown = sorted(set(declared) - set(self.feature_table))
        if unknown:
            known = ", ".join(self.feature_table) or "none"
            message = (
                f"the provider {each.NAMES[0]} of {self.kind} declares an unknown feature"
                f" {unknown[0]!r}"
            )
            raise RunnerError(message, hint=f"there is {known}", code="provider")
        return [
            name
            for name, feature in self.feature_table.items()
            if name in declared
            or (feature.methods and all(hasattr(each, method) for method in feature.methods))
        ]


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


def _members(protocol: type) -> set[str]:
    """What a Protocol asks for."""
    classes = [
        each
        for each in protocol.__mro__
        if getattr(each, "_is_protocol", False) and each is not Protocol
    ]
    found = {name for each in classes for name in (*vars(each), *inspect.get_annotations(each))}
    return {name for name in found if not name.startswith("_")}
