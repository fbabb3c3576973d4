# SPDX-License-Identifier: Apache-2.0
"""High data: the values between high.py, which gathers them, and low.py, which makes chunks of
them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, KeysView, Mapping

from runner.model.errors import RunnerError
from runner.model.places import JoinedList, Place, Untyped, Value, item_place
from runner.model.records import Record
from runner.model.requisite_kinds import KINDS
from runner.model.stdlib import pattern


class Item(Record):
    """One entry of a state's list: a function (`key` None) or an argument."""

    key: str | None
    value: Value
    place: Place
    origin: str = (
        ""  # where it comes from when not from the state's own list: "extend in SLS x", say
    )


class Body:
    """One state of an ID: `file:` with its list. Only this stage and low.py append to it."""

    __slots__ = ("items", "place", "state")

    def __init__(self, state: str, items: list[Item], place: Place) -> None:
        self.state, self.items, self.place = state, items, place


class Declaration:
    """One ID with its states."""

    __slots__ = ("bodies", "env", "id", "included_from", "place", "sls")

    def __init__(
        self,
        id: str,
        sls: str,
        env: str,
        place: Place,
        bodies: dict[str, Body] | None = None,
        included_from: tuple[str, ...] = (),
    ) -> None:
        self.id, self.sls, self.env, self.place, self.included_from = (
            id,
            sls,
            env,
            place,
            included_from,
        )
        self.bodies = {} if bodies is None else bodies


class Chain(Record):
    """One entry of a top-level `chain:`."""

    text: str
    sls: str
    env: str
    place: Place


class HighData:
    """All declarations in the order of rendering, with what SLS files say of others' IDs."""

    def __init__(self) -> None:
        self.declarations: dict[str, Declaration] = {}
        self.extends: list[Declaration] = []
        self.excludes: list[
            tuple[str, str, Place]
        ] = []  # (sls, id or "" for a bare SLS; name; place)
        self.chains: list[Chain] = []
        self.defaults: dict[
            tuple[str, str], Mapping[str, Mapping[str, Value]]
        ] = {}  # by (env, sls)
        self.scopes: dict[
            tuple[str, str], tuple[str, ...]
        ] = {}  # (env, sls) -> the first that included it, nearest first
        self.includes: dict[tuple[str, str], list[tuple[str, str]]] = {}  # (env, sls) -> the same
        self.brought_at: dict[
            tuple[str, str], Place
        ] = {}  # (env, sls) -> the line that named it first
        # `sls: NAME`, `id: ID`, `MODULE: NAME` of the tree, perhaps in a run with it
        self.elsewhere: frozenset[str] = frozenset()
        # (sls, saltenv) -> the text of a file of the tree; None where that is not known
        self.text_of: Callable[[str, str], str | None] = lambda sls, saltenv: None
        self.lost: list[str | None] = []  # what mistakes kept from being declared, as written

    @property
    def rendered(self) -> KeysView[tuple[str, str]]:
        """The SLS files that are in the run."""
        return self.scopes.keys()

    def explained_by_earlier_error(self, target: str, state: str = "") -> bool:
        """Return whether what a requisite names may only be missing because of another mistake:
        that one is told.
        """
        if f"{state or 'id'}: {target}" in self.elsewhere:
            return True
        return any(text is None or target in text or "{{" in text for text in self.lost)


def items_with_keys(high: HighData, keys: Collection[str]) -> list[tuple[Declaration, Body, Item]]:
    """All that is said under some keys, in its order."""
    keys = frozenset(keys)
    return [
        (declaration, body, item)
        for declaration in high.declarations.values()
        for body in declaration.bodies.values()
        for item in body.items
        if item.key in keys
    ]


def is_chain(value: Value) -> bool:
    """Return whether the value of a top-level `chain` is a chain and not the body of an ID."""
    return isinstance(value, list) and all(isinstance(entry, str) for entry in value)


def is_defaults(value: Value) -> bool:
    """Return whether the value of a top-level `defaults` holds defaults, and is no ID's body."""
    return (
        isinstance(value, dict)
        and bool(value)
        and all(isinstance(entry, dict) for entry in value.values())
    )


