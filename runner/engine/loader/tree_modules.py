# SPDX-License-Identifier: Apache-2.0
"""Modules of a tree (_states, _modules, _grains, _utils), loaded by path with Salt's dunders."""

from __future__ import annotations

import os
from contextlib import contextmanager
from functools import partial
from types import FunctionType, ModuleType

from runner.engine.loader import tree_imports
from runner.engine.loader.builtin import UnavailableError, virtual_name
from runner.language.arguments import bind as arguments_bind
from runner.language.salt import package
from runner.language.salt import style as salt_style
from runner.model.errors import RunnerError, not_python
from runner.model.places import Place, Source, Untyped
from runner.model.plain_values import exception
from runner.model.stdlib import pattern
from runner.support.files.text import text_to_show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any, Protocol
else:
    Protocol = object


class TreeLibrary(Protocol):
    """The registry as tree modules see it."""

    opts: Mapping[str, Any]
    seen: Callable[[str], None]

    def function(self, name: str) -> Callable[..., Any]: ...
    def modules(self) -> list[str]: ...
    def functions(self, module: str) -> list[str]: ...
    def utility(self, name: str) -> Callable[..., Any]: ...
    def state(self, name: str) -> Any: ...
    def state_modules(self) -> list[str]: ...
    def state_functions(self, module: str) -> list[str]: ...


_VIRTUAL_NAME = pattern(r"(?m)^__virtualname__\s*=\s*['\"](\w+)['\"]")
_ALIASES = pattern(r"(?ms)^__virtual_aliases__\s*=\s*[\[(](.*?)[\])]")
_VIRTUAL = pattern(r"(?ms)^def __virtual__\(.*?(?=^[^\s#)]|\Z)")
_WORD = pattern(r"['\"](\w+)['\"]")
_RETURNED_NAME = pattern(r"\breturn\s+['\"](\w+)['\"]")


class TreeModules:
    """The modules of one kind, by the names that they go by. Several files may have one name, as
    with Salt.
    """

    def __init__(
        self, kind: str, folders: list[str], library: TreeLibrary, beside: list[str] | None = None
    ) -> None:
        """beside: folders whose files all of them may import."""
        self._kind = kind
        self._library = library
        self._beside = beside or []
        self._files: dict[str, list[str]] = {}
        self._loaded: dict[str, ModuleType | RunnerError] = {}
        indexed: set[str] = set()
        for folder in folders:
            self._index(folder, indexed)

    def _index(self, folder: str, indexed: set[str]) -> None:
        """Note the modules of a folder; a file hides those of its name in later folders."""
        if not os.path.isdir(folder):
            return
        for entry in sorted(os.listdir(folder)):
            path = os.path.join(folder, entry)
            if os.path.isdir(path):
                path = os.path.join(path, "__init__.py")
            if entry.startswith(("_", ".")) or not path.endswith(".py") or not os.path.isfile(path):
                continue
            name = entry.removesuffix(".py")
            if name in indexed:
                continue
            indexed.add(name)
            for module_name in _names(name, _code(path)):
                self._files.setdefault(module_name, []).append(path)

    def names(self) -> list[str]:
        """The names of the modules, loaded or not."""
        return list(self._files)

    def paths(self, name: str) -> list[str]:
        """The files of the modules of a name."""
        return list(self._files.get(name, ()))

    def all(self) -> Iterator[tuple[str, ModuleType | Callable[[], Any]]]:
        """The modules that are for this machine; for one that is broken or lacks an import a
        function that raises.
        """
        for path, name in sorted(
            {path: name for name, paths in self._files.items() for path in paths}.items()
        ):
            module = self._module(name, path)
            if isinstance(module, ModuleType):
                yield name, module
            elif not isinstance(module, UnavailableError) or isinstance(
                module.__cause__, ImportError
            ):
                yield name, partial(_raise, module)

    def available(self, name: str) -> Iterator[ModuleType]:
        """The modules of a name, in the order of their files, each loaded when it is its turn.

        Raises, when nothing else is left, what is wrong with one of them; with its own reason
        UnavailableError.
        """
        problem: RunnerError | None = None
        for path in self._files.get(name, ()):
            module = self._module(name, path)
            if isinstance(module, ModuleType):
                yield module
            elif not isinstance(module, UnavailableError):
                raise module
            else:
                problem = problem or module
        if problem:
            raise problem

    def load(self, name: str) -> ModuleType | None:
        """The first module of a name; None when the tree has none. Raises UnavailableError with its
        own reason.
        """
        return next(self.available(name), None)

    def _module(self, name: str, path: str) -> ModuleType | RunnerError:
        if path not in self._loaded:
            try:
                self._loaded[path] = self._prepared(name, path)
            except RunnerError as problem:
                self._loaded[path] = problem
        return self._loaded[path]

    def _prepared(self, name: str, path: str) -> ModuleType | UnavailableError:
        try:
            module = self._import(name, path)
            with _blaming(path):
                answer = module.__virtual__() if hasattr(module, "__virtual__") else True
        except UnavailableError as problem:
            return problem
        except ImportError as problem:
            missing = UnavailableError(
                f"{path} cannot be loaded: {problem}", str(problem), source=_place(problem, path)
            )
            missing.__cause__ = problem
            return missing
        if answer is False or (isinstance(answer, tuple) and answer and answer[0] is False):
            reason = (
                str(answer[1])
                if isinstance(answer, tuple) and len(answer) > 1
                else "__virtual__ returned False"
            )
            return UnavailableError(
                f"'{name}' __virtual__ returned False: {reason}", reason, source=Source(path)
            )
        prepare = module.__dict__.get("__init__")
        if isinstance(prepare, FunctionType):
            with _blaming(path):
                prepare(dict(self._library.opts))
        return module

    def _import(self, name: str, path: str) -> ModuleType:
        package.provide_salt()
        position = self._files[name].index(path)
        full = f"runner_tree_{self._kind}_{name}{f'_{position + 1}' if position else ''}"
        with _blaming(path):
            return tree_imports.loaded(full, path, self._beside, self._inject, self._library.seen)

    def _inject(self, module: ModuleType) -> None:
        library = self._library
        salt = salt_style.Functions(
            lambda name: salt_style.speaking_salt(library.function(name)),
            lambda: [
                f"{module_name}.{function_name}"
                for module_name in library.modules()
                for function_name in library.functions(module_name)
            ],
        )
        states = salt_style.Functions(
            lambda name: _called_at_once(library.state(name).function),
            lambda: [
                f"{module_name}.{function_name}"
                for module_name in library.state_modules()
                for function_name in library.state_functions(module_name)
            ],
        )
        utils = salt_style.Functions(library.utility, list)
        salt_style.inject(module, library.opts, salt, states, utils)


