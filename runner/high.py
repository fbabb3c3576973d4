"""Rendered SLS files -> high data: IDs with their states, include, extend, exclude.

The result still has the shape of the text; `low.py` makes chunks of it. What a list item or a mapping says is kept as
`Item`s with the place where each was typed.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from runner import shapes
from runner.errors import Diagnostic, RunnerError
from runner.highdata import Body, Chain, Declaration, HighData, Item, is_chain, is_defaults
from runner.model import Place, PlacedList, Untyped, Value, item_place, key_place, value_place

RESERVED = ("include", "extend", "exclude")
NOWHERE = Place(Untyped("command line"))


class SlsFile(NamedTuple):
    """What the reader of SLS files answers: the rendered value, and whether the file is the folder's init.sls."""

    value: Value
    file: str
    is_init: bool


Read = Callable[[str, str], SlsFile]  # (sls, saltenv); raises RunnerError
Names = Callable[[str], Iterable[str]]  # saltenv -> names of all SLS files
TextOf = Callable[[str, str], str | None]  # (sls, saltenv) -> the text of the file; None where that is not known


DEFINITION = "definition"  # the origin of an order number that no one typed


class Request(NamedTuple):
    """An SLS to put into the run."""

    sls: str
    env: str
    place: Place = NOWHERE


@dataclass(slots=True, eq=False, repr=False)
class Brought:
    """What an SLS brings into the run, itself and its includes."""

    declarations: list[Declaration] = field(default_factory=list)
    extends: list[Declaration] = field(default_factory=list)
    excludes: list[tuple[str, str, Place]] = field(default_factory=list)

    def add(self, other: Brought) -> None:
        self.declarations += other.declarations
        self.extends += other.extends
        self.excludes += other.excludes


def expanded(request: Request, names: Names) -> list[str]:
    """The SLS files that a request means: one, or those that its glob matches."""
    if not any(mark in request.sls for mark in "*?["):
        return [request.sls]
    return sorted(name for name in names(request.env) if fnmatch.fnmatchcase(name, request.sls))


