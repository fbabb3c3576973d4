"""Defaults of arguments: from the SLS, from those that include it, from the top file, from the configuration.

A helper of low.py. The first includer is the parent (dynamic scope); what is nearer wins, argument by argument.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from runner.highdata import HighData
from runner.model import REQUISITE_KEYS, Place, Untyped, Value, value_place

Known = Callable[[str, str], frozenset[str]]  # (state, function) -> the arguments that the function has
ALWAYS = frozenset(["noop"])  # arguments of the engine that may have defaults


class Scopes:
    """The defaults of all states of a run."""

    def __init__(self, high: HighData, known: Known, outer: Mapping[str, Mapping[str, Mapping[str, Value]]]) -> None:
        """outer: what holds for all SLS files, the nearest first: origin -> state or function -> argument -> value."""
        self._high = high
        self._known = known
        self._outer = outer

    def __bool__(self) -> bool:
        return bool(self._high.defaults or self._outer)

    def missing(
        self, sls: tuple[str, str], state: str, function: str, given: Mapping[str, Value]
    ) -> Iterator[tuple[str, Value, Place, str]]:
        """(argument, value, place, origin) of what a state does not say itself. sls: (environment, SLS)."""
        has = self._known(state, function) | ALWAYS
        seen = set(given)
        for origin, said in self._around(sls):
            for key in (f"{state}.{function}", state):
                arguments = said.get(key)
                for name, value in arguments.items() if isinstance(arguments, Mapping) else ():
                    if name in has and name not in seen and name not in REQUISITE_KEYS:
                        seen.add(name)
                        yield name, value, value_place(arguments, name, _NOWHERE), f"defaults of {origin}"

    def _around(self, sls: tuple[str, str]) -> Iterator[tuple[str, Mapping[str, Mapping[str, Value]]]]:
        env, name = sls
        for each in (name, *self._high.scopes.get(sls, ())):
            if (env, each) in self._high.defaults:
                yield each, self._high.defaults[env, each]
        yield from ((f"the {origin}", said) for origin, said in self._outer.items())


_NOWHERE = Place(Untyped("configuration"))
