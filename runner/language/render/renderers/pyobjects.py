# SPDX-License-Identifier: Apache-2.0
"""The pyobjects renderer: an SLS that is a Python program, whose calls are its states.

Behaviour: the examples of Salt's documentation, as Salt 3008 renders them.
"""

from __future__ import annotations

import ast
import builtins
import os
import re
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from runner.language.render.renderers.files import read_text
from runner.language.render.renderers.plain_salt import PlainSalt
from runner.language.render.renderers.python import execute, namespace
from runner.model.diagnostics import did_you_mean
from runner.model.errors import RenderError
from runner.model.places import PlacedMap, Source, Untyped
from runner.model.records import Record
from runner.model.requisite_kinds import REQUISITE_KEYS

if TYPE_CHECKING:
    from runner.language.render import Scope

# lines that are no Python: `import salt://lib.sls`, `from salt://lib.sls import name, other as
# another`
_IMPORT = re.compile(
    r"^(\s*)(?:import[ \t]+(salt://\S+)[ \t]*$|from[ \t]+(salt://\S+)[ \t]+import["
    r" \t]+(\w[^\n#]*))",
    re.M,
)
_OURS = re.compile(
    r"^\s*(from[ \t]+salt\.utils\.pyobjects[ \t]+import|import["
    r" \t]+salt\.utils\.pyobjects\b)[^\n]*",
    re.M,
)


def run(text: str, scope: Scope) -> PlacedMap:
    """The high data of the SLS. Raises RenderError with the line that failed."""
    program = _Program(scope)
    program.run(text, scope.path)
    return program.high


class _Extended(Record):
    """The result of `extend('id')`: the ID of a state that another SLS declares."""

    id: str


class _Reference:
    """`Service('nginx')`, or a state: what a requisite may name and `with` may take."""

    def __init__(self, program: _Program, module: str, id: str, kind: str = "require") -> None:
        if kind not in REQUISITE_KEYS:
            raise ValueError(f"{kind!r} is not a requisite")
        self._program = program
        self._kind = kind
        self.target = {module: id}

    @property
    def requisite(self) -> _Reference:
        """The state as a requisite of another one: `File.managed(...).requisite`."""
        return self

    def __enter__(self) -> _Reference:
        self._program.within.append((self._kind, self.target))
        return self

    def __exit__(self, *_: object) -> None:
        self._program.within.pop()


class _ObjectsModule:
    """`File`, `Pkg`, ...: the states of one module."""

    def __init__(self, program: _Program, name: str) -> None:
        self._program = program
        self._name = name

    def __call__(self, id: str, kind: str = "require") -> _Reference:
        return _Reference(self._program, self._name, id, kind)

    def __getattr__(self, function: str) -> Callable[..., _Reference]:
        if function.startswith("_"):
            raise AttributeError(function)

        def state(*ids: Any, **arguments: Any) -> _Reference:
            if len(ids) != 1:
                raise TypeError(
                    "a state takes one ID by its place, all else by name: Test.nop('ID', name='x')"
                )
            return self._program.state(self._name, function, ids[0], arguments)

        return state


