# SPDX-License-Identifier: Apache-2.0
"""`salt.modules`, `salt.config`, `salt.loader`, `salt.state` and `salt.version`: as much as modules
and grains of trees use of them.
"""

from __future__ import annotations

import ipaddress
import subprocess
import xml.etree.ElementTree
from collections.abc import Callable, Mapping
from functools import partial
from types import ModuleType
from typing import Any

from runner.api import here
from runner.language.grains import process
from runner.language.salt import style
from runner.model.requisite_kinds import KINDS

# of Salt 3008: what a state has beside the arguments of its function and its requisites
_OF_STATES = """
__env__ __id__ __orchestration_jid__ __prereq__ __prerequiring__ __pub_arg __pub_fun __pub_jid
__pub_minion_is_target __pub_pid __pub_pure_resource_target __pub_resource_job
__pub_resource_target __pub_resource_targets __pub_ret __pub_tgt __pub_tgt_type __pub_user __sls__
__sls_included_from__ __umask__ check_cmd cmd_opts_exclude creates failhard fire_event fun no_log
onlyif order parallel prereq prereq_in reload_grains reload_modules reload_pillar retry runas
runas_password saltenv state umask unless use use_in
"""
_COMMANDS = ("retcode", "run", "run_all", "run_stderr", "run_stdout", "script", "shell")


def _function(name: str, **defaults: Any) -> Callable[..., Any]:
    """An execution function, before there is a run, too: grains of a tree call it then."""

    def call(*args: Any, **options: Any) -> Any:
        for unused in ("output_loglevel", "log_callback"):
            options.pop(unused, None)
        return style.speaking_salt(here.function(name))(*args, **{**defaults, **options})

    call.__name__ = name.rpartition(".")[2]
    return call


def _cmdmod() -> dict[str, Any]:
    functions: dict[str, Any] = {name: _function(f"cmd.{name}") for name in _COMMANDS}
    for name in ("run", "run_all"):
        functions[f"_{name}_quiet"] = _function(f"cmd.{name}", ignore_retcode=True)
    return {**functions, "DEFAULT_SHELL": "/bin/sh"}


def _may_be(found: Callable[[], bool]) -> bool:
    """Return whether something is there, as far as that is known: grains of a tree are loaded
    before there is a run.
    """
    try:
        return found()
    except LookupError:
        return True


def _execution(module: str) -> dict[str, Any]:
    """The functions of an execution module, looked up when they are asked for."""

    def function(name: str) -> Callable[..., Any]:
        whole = f"{module}.{name}"
        if name.startswith("__") or not _may_be(lambda: here.has(whole)):
            raise AttributeError(f"runner has no {whole}")
        return _function(whole)

    return {"__getattr__": function}


def _state() -> dict[str, Any]:
    """The words of a state that are no arguments of its function."""
    plain = frozenset((*KINDS, "onfail_stop", "prerequired"))
    into = frozenset(
        f"{kind}_in" for kind in ("listen", "onchanges", "onfail", "prereq", "require", "watch")
    )
    run = frozenset(_OF_STATES.split())
    return {
        "STATE_REQUISITE_KEYWORDS": plain,
        "STATE_REQUISITE_IN_KEYWORDS": into,
        "STATE_RUNTIME_KEYWORDS": run,
        "STATE_INTERNAL_KEYWORDS": plain | into | run,
    }


def _minion_config(path: str | None = None, *args: Any, **options: Any) -> dict[str, Any]:
    """The configuration of this run, whichever file is asked for."""
    return dict(here.opts)


class _OfRun(Mapping[str, Callable[..., Any]]):
    """The execution functions by their names."""

    def __getitem__(self, name: str) -> Callable[..., Any]:
        if not here.has(name):
            raise KeyError(name)
        return style.speaking_salt(here.function(name))

    def __iter__(self) -> Any:
        return iter(here.call("sys.list_functions"))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _minion_mods(opts: Any = None, *args: Any, **options: Any) -> _OfRun:
    return _OfRun()


def _grains(opts: Any = None, *args: Any, **options: Any) -> dict[str, Any]:
    return dict(here.grains)


def _version() -> dict[str, Any]:
    numbers = tuple(int(part) for part in process.SALT_VERSION.split("."))
    return {
        "__version__": process.SALT_VERSION,
        "__version_info__": numbers,
        "__saltstack_version__": process.SALT_VERSION,
    }


def _compat() -> dict[str, Any]:
    return {"ElementTree": xml.etree.ElementTree, "ipaddress": ipaddress, "subprocess": subprocess}


_CONTENTS: dict[str, Callable[[], dict[str, Any]]] = {
    "salt.modules": dict,
    "salt.modules.cmdmod": _cmdmod,
    "salt.config": lambda: {"minion_config": _minion_config, "client_config": _minion_config},
    "salt.loader": lambda: {"minion_mods": _minion_mods, "grains": _grains},
    "salt.state": _state,
    "salt.version": _version,
    "salt.ext": dict,
    "salt._compat": _compat,
}


def module_of(name: str) -> ModuleType | None:
    """The stand-in for a module; None for one that is not here."""
    contents = _CONTENTS.get(name)
    if contents is None and name.startswith("salt.modules."):
        last = name.removeprefix("salt.modules.")
        if _may_be(lambda: last in here.call("sys.list_modules")):
            contents = partial(_execution, last)
    if contents is None:
        return None
    module = ModuleType(name, "What runner provides of Salt's module of this name.")
    module.__dict__.update(contents())
    return module
