# SPDX-License-Identifier: Apache-2.0
"""Defaults of arguments: from the SLS, from those that include it, from the top file, from the
configuration.

The first includer is the parent (dynamic scope); what is nearer wins, argument by argument.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from runner.model.diagnostics import IGNORED, Diagnostic, similar, suggestion
from runner.model.global_arguments import COMPILER, GLOBAL_ARGUMENTS
from runner.model.highdata import HighData
from runner.model.places import Place, Untyped, Value, key_place, value_place
from runner.model.requisite_kinds import REQUISITE_KEYS

# (state, function) -> the arguments that the function has
Known = Callable[[str, str], frozenset[str]]
# state module -> its functions; none when there is no such module
Functions = Callable[[str], Collection[str]]
# what is said of each state
NEVER = frozenset(
    name
    for name, argument in GLOBAL_ARGUMENTS.items()
    if argument.stage is COMPILER and argument.description
)
# arguments of the engine that may have defaults
ALWAYS = frozenset(name for name, argument in GLOBAL_ARGUMENTS.items() if argument.has_defaults)


class Scopes:
    """The defaults of all states of a run."""

    def __init__(
        self, high: HighData, known: Known, outer: Mapping[str, Mapping[str, Mapping[str, Value]]]
    ) -> None:
        """outer: what holds for all SLS files, the nearest first: origin -> state or function ->
        argument -> value.
        """
        self._high = high
        self._known = known
        self._outer = outer

    def __bool__(self) -> bool:
        return bool(self._high.defaults or self._outer)

    def missing(
        self, sls: tuple[str, str], state: str, function: str, stated: Mapping[str, Value]
    ) -> Iterator[tuple[str, Value, Place, str]]:
        """(argument, value, place, origin) of what a state does not say itself. sls: (environment,
        SLS).
        """
        has = self._known(state, function) | ALWAYS
        seen = set(stated)
        for origin, defaults in self._around(sls):
            for key in (f"{state}.{function}", state):
                arguments = defaults.get(key)
                for name, value in arguments.items() if isinstance(arguments, Mapping) else ():
                    if name in has and name not in seen and name not in REQUISITE_KEYS | NEVER:
                        seen.add(name)
                        yield (
                            name,
                            value,
                            value_place(arguments, name, _NOWHERE),
                            f"defaults of {origin}",
                        )

    def mistakes(
        self, used: Collection[tuple[str, str]], functions: Functions
    ) -> Iterator[Diagnostic]:
        """Defaults that can never be one. used: the functions of this run. functions: those of a
        state module.
        """
        for defaults in [*self._high.defaults.values(), *self._outer.values()]:
            for key, arguments in defaults.items():
                state, _, function = key.partition(".")
                mine = [pair for pair in used if pair[0] == state and function in ("", pair[1])]
                if not mine and not (
                    self._known(state, function) if function else functions(state)
                ):
                    place = key_place(defaults, key, _NOWHERE)
                    yield _ignored(f"defaults: there is no state {key}", place, None)
                    continue
                for name in arguments if isinstance(arguments, Mapping) else ():
                    place = key_place(arguments, name, _NOWHERE)
                    if name in REQUISITE_KEYS or name in NEVER:
                        yield _ignored(
                            f"defaults: {name} has no defaults", place, "set it on each state"
                        )
                    elif name not in ALWAYS and not self._has_it(
                        name, mine, state, function, functions
                    ):
                        yield _ignored(
                            f"defaults: {key} has no argument {name!r}",
                            place,
                            self._near(name, mine),
                        )

    def _has_it(
        self,
        name: str,
        mine: Iterable[tuple[str, str]],
        state: str,
        function: str,
        functions: Functions,
    ) -> bool:
        if any(name in self._known(*candidate) for candidate in mine):
            return True
        return any(
            name in self._known(state, candidate)
            for candidate in ([function] if function else functions(state))
        )

    def _near(self, name: str, mine: Iterable[tuple[str, str]]) -> str | None:
        near = similar(
            str(name), sorted({argument for one in mine for argument in self._known(*one)}), 1
        )
        return suggestion(repr(near[0])) if near else None

    def _around(
        self, sls: tuple[str, str]
    ) -> Iterator[tuple[str, Mapping[str, Mapping[str, Value]]]]:
        env, name = sls
        for including in (name, *self._high.scopes.get(sls, ())):
            if (env, including) in self._high.defaults:
                yield including, self._high.defaults[env, including]
        yield from ((f"the {origin}", defaults) for origin, defaults in self._outer.items())


def _ignored(message: str, place: Place, hint: str | None) -> Diagnostic:
    return Diagnostic(message + IGNORED, place.source, hint, "unknown-argument", "warning")


_NOWHERE = Place(Untyped("configuration"))
