# SPDX-License-Identifier: Apache-2.0
"""The stateconf renderer: an SLS with parameters of its own (stateconf.set) and short names for its
states.

Behaviour: the examples of Salt's documentation, as Salt 3008 renders them. `.id` is `sls::id`; what
stateconf.set says above the end marker is a variable below it, and a state tree that includes the
SLS may `extend` it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from runner.language.render import steps
from runner.language.render.renderers.stateconf_order import order, with_first
from runner.model.chunk import RESERVED
from runner.model.errors import RenderError
from runner.model.places import Place, PlacedMap, Source, Untyped, key_place
from runner.model.records import Record
from runner.model.requisite_kinds import REQUISITE_KEYS
from runner.support.yaml.rendered_text import Rendered

if TYPE_CHECKING:
    from runner.language.render import Scope

END = r"#\s*-+\s*end of state config\s*-+"


class StateconfOptions(Record):
    """The options behind `#!stateconf`."""

    goal: bool = True
    start: bool = False
    ordered: bool = False
    piped: bool = False
    data: tuple[str, ...] = ("yaml",)
    template: tuple[str, ...] = ("jinja",)


def states(value: Any, scope: Scope, arguments: tuple[str, ...]) -> Any:
    """The high data of the SLS. Raises RenderError."""
    options = _options(arguments, scope.path)
    data = value if options.piped else _rendered(value, options, scope)
    if not isinstance(data, dict):
        return data
    placed = data if isinstance(data, PlacedMap) else PlacedMap(Untyped(scope.path), (1, 1))
    placed.update(data)
    return _Sls(placed, Name(str(scope.names.get("sls", ""))), scope).high(options)


def _rendered(text: Rendered, options: StateconfOptions, scope: Scope) -> Any:
    """Render the text with the renderers of stateconf itself."""
    sls = Name(str(scope.names.get("sls", "")))
    known = {**scope.names, "sls_dir": sls.sls.rsplit(".", 1)[0].replace(".", "/")}
    marker = re.search(scope.renderer.opts.get("stateconf_end_marker") or END, text.text)
    if marker:
        head = Rendered(text.text[: marker.start()], text.file)
        known.update(_parameters(_render_pipe(head, options, scope, known), sls, scope))
    data = _render_pipe(text, options, scope, known)
    return {} if data is None else data


def _options(arguments: tuple[str, ...], path: str) -> StateconfOptions:
    switches = "".join(word[1:] for word in arguments if word.startswith("-"))
    words = [word for word in arguments if not word.startswith("-")]
    data, _, template = " ".join(words).partition(" . ")
    usage = "#!stateconf [-G] [-o] [-s] [-p] [yaml . jinja]"
    if words and not template:
        raise RenderError(
            "stateconf needs a renderer of data and one of text", Source(path, 1), usage
        )
    for letter in switches:
        if letter not in "Gops":
            raise RenderError(f"runner's stateconf has no option -{letter}", Source(path, 1), usage)
    chosen = StateconfOptions(
        "G" not in switches, "s" in switches, "o" in switches, "p" in switches
    )
    return (
        chosen._replace(data=tuple(data.split()), template=tuple(template.split()))
        if words
        else chosen
    )


def _render_pipe(
    text: Rendered, options: StateconfOptions, scope: Scope, names: dict[str, Any]
) -> Any:
    pipe = [steps.RendererStep(words[0], words[1:]) for words in (options.template, options.data)]
    return scope.renderer.render_pipe(pipe, text, scope._replace(names=names))


class Name(Record):
    """The name of an SLS, from which others are named."""

    sls: str

    def absolute(self, reference: str) -> str:
        """The ID that a reference means: `.id`, `.below.id`, `.other_sls::id`, `..sls_above::id`,
        or the ID itself.
        """
        if not reference.startswith("."):
            return reference
        sls, mark, rest = reference.partition("::")
        if mark:
            return f"{self.relative(sls)}::{rest}"
        dots = len(reference) - len(reference.lstrip("."))
        above = self.sls.split(".")[: None if dots == 1 else 1 - dots]
        return "::".join(".".join([*above, reference[dots:]]).rsplit(".", 1))

    def relative(self, sls: str) -> str:
        """The SLS that `.name` means beside this one (`..name`: one folder up); an init.sls is no
        exception.
        """
        if not sls.startswith("."):
            return sls
        dots = len(sls) - len(sls.lstrip("."))
        folder = self.sls.split(".")[:-1]
        return ".".join([*folder[: len(folder) - dots + 1], sls[dots:]])


# ---------------------------------------------------------------- parameters


def _functions(body: Any) -> Iterator[tuple[str, str, Any]]:
    """The states of an ID: (module, function, arguments)."""
    for key, arguments in body.items() if isinstance(body, dict) else ():
        module, _, function = str(key).partition(".")
        if not function and isinstance(arguments, list):
            function = next((item for item in arguments if isinstance(item, str)), "")
        yield module, function, arguments


def _sets(module: str, function: str) -> bool:
    """Return whether it is stateconf.set; where it is extended, its module says enough."""
    return module == "stateconf" and function in ("set", "")


def _set(arguments: Any) -> dict[str, Any]:
    """The values of a stateconf.set."""
    items = [item for item in arguments or () if isinstance(item, dict)]
    return {key: value for item in items for key, value in item.items()}


def _parameters(data: Any, sls: Name, scope: Scope) -> dict[str, dict[str, Any]]:
    """Each stateconf.set as a variable named like its ID, overridden by an including SLS."""
    parameters = {}
    for key, body in data.items() if isinstance(data, dict) else ():
        for module, function, arguments in _functions(body):
            if _sets(module, function) and key not in RESERVED:
                instead = scope.renderer.extended.get(sls.absolute(str(key)), {})
                parameters[str(key).lstrip(".")] = {**_set(arguments), **instead}
    return parameters


# ---------------------------------------------------------------- the SLS with its long names


class _Sls:
    """Rewrites the data of one SLS; what was typed keeps its place."""

    def __init__(self, data: PlacedMap, sls: Name, scope: Scope) -> None:
        self._data = data
        self._sls = sls
        self._scope = scope
        self._nowhere = Place(Untyped(scope.path), 1, 1)

    def high(self, options: StateconfOptions) -> PlacedMap:
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
            name = self._named(key, options)
            made[name] = body
            made.at[name] = self._data.where(key)
        own = [
            reference
            for key in made
            if key not in RESERVED
            for reference in [{module: key} for module, _, _ in _functions(made[key])]
        ]
        if options.ordered:
            order(made, self._nowhere)
        # short names come last, as with Salt
        for key in [key for key in self._data if str(key).startswith(".")]:
            name = self._sls.absolute(str(key))
            made[name] = made.pop(name)
        self._ends(made, own, options)
        return made

    def _named(self, key: Any, options: StateconfOptions) -> Any:
        """The full ID. Raises RenderError for one in use, and for those stateconf makes itself."""
        if not isinstance(key, str) or not key.startswith("."):
            return key
        name = self._sls.absolute(key)
        made = [
            word for word, wanted in ((".start", options.start), (".goal", options.goal)) if wanted
        ]
        if name in self._data or key in [self._end(word) for word in made]:
            what = (
                f"ID {name} is declared too"
                if name in self._data
                else "stateconf makes this state itself"
            )
            hint = (
                "give it another ID"
                if name in self._data or key != self._end(".goal")
                else "-G makes no .goal"
            )
            raise RenderError(
                f"the ID {key} is {name} in full: {what}", self._key_source(key), hint
            )
        return name

    def _end(self, word: str) -> str:
        return str(self._scope.renderer.opts.get(f"stateconf_{word[1:]}_state") or word)

    def _key_source(self, key: str) -> Source:
        return key_place(self._data, key, self._nowhere).source

    def _ends(self, made: PlacedMap, own: list[dict[str, str]], options: StateconfOptions) -> None:
        """The states before and after all others."""
        if options.start:
            start = self._sls.absolute(self._end(".start"))
            made[start] = {"stateconf.set": [{"require_in": own[:1]}]}
            own = [*own, {"stateconf": start}]
        if options.goal:
            goal = self._sls.absolute(self._end(".goal"))
            made[goal] = {"stateconf.set": [{"require": own}]}

    def _extend(self, body: Any) -> Any:
        """The extended states, by long names; parameters of another SLS go to its rendering."""
        made: dict[Any, Any] = _like(body)
        for key, states in body.items() if isinstance(body, dict) else ():
            name = self._sls.absolute(str(key))
            for module, function, arguments in _functions(states):
                if _sets(module, function):
                    self._scope.renderer.extended.setdefault(name, {}).update(_set(arguments))
            _place(made, name, self._body("", states), body, key)
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
        for (module, _, arguments), state in zip(_functions(body), list(body or ()), strict=False):
            if not isinstance(arguments, list):
                continue
            for item in arguments:
                for kind in REQUISITE_KEYS & item.keys() if isinstance(item, dict) else ():
                    item[kind] = self._requisites(item[kind])
            named = any(isinstance(item, dict) and "name" in item for item in arguments)
            if key.startswith(".") and not named and module != "stateconf":
                body[state] = with_first(arguments, {"name": key[1:]})
        return body

    def _requisites(self, requisites: Any) -> Any:
        if not isinstance(requisites, list):
            return requisites
        for item in requisites:
            if isinstance(item, dict):
                for kind, target in item.items():
                    if isinstance(target, str):
                        item[kind] = (
                            self._sls.relative(target)
                            if kind == "sls"
                            else self._sls.absolute(target)
                        )
        return requisites


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
        made.at[name] = source.where(key)
