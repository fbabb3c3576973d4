# SPDX-License-Identifier: Apache-2.0
"""runner's own modules: found with few calls, and executed when something of them is asked for.

`from runner.output import json_` at the top of a file costs a look for the file, which is executed
by the first `json_.dumped`; `from runner.output.json_ import dumped` executes it at once. So
imports stand at the top, and a run executes only what it needs. The same holds for packages.

The search is what `importlib` does with a package of one folder, with the same checks of the
compiled file against its source, but without its many steps (four finders, seven endings of a
name, each in Python). Whatever is not as usual is left to it.
"""

from __future__ import annotations

import io
import marshal
import os
import sys
from _thread import RLock  # threading imports more
from collections.abc import Sequence
from importlib._bootstrap_external import MAGIC_NUMBER  # importlib.util imports more
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType, MethodType, ModuleType
from typing import Any

_COMPILED = f".{sys.implementation.cache_tag}.pyc"
_USUAL = sys.pycache_prefix is None and not sys.flags.optimize  # compiled files lie where they do
_EXECUTING = RLock()  # one for all: no import goes in a circle, so none waits for who waits for it
_namespace: Any = vars(ModuleType)["__dict__"].__get__  # of a module, without executing it


class NotYet(ModuleType):
    """A module that is executed when somebody asks for what its place does not say."""

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
        _execute(self)
        return self.__dict__

    @property
    def __doc__(self) -> str | None:  # type: ignore[override]
        _execute(self)
        return self.__doc__

    def __getattr__(self, name: str) -> Any:
        module = _submodule(self, name)
        if module is not None:
            return module
        _execute(self)
        return getattr(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        """A package gets its modules without being executed."""
        if not isinstance(value, ModuleType):
            _execute(self)
        ModuleType.__setattr__(self, name, value)


class _Executing(ModuleType):
    """A module that a thread executes: others wait until it is whole."""

    def __getattribute__(self, name: str) -> Any:
        with _EXECUTING:
            return ModuleType.__getattribute__(self, name)


def _become(kind: type[ModuleType], module: ModuleType) -> None:
    object.__setattr__(module, "__class__", kind)


def _execute(module: ModuleType) -> None:
    """Execute a module. One that fails is as before, so that it fails alike each time."""
    with _EXECUTING:
        if type(module) is not NotYet:
            return
        namespace = _namespace(module)
        before = dict(namespace)
        _become(_Executing, module)
        if "__path__" in namespace:
            namespace["__getattr__"] = MethodType(_asked_of_package, module)
        try:
            exec(namespace["__loader__"].get_code(namespace["__name__"]), namespace)
        except BaseException:
            namespace.clear()
            namespace.update(before)
            _become(NotYet, module)
            raise
        _become(ModuleType, module)


def _asked_of_package(package: ModuleType, name: str) -> ModuleType:
    """The `__getattr__` of a package: `importlib` would take ten times as long."""
    module = _submodule(package, name)
    if module is None:
        raise AttributeError(f"module {package.__name__!r} has no attribute {name!r}")
    return module


def _submodule(package: ModuleType, name: str) -> ModuleType | None:
    """A module of a package, which is no reason to execute either; None where it has none."""
    namespace = _namespace(package)
    if "__path__" not in namespace or name[:2] == "__":
        return None
    spec = _spec(f"{namespace['__name__']}.{name}", namespace["__path__"][0], name)
    if spec is None:
        return None
    new = NotYet(spec.name)
    _namespace(new).update(
        __spec__=spec,
        __loader__=spec.loader,
        __package__=spec.parent,
        __file__=spec.origin,
        __cached__=spec.cached,
    )
    if spec.submodule_search_locations is not None:
        _namespace(new)["__path__"] = spec.submodule_search_locations
    module = sys.modules.setdefault(spec.name, new)  # of two threads, one is the first
    setattr(package, name, module)
    return module


class _CompiledLoader(SourceFileLoader):
    """Loads a module from a compiled file beside its source."""

    def __init__(self, name: str, path: str, compiled: str, source: os.stat_result) -> None:
        self.name, self.path = name, path
        self._compiled = compiled
        self._source = source

    def exec_module(self, module: ModuleType) -> None:
        """Have a module executed when it is asked for something."""
        _become(NotYet, module)

    def get_code(self, fullname: str) -> CodeType | None:
        """The code of a compiled file that is of its source, as that was when it was found; else
        what `importlib` makes of the source.
        """
        try:
            with io.open_code(self._compiled) as file:
                data = file.read()
        except OSError:
            return super().get_code(fullname)
        written = (int(self._source.st_mtime) & 0xFFFFFFFF).to_bytes(4, "little")
        size = (self._source.st_size & 0xFFFFFFFF).to_bytes(4, "little")
        if data[:16] == MAGIC_NUMBER + bytes(4) + written + size and _USUAL:
            code = marshal.loads(memoryview(data)[16:])
            if isinstance(code, CodeType) and code.co_filename == self.path:
                return code
        return super().get_code(fullname)


def _spec(name: str, folder: str, own: str) -> ModuleSpec | None:
    """What is to be known of a module; None where there is no plain file."""
    below = None
    try:
        source = os.stat(file := f"{folder}/{own}.py")
    except OSError:
        below, folder, own = [f"{folder}/{own}"], f"{folder}/{own}", "__init__"
        try:
            source = os.stat(file := f"{folder}/__init__.py")
        except OSError:
            return None
    compiled = f"{folder}/__pycache__/{own}{_COMPILED}"
    loader = _CompiledLoader(name, file, compiled, source)
    spec = ModuleSpec(name, loader, origin=file, is_package=below is not None)
    spec.submodule_search_locations = below
    spec.has_location = True
    spec.cached = compiled
    return spec


class OwnModules:
    """A finder of what lies in packages below a folder."""

    def __init__(self, folder: str) -> None:
        self._packages = tuple(f"{folder}/{name}/" for name in ("runner", "states", "modules"))

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return where a module is; None for one that is not runner's, or not a plain file."""
        if path is None or len(path) != 1 or not f"{path[0]}/".startswith(self._packages):
            return None
        return _spec(name, path[0], name.rpartition(".")[2])


def find_own_modules(folder: str) -> None:
    """Find the modules of the packages in a folder like that from now on."""
    if not any(isinstance(finder, OwnModules) for finder in sys.meta_path):
        os.register_at_fork(  # a child has no thread that would release it
            before=_EXECUTING.acquire,
            after_in_parent=_EXECUTING.release,
            after_in_child=_EXECUTING.release,
        )
        sys.meta_path.insert(0, OwnModules(folder))
