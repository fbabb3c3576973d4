# SPDX-License-Identifier: Apache-2.0
"""`%{...}` in a hierarchy and its data: variables, and the functions lookup, hiera, alias, literal
and scope.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from copy import copy, deepcopy
from typing import Any

from runner.language.pillar.external.hiera.facts import FacterFacts, is_unknown
from runner.model.errors import RenderError
from runner.model.places import Place

MISSING = object()
Lookup = Callable[[str, Place], Any]  # (key, where it is asked for) -> its value, or MISSING
_TAG = re.compile(r"%\{([^}]*)\}")
_CALL = re.compile(r"""(\w+)\((?:"([^"]*)"|'([^']*)')\)""")
_SEGMENT = re.compile(r"""\s*(?:"([^"]+)"|'([^']+)'|([^."']+?))\s*(?:\.|$)""")
_FUNCTIONS = ("lookup", "hiera", "alias", "literal", "scope")


class Scope:
    """The variables of this machine. more: those that the configuration adds."""

    def __init__(
        self, id: str, environment: str, grains: Mapping[str, Any], more: Mapping[str, Any]
    ) -> None:
        host, _, domain = id.partition(".")
        self._facts = FacterFacts(grains)
        self._own: dict[str, Any] = {
            "facts": self._facts,
            "trusted": {
                "authenticated": "local",
                "certname": id,
                "hostname": host,
                "domain": domain or None,
                "extensions": {},
            },
            "environment": environment,
            "server_facts": {"environment": environment},
            "grains": grains,
            **more,
        }

    def value(self, name: str, place: Place) -> Any:
        """A variable, None for one that is not there. Raises RenderError for what Facter would tell
        and runner does not know.
        """
        parts = segments(name.removeprefix("::"), place)
        root = parts[0] if parts else ""
        found = dug(self._own if root in self._own else self._facts, parts)
        if found is not MISSING and found is not None:
            return found
        fact = ".".join(parts[1:] if root == "facts" else parts)
        if root not in self._own or root == "facts":
            _refuse_unknown(fact, place)
        return None

    def having(self, name: str, value: Any) -> Scope:
        """This scope with one more variable."""
        other = copy(self)
        other._own = {**self._own, name: value}
        return other


def _refuse_unknown(fact: str, place: Place) -> None:
    if is_unknown(fact):
        what = f"runner does not know Facter's fact {fact}"
        hint = "make it a grain, or set it below `scope` of ext_pillar: hiera"
        raise RenderError(what, place.source, hint, "hiera")


def segments(dotted: str, place: Place) -> list[str]:
    """The keys of a dotted one; a key in quotes may have dots of its own. Raises RenderError."""
    parts, at = [], 0
    while at < len(dotted):
        match = _SEGMENT.match(dotted, at)
        if not match or match.end() == at:
            raise RenderError(f"{dotted!r} is no key", place.source, code="hiera")
        parts.append(match[1] or match[2] or match[3])
        at = match.end()
    return parts


def dug(value: Any, keys: Sequence[Any]) -> Any:
    """Return what a value holds below keys (of lists: numbers); MISSING where it does not."""
    for key in keys:
        if isinstance(value, list) and key.isdigit() and int(key) < len(value):
            value = value[int(key)]
            continue
        if isinstance(value, Mapping) and key not in value and key.isdigit():
            key = int(key)
        if not isinstance(value, Mapping) or key not in value:
            return MISSING
        value = value[key]
    return value


def path_text(text: str, scope: Scope, place: Place) -> str:
    """A path or address with its variables. Raises RenderError."""

    def replaced(match: re.Match[str]) -> str:
        tag = match[1].strip()
        if _CALL.fullmatch(tag) and not tag.startswith("scope("):
            raise RenderError(
                f"%{{{tag}}} is not possible in a path", place.source, "use variables", "hiera"
            )
        return _shown(_variable(tag, scope, place), tag, place)

    return _TAG.sub(replaced, text) if "%{" in text else text


def interpolated(value: Any, scope: Scope, lookup: Lookup, place: Place) -> Any:
    """Data with what stands in `%{}` put in, in keys of mappings as well. Raises RenderError."""
    if isinstance(value, str):
        return _text(value, scope, lookup, place) if "%{" in value else value
    if isinstance(value, Mapping):
        return {
            _key(key, scope, lookup, place): interpolated(item, scope, lookup, place)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [interpolated(item, scope, lookup, place) for item in value]
    return value


def _key(key: Any, scope: Scope, lookup: Lookup, place: Place) -> Any:
    return _text(key, scope, lookup, place) if isinstance(key, str) and "%{" in key else key


def _text(text: str, scope: Scope, lookup: Lookup, place: Place) -> Any:
    whole = _TAG.fullmatch(text)
    call = _CALL.fullmatch(whole[1].strip()) if whole else None
    if call and call[1] == "alias":
        return _called(call, lookup, place)

    def replaced(match: re.Match[str]) -> str:
        tag = match[1].strip()
        call = _CALL.fullmatch(tag)
        if not call:
            return _shown(_variable(tag, scope, place), tag, place)
        name, argument = call[1], call[2] or call[3] or ""
        if name not in _FUNCTIONS:
            known = f"there are {', '.join(_FUNCTIONS)}"
            raise RenderError(f"Hiera has no function {name}", place.source, known, "hiera")
        if name == "alias":
            what = f"%{{{tag}}} has to be the whole text"
            raise RenderError(what, place.source, "use lookup in the middle of a text", "hiera")
        if name == "literal":
            return argument
        if name == "scope":
            return _shown(_variable(argument, scope, place), tag, place)
        return _shown(_called(call, lookup, place), tag, place)

    return _TAG.sub(replaced, text)


def _called(call: re.Match[str], lookup: Lookup, place: Place) -> Any:
    """Return what a key has; nothing for one that is nowhere, as in Puppet."""
    value = lookup(call[2] or call[3] or "", place)
    return None if value is MISSING else deepcopy(value)  # it is the value of two keys then


def _variable(name: str, scope: Scope, place: Place) -> Any:
    return scope.value(name, place) if name.removeprefix("::") else None


def _shown(value: Any, tag: str, place: Place) -> str:
    """A value in the middle of a text."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping | list):
        kind = "a list" if isinstance(value, list) else "a mapping"
        what = f"%{{{tag}}} is {kind}, which cannot stand in a text"
        raise RenderError(what, place.source, "%{alias('KEY')} as the whole text gives it", "hiera")
    return str(value)
