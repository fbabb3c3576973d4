# SPDX-License-Identifier: Apache-2.0
"""Does a target mean this machine? Globs, grains, pillar, networks, node groups and compounds of
them.
"""

from __future__ import annotations

import fnmatch
import ipaddress
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from runner.language.targeting.compound import Compound, Malformed, words
from runner.model.diagnostics import did_you_mean
from runner.model.errors import RunnerError
from runner.model.records import Record

LETTERS = {
    "G": "grain",
    "P": "grain_pcre",
    "I": "pillar",
    "J": "pillar_pcre",
    "L": "list",
    "S": "ipcidr",
    "E": "pcre",
    "N": "nodegroup",
}
LETTERED = r"(?s)([GPIJLSEN])([^\w\s@]?)@(.+)"
# of a master's targets; they match nothing here
MASTERS_OWN = frozenset({"range", "data", "exsel", "pillar_target"})


class Undecided(Exception):
    """Whether a target means a machine hangs on what is not known of it."""


def matches(
    expression: Any,
    kind: str = "glob",
    *,
    id: str,
    grains: Mapping[str, Any],
    pillar: Mapping[str, Any],
    nodegroups: Mapping[str, Any] | None = None,
    delimiter: str = ":",
) -> bool:
    """Return whether an expression of a kind (glob, pcre, list, grain, pillar, compound, ...)
    matches this machine.

    As in Salt a compound that cannot be read means no machine; `mistake` says what is wrong with
    it. Raises RunnerError for an unknown kind and for a bad regular expression, and Undecided where
    grains or pillar raise that and it matters.

    >>> matches("web* and not G@os:Debian", "compound", id="web1", grains={"os": "Arch"}, pillar={})
    True
    """
    return _Machine(id, grains, pillar, nodegroups or {}).matches(expression, kind, delimiter)


def mistake(
    expression: Any,
    kind: str,
    nodegroups: Mapping[str, Any] | None = None,
    inside: frozenset[str] = frozenset(),
) -> RunnerError | None:
    """The mistake in an expression, which therefore matches no machine; None if it is well formed.

    inside: the node groups that are being looked into.
    """
    groups = nodegroups or {}
    if kind == "nodegroup":
        return _group_mistake(str(expression), groups, inside)
    if kind == "ipcidr" and not _is_network(str(expression)):
        hint = "write an address or a network: 10.1.2.3, 10.1.0.0/16, 2001:db8::/32"
        return RunnerError(
            f"{str(expression)!r} is neither an address nor a network", hint=hint, code="match"
        )
    if kind in DATA and ":" not in str(expression):
        what = "grain" if kind.startswith("grain") else "pillar key"
        hint = f"write a {what}, a colon and the value: `{expression}:VALUE`"
        return RunnerError(
            f"{str(expression)!r} is a {what} without a value", hint=hint, code="match"
        )
    return _compound_mistake(expression, groups, inside) if kind == "compound" else None


def _group_mistake(
    name: str, groups: Mapping[str, Any], inside: frozenset[str]
) -> RunnerError | None:
    if name not in groups:
        hint = (
            did_you_mean(name, map(str, groups))
            or f"nodegroups of the configuration has: {', '.join(map(str, groups)) or 'nothing'}"
        )
        return RunnerError(f"there is no node group {name!r}", hint=hint, code="match")
    if name in inside:
        circle = " -> ".join([*sorted(inside), name])
        return RunnerError(
            f"the node group {name!r} contains itself ({circle})", hint="take one out", code="match"
        )
    inner = mistake(groups[name], "compound", groups, inside | {name})
    return inner and RunnerError(
        f"in the node group {name!r}: {inner.message}", hint=inner.hint, code="match"
    )


