# SPDX-License-Identifier: Apache-2.0
"""Python files of a tree become modules: without a __pycache__ beside them, and able to import what
lies there.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import ModuleType
from typing import Any

from runner.support.files.text import refuse_large


class _TreeLoader(SourceFileLoader):
    """Leaves no __pycache__ in the user's tree, and uses none, which may be older than it seems."""

    def path_stats(self, path: str) -> Mapping[str, Any]:
        raise OSError


class _Beside(MetaPathFinder):
    """Finds the other Python files of some folders, unless Python's path has their name."""

    def __init__(self, folders: Sequence[str], seen: Callable[[str], None]) -> None:
        self._folders = folders
        self._seen = seen

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        for folder in self._folders if path is None else path:
            base = os.path.join(folder, name.rpartition(".")[2])
            for file in (os.path.join(base, "__init__.py"), f"{base}.py"):
                if os.path.isfile(file):
                    _show(file, self._seen)
                    return _spec(name, file)
        return None


def _show(path: str, seen: Callable[[str], None]) -> None:
    """Show a file that is about to be loaded; of a package all files, as Python imports those by
    itself. Raises RunnerError for one that is too large.
    """
    files = [path]
    if path.endswith("/__init__.py"):
        files += [
            os.path.join(folder, name)
            for folder, _, names in os.walk(os.path.dirname(path))
            for name in names
            if name.endswith((".py", ".pyc")) and os.path.join(folder, name) != path
        ]
    for file in files:
        refuse_large(file)
        seen(file)


def _spec(name: str, path: str) -> ModuleSpec:
    folder = [os.path.dirname(path)] if path.endswith("/__init__.py") else None
    loader = _TreeLoader(name, path)
    spec = importlib.util.spec_from_file_location(
        name, path, loader=loader, submodule_search_locations=folder
    )
    assert spec is not None
    return spec


@contextmanager
def _reaching(folders: Sequence[str], seen: Callable[[str], None]) -> Iterator[None]:
    """Let a file that is loaded import the files beside it (as with Salt, after all else)."""
    finder, before = _Beside(folders, seen), sys.dont_write_bytecode
    sys.meta_path.append(finder)
    sys.dont_write_bytecode = True
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        sys.dont_write_bytecode = before


def loaded(
    name: str,
    path: str,
    more: Sequence[str],
    prepare: Callable[[ModuleType], None],
    seen: Callable[[str], None],
) -> ModuleType:
    """The module of a file. more: folders to import from; prepare: what is done to it before its
    code runs, and again behind it.

    seen: is shown each file before it is loaded.
    """
    _show(path, seen)
    spec = _spec(name, path)
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    prepare(module)
    sys.modules[name] = module
    with _reaching([os.path.dirname(path), *more], seen):
        spec.loader.exec_module(module)
    prepare(module)
    return module
