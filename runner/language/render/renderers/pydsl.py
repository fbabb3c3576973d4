# SPDX-License-Identifier: Apache-2.0
"""The pydsl renderer: an SLS that is a Python program, which builds its states by
`state(ID).module.function()`.

Behaviour: the examples of Salt's documentation, as Salt 3007 renders them (3008 no longer has the
renderer).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from copy import deepcopy
from types import ModuleType
from typing import TYPE_CHECKING, Any

from runner.language.render.renderers.files import read_text
from runner.language.render.renderers.python import execute, namespace
from runner.model.diagnostics import did_you_mean
from runner.model.errors import RenderError
from runner.model.places import Document, PlacedList, PlacedMap, Source, Untyped
from runner.model.requisite_kinds import REQUISITE_KEYS

if TYPE_CHECKING:
    from runner.language.render import Scope

Target = dict[str, str]
# cmd.call and cmd.wait_call take what is behind the Python function as the arguments of that
# function
CALLING = frozenset(["call", "wait_call"])


def run(text: str, scope: Scope) -> PlacedMap:
    """The high data of the SLS. Raises RenderError with the line that failed."""
    programs = scope.renderer.programs
    key = (scope.path, scope.saltenv)
    if key not in programs or programs[key].text != text:
        program = _Program(text, scope)
        program.run()
        programs[key] = program
    high: PlacedMap = programs[key].high
    return deepcopy(high)  # whoever compiles it changes it


class _Function:
    """A function of a state module, with what it is called with: `state('x').pkg.installed`."""

    def __init__(self, module: _PydslModule, name: str) -> None:
        self._module = module
        self._name = name
        self._line = module._program.line()
        self._arguments: dict[str, tuple[Any, int]] = {}
        self._requisites: dict[str, list[tuple[Target, int]]] = {}

    def __call__(self, *positional: Any, **named: Any) -> _Function:
        program = self._module._program
        if (
            self._module._name == "cmd"
            and self._name in CALLING
            and positional
            and callable(positional[0])
        ):
            function, *arguments = positional
            name = getattr(function, "__name__", "call")
            self._set({"name": name, "args": arguments, "kws": named})
            self._arguments["func"] = (function, program.line())
            return self
        if len(positional) > 1:
            what = f"{self._module._name}.{self._name} takes one argument by its place, the name"
            raise program.mistake(
                what, f"write all else by name: {self._name}('NAME', argument='value')"
            )
        self._set(({"name": positional[0]} if positional else {}) | named)
        return self

    def __getattr__(self, kind: str) -> Callable[..., _Function]:
        if kind.startswith("_"):
            raise AttributeError(kind)
        if kind not in REQUISITE_KEYS:
            hint = (
                did_you_mean(kind, REQUISITE_KEYS)
                or "behind a function come requisites: .require(pkg='nginx')"
            )
            raise self._module._program.mistake(f"{kind!r} is not a requisite", hint)

        def add(*states: Any, **targets: Any) -> _Function:
            self._require(kind, states, targets)
            return self

        return add

    def _set(self, arguments: Mapping[str, Any]) -> None:
        program = self._module._program
        for name, value in arguments.items():
            self._arguments[name] = (_data(value, name, program), program.line())

    def _require(self, kind: str, states: tuple[Any, ...], targets: Mapping[str, Any]) -> None:
        program = self._module._program
        for named in states:
            module_ = named._module if isinstance(named, _Function) else named
            if not isinstance(module_, _PydslModule):
                hint = f"write .{kind}(pkg='ID'), or .{kind}(state('ID').pkg)"
                raise program.mistake(f"{named!r} names no state", hint)
            module_._mentioned = True
            self._add(kind, {module_._name: module_._state.id})
        for module, id in targets.items():
            if not isinstance(id, str):
                hint = f"write one ID as a text, and call .{kind}() once more for the next"
                raise program.mistake(f"{module}={id!r} names no state", hint)
            self._add(kind, {module: id})

    def _add(self, kind: str, target: Target) -> None:
        listed = self._requisites.setdefault(kind, [])
        if target not in [known for known, _ in listed]:
            listed.append((target, self._module._program.line()))

    def _merge(self, other: _Function) -> None:
        """Take over what another one says."""
        self._arguments.update(other._arguments)
        for kind, targets in other._requisites.items():
            listed = self._requisites.setdefault(kind, [])
            listed.extend(item for item in targets if item not in listed)

    def _body(self, document: Document) -> PlacedList:
        """The arguments as YAML would give them."""
        body = PlacedList(document, (self._line, 1))
        requisites = {kind: list(targets) for kind, targets in self._requisites.items()}
        for name, (value, line) in self._arguments.items():
            if name in requisites and isinstance(value, list):
                value = [
                    *value,
                    *(known for known, _ in requisites.pop(name) if known not in value),
                ]
            _append(body, name, value, line)
        for kind, targets in requisites.items():
            listed = PlacedList(document, (targets[0][1], 1))
            for target, line in targets:
                listed.append(target)
                listed.items_at.append((line, 1))
            _append(body, kind, listed, targets[0][1])
        return body

    def __repr__(self) -> str:
        return f"{self._module!r}.{self._name}"


class _PydslModule:
    """The states of one module under an ID: `state('x').pkg`. A module has one function at most."""

    def __init__(self, state: _PydslState, name: str) -> None:
        self._state = state
        self._program = state._program
        self._name = name
        self._line = self._program.line()
        self._mentioned = False
        self._function: _Function | None = None

    def __call__(self, *positional: Any, **named: Any) -> _Function:
        if not positional or not isinstance(positional[0], str):
            what = f"{self!r}() needs the name of a function"
            raise self._program.mistake(what, f"write {self!r}('FUNCTION'), or {self!r}.FUNCTION()")
        return self._named(positional[0])(*positional[1:], **named)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in REQUISITE_KEYS:
            return getattr(self._made(), name)
        return self._named(name)

    def _made(self) -> _Function:
        """The function, which may still be without a name."""
        if self._function is None:
            self._function = _Function(self, "")
            self._program.created(self._function)
        return self._function

    def _named(self, name: str) -> _Function:
        function = self._made()
        if function._name not in ("", name):
            what = f"{self!r} has the function {function._name} already, and gets {name}"
            raise self._program.mistake(
                what, "an ID has one state of each module: give this one another ID"
            )
        function._name = name
        return function

    def _target(self) -> Target:
        return {self._name: self._state.id}

    def __repr__(self) -> str:
        return f"{self._state!r}.{self._name}"


class _PydslState:
    """The result of `state('ID')`: an attribute for each state module."""

    def __init__(self, program: _Program, id: str) -> None:
        self._program = program
        self.id = id
        self._line = program.line()
        self._modules: dict[str, _PydslModule] = {}

    def __getattr__(self, module: str) -> _PydslModule:
        if module.startswith("_"):
            raise AttributeError(module)
        if module not in self._modules:
            self._modules[module] = _PydslModule(self, module)
        return self._modules[module]

    def __call__(self) -> None:
        hint = (
            "remove the call, then its states run in their turn; to ask the machine while the"
            " SLS is compiled there is __salt__"
        )
        raise self._program.mistake(
            f"{self!r}() would execute states while the SLS is compiled", hint
        )

    def _merge(self, other: _PydslState) -> None:
        """Take over what another one of the same ID says."""
        for name, module in other._modules.items():
            function = module._function
            if function is not None and name in self._modules:
                own = (
                    getattr(self, name)._named(function._name)
                    if function._name
                    else getattr(self, name)._made()
                )
                own._merge(function)
            else:
                self._modules[name] = module

    def _states(self, document: Document, extends: bool = False) -> PlacedMap:
        """The states of the ID as YAML would give them; those that extend need no function."""
        made = PlacedMap(document, (self._line, 1))
        for name, module in self._modules.items():
            function = module._function
            if function is None and module._mentioned:  # it means a state of another SLS
                continue
            if function is None or not (function._name or extends):
                source = Source(self._program.path, module._line)
                raise RenderError(
                    f"{module!r} names no function",
                    source,
                    f"call one of it: {module!r}.FUNCTION()",
                )
            state = f"{name}.{function._name}" if function._name else name
            made[state] = function._body(document)
            made.at[state] = (function._line, 1, function._line, 1)
        return made

    def __repr__(self) -> str:
        return f"state({self.id!r})"


class _Settings:
    """`__pydsl__`."""

    def __init__(self, program: _Program) -> None:
        self._program = program

    def set(self, **settings: Any) -> None:
        """Set `ordered`: from here on each new state requires the one before it."""
        for name, value in settings.items():
            if name != "ordered":
                raise self._program.mistake(
                    f"__pydsl__ has no setting {name!r}", "there is `ordered`"
                )
            self._program.current.ordered = bool(value)


class _Program:
    """One SLS while it runs."""

    def __init__(self, text: str, scope: Scope) -> None:
        self.text = text
        self._scope = scope
        self.path = scope.path
        self.sls = str(scope.names.get("sls") or "sls")
        self.module = ModuleType(self.sls)
        self.high = PlacedMap(Untyped(scope.path), (1, 1))
        self.ordered = False
        self._states: dict[str, _PydslState] = {}
        self._extending: dict[str, _PydslState] = {}
        self._unnamed = 0
        self._last: _Function | None = None

    # -------------------------------------------------- running

    def run(self) -> None:
        """Run the program; its high data are in `high` then."""
        vars(self.module).update({**namespace(self._scope), **self._names(), "__name__": self.sls})
        running = self._scope.renderer.running_programs
        running.append(self)
        try:
            execute(self.text, self.path, vars(self.module))
        finally:
            running.pop()
        self._declare()

    def _names(self) -> dict[str, Any]:
        """The names that pydsl adds to a program; errors name these functions as it does."""

        def state(id: Any = None) -> _PydslState:
            return self.current.state(id)

        def include(*names: Any, delayed: bool = False) -> Any:
            return self.current.include(names, delayed)

        def extend(*functions: Any) -> None:
            self.current.extend(functions)

        for function in (state, include, extend):
            function.__qualname__ = function.__name__
        return {"state": state, "include": include, "extend": extend, "__pydsl__": _Settings(self)}

    @property
    def current(self) -> _Program:
        """The program that runs now: a function of this one may be called by an SLS that includes
        it.
        """
        running = self._scope.renderer.running_programs
        innermost: _Program = running[-1] if running else self
        return innermost

    def line(self) -> int:
        """The line of the running program."""
        path = self.current.path
        frame = sys._getframe(1)
        while frame.f_back is not None and frame.f_code.co_filename != path:
            frame = frame.f_back
        return frame.f_lineno if frame.f_code.co_filename == path else 1

    def mistake(self, what: str, hint: str) -> RenderError:
        """An error at the line that is being run."""
        return RenderError(what, Source(self.current.path, self.line()), hint, "python")

    # -------------------------------------------------- what it declares

    def state(self, id: Any) -> _PydslState:
        """The state of an ID, the same one for the same ID; without an ID a new one."""
        if id is None:
            self._unnamed += 1
            id = f".{self.sls.replace('.', '/')}:{self._unnamed}"
        if not isinstance(id, str):
            raise self.mistake(
                f"the ID of a state is a text, not {id!r}", f"write state({str(id)!r})"
            )
        if id not in self._states:
            self._states[id] = _PydslState(self, id)
        return self._states[id]

    def created(self, function: _Function) -> None:
        """Note a new function; in an ordered SLS it requires the one before it."""
        if not self.ordered:
            return
        if self._last is not None:
            function._add("require", self._last._module._target())
        self._last = function

    def include(self, names: tuple[Any, ...], delayed: bool) -> Any:
        """Include SLS files; the Python modules of those that are written in pydsl, None for the
        others.
        """
        at = (self.line(), 1)
        listed = self.high.setdefault("include", PlacedList(self.high.document, at))
        for name in names:
            if not isinstance(name, str):
                raise self.mistake(
                    f"include() takes names of SLS files, not {name!r}", "include('web', 'db')"
                )
            listed.append(name)
            listed.items_at.append(at)
        if delayed:
            return None
        modules = [self._imported(name) for name in names]
        return modules[0] if len(modules) == 1 else modules

    def _imported(self, name: str) -> ModuleType | None:
        """The module of names that the program of an included SLS defines."""
        renderer = self._scope.renderer
        sls = self._absolute(name)
        for below in (".sls", "/init.sls"):
            path = renderer.find(sls.replace(".", "/") + below, self._scope.saltenv)
            if path is not None:
                break
        else:
            return (
                None  # whoever compiles the include finds it missing, too, and says where it looked
            )
        running = {program.path: program.module for program in renderer.running_programs}
        unfinished: ModuleType | None = running.get(path)
        if unfinished is not None:  # the two include each other
            return unfinished
        steps, _ = renderer.pipe(read_text(path, renderer.opts), path)
        if "pydsl" not in [step.name for step in steps]:
            return None
        renderer.rendered_beside(path, sls, self._scope)
        imported: ModuleType = renderer.programs[path, self._scope.saltenv].module
        return imported

    def _absolute(self, name: str) -> str:
        """The SLS that a name means, which may be relative to this one."""
        if not name.startswith("."):
            return name
        rest = name.lstrip(".")
        up = len(name) - len(rest) - (os.path.basename(self.path) == "init.sls")
        package = self.sls.split(".")
        return ".".join([*package[: max(len(package) - up, 0)], rest])

    def extend(self, functions: tuple[Any, ...]) -> None:
        """Make of functions what extends states of other SLS files."""
        for function in functions:
            if not isinstance(function, _Function):
                hint = (
                    "write extend(state('ID').MODULE.FUNCTION(argument='value')), or"
                    " .MODULE.watch(...)"
                )
                raise self.mistake(f"extend() takes functions of states, not {function!r}", hint)
            state = function._module._state
            if self._states.get(state.id) is state:  # not yet extended by the function before it
                del self._states[state.id]
                if state.id in self._extending:
                    self._extending[state.id]._merge(state)
                else:
                    self._extending[state.id] = state

    def _declare(self) -> None:
        """Put what was declared into the high data."""
        if self._extending:
            first = next(iter(self._extending.values()))
            extended = PlacedMap(self.high.document, (first._line, 1))
            for state in self._extending.values():
                _put(extended, state.id, state._states(self.high.document, extends=True))
            self.high["extend"] = extended
        for state in self._states.values():
            body = state._states(self.high.document)
            if body:
                _put(self.high, state.id, body)


def _put(made: PlacedMap, id: str, body: PlacedMap) -> None:
    made[id] = body
    made.at[id] = (*body.start, *body.start)


def _append(body: PlacedList, name: str, value: Any, line: int) -> None:
    item = PlacedMap(body.document, (line, 1))
    item[name] = value
    item.at[name] = (line, 1, line, 1)
    body.append(item)
    body.items_at.append((line, 1))


def _data(value: Any, name: str, program: _Program) -> Any:
    """An argument as YAML would give it."""
    if isinstance(value, Mapping):
        return {key: _data(item, name, program) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_data(item, name, program) for item in value]
    if isinstance(value, _Function | _PydslModule | _PydslState) or callable(value):
        hint = (
            "write texts, numbers, lists and mappings; requisites have methods:"
            " .require(state('ID').pkg)"
        )
        raise program.mistake(f"the argument {name} is {_kind(value)}, not data", hint)
    return value


def _kind(value: Any) -> str:
    return (
        f"the state {value!r}"
        if isinstance(value, _Function | _PydslModule | _PydslState)
        else "a function or a class"
    )