class _Program:
    """One SLS while it runs."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self._importing = 0
        self.within: list[tuple[str, dict[str, str]]] = []
        self.high = PlacedMap(Untyped(scope.path), (1, 1))

    # -------------------------------------------------- running

    def run(self, text: str, path: str) -> dict[str, Any]:
        """Run a program; its variables."""
        known = {**namespace(self._scope), **self._names()}
        text = _OURS.sub("", text)
        text = _IMPORT.sub(lambda line: self._imported(line, known, path), text)
        for name in _capitals(text, path):
            known.setdefault(name, _ObjectsModule(self, _module_name(name)))
        execute(text, path, known)
        return known

    def _names(self) -> dict[str, Any]:
        salt = PlainSalt(self._scope.names["salt"])
        return {
            "include": self._include,
            "extend": _Extended,
            "Map": _map_type(salt),
            "StateFactory": lambda name: _ObjectsModule(self, name),
            "pillar": lambda path, default="": salt["pillar.get"](path, default),
            "grains": lambda path, default="": salt["grains.get"](path, default),
            "mine": lambda *args, **kwargs: salt["mine.get"](*args, **kwargs),
            "config": lambda path, default="": salt["config.get"](path, default),
        }

    def _imported(self, line: re.Match[str], known: dict[str, Any], of: str) -> str:
        """Run another SLS of the tree without its states; return the line of Python for it."""
        indent, url, names = line[1], line[2] or line[3], line[4]
        place = Source(of, line.string.count("\n", 0, line.end(1)) + 1)
        wanted = url.removeprefix("salt://"), self._scope.saltenv
        path = self._scope.renderer.find(*wanted)
        if path is None:
            hint = self._scope.renderer.missing_hint(*wanted)
            raise RenderError(f"{url} does not exist", place, hint)
        _, text = self._scope.renderer.pipe(read_text(path, self._scope.renderer.opts), path)
        self._importing += 1
        exported = self.run(text, path)
        self._importing -= 1
        if not names:
            known[os.path.basename(url).removesuffix(".sls")] = type("module", (), {})()
            vars(known[os.path.basename(url).removesuffix(".sls")]).update(exported)
            return f"{indent}pass"
        for entry in names.split(","):
            name, _, other = entry.strip().partition(" as ")
            if name not in exported:
                raise RenderError(
                    f"{url} has no {name!r}", place, did_you_mean(name, map(str, exported))
                )
            known[other.strip() or name] = exported[name]
        return f"{indent}pass"

    # -------------------------------------------------- what it declares

    def _include(self, *names: Any) -> None:
        if not self._importing:
            self.high.setdefault("include", []).extend(names)

    def state(
        self, module: str, function: str, id: str | _Extended, arguments: dict[str, Any]
    ) -> _Reference:
        """One state, with the requisites of the `with` around it."""
        for kind, target in self.within:
            targets = arguments.get(kind, [])
            arguments[kind] = [
                *(targets if isinstance(targets, list | tuple) else [targets]),
                target,
            ]
        body = [
            {name: _plain(arguments[name], name in REQUISITE_KEYS)} for name in sorted(arguments)
        ]
        place = (self._line(), 1)
        if isinstance(id, _Extended):
            high = self.high.setdefault("extend", PlacedMap(self.high.document, place))
            id = id.id
        else:
            high = self.high
        if not self._importing:
            states = high.setdefault(id, PlacedMap(self.high.document, place))
            high.at.setdefault(id, (*place, *place))
            if f"{module}.{function}" in states:
                raise ValueError(f"there is already a state {module}.{function} with the ID {id!r}")
            states[f"{module}.{function}"] = body
            states.at[f"{module}.{function}"] = (*place, *place)
        return _Reference(self, module, id)

    def _line(self) -> int:
        """The line of this SLS that is being run."""
        frame = sys._getframe(1)
        while frame.f_back is not None and frame.f_code.co_filename != self._scope.path:
            frame = frame.f_back
        return frame.f_lineno if frame.f_code.co_filename == self._scope.path else 1


def _plain(value: Any, requisite: bool) -> Any:
    """An argument as YAML would give it; the targets of a requisite in a list."""
    if isinstance(value, _Reference):
        return [value.target] if requisite else value.target
    if isinstance(value, Mapping):
        return {key: _plain(item, False) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [_plain(item, False) for item in value]
    if isinstance(value, _ObjectsModule) or callable(value):
        raise TypeError("an argument is a function or a module, not data")
    return value


def _capitals(text: str, path: str) -> list[str]:
    """The names of a program that may be state modules."""
    try:
        tree = ast.parse(text, path)
    except SyntaxError:
        return []
    names = {
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id[:1].isupper()
    }
    return [name for name in names if not hasattr(builtins, name)]


def _module_name(name: str) -> str:
    """SshAuth -> ssh_auth."""
    return re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower()


# ---------------------------------------------------------------- class X(Map)


def _map_type(salt: Any) -> type:
    """The base of classes whose inner classes are values for the grains of some machines."""

    class Map:
        def __init_subclass__(cls) -> None:
            for values in _chosen(cls, salt):
                for name, value in values.items():
                    setattr(cls, name, value)

    return Map


def _chosen(cls: type, salt: Any) -> list[Mapping[str, Any]]:
    """The inner classes that mean this machine, and the pillar; the later one wins."""
    priority = list(getattr(cls, "priority", ()))
    fitting: list[tuple[int, dict[str, Any]]] = []
    for name, inner in vars(cls).items():
        if isinstance(inner, type) and not name.startswith("_"):
            grain = getattr(inner, "__grain__", "os_family")
            if salt["grains.get"](grain) == getattr(inner, "__match__", name):
                values = {
                    key: value for key, value in vars(inner).items() if not key.startswith("_")
                }
                fitting.append(
                    (priority.index(grain) if grain in priority else len(priority), values)
                )
    chosen: list[Mapping[str, Any]] = [
        values for _, values in sorted(fitting, key=lambda entry: entry[0])
    ]
    merge = getattr(cls, "merge", "")
    merged = (salt["pillar.get"](merge) if merge else None) or {}
    if not isinstance(merged, Mapping):
        raise TypeError(f"the pillar {merge} is not a mapping")
    return [*chosen, merged]
