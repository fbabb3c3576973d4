"""The stateconf renderer: an SLS with parameters of its own (stateconf.set) and short names for its states.

Behaviour: the examples of Salt's documentation, as Salt 3008 renders them. `.id` is `sls::id`; what stateconf.set says
above the end marker is a variable below it, and a state tree that includes the SLS may `extend` it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from runner.errors import RenderError
from runner.model import REQUISITE_KEYS, RESERVED, Place, PlacedList, PlacedMap, Source, Untyped, item_place, key_place
from runner.records import Record
from runner.render.linemap import Rendered

if TYPE_CHECKING:
    from runner.render import Scope

END = r"#\s*-+\s*end of state config\s*-+"


class Options(Record):
    """What stands behind `#!stateconf`."""

    goal: bool = True
    start: bool = False
    ordered: bool = False
    data: tuple[str, ...] = ("yaml",)
    template: tuple[str, ...] = ("jinja",)


def states(text: Rendered, scope: Scope, arguments: tuple[str, ...]) -> Any:
    """The high data of the SLS. Raises RenderError."""
    options = _options(arguments, scope.path)
    sls = Name(str(scope.names.get("sls", "")))
    known = {**scope.names, "sls_dir": sls.sls.rsplit(".", 1)[0].replace(".", "/")}
    marker = re.search(scope.renderer.opts.get("stateconf_end_marker") or END, text.text)
    if marker:
        head = Rendered(text.text[: marker.start()], text.file)
        known.update(_parameters(_through(head, options, scope, known), sls, scope))
    data = _through(text, options, scope, known)
    if not isinstance(data, dict):
        return data
    placed = data if isinstance(data, PlacedMap) else PlacedMap(Untyped(scope.path), (1, 1))
    placed.update(data)
    return _Sls(placed, sls, scope).high(options)


def _options(arguments: tuple[str, ...], path: str) -> Options:
    switches = "".join(word[1:] for word in arguments if word.startswith("-"))
    words = [word for word in arguments if not word.startswith("-")]
    data, _, template = " ".join(words).partition(" . ")
    usage = "#!stateconf [-G] [-o] [-s] [yaml . jinja]"
    if words and not template:
        raise RenderError("stateconf needs a renderer of data and one of text", Source(path, 1), usage)
    for letter in switches:
        if letter not in "Gos":
            raise RenderError(f"runner's stateconf has no option -{letter}", Source(path, 1), usage)
    chosen = Options("G" not in switches, "s" in switches, "o" in switches)
    return chosen._replace(data=tuple(data.split()), template=tuple(template.split())) if words else chosen


def _through(text: Rendered, options: Options, scope: Scope, names: dict[str, Any]) -> Any:
    from runner.render import Step

    pipe = [Step(words[0], words[1:]) for words in (options.template, options.data)]
    return scope.renderer.through(pipe, text, scope._replace(names=names))


class Name(Record):
    """The name of an SLS, from which others are named."""

    sls: str

    def absolute(self, reference: str) -> str:
        """The ID that a reference means: `.id`, `.other_sls::id`, `..sls_above::id`, or the ID itself."""
        if not reference.startswith("."):
            return reference
        sls, mark, rest = reference.partition("::")
        if mark:
            return f"{self.relative(sls)}::{rest}"
        dots = len(reference) - len(reference.lstrip("."))
        above = self.sls.split(".")[: None if dots == 1 else 1 - dots]
        return f"{'.'.join(above)}::{reference[dots:]}"

    def relative(self, sls: str) -> str:
        """The SLS that `.name` means beside this one (`..name`: one folder up); an init.sls is no exception."""
        if not sls.startswith("."):
            return sls
        dots = len(sls) - len(sls.lstrip("."))
        folder = self.sls.split(".")[:-1]
        return ".".join([*folder[: len(folder) - dots + 1], sls[dots:]])


# ---------------------------------------------------------------- parameters


def _functions(body: Any) -> Iterator[tuple[str, str, Any]]:
    """The states of an ID: (module, function, arguments)."""
    for key, said in body.items() if isinstance(body, dict) else ():
        module, _, function = str(key).partition(".")
        if not function and isinstance(said, list):
            function = next((item for item in said if isinstance(item, str)), "")
        yield module, function, said


def _set(arguments: Any) -> dict[str, Any]:
    """What a stateconf.set says."""
    items = [item for item in arguments or () if isinstance(item, dict)]
    return {key: value for item in items for key, value in item.items()}


def _parameters(data: Any, sls: Name, scope: Scope) -> dict[str, dict[str, Any]]:
    """Each stateconf.set as a variable named like its ID, with what an including SLS says instead."""
    found = {}
    for key, body in data.items() if isinstance(data, dict) else ():
        for module, function, arguments in _functions(body):
            if (module, function) == ("stateconf", "set") and key not in RESERVED:
                instead = scope.renderer.extended.get(sls.absolute(str(key)), {})
                found[str(key).lstrip(".")] = {**_set(arguments), **instead}
    return found


# ---------------------------------------------------------------- the SLS with its long names


class _Sls:
    """Rewrites the data of one SLS; what was typed keeps its place."""

    def __init__(self, data: PlacedMap, sls: Name, scope: Scope) -> None:
        self._data = data
        self._sls = sls
        self._scope = scope
        self._nowhere = Place(Untyped(scope.path), 1, 1)

    def high(self, options: Options) -> PlacedMap:
        """The high data."""
        made = PlacedMap(self._data.document, self._data.start)
        for key, body in self._data.items():
            body = _spelled_out(body, self._data)
            if key == "extend":
                body = self._extend(body)
            elif key == "exclude":
                body = self._exclude(body)
            elif key == "include":
                _replace(body, self._sls.relative)
            else:
                body = self._body(str(key), body)
            name = self._sls.absolute(key) if isinstance(key, str) else key
            made[name] = body
            made.keys_at[name] = self._data.keys_at.get(key, self._data.start)
            made.values_at[name] = self._data.values_at.get(key, self._data.start)
        own = [reference for key in made if key not in RESERVED for reference in _references(key, made[key])]
        if options.ordered:
            self._order(made)
        for key in [key for key in self._data if str(key).startswith(".")]:  # short names come last, as with Salt
            name = self._sls.absolute(str(key))
            made[name] = made.pop(name)
        self._ends(made, own, options)
        return made

    def _ends(self, made: PlacedMap, own: list[dict[str, str]], options: Options) -> None:
        """The states before and after all others."""
        opts = self._scope.renderer.opts
        if options.start:
            start = self._sls.absolute(str(opts.get("stateconf_start_state") or ".start"))
            made[start] = {"stateconf.set": [{"require_in": own[:1]}]}
            own = [*own, {"stateconf": start}]
        if options.goal:
            goal = self._sls.absolute(str(opts.get("stateconf_goal_state") or ".goal"))
            made[goal] = {"stateconf.set": [{"require": own}]}

    def _extend(self, body: Any) -> Any:
        """What is extended, by long names; parameters of another SLS are told to its rendering."""
        made: dict[Any, Any] = _like(body)
        for key, said in body.items() if isinstance(body, dict) else ():
            name = self._sls.absolute(str(key))
            parameters = [args for mod, fun, args in _functions(said) if (mod, fun) == ("stateconf", "set")]
            for arguments in parameters:
                self._scope.renderer.extended.setdefault(name, {}).update(_set(arguments))
            if not parameters:
                _place(made, name, self._body("", said), body, key)
        return made

    def _exclude(self, body: Any) -> Any:
        for item in body if isinstance(body, list) else ():
            if isinstance(item, dict) and isinstance(item.get("sls"), str):
                item["sls"] = self._sls.relative(item["sls"])
            if isinstance(item, dict) and isinstance(item.get("id"), str):
                item["id"] = self._sls.absolute(item["id"])
        return body

    def _body(self, key: str, body: Any) -> Any:
        """The states of an ID: references in full, a name where the ID was short."""
        for (module, function, arguments), state in zip(_functions(body), list(body or ()), strict=False):
            if not isinstance(arguments, list):
                continue
            for item in arguments:
                for kind in REQUISITE_KEYS & item.keys() if isinstance(item, dict) else ():
                    item[kind] = self._requisites(item[kind])
            named = any(isinstance(item, dict) and "name" in item for item in arguments)
            if key.startswith(".") and not named and (module, function) != ("stateconf", "set"):
                body[state] = _with_first(arguments, {"name": key[1:]})
        return body

    def _requisites(self, said: Any) -> Any:
        if not isinstance(said, list):
            return said
        for item in said:
            if isinstance(item, dict):
                for kind, target in item.items():
                    if isinstance(target, str):
                        item[kind] = self._sls.relative(target) if kind == "sls" else self._sls.absolute(target)
        return said

    # -------------------------------------------------- -o: in the order as written

    def _order(self, made: PlacedMap) -> None:
        """Let each state require the one before it."""
        listed = [(key, state) for key in made if key not in RESERVED for state in (made[key] or ())]
        places = {(state.partition(".")[0], key): number for number, (key, state) in enumerate(listed)}
        before: dict[str, str] | None = None
        for number, (key, state) in enumerate(listed):
            arguments = made[key][state]
            if not isinstance(arguments, list):
                continue
            self._check(arguments, number, places, key_place(made, key, self._nowhere))
            if before is not None:
                made[key][state] = _requiring(arguments, before)
            before = {state.partition(".")[0]: key}

    def _check(self, arguments: list[Any], number: int, places: dict[tuple[str, str], int], place: Place) -> None:
        for index, item in enumerate(arguments):
            if not isinstance(item, dict):
                continue
            where = item_place(arguments, index, place).source
            if "names" in item:
                hint = "write a state for each, in a loop of the template"
                raise RenderError("`names` cannot be used with stateconf -o", where, hint)
            for kind in REQUISITE_KEYS & item.keys():
                for target in item[kind] if isinstance(item[kind], list) else ():
                    pair = next(iter(target.items()), ("", "")) if isinstance(target, dict) else ("", "")
                    other = places.get(pair, number)
                    if (other < number) if kind.endswith("_in") else (other > number):
                        side = "before" if kind.endswith("_in") else "after"
                        what = f"{kind} of {pair[0]}: {pair[1]}, which is written {side} this state"
                        raise RenderError(what, where, "stateconf -o runs the states in the order as written")


def _references(key: str, body: Any) -> list[dict[str, str]]:
    return [{module: key} for module, _, _ in _functions(body)]


def _spelled_out(body: Any, document: PlacedMap) -> Any:
    """`.id: pkg.installed` as the mapping that it is short for."""
    if not isinstance(body, str):
        return body
    made = PlacedMap(document.document, document.start)
    made[body] = []
    return made


def _replace(names: Any, function: Callable[[str], str]) -> None:
    """Change the texts of a list in place."""
    for index, item in enumerate(names if isinstance(names, list) else ()):
        if isinstance(item, str):
            names[index] = function(item)


def _like(value: Any) -> Any:
    return PlacedMap(value.document, value.start) if isinstance(value, PlacedMap) else {}


def _place(made: Any, name: str, value: Any, source: Any, key: Any) -> None:
    made[name] = value
    if isinstance(made, PlacedMap) and isinstance(source, PlacedMap):
        made.keys_at[name] = source.keys_at.get(key, source.start)
        made.values_at[name] = source.values_at.get(key, source.start)


def _with_first(arguments: list[Any], item: Any) -> list[Any]:
    """The arguments with one more, at the head (behind the function, where that is an item)."""
    position = 1 if arguments and isinstance(arguments[0], str) else 0
    arguments.insert(position, item)
    if isinstance(arguments, PlacedList):
        arguments.items_at.insert(position, arguments.start)
    return arguments


def _requiring(arguments: list[Any], target: dict[str, str]) -> list[Any]:
    for item in arguments:
        if isinstance(item, dict) and isinstance(item.get("require"), list):
            _with_first(item["require"], target)
            return arguments
    arguments.append({"require": [target]})
    return arguments
