# SPDX-License-Identifier: Apache-2.0
"""`salt.modules.cmdmod`, `salt.config`, `salt.loader` and `salt.version`: as much as modules and
grains of trees use of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from runner.api import here

_COMMANDS = ("retcode", "run", "run_all", "run_stderr", "run_stdout", "script", "shell")


def _command(name: str, **defaults: Any) -> Callable[..., Any]:
    """A function of cmd, before there is a run, too: grains of a tree call it then."""

    def call(*args: Any, **options: Any) -> Any:
        from runner.language.salt.style import speaking_salt

        for unused in ("output_loglevel", "log_callback"):
            options.pop(unused, None)
        return speaking_salt(here.function(f"cmd.{name}"))(*args, **{**defaults, **options})

    call.__name__ = name
    return call


def _cmdmod() -> dict[str, Any]:
    functions: dict[str, Any] = {name: _command(name) for name in _COMMANDS}
    for name in ("run", "run_all"):
        functions[f"_{name}_quiet"] = _command(name, ignore_retcode=True)
    return {**functions, "DEFAULT_SHELL": "/bin/sh"}


def _minion_config(path: str | None = None, *args: Any, **options: Any) -> dict[str, Any]:
    """The configuration of this run, whichever file is asked for."""
    return dict(here.opts)


class _OfRun(Mapping[str, Callable[..., Any]]):
    """The execution functions by their names."""

    def __getitem__(self, name: str) -> Callable[..., Any]:
        from runner.language.salt.style import speaking_salt

        if not here.has(name):
            raise KeyError(name)
        return speaking_salt(here.function(name))

    def __iter__(self) -> Any:
        return iter(here.call("sys.list_functions"))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _minion_mods(opts: Any = None, *args: Any, **options: Any) -> _OfRun:
    return _OfRun()


def _grains(opts: Any = None, *args: Any, **options: Any) -> dict[str, Any]:
    return dict(here.grains)


def _version() -> dict[str, Any]:
    from runner.language.grains.process import SALT_VERSION

    numbers = tuple(int(part) for part in SALT_VERSION.split("."))
    return {
        "__version__": SALT_VERSION,
        "__version_info__": numbers,
        "__saltstack_version__": SALT_VERSION,
    }


def _compat() -> dict[str, Any]:
    import ipaddress
    import subprocess
    from xml.etree import ElementTree

    return {"ElementTree": ElementTree, "ipaddress": ipaddress, "subprocess": subprocess}


_CONTENTS: dict[str, Callable[[], dict[str, Any]]] = {
    "salt.modules": dict,
    "salt.modules.cmdmod": _cmdmod,
    "salt.config": lambda: {"minion_config": _minion_config, "client_config": _minion_config},
    "salt.loader": lambda: {"minion_mods": _minion_mods, "grains": _grains},
    "salt.version": _version,
    "salt.ext": dict,
    "salt._compat": _compat,
}


def module_of(name: str) -> ModuleType | None:
    """The stand-in for a module; None for one that is not here."""
    if name not in _CONTENTS:
        return None
    module = ModuleType(name, "What runner provides of Salt's module of this name.")
    module.__dict__.update(_CONTENTS[name]())
    return module
