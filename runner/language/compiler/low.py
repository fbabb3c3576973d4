# SPDX-License-Identifier: Apache-2.0
"""High data -> low chunks: one for each name of each state, numbered and sorted as Salt does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from runner.language.compiler import structure_hints
from runner.language.compiler.defaults import Functions, Scopes
from runner.language.compiler.extend import Reconciler
from runner.model import other_tools
from runner.model.chunk import LAST, Chunk, Requisite, Requisites, SpreadLow
from runner.model.diagnostics import IGNORED, Diagnostic
from runner.model.highdata import Body, Declaration, HighData, Item, spelled_out
from runner.model.places import JoinedList, Place, Value, item_place, value_place
from runner.model.requisite_kinds import KINDS, REQUISITE_KEYS
from runner.model.stdlib import pattern
from runner.support.files.text import line_to_show
from runner.support.yaml import mark

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from runner.language.compiler.relationships import Known


def lower(
    high: HighData,
    reconcile: bool = True,
    known: Known = lambda state, function: frozenset(),
    defaults: Mapping[str, Mapping[str, Mapping[str, Value]]] | None = None,
    functions: Functions = lambda state: (),
) -> tuple[tuple[Chunk, ...], list[Diagnostic]]:
    """The chunks in their order of definition and order numbers, and the mistakes found on the way.

    reconcile: carry out extend, exclude and the `_in` requisites (`show low-sls` does not, as with
    Salt). known: the arguments that a function has. defaults: those of the top file and of the
    configuration. functions: of a state module.
    """
    problems: list[Diagnostic] = []
    if reconcile:
        reconciler = Reconciler(high, known)
        high = reconciler.reconcile()
        problems += reconciler.problems
    scopes = Scopes(high, known, defaults or {})
    drafts = [
        draft
        for declaration in high.declarations.values()
        for body in declaration.bodies.values()
        for draft in _drafts(declaration, body, problems)
    ]
    for draft in drafts if scopes else ():
        low = draft.low
        where = (low["__env__"], low["__sls__"])
        for name, value, place, origin in scopes.missing(where, low["state"], low["fun"], low):
            low[name] = value
            draft.places[name] = place
            draft.origins[name] = origin
    if scopes and reconcile:
        problems += scopes.mistakes(
            {(draft.low["state"], draft.low["fun"]) for draft in drafts}, functions
        )
    problems += _number(drafts)
    for position, draft in enumerate(drafts):
        draft.defined = position
    drafts.sort(key=_rank)
    shared = _Shared(problems)
    return tuple(draft.chunk(problems, shared) for draft in drafts), list(dict.fromkeys(problems))


def _rank(draft: Draft) -> tuple[object, str, str]:
    """The key that chunks are sorted by, Salt's; of those with one function, name and order number
    the IDs decide.
    """
    low = draft.low
    return (
        low["order"],
        f"{low['state']}{low['name']}{low['fun']}",
        f"{low['__id__']}_|-",
    )  # so ends an ID in a tag


class Draft:
    """A chunk in the making."""

    __slots__ = ("defined", "explicit_order", "low", "origins", "place", "places")

    def __init__(
        self, low: dict[str, Value], places: dict[str, Place], place: Place, origins: dict[str, str]
    ) -> None:
        self.low = low
        self.origins = origins
        self.places = places
        self.place = place
        self.defined = 0
        self.explicit_order = float("inf")

    def chunk(self, problems: list[Diagnostic], shared: _Shared) -> Chunk:
        low: Mapping[str, Value] = self.low
        keys = [key for key in low if key in REQUISITE_KEYS]
        args = {
            key: value
            for key, value in low.items()
            if key not in _APART and not key.startswith("__")
        }
        requisites: tuple[Requisite, ...] | Requisites = ()
        if any(isinstance(low[key], JoinedList) and low[key].shared for key in keys):
            requisites = Requisites(shared.parts(keys, low, self.places, self.place))
            low = SpreadLow(low)
        elif keys:
            requisites = tuple(_requisites(keys, low, self.places, self.place, problems))
        name = str(low["name"])  # what `names` says may be a number, or null
        named = (
            low["state"],
            low["fun"],
            low["__id__"],
            name,
            low["order"],
            low["__sls__"],
            low["__env__"],
        )
        places = (self.place, self.places, self.origins, self.defined, self.explicit_order)
        return Chunk._make((*named, args, low, requisites, *places))


_APART = REQUISITE_KEYS | {
    "state",
    "fun",
    "name",
    "order",
    "__id__",
    "__sls__",
    "__env__",
}  # from the arguments


def _drafts(declaration: Declaration, body: Body, problems: list[Diagnostic]) -> Iterator[Draft]:
    low: dict[str, Value] = {
        "state": body.state,
        "name": declaration.id,
        "__sls__": declaration.sls,
        "__env__": declaration.env,
    }
    if declaration.included_from:
        low["__sls_included_from__"] = list(declaration.included_from)
    low["__id__"] = declaration.id
    places: dict[str, Place] = {"name": declaration.place}
    origins: dict[str, str] = {}
    functions: list[Item] = []
    names: Item | None = None
    for item in body.items:
        key, value, place, origin = item
        if key is None:
            functions.append(item)
            continue
        if origin:
            origins[key] = origin
        if key == "names":
            names = item if value != [] else names  # of an empty list the ID is the name
        elif key == "name":
            places["name"] = place
            if isinstance(value, str):
                low["name"] = value
            elif value is not None:
                problems.append(_no_name(item, declaration))
        elif key in ("state", "fun"):
            problems.append(_taken(item, body, declaration))
        else:
            if key in places and low[key] != value:
                problems.append(_again(item, places[key], declaration))
            low[key] = value
            places[key] = place
    if names is not None and "name" in low and places["name"] != declaration.place:
        message = (
            f"name beside names in state '{declaration.id}' in SLS '{declaration.sls}'; it is"
            " ignored"
        )
        hint = "keep one of them: `names` for several, `name` for one"
        problems.append(Diagnostic(message, places["name"].source, hint, "ignored", "warning"))
    for function in functions:
        place = function.place
        if names is None:
            yield Draft(low | {"fun": function.value}, places, place, origins)
        else:
            for own, own_places in _named(low, names, places, declaration, problems):
                yield Draft(own | {"fun": function.value}, own_places, place, dict(origins))


def _taken(item: Item, body: Body, declaration: Declaration) -> Diagnostic:
    """`state: latest` is no argument: Salt keeps those names for itself."""
    function = next((other.value for other in body.items if other.key is None), "FUNCTION")
    where = f"state '{declaration.id}' in SLS '{declaration.sls}'"
    message = f"{item.key!r} among the arguments of {where}{IGNORED}"
    word = other_tools.argument_word("state")
    hint = word.hint("state", f"{body.state}.{function}", item.value) if word else None
    return Diagnostic(message, item.place.source, hint, "ignored", "warning")


def _again(item: Item, first: Place, declaration: Declaration) -> Diagnostic:
    where = f"state '{declaration.id}' in SLS '{declaration.sls}'"
    message = f"{item.key} is given twice in {where}: what the first one says is lost{IGNORED}"
    hint = f"the other one is at {first.source}; put what they say into one `- {item.key}:`"
    return Diagnostic(message, item.place.source, hint, "ignored", "warning")


def _no_name(item: Item, declaration: Declaration) -> Diagnostic:
    several = isinstance(item.value, list)
    what = "a list" if several else "no text"
    hint = "put quotes around it, as you typed it"
    if several or isinstance(item.value, dict):
        hint = (
            "several are written `- names:`, or `- pkgs:` for packages, with `- NAME` for each"
            " below it"
        )
    row = line_to_show(item.place.source.file, item.place.source.line)
    if braces := pattern(r":\s+(\{[^{%].*)$").search(row):
        quoted = mark.in_quotes(braces[1])
        hint = f"what begins with {{ is a mapping for YAML: put it in quotes: {quoted}"
    message = f"name in state '{declaration.id}' in SLS '{declaration.sls}' is {what}{IGNORED}"
    return Diagnostic(message, item.place.source, hint, "ignored", "warning")


def _named(
    low: dict[str, Value],
    names: Item,
    places: dict[str, Place],
    declaration: Declaration,
    problems: list[Diagnostic],
) -> Iterator[tuple[dict[str, Value], dict[str, Place]]]:
    """The arguments of each name, and their places."""
    if not isinstance(names.value, list):
        problems.append(
            Diagnostic(
                f"The 'names' argument in state '{declaration.id}' in SLS '{declaration.sls}' needs"
                " to be formed as a list",
                names.place.source,
                "write `- names:` and below it, indented, "
                f"`- {names.value if isinstance(names.value, str) else 'NAME'}`",
                "structure",
            )
        )
        return
    number = 0
    named: dict[str, tuple[dict[str, Value], dict[str, Place]]] = {}
    texts: set[str] = set()
    others: list[Value] = []
    for index, entry in enumerate(names.value):
        if entry in (texts if isinstance(entry, str) else others):  # equal ones are one state
            continue
        texts.add(entry) if isinstance(entry, str) else others.append(entry)
        number += 1
        place = item_place(names.value, index, names.place)
        name: Value = entry
        own_arguments: Value = []
        if isinstance(entry, dict) and entry:
            name, own_arguments = next(iter(entry.items()))
        wrong = _entry_problem(entry, name, own_arguments, place, declaration)
        if wrong is not None:
            problems.append(wrong)
            if wrong.severity == "error":
                continue
        own = {**low, "name": name}
        own_places = {**places, "name": place}
        for argument in (
            own_arguments
            if isinstance(own_arguments, list)
            else [own_arguments]
            if own_arguments
            else []
        ):
            own |= argument
            own_places |= {key: value_place(argument, key, place) for key in argument}
        own["name_order"] = number
        earlier = named.pop(str(own["name"]), None)
        if earlier:
            problems.append(_repeated(name, earlier[1]["name"], declaration))
        named[str(own["name"])] = own, own_places
    yield from named.values()


def _repeated(name: Value, place: Place, declaration: Declaration) -> Diagnostic:
    message = (
        f"{name!r} appears twice among the names of state '{declaration.id}' in SLS"
        f" '{declaration.sls}' with other"
    )
    message += " arguments; the last one counts"
    return Diagnostic(
        message,
        place.source,
        "remove this one, or give all its arguments to one",
        "ignored",
        "warning",
    )


def _entry_problem(
    entry: Value, name: Value, own_arguments: Value, place: Place, declaration: Declaration
) -> Diagnostic | None:
    """The mistake in an entry of `names`. own_arguments: the arguments of that name alone."""
    where = f"the names of state '{declaration.id}' in SLS '{declaration.sls}'"
    if isinstance(entry, list) or entry == {}:
        message = f"{entry!r} among {where} is not a name"
        return Diagnostic(
            message, place.source, "write each name on a line of its own: `- NAME`", "structure"
        )
    arguments = (
        own_arguments
        if isinstance(own_arguments, list)
        else [own_arguments]
        if own_arguments is not None
        else []
    )
    odd = [argument for argument in arguments if not isinstance(argument, dict)]
    if odd:
        message = f"{odd[0]!r} below {name!r} among {where} is not an argument"
        hint = f"write `- {name}:` and below it, indented further, `- ARGUMENT: VALUE`"
        return Diagnostic(message, place.source, hint, "structure")
    if isinstance(entry, dict) and len(entry) > 1:
        others = ", ".join(f"`- {other}: ...`" for other in list(entry)[1:])
        message = (
            f"more than one name in one entry of {where}: only {name!r} counts; the rest is ignored"
        )
        return Diagnostic(
            message, place.source, f"give each a dash of its own: {others}", "ignored", "warning"
        )
    return None


_NUMBER = (int, float)


def _number(drafts: list[Draft]) -> list[Diagnostic]:
    problems: list[Diagnostic] = []
    cap = 1
    for draft in drafts:
        order = draft.low.get("order")
        if isinstance(order, int) and not isinstance(order, bool) and order >= cap:
            cap = order + 100
    for draft in drafts:
        low = draft.low
        order = low.get("order", cap)
        if order == "first":  # of one name, or by an extend
            low["order"] = order = 0
        if not isinstance(order, _NUMBER):
            if order != "last" and "order" in draft.places:
                message = f"order: {order!r} is not a number in state '{low['__id__']}'{IGNORED}"
                hint = "an order is a number, `first` or `last`"
                problems.append(
                    Diagnostic(message, draft.places["order"].source, hint, "ignored", "warning")
                )
            order = cap + LAST if order == "last" else cap
        index = low.pop("name_order", None)
        draft.explicit_order = order
        if index is not None:
            order = order + index / 10000.0
        low["order"] = cap + LAST + order if order < 0 else order
    return problems


class _Shared:
    """Requisites that states share, in parts of the lists that they share."""

    def __init__(self, problems: list[Diagnostic]) -> None:
        self._problems = problems
        self._lists: dict[int, list[Requisite]] = {}
        self._parts: dict[tuple[int, int, int], tuple[Requisite, ...]] = {}

    def parts(
        self, keys: Iterable[str], low: Mapping[str, Value], places: Mapping[str, Place], at: Place
    ) -> Iterator[tuple[Requisite, ...]]:
        """Yield the requisites of a state in their order, as `_requisites` does."""
        for key in keys:
            listed, done = low[key], 0
            if not isinstance(listed, JoinedList):
                yield tuple(_requisites([key], low, places, at, self._problems))
                continue
            place = places.get(key, at)
            for before, other, begin, end in listed.shared:
                yield tuple(_entries(key, range(done, before), low, place, self._problems))
                yield self._part(key, low, other, begin, len(other) if end is None else end)
                done = before
            yield tuple(_entries(key, range(done, len(listed)), low, place, self._problems))

    def _part(
        self, key: str, low: Mapping[str, Value], other: JoinedList, begin: int, end: int
    ) -> tuple[Requisite, ...]:
        part = id(other), begin, end
        if part not in self._parts:
            if id(other) not in self._lists:
                low = {**low, key: other}
                every = range(len(other))
                made = _entries(key, every, low, other.place, self._problems)
                self._lists[id(other)] = list(made)
            self._parts[part] = tuple(self._lists[id(other)][begin:end])
        return self._parts[part]


def _requisites(
    keys: list[str],
    low: Mapping[str, Value],
    places: Mapping[str, Place],
    place: Place,
    problems: list[Diagnostic],
) -> Iterator[Requisite]:
    """The requisites that a state has under some keys."""
    for key in keys:
        listed = low[key]
        at = places.get(key, place)
        if not isinstance(listed, list):
            if key in KINDS:
                problems.append(
                    Diagnostic(
                        structure_hints.no_list(key, low["__id__"], low["__sls__"], listed),
                        at.source,
                        _list_hint(key, listed, low["state"]),
                        "structure",
                    )
                )
            continue
        yield from _entries(key, range(len(listed)), low, at, problems)


def _entries(
    key: str, which: Iterable[int], low: Mapping[str, Value], at: Place, problems: list[Diagnostic]
) -> Iterator[Requisite]:
    """Those of some entries under a key."""
    for index in which:
        place = item_place(low[key], index, at)
        requisite = _requisite(key, low[key][index], low, place, problems)
        if requisite is not None:
            yield requisite


def _list_hint(key: str, listed: Value, state: str) -> str:
    reference = "MODULE: ID"
    if isinstance(listed, dict) and listed:
        reference = "{}: {}".format(*next(iter(listed.items())))
    elif isinstance(listed, str):
        reference = spelled_out(listed, state)
    return f"write `- {key}:` and below it, indented, `- {reference}`"


def _requisite(
    key: str, entry: Value, low: Mapping[str, Any], place: Place, problems: list[Diagnostic]
) -> Requisite | None:
    if entry == {} and key not in KINDS:  # `use` and the `_in` forms
        message = f"an entry of {key} in state {low['__id__']} names nothing{IGNORED}"
        problems.append(
            Diagnostic(message, place.source, "write `- MODULE: ID`", "ignored", "warning")
        )
        return None
    if (isinstance(entry, dict) and len(entry) != 1) or isinstance(entry, list):
        shown = dict(entry) if isinstance(entry, dict) else entry
        hint = "write `- MODULE: ID`"
        if entry and isinstance(entry, dict):
            hint = "put each on a line of its own: " + ", ".join(
                f"`- {key}: {value}`" for key, value in entry.items()
            )
        message = (
            f"Requisite declaration {shown} in state {low['__id__']} in SLS {low['__sls__']} is not"
            " formed as a single key dictionary"
        )
        problems.append(Diagnostic(message, place.source, hint, "structure"))
        return None
    kind = KINDS.get(key)
    if kind is None:
        return None
    if isinstance(entry, dict):
        state, target = next(iter(entry.items()))
        if isinstance(target, list | dict):
            message = (
                f'Illegal requisite "{target}" in SLS "{low["__sls__"]}", please check your syntax.'
            )
            listed = ", ".join(f"`- {state}: {name}`" for name in target)
            problems.append(
                Diagnostic(
                    message, place.source, f"write each on a line of its own: {listed}", "structure"
                )
            )
            return None
        return Requisite(kind, str(state), str(target), place)
    return Requisite(kind, "id", str(entry), place) if entry is not None else None