def _compound_mistake(
    expression: Any, groups: Mapping[str, Any], inside: frozenset[str]
) -> RunnerError | None:
    try:
        Compound(words(expression), lambda term: True).answer()
    except Malformed as error:
        message = f"the compound expression {expression!r} cannot be read: {error}"
        return RunnerError(message, hint=_TERMS, code="match")
    for term in words(expression):
        lettered = re.fullmatch(LETTERED, term)
        if lettered is None:
            other = re.match(r"([A-Z])@", term)
            if other and other[1] != "R":  # R is a master's
                letters = ", ".join(f"{letter} ({kind})" for letter, kind in LETTERS.items())
                message = f"{term!r}: no kind of target has the letter {other[1]}"
                return RunnerError(message, hint=f"there are {letters}", code="match")
            if not other and re.fullmatch(r"[A-Za-z_][\w-]*:[^:\s].*", term):  # no IPv6 address
                message = f"{term!r} is compared with the ID of a machine, which has no colon"
                hint = (
                    f"write `G@{term}` for a grain, `I@{term}` for the pillar, or `- match: grain`"
                    " or `- match: pillar` below it"
                )
                return RunnerError(message, hint=hint, code="match")
            continue
        letter, delimiter, rest = lettered.groups()
        plain = rest.replace(delimiter, ":") if delimiter else rest
        inner = mistake(plain, LETTERS[letter], groups, inside)
        if inner:
            return inner
    return None


_TERMS = "terms are joined by and, or and not: `G@os:Debian and not web*`"


def _is_network(text: str) -> bool:
    try:
        ipaddress.ip_network(text)
    except ValueError:
        return False
    return True


class _Machine(Record):
    id: str
    grains: Mapping[str, Any]
    pillar: Mapping[str, Any]
    nodegroups: Mapping[str, Any]
    open_groups: frozenset[str] = frozenset()  # the node groups that are being looked into

    def matches(self, expression: Any, kind: str, delimiter: str = ":") -> bool:
        if kind == "compound":
            return _decided(self._compound(expression))
        if kind in DATA:
            data, test = DATA[kind]
            return data_matches(getattr(self, data), str(expression), test, delimiter)
        if kind in PLAIN:
            return PLAIN[kind](self, expression)
        if kind in MASTERS_OWN:
            return False
        raise _unknown(kind)

    def glob(self, expression: Any) -> bool:
        return fnmatch.fnmatchcase(self.id, str(expression))

    def pcre(self, expression: Any) -> bool:
        return bool(_regex(str(expression)).match(self.id))

    def listed(self, expression: Any) -> bool:
        return self.id in (expression.split(",") if isinstance(expression, str) else expression)

    def ipcidr(self, expression: Any) -> bool:
        try:
            network = ipaddress.ip_network(str(expression))
        except ValueError:
            return False
        own = self.grains.get("ipv4" if network.version == 4 else "ipv6") or ()
        return any(ipaddress.ip_address(address.partition("%")[0]) in network for address in own)

    def nodegroup(self, expression: Any) -> bool:
        name = str(expression)
        if name not in self.nodegroups or name in self.open_groups:
            return False
        inner = _Machine(
            self.id, self.grains, self.pillar, self.nodegroups, self.open_groups | {name}
        )
        return _decided(inner._compound(self.nodegroups[name]))

    def _compound(self, expression: Any) -> bool | None:
        try:
            return Compound(words(expression), self._term).answer()
        except Malformed:
            return False

    def _term(self, term: str) -> bool | None:
        lettered = re.fullmatch(LETTERED, term)
        if lettered is None:
            return self.glob(term)
        letter, delimiter, rest = lettered.groups()
        try:
            return self.matches(rest, LETTERS[letter], delimiter or ":")
        except Undecided:
            return None


def _decided(answer: bool | None) -> bool:
    if answer is None:
        raise Undecided
    return answer


PLAIN: Mapping[str, Callable[[_Machine, Any], bool]] = {
    "glob": _Machine.glob,
    "pcre": _Machine.pcre,
    "list": _Machine.listed,
    "ipcidr": _Machine.ipcidr,
    "nodegroup": _Machine.nodegroup,
}