def _code(path: str) -> str:
    """The code of a module; none of one that cannot be read: it goes by its file's name, and fails
    when it is used.
    """
    return text_to_show(path)


def _names(file: str, code: str) -> list[str]:
    """The names of a file's module: as its `__virtual__` says; without one by its file, and its
    `__virtualname__`; and those of `__virtual_aliases__`.
    """
    declared, virtual = _VIRTUAL_NAME.search(code), _VIRTUAL.search(code)
    returned = _RETURNED_NAME.search(virtual[0]) if virtual else None
    if declared:
        names = [declared[1]] if virtual else [declared[1], virtual_name(file)]
    else:
        names = [returned[1] if returned else virtual_name(file)]
    aliases = _ALIASES.search(code)
    further = _WORD.findall(aliases[1]) if aliases else []
    return list(dict.fromkeys([*names, *further]))


def _raise(error: BaseException) -> None:
    raise error


@contextmanager
def _blaming(path: str) -> Iterator[None]:
    """Report what the code of a module raises while it is loaded, with its line."""
    try:
        yield
    except SyntaxError as problem:
        raise not_python(problem, problem.filename or path) from problem
    except (ImportError, RunnerError, KeyboardInterrupt):
        raise
    except BaseException as problem:  # sys.exit() too
        # not raised by its code
        if isinstance(problem, OSError) and not _place(problem, path).line:
            raise RunnerError(
                f"{path} cannot be read: {problem.strerror}", Source(path), None, "module"
            ) from problem
        text = f"{os.path.basename(path)} fails while it is loaded: {exception(problem)}"
        hint = "the code of the module itself raised it"
        raise RunnerError(text, _place(problem, path), hint, "module") from problem


def _called_at_once(function: Callable[..., Any]) -> Callable[..., dict[str, Any]]:
    def call(name: str, *args: Any, **kwargs: Any) -> dict[str, Any]:
        positional = dict(
            zip(
                [key for key in arguments_bind.schema_of(function).parameters if key != "name"],
                args,
                strict=False,
            )
        )
        place = Place(Untyped("__states__"))
        bound = arguments_bind.bind(
            function, {"name": name, **positional, **kwargs}, places={}, default_place=place
        )
        return salt_style.run_planned(function, bound.arguments)

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