class Gatherer:
    """Renders the requested SLS files and those that they include, each once, depth first."""

    def __init__(
        self, read: Read, names: Names, auto_order: bool = True, text_of: TextOf = lambda sls, saltenv: None
    ) -> None:
        """text_of: an SLS as written, to know what it would have declared if it could be read."""
        self._text_of = text_of
        self._read = read
        self._names = names
        self._auto_order = auto_order
        self._order = 10000
        self.high = HighData()
        self.problems: list[Diagnostic] = []

    def gather(self, requests: Iterable[Request]) -> HighData:
        """All that the requests bring in; mistakes go to `problems`."""
        for request in requests:
            brought = self._request(request, ())
            for declaration in brought.declarations:
                self._add(declaration)
            self.high.extends += brought.extends
            self.high.excludes += brought.excludes
        return self.high

    def problem(self, message: str, place: Place | None, hint: str | None = None, code: str = "structure") -> None:
        self.problems.append(Diagnostic(message, place.source if place else None, hint, code))

    def _request(self, request: Request, chain: tuple[str, ...]) -> Brought:
        """What one request brings: of each SLS its own IDs, then those of its includes, as in Salt's high data."""
        names = expanded(request, self._names)
        if not names:
            message = f"No SLS matches {request.sls!r} in saltenv {request.env}"
            self.problem(
                message, request.place, "`runner show top` lists the names; * stands for any letters", "missing-sls"
            )
        brought = Brought()
        for name in names:
            brought.add(self._render(Request(name.replace("/", "."), request.env, request.place), chain))
        return brought

    def _render(self, request: Request, chain: tuple[str, ...]) -> Brought:
        key = (request.env, request.sls)
        own = Brought()
        if key in self.high.rendered:
            self.high.rendered[key] = tuple(dict.fromkeys([*self.high.rendered[key], *chain]))
            return own
        self.high.rendered[key] = self.high.scopes[key] = chain
        self.high.brought_at[key] = request.place
        try:
            file = self._read(request.sls, request.env)
        except RunnerError as error:
            for item in error.diagnostics:
                source = item.source or request.place.source
                self.problems.append(item._replace(source=source))
            self.high.lost.append(self._text_of(request.sls, request.env))
            return own
        value, place = file.value, Place(Untyped(file.file), 1, 1)
        if value is None or value == {}:
            return own
        if not isinstance(value, dict):
            where = value.place if isinstance(value, PlacedList) else place
            what = f"SLS {request.sls} does not render to a dictionary (a mapping of IDs), but to {shapes.kind(value)}"
            self.problem(what, where, "write `ID:` at the margin and below it, indented, `module.function:`")
            self.high.lost.append(self._text_of(request.sls, request.env))
            return own
        included = self._includes(value, request, file, chain, place)
        self._top_level(value, request, place, own)
        own.add(included)
        return own

    # -------------------------------------------------- include

    def _includes(
        self, value: Mapping[Any, Any], request: Request, file: SlsFile, chain: tuple[str, ...], place: Place
    ) -> Brought:
        brought = Brought()
        if "include" not in value:
            return brought
        listed = value["include"]
        where = value_place(value, "include", place)
        if not isinstance(listed, list):
            self.problem(
                f"Include Declaration in SLS {request.sls} is not formed as a list",
                where,
                f"write `include:` and below it, indented, `- {listed if isinstance(listed, str) else 'NAME'}`",
            )
            return brought
        for index, entry in enumerate(listed):
            at = item_place(listed, index, where)
            found = self._include_entry(entry, request, file, at)
            if found is not None:
                brought.add(self._request(found, (request.sls, *(name for name in chain if name != request.sls))))
        return brought

    def _include_entry(self, entry: Value, request: Request, file: SlsFile, place: Place) -> Request | None:
        env = request.env
        if isinstance(entry, dict):
            if len(entry) != 1:
                message = f"The include in SLS {request.sls} is not a single key dictionary"
                self.problem(message, place, shapes.include_hint(entry))
                return None
            env, entry = next((str(key), value) for key, value in entry.items())
        if not isinstance(entry, str):
            what = f"The include {entry!r} in SLS {request.sls} is {shapes.kind(entry)}, not the name of an SLS"
            self.problem(what, place, shapes.include_hint(entry))
            return None
        if not entry.startswith("."):
            return Request(entry, env, place)
        name = entry.lstrip(".")
        up = len(entry) - len(name)
        package = request.sls.split(".")
        if file.is_init:
            up -= 1
        if up > len(package):
            self.problem(
                f"Attempted relative include of '{entry}' within SLS '{env}:{request.sls}' "
                "goes beyond top level package",
                place,
                f"each dot leads one folder up, and this SLS has {max(len(package) - (not file.is_init), 0)} above it; "
                f"write `- {name}`, or fewer dots",
            )
            return None
        return Request(".".join([*package[: len(package) - up], name]), env, place)

    # -------------------------------------------------- IDs

    def _top_level(self, value: dict[Any, Any], request: Request, place: Place, own: Brought) -> None:
        if "extend" in value:
            own.extends += self._extend(value, request, place)
        if "exclude" in value:
            own.excludes += self._excludes(value, request, place)
        taken = set(RESERVED)
        if is_chain(value.get("chain")):
            taken.add("chain")
            listed, at = value["chain"], value_place(value, "chain", place)
            for index, text in enumerate(listed):
                self.high.chains.append(Chain(text, request.sls, request.env, item_place(listed, index, at)))
        if is_defaults(value.get("defaults")):
            taken.add("defaults")
            self.high.defaults[request.env, request.sls] = value["defaults"]
        before: tuple[str, Value] | None = None  # the entry above, while it may lack what stands at the margin here
        for key, body in value.items():
            if key in taken or (isinstance(key, str) and key.startswith("__")):
                continue
            at = key_place(value, key, place)
            above, before = before, (str(key), body)
            if above and above[1] is None and isinstance(key, str) and shapes.FUNCTION.fullmatch(key):
                message = f"`{key}:` stands at the margin, so that it is taken for an ID and {above[0]!r} has no state"
                del self.problems[-1]  # that the one above has no state
                self.problem(message, at, f"indent it, and what is below it, so that it belongs to `{above[0]}:`")
                continue
            misplaced = shapes.top_level(key, body) if isinstance(key, str) else None
            if misplaced:
                if above and above[1] is None and key[:1] in shapes.ODD_SPACES:
                    del self.problems[-1]
                self.problem(f"{key!r} in SLS {request.sls} is not an ID with its states", at, misplaced)
                continue
            if not isinstance(key, str):
                self.problem(
                    f"ID '{key}' in SLS '{request.sls}' is not formed as a string, but is type {type(key).__name__}. "
                    "It may need to be quoted.",
                    at,
                    f"put quotes around it, as you typed it: `{str(key).lower()!r}:`",
                )
                continue
            declaration = self._declaration(key, body, request, at)
            if declaration is not None:
                own.declarations.append(declaration)
                for body in declaration.bodies.values():
                    self._number(body)

    def _add(self, new: Declaration) -> None:
        old = self.high.declarations.get(new.id)
        if old is None:
            self.high.declarations[new.id] = new
            return
        self.problem(
            "Detected conflicting IDs, SLS IDs need to be globally unique.\n    The conflicting ID is "
            f"'{new.id}' and is found in SLS '{new.env}:{new.sls}' and SLS '{old.env}:{old.sls}'",
            new.place,
            f"the other one stands at {old.place.source}",
            "conflicting-id",
        )

    def _number(self, body: Body) -> None:
        for index, item in enumerate(body.items):
            if item.key == "order":
                if item.value == "first":
                    body.items[index] = Item("order", 0, item.place)
                return
        if self._auto_order:
            body.items.append(Item("order", self._order, body.place, DEFINITION))
            self._order += 1

    def _declaration(
        self, id_: str, value: Value, request: Request, place: Place, extending: bool = False
    ) -> Declaration | None:
        declaration = Declaration(
            id_, request.sls, request.env, place, included_from=self.high.rendered[request.env, request.sls]
        )
        if isinstance(value, str) and "." in value and not extending:
            state, _, function = value.partition(".")
            declaration.bodies[state] = Body(state, [Item(None, function, place)], place)
            return declaration
        if not isinstance(value, dict):
            what = f"ID {id_} in SLS {request.sls} is not a dictionary, but {shapes.kind(value)}"
            self.problem(what, getattr(value, "place", place), shapes.body_hint(id_, value))
            self.high.lost.append(id_)
            return None
        keys = [key for key in value if isinstance(key, str) and not key.startswith("__")]
        for key in sorted(keys, key=lambda key: "." in key):  # `service: [running]` is numbered before `pkg.installed:`
            self._body(declaration, key, value[key], value, place, extending)
        if not value:
            message = f"ID {id_} in SLS {request.sls} has no state"
            hint = shapes.body_hint(id_, value)
            self.problems.append(Diagnostic(message, place.source, hint, "no-state", "warning"))
        return declaration

    def _body(
        self, declaration: Declaration, key: str, entries: Value, value: dict[Any, Any], place: Place, extending: bool
    ) -> None:
        at = key_place(value, key, place)
        where = value_place(value, key, at)
        state, _, function = key.partition(".")
        if state in declaration.bodies:
            other = declaration.bodies[state].place.source
            self.problem(
                f"ID '{declaration.id}' in SLS '{declaration.sls}' "
                f"contains multiple state declarations of the same type ({state})",
                at,
                f"the other one stands at {other}; give one of them an ID of its own, with `- name: {declaration.id}`",
            )
            return
        body = Body(state, [], at)
        before = len(self.problems)
        if isinstance(entries, str) and not function and extending:
            body.items.append(Item(None, entries, where))
        elif isinstance(entries, list):
            self._items(declaration, body, entries, where)
        elif entries is None and function and not extending:
            self.problem(
                f"ID '{declaration.id}' in SLS '{declaration.sls}' contains a short declaration ({key}) with a "
                "trailing colon. When not passing any arguments to a state, the colon must be omitted.",
                at,
                f"write `{declaration.id}: {key}`, or `{key}: []`",
            )
        elif entries is not None:
            self.problem(
                f"State '{declaration.id}' in SLS '{declaration.sls}' is not formed as a list, but is "
                f"{shapes.kind(entries)}",
                where,
                shapes.list_hint(entries),
            )
        if "." in function:
            said = f"state '{declaration.id}' in SLS '{declaration.sls}'"
            message = f"{key} in {said} names more than a function; it is ignored"
            hint = f"write `{state}.{function.partition('.')[0]}:`"
            self.problems.append(Diagnostic(message, at.source, hint, "ignored", "warning"))
        if function:
            body.items.append(Item(None, function.partition(".")[0], at))
        if not extending and not self._failed(before):
            self._check_functions(declaration, body, function)
        if not self._failed(before):
            declaration.bodies[state] = body
        else:  # what is wrong with it was said; nothing else is to be said of it, nor of those that refer to it
            self.high.lost += [declaration.id, *map(str, _names(body))]

    def _failed(self, since: int) -> bool:
        return any(each.severity == "error" for each in self.problems[since:])

    def _items(self, declaration: Declaration, body: Body, entries: list[Any], where: Place) -> None:
        for index, entry in enumerate(entries):
            if isinstance(entry, str):
                body.items.append(Item(None, entry, item_place(entries, index, where)))
            elif isinstance(entry, dict):
                at = item_place(entries, index, where)
                body.items.extend(Item(str(key), value, key_place(entry, key, at)) for key, value in entry.items())
            else:
                said = f"{entry!r} among" if not isinstance(entry, list) else "a list among"
                message = f"{said} the arguments of state '{declaration.id}' in SLS '{declaration.sls}'; it is ignored"
                at = item_place(entries, index, where)
                hint = "an argument is written `- NAME: VALUE`"
                self.problems.append(Diagnostic(message, at.source, hint, "unknown-argument", "warning"))

    def _check_functions(self, declaration: Declaration, body: Body, function: str) -> None:
        found = [item for item in body.items if item.key is None]
        if len(found) > 1:
            extra = next((item for item in found if item.place != body.place), found[-1]) if function else found[1]
            self.problem(
                f"Too many functions declared in state '{declaration.id}' in SLS '{declaration.sls}'. "
                f"Please choose one of the following: {', '.join(item.value for item in found)}",
                extra.place,
                shapes.argument(extra.value)
                or f"take `{extra.value}` away, give it an ID of its own, or write it as an argument: "
                f"`- {extra.value}: VALUE`",
            )
        elif not found:
            self.problem(
                f"No function declared in state '{declaration.id}' in SLS '{declaration.sls}': {body.state}",
                body.place,
                shapes.no_function_hint(body.state),
            )

    # -------------------------------------------------- extend and exclude

    def _extend(self, value: dict[Any, Any], request: Request, place: Place) -> list[Declaration]:
        extensions: list[Declaration] = []
        extend = value["extend"]
        where = value_place(value, "extend", place)
        if not isinstance(extend, dict):
            what = f"Extension value in SLS '{request.sls}' is not a dictionary, but {shapes.kind(extend)}"
            self.problem(
                what, where, f"write `extend:` and below it, indented and without a dash, `{shapes.first_key(extend)}:`"
            )
            return extensions
        for key, body in extend.items():
            declaration = self._declaration(str(key), body, request, key_place(extend, key, where), extending=True)
            if declaration is not None:
                extensions.append(declaration)
        return extensions

    def _excludes(self, value: dict[Any, Any], request: Request, place: Place) -> list[tuple[str, str, Place]]:
        found: list[tuple[str, str, Place]] = []
        excludes = value["exclude"]
        where = value_place(value, "exclude", place)
        if not isinstance(excludes, list):
            hint = "write `exclude:` and below it, indented, `- sls: NAME` or `- id: ID`"
            self.problem(f"Exclude Declaration in SLS {request.sls} is not formed as a list", where, hint)
            return found
        for index, entry in enumerate(excludes):
            at = item_place(excludes, index, where)
            kind, name = next(iter(entry.items()), ("", "")) if isinstance(entry, dict) else ("sls", entry)
            if kind not in ("sls", "id") or not isinstance(name, str):
                self.problem(
                    f"Invalid exclude {entry!r} in SLS {request.sls}", at, "write `- NAME`, `- sls: NAME` or `- id: ID`"
                )
                continue
            found.append((kind, name, at))
        return found


def _names(body: Body) -> list[Value]:
    return [item.value for item in body.items if item.key in ("name", "names")]


def as_data(high: HighData) -> dict[str, Any]:
    """Salt's shape of high data, for `show highstate` and `show sls`."""
    shown = {id_: _declaration_data(declaration) for id_, declaration in high.declarations.items()}
    if high.extends:
        shown["__extend__"] = [{extend.id: _declaration_data(extend)} for extend in high.extends]  # type: ignore[assignment]
    if high.excludes:
        shown["__exclude__"] = [{kind: name} for kind, name, _ in high.excludes]  # type: ignore[assignment]
    return shown


def _declaration_data(declaration: Declaration) -> dict[str, Any]:
    data: dict[str, Any] = {
        body.state: [item.value if item.key is None else {item.key: item.value} for item in body.items]
        for body in declaration.bodies.values()
    }
    return data | {"__sls__": declaration.sls, "__env__": declaration.env}