def _unknown(kind: str) -> RunnerError:
    known = [*PLAIN, *DATA, "compound"]
    hint = did_you_mean(str(kind), known) or "one of " + ", ".join(known)
    return RunnerError(f"there is no way to match called {kind!r}", hint=hint, code="match")


def _regex(text: str, flags: int = 0) -> re.Pattern[str]:
    try:
        return re.compile(text, flags)
    except re.error as error:
        raise RunnerError(f"{text!r} is not a regular expression: {error}", code="match") from None


# ---------------------------------------------------------------- a:b:value in grains and pillar

Test = Callable[[str, str, str], bool]  # (what was found, the pattern, where: value | item | key)


def _globbed(text: str, pattern: str, where: str) -> bool:
    """Values match whatever their case, items of lists if written in lower case or alike, keys as
    they are.
    """
    if fnmatch.fnmatchcase(text, pattern):
        return True
    if where == "key":
        return False
    return fnmatch.fnmatchcase(text.lower(), pattern.lower() if where == "value" else pattern)


def _regular(text: str, pattern: str, where: str) -> bool:
    try:
        return re.match(pattern, text, 0 if where == "key" else re.IGNORECASE) is not None
    except re.error:  # of `a:*:b` only the last part is one
        return False


def _needs_regex(parts: Sequence[str], delimiter: str) -> None:
    """Raises RunnerError unless some end of `key:...:pattern` is a regular expression."""
    for cut in range(1, len(parts)):
        try:
            re.compile(delimiter.join(parts[cut:]))
            return
        except re.error:
            continue
    if len(parts) > 1:
        _regex(parts[-1])


def _equal(text: str, pattern: str, where: str) -> bool:
    return text == pattern


DATA: Mapping[str, tuple[str, Test]] = {
    "grain": ("grains", _globbed),
    "grain_pcre": ("grains", _regular),
    "pillar": ("pillar", _globbed),
    "pillar_pcre": ("pillar", _regular),
    "pillar_exact": ("pillar", _equal),
}


def data_matches(
    data: Mapping[Any, Any], expression: str, test: Test = _globbed, delimiter: str = ":"
) -> bool:
    """Return whether `key:...:pattern` matches; keys and the pattern may contain the delimiter
    themselves.

    >>> data_matches({"roles": ["web", "db"]}, "roles:we*")
    True
    >>> data_matches({"a": {"b": "c:d"}}, "a:b:c:d")
    True
    """
    parts = expression.split(delimiter)
    if test is _regular:
        _needs_regex(parts, delimiter)
    if parts[0] == "*" and _deeper(data, parts, test, delimiter):
        return True
    for cut in range(1, len(parts)):
        key = delimiter.join(parts[:cut])
        if key in data and _holds(data[key], parts[cut:], test, delimiter):
            return True
    return False


def _holds(value: Any, parts: Sequence[str], test: Test, delimiter: str) -> bool:
    pattern = delimiter.join(parts)
    if isinstance(value, Mapping):
        return any(test(str(key), pattern, "key") for key in value) or _deeper(
            value, parts, test, delimiter
        )
    if isinstance(value, list | tuple | set | frozenset):
        return any(_holds_item(item, parts, test, delimiter) for item in value)
    return test(str(value), pattern, "value")


def _holds_item(item: Any, parts: Sequence[str], test: Test, delimiter: str) -> bool:
    if isinstance(item, Mapping):
        return _holds(item, parts, test, delimiter)
    return test(str(item), delimiter.join(parts), "item")


def _deeper(value: Mapping[Any, Any], parts: Sequence[str], test: Test, delimiter: str) -> bool:
    """Look into the values below the first parts; `*` stands for any key."""
    for cut in range(1, len(parts)):
        key = delimiter.join(parts[:cut])
        inner: Iterable[Any] = (
            value.values() if key == "*" else (value[name] for name in value if str(name) == key)
        )
        if any(_holds(item, parts[cut:], test, delimiter) for item in inner):
            return True
    return False
