"""High data -> low chunks: one for each name of each state, numbered and sorted as Salt does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from runner.errors import Diagnostic
from runner.extend import Reconciler
from runner.highdata import Body, Declaration, HighData, Item, puppets_way
from runner.model import REQUISITE_KEYS, Chunk, Kind, Place, Requisite, Value, item_place, value_place
from runner.relationships import Known
from runner.scope import Functions, Scopes

LAST = 1_000_000  # what Salt adds for `last` and negative numbers
KINDS = {kind.value: kind for kind in Kind}


def lower(
    high: HighData,
    reconcile: bool = True,
    known: Known = lambda state, function: frozenset(),
    defaults: Mapping[str, Mapping[str, Mapping[str, Value]]] | None = None,
    functions: Functions = lambda state: (),
) -> tuple[tuple[Chunk, ...], list[Diagnostic]]:
    """The chunks in their order of definition and order numbers, and the mistakes found on the way.

    reconcile: carry out extend, exclude and the `_in` requisites (`show low-sls` does not, as with Salt).
    known: the arguments that a function has. defaults: those of the top file and of the configuration. functions: of a
    state module.
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
        problems += scopes.mistakes({(draft.low["state"], draft.low["fun"]) for draft in drafts}, functions)
    problems += _number(drafts)
    for position, draft in enumerate(drafts):
        draft.defined = position
    drafts.sort(key=lambda draft: (draft.low["order"], f"{draft.low['state']}{draft.low['name']}{draft.low['fun']}"))
    return tuple(draft.chunk(problems) for draft in drafts), _unique(problems)


class Draft:
    """A chunk in the making."""

    __slots__ = ("body", "defined", "low", "origins", "place", "places", "wanted")

    def __init__(self, low: dict[str, Value], body: Body, places: dict[str, Place], place: Place) -> None:
        self.low = low
        self.body = body
        self.origins = {item.key: item.origin for item in body.items if item.origin and item.key is not None}
        self.places = places
        self.place = place
        self.defined = 0
        self.wanted = float("inf")

    def chunk(self, problems: list[Diagnostic]) -> Chunk:
        low = self.low
        args = {
            key: value
            for key, value in low.items()
            if key not in _NOT_ARGUMENTS and key not in REQUISITE_KEYS and not key.startswith("__")
        }
        requisites = tuple(_requisites(low, self.places, self.place, problems)) if low.keys() & REQUISITE_KEYS else ()
        return Chunk(
            state=low["state"],
            fun=low["fun"],
            id=low["__id__"],
            name=low["name"],
            order=low["order"],
            sls=low["__sls__"],
            env=low["__env__"],
            args=args,
            low=low,
            requisites=requisites,
            place=self.place,
            arg_places=self.places,
            origins=self.origins,
            defined=self.defined,
            wanted=self.wanted,
        )


_NOT_ARGUMENTS = frozenset(["state", "fun", "name", "order"])


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
    functions: list[Item] = []
    names: Item | None = None
    for item in body.items:
        if item.key is None:
            functions.append(item)
        elif item.key == "names":
            names = item if item.value != [] else names  # of an empty list the ID is the name
        elif item.key == "name":
            places["name"] = item.place
            if isinstance(item.value, str):
                low["name"] = item.value
            elif item.value is not None:
                problems.append(_no_name(item, body, declaration))
        elif item.key not in ("state", "fun"):
            if item.key in places and low[item.key] != item.value:
                problems.append(_again(item, places[item.key], declaration))
            low[item.key] = item.value
            places[item.key] = item.place
    if names is not None and "name" in low and places["name"] != declaration.place:
        message = f"name beside names in state '{declaration.id}' in SLS '{declaration.sls}'; it is ignored"
        hint = "keep one of them: `names` for several, `name` for one"
        problems.append(Diagnostic(message, places["name"].source, hint, "ignored", "warning"))
    for function in functions:
        place = function.place
        if names is None:
            yield Draft(low | {"fun": function.value}, body, places, place)
        else:
            yield from _named(low, function, names, body, places, declaration, problems)


def _again(item: Item, first: Place, declaration: Declaration) -> Diagnostic:
    where = f"state '{declaration.id}' in SLS '{declaration.sls}'"
    message = f"{item.key} is given twice in {where}: what the first one says is lost; it is ignored"
    hint = f"the other one stands at {first.source}; put what they say into one `- {item.key}:`"
    return Diagnostic(message, item.place.source, hint, "ignored", "warning")


def _no_name(item: Item, body: Body, declaration: Declaration) -> Diagnostic:
    several = isinstance(item.value, list)
    said = "a list" if several else "no text"
    hint = f"put it in quotes: `- name: '{item.value}'`"
    if several or isinstance(item.value, dict):
        hint = "several are written `- names:`, or `- pkgs:` for packages, with `- NAME` for each below it"
    message = f"name in state '{declaration.id}' in SLS '{declaration.sls}' is {said}; it is ignored"
    return Diagnostic(message, item.place.source, hint, "ignored", "warning")