def add_item(body: Body, new: Item) -> None:
    """Requisites grow; all else, `use` and the `_in` forms too, replaces the one before in its
    place; `name` `names`.

    Of a key that stands there twice the last one counts, and so it is the one that grows or is
    replaced.
    """
    for index in range(len(body.items) - 1, -1, -1):
        old = body.items[index]
        if old.key == new.key or (new.key == "name" and old.key == "names"):
            if old.key in KINDS and isinstance(old.value, list) and isinstance(new.value, list):
                if not isinstance(old.value, JoinedList):
                    body.items[index] = own_list(old)._replace(origin="")
                _join(body.items[index].value, new)
                return
            body.items[index] = new
            return
    body.items.append(new)


def own_list(item: Item) -> Item:
    """A requisite with a list of its own, which may grow without that of the state it was taken
    from.
    """
    if item.key not in KINDS or not isinstance(item.value, list):
        return item
    return item._replace(value=_join(JoinedList(item.place), item))


def _join(joined: JoinedList, item: Item) -> JoinedList:
    """Add the references of a requisite, each with its place."""
    value = item.value
    places = value.places if isinstance(value, JoinedList) else None
    joined.join(
        value, places or [item_place(value, index, item.place) for index in range(len(value))]
    )
    return joined


def share(body: Body, key: str, common: JoinedList, place: Place) -> None:
    """Give a state what a list of requisites that others have, too, gets from now on."""
    add_item(body, Item(key, JoinedList(place), place))
    item = next(item for item in reversed(body.items) if item.key == key)
    item.value.share(common)


def members_of(body: Body) -> list[str]:
    """The names in `pkgs` and `sources` of a state."""
    listed = [
        member
        for item in body.items
        if item.key in ("pkgs", "sources")
        for member in (item.value if isinstance(item.value, list) else [])
    ]
    return [
        str(next(iter(entry), "")) if isinstance(entry, dict) else str(entry) for entry in listed
    ]


_SALTS = {"package": "pkg", "exec": "cmd", "class": "sls", "notify": "test", "yumrepo": "pkgrepo"}


def from_puppet_syntax(text: str) -> str | None:
    """A reference or a collector of Puppet, as it is written here."""
    reference = pattern(r"([A-Z]\w*)\[(.+)\]").fullmatch(text.strip())
    collector = pattern(r"([A-Z]\w*)\s*<\|\s*(.*?)\s*\|>").fullmatch(text.strip())
    match = reference or collector
    if match is None:
        return None
    kind = _SALTS.get(match[1].lower(), match[1].lower())
    if reference:
        return f"{kind}: {match[2].strip(chr(39) + chr(34))}"
    key, _, value = match[2].partition("==")
    return f"{kind}: *" + (f" where {key.strip()}={value.strip()}" if value else "")


def spelled_out(text: str, module: str) -> str:
    """A reference that stands in one text, as a list has it. module: where it names none."""
    typed = pattern(r"([a-z_]+):\s*([^/\s].*|/[^/].*)").fullmatch(text.strip())
    return from_puppet_syntax(text) or (f"{typed[1]}: {typed[2]}" if typed else f"{module}: {text}")


Made = Mapping[str, tuple[str, Mapping[str, Value]]]  # ID -> (function, arguments)


def of_one(function: str, arguments: Mapping[str, Value]) -> HighData:
    """High data of one state that was typed on the command line. Raises RunnerError when it names
    no function.
    """
    return of_states(
        {str(arguments.get("__id__", arguments.get("name", function))): (function, arguments)}
    )


def of_states(states: Made) -> HighData:
    """High data of states that a program made: ID -> (function, arguments), run in this order.
    Raises RunnerError for a function without a module.
    """
    place = Place(Untyped("command line"))
    high = HighData()
    for number, (id_, (function, arguments)) in enumerate(states.items(), 1):
        if "." not in function:
            raise RunnerError(
                f"{function!r} is not the name of a state function", hint="write file.absent, say"
            )
        state, _, name = function.partition(".")
        items = [Item(key, value, place) for key, value in arguments.items() if key != "__id__"]
        body = Body(state, [*items, Item("order", number, place), Item(None, name, place)], place)
        high.declarations[id_] = Declaration(id_, "", "base", place, {state: body})
    return high
