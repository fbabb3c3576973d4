# SPDX-License-Identifier: Apache-2.0
"""The SLS files asked for and all that they include -> high data.

Each is rendered once, depth first; `sls.py` reads what one of them says. The result still has the
shape of the text; `low.py` makes chunks of it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping

from runner.language.compiler import structure_hints
from runner.language.compiler.sls import Sls
from runner.model.chunk import Request, SlsFile
from runner.model.diagnostics import Diagnostic, suggestion
from runner.model.errors import RunnerError
from runner.model.highdata import Body, Declaration, HighData, Item
from runner.model.places import Place, PlacedList, Untyped, Value, item_place, value_place
from runner.model.stdlib import like

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

Read = Callable[[str, str], SlsFile]  # (sls, saltenv); raises RunnerError
Names = Callable[[str], Iterable[str]]  # saltenv -> names of all SLS files
# (sls, saltenv) -> the text of the file; None where that is not known
TextOf = Callable[[str, str], str | None]


DEFINITION = "definition"  # the origin of an order number that no one typed


class SlsContents:
    """The contents that an SLS brings into the run, itself and its includes."""

    def __init__(self) -> None:
        self.declarations: list[Declaration] = []
        self.extends: list[Declaration] = []
        self.excludes: list[tuple[str, str, Place]] = []

    def add(self, other: SlsContents) -> None:
        self.declarations += other.declarations
        self.extends += other.extends
        self.excludes += other.excludes


Includers = tuple[str, ...]  # the names of an SLS and of those that lead to it, nearest first
Walk = Generator[tuple[Request, Includers], SlsContents, SlsContents]


def expanded(request: Request, names: Names) -> list[str]:
    """The SLS files that a request means: one, or those that its glob matches."""
    if request.outside or not any(mark in request.sls for mark in "*?["):
        return [request.sls]
    return sorted(like(names(request.env), request.sls))


class Gatherer:
    """Renders the requested SLS files and those that they include, each once, depth first."""

    def __init__(
        self,
        read: Read,
        names: Names,
        auto_order: bool = True,
        text_of: TextOf = lambda sls, saltenv: None,
    ) -> None:
        """text_of: an SLS as written, to know what it would have declared if it could be read."""
        self._read = read
        self._names = names
        self._auto_order = auto_order
        self._order = 10000
        # who included an SLS, or what leads to it, once more before it was read to its end
        self._again: dict[tuple[str, str], list[str]] = {}
        self.high = HighData()
        self.high.text_of = text_of
        self.problems: list[Diagnostic] = []

    def gather(self, requests: Iterable[Request]) -> HighData:
        """All that the requests bring in; mistakes go to `problems`."""
        for request in requests:
            brought = self._walk(request)
            for declaration in brought.declarations:
                self._add(declaration)
            self.high.extends += brought.extends
            self.high.excludes += brought.excludes
        return self.high

    def problem(
        self, message: str, place: Place | None, hint: str | None = None, code: str = "structure"
    ) -> None:
        self.problems.append(Diagnostic(message, place.source if place else None, hint, code))

    def _walk(self, request: Request) -> SlsContents:
        """The contents that a request and all its includes bring. An include is yielded and
        followed here, so that a chain of includes may be longer than Python's stack is deep.
        """
        walks = [self._request(request, ())]
        begin: Any = None  # what a generator is sent first
        brought = begin
        while walks:
            try:
                included, chain = walks[-1].send(brought)
            except StopIteration as end:
                walks.pop()
                brought = end.value
            else:
                walks.append(self._request(included, chain))
                brought = begin
        contents: SlsContents = brought
        return contents

    def _request(self, request: Request, chain: Includers) -> Walk:
        """The contents that one request brings: of each SLS its own IDs, then those of its
        includes, as in Salt's high data.
        """
        names = expanded(request, self._names)
        if not names:
            message = f"No matching sls found for {request.sls!r} in env {request.env!r}"
            self.problem(
                message,
                request.place,
                "`runner show top` lists the names; * stands for any letters",
                "missing-sls",
            )
        brought = SlsContents()
        for name in names:
            sls = Request(name, request.env, request.place)
            brought.add((yield from self._render(sls, chain)))
        return brought

    def _render(self, request: Request, chain: Includers) -> Walk:
        key = (request.env, request.sls)
        own = SlsContents()
        if key in self.high.scopes:
            # an include that leads back to where it came from brings nothing
            if request.sls not in chain:
                self._again.setdefault(key, []).extend(chain)
            return own
        self.high.scopes[key] = chain
        self.high.brought_at[key] = request.place
        try:
            file = self._read(request.sls, request.env)
        except RunnerError as error:
            for item in error.diagnostics:
                rendering = (
                    "" if item.code.startswith("missing-") else f"{request.env}:{request.sls}"
                )
                item = item._replace(
                    message=self._missing(request, item, chain), rendering=rendering
                )
                if chain and item.hint == suggestion(chain[0]):  # what includes it is not meant
                    item = item._replace(hint="no file has this name: is it of another formula?")
                self.problems.append(item._replace(source=item.source or request.place.source))
            self.high.lost.append(self.high.text_of(request.sls, request.env))
            return own
        value, place = file.value, Place(Untyped(file.file), 1, 1)
        if value is None or value == {}:
            return own
        if not isinstance(value, dict):
            where = value.place if isinstance(value, PlacedList) else place
            kind = structure_hints.kind(value)
            what = (
                f"SLS {request.sls} does not render to a dictionary (a mapping of IDs), but to"
                f" {kind}"
            )
            self.problem(what, where, structure_hints.sls_hint(value))
            self.high.lost.append(self.high.text_of(request.sls, request.env))
            return own
        included = yield from self._includes(value, request, file, chain, place)
        own.add(self._said(value, request, place))
        own.add(included)
        return own

    def _missing(self, request: Request, problem: Diagnostic, chain: Includers) -> str:
        """The message about an SLS that does not exist: the top file and the command line name it,
        or another SLS.
        """
        if problem.code == "missing-env" and chain:
            env = next((env for env, sls in self.high.rendered if sls == chain[0]), request.env)
            within = f"within SLS '{env}:{chain[0]}'"
            return (
                f"Nonexistent saltenv '{request.env}' found in include of '{request.sls}' {within}"
            )
        if problem.code in ("missing-sls", "missing-env") and not chain:
            return f"No matching sls found for {request.sls!r} in env {request.env!r}"
        return problem.message

    def _said(self, value: dict[Any, Any], request: Request, place: Place) -> SlsContents:
        """Compile an SLS itself; its states are numbered after those of its includes."""
        key = (request.env, request.sls)
        includers = self.high.scopes[key]
        if key in self._again:
            includers = tuple(dict.fromkeys([*includers, *self._again[key]]))
        sls = Sls(request.sls, request.env, includers)
        sls.read(value, place)
        for declaration in sls.declarations:
            for body in declaration.bodies.values():
                self._number(body)
        if sls.defaults is not None:
            self.high.defaults[key] = sls.defaults
        self.high.chains += sls.chains
        self.high.lost += sls.lost
        self.problems += sls.problems
        brought = SlsContents()
        brought.declarations, brought.extends, brought.excludes = (
            sls.declarations,
            sls.extends,
            sls.excludes,
        )
        return brought

    # -------------------------------------------------- include

    def _includes(
        self,
        value: Mapping[Any, Any],
        request: Request,
        file: SlsFile,
        chain: Includers,
        place: Place,
    ) -> Walk:
        brought = SlsContents()
        if "include" not in value:
            return brought
        listed = value["include"]
        where = value_place(value, "include", place)
        if not isinstance(listed, list):
            self.problem(
                f"Include Declaration in SLS {request.sls} is not formed as a list",
                where,
                "write `include:` and below it, indented, `-"
                f" {listed if isinstance(listed, str) else 'NAME'}`",
            )
            return brought
        above = chain
        if request.sls in chain:  # of another environment
            above = tuple(name for name in chain if name != request.sls)
        for index, entry in enumerate(listed):
            at = item_place(listed, index, where)
            included = self._include_entry(entry, request, file, at)
            if included is not None:
                names = expanded(included, self._names)
                self.high.includes.setdefault((request.env, request.sls), []).extend(
                    (included.env, name) for name in names
                )
                brought.add((yield included, (request.sls, *above)))
        return brought

    def _include_entry(
        self, entry: Value, request: Request, file: SlsFile, place: Place
    ) -> Request | None:
        env = request.env
        if isinstance(entry, dict):
            if len(entry) != 1:
                message = f"The include in SLS {request.sls} is not a single key dictionary"
                self.problem(message, place, structure_hints.include_hint(entry))
                return None
            env, entry = next((str(key), value) for key, value in entry.items())
        if not isinstance(entry, str):
            what = (
                f"The include {entry!r} in SLS {request.sls} is {structure_hints.kind(entry)}, not"
                " the name of an SLS"
            )
            self.problem(what, place, structure_hints.include_hint(entry))
            return None
        if not entry.startswith("."):
            return Request(entry, env, place)
        name = entry.lstrip(".")
        up = len(entry) - len(name)
        package = request.sls.split(".")
        if file.is_init:
            up -= 1
        if up == 0 and not name:
            self.problem(
                f"The include '{entry}' in SLS {request.sls} names that SLS itself",
                place,
                "remove it; in an init.sls, `- .NAME` is a file beside it, `- ..` the init.sls"
                " of the folder above",
            )
            return None
        if up > len(package):
            self.problem(
                f"Attempted relative include of '{entry}' within SLS '{env}:{request.sls}' "
                "goes beyond top level package",
                place,
                "each dot leads one folder up, and this SLS has"
                f" {max(len(package) - (not file.is_init), 0)} above it; write `- {name}`, or fewer"
                " dots",
            )
            return None
        return Request(".".join([*package[: len(package) - up], name]), env, place)

    def _add(self, new: Declaration) -> None:
        old = self.high.declarations.get(new.id)
        if old is None:
            self.high.declarations[new.id] = new
            return
        hint = f"the other one is at {old.place}"
        if new.place.source == old.place.source:
            hint = f"`{old.sls}` and `{new.sls}` are one file: call it the same everywhere"
        self.problem(
            "Detected conflicting IDs, SLS IDs need to be globally unique.\n    The conflicting ID"
            f" is '{new.id}' and is found in SLS '{new.env}:{new.sls}' and SLS"
            f" '{old.env}:{old.sls}'",
            new.place,
            hint,
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


def as_data(high: HighData) -> dict[str, Any]:
    """Salt's shape of high data, for `show highstate` and `show sls`."""
    shown = {id_: _declaration_data(declaration) for id_, declaration in high.declarations.items()}
    if high.extends:
        shown["__extend__"] = [{extend.id: _declaration_data(extend)} for extend in high.extends]  # type: ignore[assignment]
    if high.excludes:
        shown["__exclude__"] = [{kind: name} if kind else name for kind, name, _ in high.excludes]  # type: ignore[assignment]
    return shown


def _declaration_data(declaration: Declaration) -> dict[str, Any]:
    data: dict[str, Any] = {
        body.state: [
            item.value if item.key is None else {item.key: item.value} for item in body.items
        ]
        for body in declaration.bodies.values()
    }
    return data | {"__sls__": declaration.sls, "__env__": declaration.env}