def _named(
    low: dict[str, Value],
    function: Item,
    names: Item,
    body: Body,
    places: dict[str, Place],
    declaration: Declaration,
    problems: list[Diagnostic],
) -> Iterator[Draft]:
    if not isinstance(names.value, list):
        problems.append(
            Diagnostic(
                f"The 'names' argument in state '{declaration.id}' in SLS '{declaration.sls}' needs to be formed as a "
                "list",
                names.place.source,
                "write `- names:` and below it, indented, "
                f"`- {names.value if isinstance(names.value, str) else 'NAME'}`",
                "structure",
            )
        )
        return
    for index, entry in enumerate(names.value):
        place = item_place(names.value, index, names.place)
        own = dict(low)
        own_places = dict(places)
        name: object = entry
        if isinstance(entry, dict) and entry:
            name = next(iter(entry))
            for argument in entry[name] if isinstance(entry[name], list) else [entry[name]]:
                if isinstance(argument, dict):
                    own |= argument
                    own_places |= {key: value_place(argument, key, place) for key in argument}
        own["name"] = str(name) if name is not None else declaration.id
        own_places["name"] = place
        own["name_order"] = index + 1
        yield Draft(own | {"fun": function.value}, body, own_places, function.place)


def _number(drafts: list[Draft]) -> list[Diagnostic]:
    problems: list[Diagnostic] = []
    cap = 1
    for draft in drafts:
        order = draft.low.get("order")
        if isinstance(order, int | float) and not isinstance(order, bool) and order > cap - 1 and order > 0:
            cap = int(order) + 100 if isinstance(order, int) else cap
    for draft in drafts:
        low = draft.low
        order = low.get("order", cap)
        if not isinstance(order, int | float):
            if order != "last" and "order" in draft.places:
                message = f"order: {order!r} is no number in state '{low['__id__']}'; it is ignored"
                hint = "an order is a number, `first` or `last`"
                problems.append(Diagnostic(message, draft.places["order"].source, hint, "ignored", "warning"))
            order = cap + LAST if order == "last" else cap
        index = low.pop("name_order", None)
        if isinstance(low.get("order"), int | float):
            draft.wanted = order
        if index is not None:
            order = order + index / 10000.0
        low["order"] = cap + LAST + order if order < 0 else order
    return problems


def _requisites(
    low: dict[str, Value], places: dict[str, Place], place: Place, problems: list[Diagnostic]
) -> Iterator[Requisite]:
    for key in low.keys() & REQUISITE_KEYS if len(low) < 8 else [key for key in low if key in REQUISITE_KEYS]:
        listed = low[key]
        at = places.get(key, place)
        if not isinstance(listed, list):
            if key in KINDS:
                problems.append(
                    Diagnostic(
                        f"The {key} statement in state '{low['__id__']}' in SLS '{low['__sls__']}' needs to be formed "
                        f"as a list{'; nothing stands below it' if listed is None else ''}",
                        at.source,
                        _list_hint(key, listed, low["state"]),
                        "structure",
                    )
                )
            continue
        for index, entry in enumerate(listed):
            yield from _requisite(key, entry, low, item_place(listed, index, at), problems)


def _list_hint(key: str, listed: Value, state: str) -> str:
    said = "MODULE: ID"
    if isinstance(listed, dict) and listed:
        said = "{}: {}".format(*next(iter(listed.items())))
    elif isinstance(listed, str):
        said = puppets_way(listed) or f"{state}: {listed}"
    return f"write `- {key}:` and below it, indented, `- {said}`"


def _requisite(
    key: str, entry: Value, low: dict[str, Any], place: Place, problems: list[Diagnostic]
) -> Iterator[Requisite]:
    if (isinstance(entry, dict) and len(entry) != 1) or isinstance(entry, list):
        said = dict(entry) if isinstance(entry, dict) else entry
        hint = "write `- MODULE: ID`"
        if entry and isinstance(entry, dict):
            hint = "put each on a line of its own: " + ", ".join(f"`- {key}: {value}`" for key, value in entry.items())
        message = (
            f"Requisite declaration {said} in state {low['__id__']} in SLS {low['__sls__']} is not formed "
            "as a single key dictionary"
        )
        problems.append(Diagnostic(message, place.source, hint, "structure"))
        return
    kind = KINDS.get(key)
    if kind is None:
        return
    if isinstance(entry, dict):
        state, target = next(iter(entry.items()))
        if isinstance(target, list | dict):
            message = f'Illegal requisite "{target}" in SLS "{low["__sls__"]}", please check your syntax.'
            listed = ", ".join(f"`- {state}: {each}`" for each in target)
            problems.append(
                Diagnostic(message, place.source, f"write each on a line of its own: {listed}", "structure")
            )
            return
        yield Requisite(kind, str(state), str(target), place)
    elif entry is not None:
        yield Requisite(kind, "id", str(entry), place)


def _unique(problems: list[Diagnostic]) -> list[Diagnostic]:
    return list(dict.fromkeys(problems))
