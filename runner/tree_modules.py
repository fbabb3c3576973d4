"""Modules of a tree (_states, _modules, _grains, _utils), loaded by path with what Salt gives them."""

from __future__ import annotations

import builtins
import importlib.util
import keyword
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from importlib.machinery import SourceFileLoader
from types import FunctionType, ModuleType
from typing import Any, Protocol

from runner.errors import RunnerError
from runner.model import Source


class UnavailableError(RunnerError):
    """A module is there but cannot work (yet)."""

    code = "unavailable"

    def __init__(self, message: str, reason: str = "", hint: str | None = None, source: Source | None = None):
        super().__init__(message, source, hint)
        self.reason = reason or message


class Library(Protocol):
    """What tree modules see of the registry."""

    opts: Mapping[str, Any]

    def function(self, name: str) -> Callable[..., Any]: ...
    def modules(self) -> list[str]: ...
    def functions(self, module: str) -> list[str]: ...
    def utility(self, name: str) -> Callable[..., Any]: ...
    def state(self, name: str) -> Any: ...
    def state_modules(self) -> list[str]: ...
    def state_functions(self, module: str) -> list[str]: ...


class _Loader(SourceFileLoader):
    """Leaves no __pycache__ in the user's tree."""

    def set_data(self, path: str, data: object, *, _mode: int = 0o666) -> None:
        return None


_VIRTUAL = r"(?m)^__virtualname__\s*=\s*['\"]([\w]+)['\"]"


class TreeModules:
    """The modules of one kind, by the names that they go by."""

    def __init__(self, kind: str, folders: list[str], library: Library) -> None:
        self._kind = kind
        self._library = library
        self._files: dict[str, list[str]] = {}
        self._loaded: dict[str, ModuleType | UnavailableError] = {}
        for folder in folders:
            self._index(folder)

    def _index(self, folder: str) -> None:
        if not os.path.isdir(folder):
            return
        for entry in sorted(os.listdir(folder)):
            path = os.path.join(folder, entry)
            if os.path.isdir(path):
                path = os.path.join(path, "__init__.py")
            if entry.startswith(("_", ".")) or not path.endswith(".py") or not os.path.isfile(path):
                continue
            with open(path, encoding="utf-8", errors="replace") as file:
                said = re.search(_VIRTUAL, file.read())
            name = said[1] if said else virtual_name(entry.removesuffix(".py"))
            self._files.setdefault(name, []).append(path)

    def names(self) -> list[str]:
        """The names of the modules, loaded or not."""
        return list(self._files)

    def all(self) -> Iterator[tuple[str, ModuleType | Callable[[], Any]]]:
        """The modules that are for this machine; for one that lacks what it imports a function that raises that."""
        for name in sorted(self._files):
            try:
                module = self.load(name)
            except UnavailableError as reason:
                if isinstance(reason.__cause__, ImportError):
                    yield name, partial(_raise, reason.__cause__)
            else:
                if module:
                    yield name, module

    def load(self, name: str) -> ModuleType | None:
        """The module of a name; None when the tree has none. Raises UnavailableError with the modules' own reasons."""
        problems: list[UnavailableError] = []
        for path in self._files.get(name, ()):
            if path not in self._loaded:
                self._loaded[path] = self._prepared(name, path)
            module = self._loaded[path]
            if isinstance(module, ModuleType):
                return module
            problems.append(module)
        if problems:
            raise problems[0]
        return None

    def _prepared(self, name: str, path: str) -> ModuleType | UnavailableError:
        try:
            module = self._import(name, path)
            with _blaming(path):
                answer = module.__virtual__() if hasattr(module, "__virtual__") else True
        except UnavailableError as problem:
            return problem
        except ImportError as problem:
            lacks = UnavailableError(f"{path} cannot be loaded: {problem}", str(problem), source=_place(problem, path))
            lacks.__cause__ = problem
            return lacks
        if answer is False or (isinstance(answer, tuple) and answer and answer[0] is False):
            reason = str(answer[1]) if isinstance(answer, tuple) and len(answer) > 1 else "__virtual__ returned False"
            return UnavailableError(f"'{name}' __virtual__ returned False: {reason}", reason, source=Source(path))
        prepare = module.__dict__.get("__init__")
        if isinstance(prepare, FunctionType):
            with _blaming(path):
                prepare(dict(self._library.opts))
        return module

    def _import(self, name: str, path: str) -> ModuleType:
        from runner.salt_package import provide_salt  # only trees with modules of their own need it

        provide_salt()
        full = f"runner_tree_{self._kind}_{name}"
        folder = [os.path.dirname(path)] if path.endswith("/__init__.py") else None
        spec = importlib.util.spec_from_file_location(
            full, path, loader=_Loader(full, path), submodule_search_locations=folder
        )
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        self._inject(module)
        sys.modules[full] = module
        with _blaming(path):
            spec.loader.exec_module(module)
        return module

    def _inject(self, module: ModuleType) -> None:
        from runner import classic

        library = self._library
        salt = classic.Functions(
            lambda name: classic.speaking_salt(library.function(name)),
            lambda: [f"{each}.{one}" for each in library.modules() for one in library.functions(each)],
        )
        states = classic.Functions(
            lambda name: _called_at_once(library.state(name).function),
            lambda: [f"{each}.{one}" for each in library.state_modules() for one in library.state_functions(each)],
        )
        utils = classic.Functions(lambda name: classic.UTILITIES.get(name) or library.utility(name), list)
        classic.inject(module, library.opts, salt, states, utils)


