# SPDX-License-Identifier: Apache-2.0
"""One rendered SLS file -> what it says: IDs with their states, `extend`, `exclude`, `chain` and
`defaults`.

What a list item or a mapping says is kept as `Item`s with the place where each was typed.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping

from runner.language.compiler import structure_hints
from runner.language.render.errors import source_lines
from runner.model.chunk import RESERVED
from runner.model.diagnostics import IGNORED, Diagnostic, odd_space_hint
from runner.model.highdata import Body, Chain, Declaration, Item, is_chain, is_defaults
from runner.model.places import (
    Place,
    PlacedList,
    PlacedMap,
    Value,
    item_place,
    key_place,
    value_place,
)
from runner.model.requisite_kinds import KINDS
from runner.support.yaml import mark

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Sls:
    """The contents of one SLS, apart from its includes; its mistakes are in `problems`."""

    def __init__(self, name: str, env: str, included_from: tuple[str, ...]) -> None:
        self.name = name
        self.env = env
        self._included_from = included_from
        self.declarations: list[Declaration] = []
        self.extends: list[Declaration] = []
        self.excludes: list[tuple[str, str, Place]] = []
        self.chains: list[Chain] = []
        self.defaults: Mapping[str, Mapping[str, Value]] | None = None
        self.problems: list[Diagnostic] = []
        self.lost: list[str] = []  # what mistakes kept from being declared, as written

    def read(self, value: dict[Any, Any], place: Place) -> None:
        """Take in what the file rendered to; `place` is its beginning."""
        if "extend" in value:
            self._extend(value, place)
        if "exclude" in value:
            self._exclude(value, place)
        taken = {*RESERVED, *self._chain(value, place), *self._defaults(value)}
        before: tuple[str, Value] | None = (
            None  # the entry above, while it may lack what stands at the margin here
        )
        for key, body in value.items():
            if key in taken or (isinstance(key, str) and key.startswith("__")):
                continue
            above, before = before, (str(key), body)
            self._entry(key, body, key_place(value, key, place), above)

    def _problem(self, message: str, place: Place, hint: str | None) -> None:
        self.problems.append(Diagnostic(message, place.source, hint, "structure"))

    def _warning(self, message: str, place: Place, hint: str | None, code: str) -> None:
        self.problems.append(Diagnostic(message, place.source, hint, code, "warning"))

    def _chain(self, value: dict[Any, Any], place: Place) -> tuple[str, ...]:
        if not is_chain(value.get("chain")):
            return ()
        listed, at = value["chain"], value_place(value, "chain", place)
        for index, text in enumerate(listed):
            self.chains.append(Chain(text, self.name, self.env, item_place(listed, index, at)))
        return ("chain",)

    def _defaults(self, value: dict[Any, Any]) -> tuple[str, ...]:
        if not is_defaults(value.get("defaults")):
            return ()
        self.defaults = value["defaults"]
        return ("defaults",)

    # -------------------------------------------------- IDs

    def _entry(self, key: Any, body: Value, at: Place, above: tuple[str, Value] | None) -> None:
        if (
            above
            and above[1] is None
            and isinstance(key, str)
            and structure_hints.FUNCTION.fullmatch(key)
        ):
            message = (
                f"`{key}:` is not indented, so it is taken for an ID and {above[0]!r} has no state"
            )
            del self.problems[-1]  # that the one above has no state
            self._problem(
                message, at, f"indent it, and what is below it, so that it belongs to `{above[0]}:`"
            )
            return
        if isinstance(body, list) and structure_hints.FUNCTION.fullmatch(str(key)):
            message = f"`{key}:` is not indented, so it is taken for an ID"
            hint = "indent it, and what is below it, so that it belongs to the ID above"
            self._problem(message, at, hint)
            return
        misplaced = structure_hints.top_level(key, body) if isinstance(key, str) else None
        if misplaced:
            if above and above[1] is None and odd_space_hint(key):
                del self.problems[-1]
            self._problem(f"{key!r} in SLS {self.name} is not an ID with its states", at, misplaced)
            return
        if not isinstance(key, str):
            self._problem(
                f"ID '{key}' in SLS '{self.name}' is not formed as a string, but is type"
                f" {type(key).__name__}. It may need to be quoted.",
                at,
                "put quotes around it, as you typed it"
                + (f": `'{key}':`" if type(key) in (int, float) else ""),
            )
            return
        declaration = self._declaration(key, body, at)
        if declaration is not None:
            self.declarations.append(declaration)

    def _declaration(
        self, id_: str, value: Value, place: Place, extending: bool = False
    ) -> Declaration | None:
        declaration = Declaration(
            id_, self.name, self.env, place, included_from=self._included_from
        )
        if isinstance(value, str) and "." in value and not extending:
            state, _, function = value.partition(".")
            if " " in function.strip():
                what = f"ID {id_} in SLS {self.name} has arguments beside its function"
                self._problem(what, place, structure_hints.beside_hint(id_, value))
                self.lost.append(id_)
                return None
            declaration.bodies[state] = Body(state, [Item(None, function, place)], place)
            return declaration
        if not isinstance(value, dict):
            what = (
                f"ID {id_} in SLS {self.name} is not a dictionary, but"
                f" {structure_hints.kind(value)}"
            )
            at = getattr(value, "place", place)
            hint = mark.several_lines_hint(at.source) or structure_hints.body_hint(id_, value)
            self._problem(what, at, hint)
            self.lost.append(id_)
            return None
        keys = [key for key in value if isinstance(key, str) and not key.startswith("__")]
        if len(keys) > 1:
            # `service: [running]` is numbered before `pkg.installed:`
            keys.sort(key=lambda key: "." in key)
        for key in keys:
            self._body(declaration, key, value[key], value, place, extending)
        if not value:
            message = f"ID {id_} in SLS {self.name} has no state"
            hint = structure_hints.body_hint(id_, value)
            self._warning(message, place, hint, "no-state")
        return declaration

    def _body(
        self,
        declaration: Declaration,
        key: str,
        entries: Value,
        value: dict[Any, Any],
        place: Place,
        extending: bool,
    ) -> None:
        at = key_place(value, key, place)
        # each item of a placed list has a place of its own
        where = at if type(entries) is PlacedList else value_place(value, key, at)
        state, _, function = key.partition(".")
        if state in declaration.bodies:
            other = declaration.bodies[state].place.source
            self._problem(
                f"ID '{declaration.id}' in SLS '{declaration.sls}' "
                f"contains multiple state declarations of the same type ({state})",
                at,
                f"the other one is at {other}; give one of them an ID of its own, with `- name:"
                f" {declaration.id}`",
            )
            return
        named = isinstance(entries, list) and str in map(type, entries)
        if named and structure_hints.is_of_top_file(key, entries):
            self._of_top_file(declaration, key, at)
            return
        body = Body(state, [], at)
        before = len(self.problems)
        if isinstance(entries, str) and not function and extending:
            body.items.append(Item(None, entries, where))
        elif isinstance(entries, list):
            self._items(declaration, body, entries, where, extending)
        elif entries is None and function and not extending:
            self._problem(
                f"ID '{declaration.id}' in SLS '{declaration.sls}' contains a short declaration"
                f" ({key}) with a trailing colon. When not passing any arguments to a state, the"
                " colon must be omitted.",
                at,
                f"write `{declaration.id}: {key}`, or `{key}: []`"
                if structure_hints.FUNCTION.fullmatch(key)
                else f"a function belongs there: `file.managed:` say, with `- name: {key}` below",
            )
        elif entries is not None:
            self._problem(
                f"State '{declaration.id}' in SLS '{declaration.sls}' is not formed as a list, but"
                f" is {structure_hints.kind(entries)}",
                where,
                structure_hints.list_hint(entries, "" if function else str(key)),
            )
        if "." in function:
            state_name = f"state '{declaration.id}' in SLS '{declaration.sls}'"
            if theirs := structure_hints.collection_hint(key):
                self._problem(f"{key} in {state_name} is a module of Ansible's", at, theirs)
            else:
                message = f"{key} in {state_name} names more than a function{IGNORED}"
                hint = f"write `{state}.{function.partition('.')[0]}:`"
                self._warning(message, at, hint, "ignored")
        if function:
            body.items.append(Item(None, function.partition(".")[0], at))
        if not (extending or (self.problems and self._failed(before))):
            self._check_functions(declaration, body, function)
        if not (self.problems and self._failed(before)):
            declaration.bodies[state] = body
        else:  # its mistake is reported; nothing else of it is, nor of those that refer to it
            names = [str(item.value) for item in body.items if item.key in ("name", "names")]
            self.lost += [declaration.id, *names]

    def _of_top_file(self, declaration: Declaration, key: str, at: Place) -> None:
        self._problem(
            f"'{key}' in state '{declaration.id}' in SLS '{declaration.sls}' is a target of a"
            " top file, and no state",
            at,
            "the top file is top.sls, or what `state_top` in the configuration names",
        )
        self.lost.append(declaration.id)

    def _failed(self, since: int) -> bool:
        return len(self.problems) > since and any(
            problem.severity == "error" for problem in self.problems[since:]
        )

    def _items(
        self,
        declaration: Declaration,
        body: Body,
        entries: list[Any],
        where: Place,
        extending: bool,
    ) -> None:
        for index, entry in enumerate(entries):
            if type(entry) is PlacedMap and len(entry) == 1:  # as most are
                ((key, value),) = entry.items()
                if value is None and key in KINDS and index + 1 < len(entries):
                    self._nothing_below(declaration, key, entries[index + 1], entry.key_place(key))
                body.items.append(Item._make((str(key), value, entry.key_place(key), "")))
                continue
            at = item_place(entries, index, where)
            state_name = f"state '{declaration.id}' in SLS '{declaration.sls}'"
            if isinstance(entry, str):
                body.items.append(Item(None, entry, at))
            elif isinstance(entry, dict):
                items = [
                    Item(str(key), value, key_place(entry, key, at)) for key, value in entry.items()
                ]
                body.items += (
                    items
                    if extending or len(items) == 1
                    else self._alone(items, state_name, entries)
                )
            else:
                what = f"{entry!r} among" if not isinstance(entry, list) else "a list among"
                message = f"{what} the arguments of {state_name}{IGNORED}"
                self._warning(
                    message, at, "an argument is written `- NAME: VALUE`", "unknown-argument"
                )

    def _nothing_below(self, declaration: Declaration, key: str, next_: Any, at: Place) -> None:
        """Report an empty requisite; what stands behind it was probably to stand below it."""
        hint = f"write `- {key}:` and below it, indented, `- MODULE: ID`"
        if isinstance(next_, dict | str) and next_:
            shown = next_ if isinstance(next_, str) else "{}: {}".format(*next(iter(next_.items())))
            hint = f"indent `- {shown}` by two more spaces, if it belongs to `- {key}:`"
        self._problem(structure_hints.no_list(key, declaration.id, declaration.sls, None), at, hint)

    def _alone(self, items: list[Item], where: str, entries: list[Any]) -> list[Item]:
        """The items of one dash; as with Salt, nothing stands beside a requisite, and an order
        number comes first.
        """
        for above, item in itertools.pairwise(items):
            # what a template left empty was not forgotten
            if above.value is None and "{" not in source_lines.row_of(above.place.source):
                message = f"`{above.key}` of {where} is empty: `{item.key}` stands beside it"
                hint = f"indent it by two more spaces, if it belongs to `{above.key}`"
                hint = structure_hints.mistyped_dash(item.key, item.value) or hint
                self._warning(message, item.place, hint, "structure")
                break
        if items and items[0].key in KINDS:
            second = items[1]
            hint = f"give `{second.key}` a dash of its own: `- {second.key}: ...`"
            hint = structure_hints.mistyped_dash(second.key, second.value) or hint
            self._problem(
                f"Multiple dictionaries defined in argument of {where}", second.place, hint
            )
        ordered = any(
            isinstance(entry, dict) and next(iter(entry), "") == "order" for entry in entries
        )
        late = [] if ordered else [item for item in items[1:] if item.key == "order"]
        for item in late:
            hint = f"give it a dash of its own: `- order: {item.value}`"
            self._warning(
                f"order behind another argument of {where}{IGNORED}", item.place, hint, "ignored"
            )
        return [item for item in items if item not in late]

    def _check_functions(self, declaration: Declaration, body: Body, function: str) -> None:
        functions = [item for item in body.items if item.key is None]
        if len(functions) > 1:
            extra = (
                next((item for item in functions if item.place != body.place), functions[-1])
                if function
                else functions[1]
            )
            self._problem(
                f"Too many functions declared in state '{declaration.id}' in SLS"
                f" '{declaration.sls}'. Please choose one of the following:"
                f" {', '.join(item.value for item in functions)}",
                extra.place,
                structure_hints.argument(extra.value)
                or structure_hints.not_indented(extra, body.items)
                or f"take `{extra.value}` away, give it an ID of its own, or write it as an"
                f" argument: `- {extra.value}: VALUE`",
            )
        elif not functions:
            self._problem(
                f"No function declared in state '{declaration.id}' in SLS '{declaration.sls}':"
                f" {body.state}",
                body.place,
                structure_hints.no_function_hint(body.state),
            )

    # -------------------------------------------------- extend and exclude

    def _extend(self, value: dict[Any, Any], place: Place) -> None:
        extend, where = value["extend"], value_place(value, "extend", place)
        if not isinstance(extend, dict):
            what = (
                f"Extension value in SLS '{self.name}' is not a dictionary, but"
                f" {structure_hints.kind(extend)}"
            )
            hint = (
                "write `extend:` and below it, indented and without a dash,"
                f" `{structure_hints.first_key(extend)}:`"
            )
            self._problem(what, where, hint)
            return
        for key, body in extend.items():
            declaration = self._declaration(
                str(key), body, key_place(extend, key, where), extending=True
            )
            if declaration is not None:
                self.extends.append(declaration)

    def _exclude(self, value: dict[Any, Any], place: Place) -> None:
        excludes, where = value["exclude"], value_place(value, "exclude", place)
        if not isinstance(excludes, list):
            hint = "write `exclude:` and below it, indented, `- sls: NAME` or `- id: ID`"
            self._problem(
                f"Exclude Declaration in SLS {self.name} is not formed as a list", where, hint
            )
            return
        for index, entry in enumerate(excludes):
            at = item_place(excludes, index, where)
            single = isinstance(entry, dict) and len(entry) == 1
            kind, name = next(iter(entry.items())) if single else ("", entry)
            if kind in ("", "sls", "id") and isinstance(name, str):
                self.excludes.append((kind, name, at))
            else:
                hint = "write `- NAME`, `- sls: NAME` or `- id: ID`, each on a line of its own"
                self._problem(f"Invalid exclude {entry!r} in SLS {self.name}", at, hint)
