# SPDX-License-Identifier: Apache-2.0
"""Classic Salt modules from a tree: the names that Salt injects, as live views of the run."""

from __future__ import annotations

import copy
import functools
import inspect
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from types import GeneratorType, ModuleType
from typing import Any

from runner.api import (
    CommandFailed,
    Done,
    StateFailed,
    changes_allowed,
    comment_of,
    first_plan,
    here,
)
from runner.language.salt import exceptions
from runner.model.errors import RunnerError
from runner.model.result import Result


class Live(MutableMapping[Any, Any]):
    """A mapping that is looked up anew each time."""

    def __init__(
        self, read: Callable[[], Any], without_run: Mapping[Any, Any] | None = None
    ) -> None:
        self._read_now = read
        self._without_run = {} if without_run is None else without_run

    def _read(self) -> Any:
        try:
            return self._read_now()
        except LookupError:  # no run yet: the module is being loaded
            return self._without_run

    def __getitem__(self, key: Any) -> Any:
        return self._read()[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._read()[key] = value

    def __delitem__(self, key: Any) -> None:
        del self._read()[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())

    def __repr__(self) -> str:
        return repr(self._read())

    def copy(self) -> dict[Any, Any]:
        """A plain copy."""
        return dict(self._read())

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return copy.deepcopy(dict(self._read()), memo)


class Functions(Mapping[str, Callable[..., Any]]):
    """`__salt__`, `__utils__` and `__states__`: functions by their dotted name."""

    def __init__(
        self, find: Callable[[str], Callable[..., Any]], names: Callable[[], list[str]]
    ) -> None:
        self._find = find
        self._names = names

    def __getitem__(self, name: str) -> Callable[..., Any]:
        return self._find(name)

    def __contains__(self, name: object) -> bool:
        try:
            self._find(str(name))
        except RunnerError:
            return False
        return True

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __len__(self) -> int:
        return len(self._names())

    def missing_fun_string(self, function_name: str) -> str:
        """The reason of a module that lacks a function, as `__virtual__` gives it."""
        return f"'{function_name}' is not available."

    def __getattr__(self, name: str) -> _Namespace:
        if name.startswith("_"):
            raise AttributeError(name)
        return _Namespace(self, name)


class _Namespace:
    """`__salt__.pkg` of `__salt__.pkg.version(...)`."""

    def __init__(self, functions: Functions, module: str) -> None:
        self._functions = functions
        self._module = module

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_"):
            raise AttributeError(name)
        return self._functions[f"{self._module}.{name}"]


def speaking_salt(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, raising Salt's CommandExecutionError where runner's own would be raised."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except (CommandFailed, StateFailed) as failure:
            raise exceptions.CommandExecutionError(failure.message) from failure

    return call


def as_salt_result(result: Result) -> dict[str, Any]:
    """A result as `__running__` holds it."""
    return {
        "name": result.chunk.name,
        "changes": dict(result.changes),
        "result": result.result,
        "comment": result.comment,
        "__id__": result.chunk.id,
        "__sls__": result.chunk.sls,
        "__run_num__": result.run_num,
        **result.extra,
    }


def tag_of(low: Mapping[str, Any]) -> str:
    """The key of a low chunk in `__running__`."""
    return "_|-".join(str(low[key]) for key in ("state", "__id__", "name", "fun"))


# of Salt's own, those that state modules need
UTILITIES: Mapping[str, Callable[..., Any]] = {"state.gen_tag": tag_of}


def _low() -> Mapping[str, Any]:
    chunk = here.chunk
    return {} if chunk is None else chunk.low


def inject(
    module: ModuleType,
    opts: Mapping[str, Any],
    salt: Functions,
    states: Functions,
    utils: Functions,
) -> None:
    """Give a module the names that Salt gives it, also in place of what its own code calls so
    (`__salt__ = {}`, for the sake of linters); of `__opts__`, that stays on top.
    """
    values: dict[str, Any] = {
        "__salt__": salt,
        "__states__": states,
        "__utils__": utils,
        "__opts__": Live(lambda: here.opts, opts),
        "__grains__": Live(lambda: here.grains, opts.get("grains") or {}),
        "__pillar__": Live(lambda: here.pillar),
        "__context__": Live(lambda: here.store("__context__"), {}),
        "__low__": Live(_low),
        "__lowstate__": [],
        "__running__": Live(
            lambda: {tag: as_salt_result(result) for tag, result in here.results.items()}
        ),
        "__reqs__": {},
        "__instance_id__": "",
        "__env__": "base",
        "__sls__": "",
        "__id__": "",
    }
    own = module.__dict__.get("__opts__")
    if own and isinstance(own, dict):
        values["__opts__"] = ChainMap(own, values["__opts__"])
    module.__dict__.update(values)


def _taken(
    function: Callable[..., Any], names: Iterable[str], kwargs: dict[str, Any]
) -> Iterator[Any]:
    """The arguments that a function takes by their place only, out of those with names."""
    parameters = inspect.signature(function).parameters
    for name in names:
        if name in kwargs:
            yield kwargs.pop(name)
        elif parameters[name].default is not inspect.Parameter.empty:
            yield parameters[name].default


def in_context(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, with the strings of the current state (`__sls__`, `__id__`, `__env__`, ...) set
    for each call.
    """

    code = getattr(function, "__code__", None)
    by_place = code.co_varnames[: code.co_posonlyargcount] if code else ()

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if by_place and not args:
            args = tuple(_taken(function, by_place, kwargs))
        names = function.__globals__
        try:
            chunk = here.chunk
        except LookupError:  # no run yet
            chunk = None
        if chunk is not None:
            names.update(
                __sls__=chunk.sls, __id__=chunk.id, __env__=chunk.env, __instance_id__=chunk.tag
            )
            names["__lowstate__"] = [dict(each.low) for each in here.chunks]
        try:
            return function(*args, **kwargs)
        except SystemExit as stop:  # would end the run without a word
            raise RuntimeError(f"sys.exit({stop.code!r}) was called").with_traceback(
                stop.__traceback__
            ) from None

    return call


def run_planned(function: Callable[..., Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """A planned state function as `__states__` offers it: called at once, answering in Salt's
    shape. Raises RuntimeError for a function that yields twice.
    """
    answer: dict[str, Any] = {
        "name": arguments.get("name", ""),
        "changes": {},
        "result": True,
        "comment": "",
    }
    try:
        outcome = function(**arguments)
        if not isinstance(outcome, GeneratorType):
            return _finish(answer, outcome)
        plan = first_plan(outcome)
        answer.update(changes=dict(plan.changes), comment=plan.comment, result=None)
        if here.dry:  # dry: a classic function carries a state out here
            outcome.close()
            return answer
        with changes_allowed():
            next(outcome)
        raise RuntimeError("a second yield in a state function")
    except StopIteration as stop:
        return _finish(answer, stop.value)
    except StateFailed as failure:
        changes = answer["changes"] if failure.changes is None else dict(failure.changes)
        return {**answer, "result": False, "comment": failure.message, "changes": changes}


def _finish(answer: dict[str, Any], outcome: str | Done | dict[str, Any]) -> dict[str, Any]:
    if isinstance(outcome, dict):  # a classic function
        return outcome
    done = Done(outcome) if isinstance(outcome, str) else outcome
    changes = answer["changes"] if done.changes is None else dict(done.changes)
    return {**answer, "result": True, "comment": comment_of(done), "changes": changes, **done.extra}