def _raise(error: BaseException) -> None:
    raise error


@contextmanager
def _blaming(path: str) -> Iterator[None]:
    """What the code of a module raises while it is loaded is told with its line."""
    try:
        yield
    except SyntaxError as problem:
        place = Source(problem.filename or path, problem.lineno or 0, problem.offset or 0)
        hint = "Python could not go on here; look at this line and at the one above"
        what = f"{os.path.basename(path)} is not Python: {problem.msg}"
        raise RunnerError(what, place, hint, "module") from problem
    except (ImportError, RunnerError, KeyboardInterrupt):
        raise
    except BaseException as problem:  # sys.exit() too
        text = f"{os.path.basename(path)} fails while it is loaded: {type(problem).__name__}: {problem}"
        hint = "the code of the module itself raised it"
        raise RunnerError(text, _place(problem, path), hint, "module") from problem


def _called_at_once(function: Callable[..., Any]) -> Callable[..., dict[str, Any]]:
    def call(name: str, *args: Any, **kwargs: Any) -> dict[str, Any]:
        from runner import classic
        from runner.model import Place, Untyped
        from runner.signature import bind, schema_of

        positional = dict(zip([key for key in schema_of(function).parameters if key != "name"], args, strict=False))
        place = Place(Untyped("__states__"))
        bound = bind(function, {"name": name, **positional, **kwargs}, places={}, default_place=place)
        return classic.run_planned(function, bound.arguments)

    return call


def _place(problem: BaseException, path: str) -> Source:
    """The line of a module that an exception passed through last."""
    line = 0
    trace = problem.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            line = trace.tb_lineno
        trace = trace.tb_next
    return Source(path, line)


# ---------------------------------------------------------------- names


def virtual_name(name: str) -> str:
    """The name that users write: a trailing underscore only kept Python's own names free (`list_`, `import_`)."""
    bare = name[:-1]
    reserved = keyword.iskeyword(bare) or hasattr(builtins, bare)
    return bare if name.endswith("_") and (reserved or not bare.endswith("_")) else name


class UnavailableFunction(UnavailableError, KeyError):
    """A function of a module that lacks its program: to a template it is not there."""


def lacking(module: ModuleType | None) -> str | None:
    """The program without which the functions of a module of the library are not there, if it is not."""
    program = getattr(module, "NEEDS_PROGRAM", None)
    if program is None:
        return None
    import shutil

    return None if shutil.which(program) else str(program)


def offered(module: ModuleType, name: str) -> Callable[..., Any] | None:
    """The function that a module offers under a name; None for what is private, imported or no function."""
    if name.startswith("_"):
        return None
    aliases: Mapping[str, str] = module.__dict__.get("__func_alias__", {})
    if name in aliases:
        return None
    real = next((old for old, new in aliases.items() if new == name), name)
    for candidate in (real, f"{real}_"):
        function = getattr(module, candidate, None)
        if isinstance(function, ModuleType):  # states/file/managed.py with its function `managed`
            function = getattr(function, candidate, None)
        if isinstance(function, FunctionType) and _own(module, function):
            if "__salt__" not in module.__dict__:
                return function
            from runner import classic

            return classic.in_context(function)
    return None


def _own(module: ModuleType, function: FunctionType) -> bool:
    return function.__module__ == module.__name__ or function.__module__.startswith(f"{module.__name__}.")


def members(module: ModuleType) -> list[tuple[str, Callable[..., Any]]]:
    """The functions that a module offers, by the names that users write."""
    listed = getattr(module, "__load__", None) or getattr(module, "__all__", None) or dir(module)
    aliases = dict(getattr(module, "__func_alias__", {}))
    names = {aliases.get(name, virtual_name(name)) for name in listed}
    found = [(name, offered(module, name)) for name in sorted(names)]
    return [(name, function) for name, function in found if function is not None]


def plans(function: Callable[..., Any]) -> bool:
    """Whether a state function of a tree is written in the new style."""
    inner: Any = function
    while hasattr(inner, "__wrapped__"):
        inner = inner.__wrapped__
    if not isinstance(inner, FunctionType):
        return False
    if inner.__code__.co_flags & 0x20:  # CO_GENERATOR
        return True
    answer = inner.__annotations__.get("return")
    text = answer if isinstance(answer, str) else getattr(answer, "__name__", str(answer))
    words = {word.strip() for word in str(text).replace("Generator", "Planned").split("|")}
    return any(word.split("[")[0].split(".")[-1] in ("Planned", "str", "Done") for word in words)
