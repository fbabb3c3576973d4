# SPDX-License-Identifier: Apache-2.0
"""salt.utils.decorators: what functions depend on."""

from __future__ import annotations

import functools
import logging
import shutil
import time
from collections.abc import Callable
from types import ModuleType
from typing import Any

from runner.language.salt import exceptions


def memoize(func: Callable[..., Any]) -> Callable[..., Any]:
    """The function, called once for arguments that read the same."""
    answers: dict[str, Any] = {}

    @functools.wraps(func)
    def remembered(*args: Any, **kwargs: Any) -> Any:
        key = repr((args, sorted(kwargs.items())))
        if key not in answers:
            answers[key] = func(*args, **kwargs)
        return answers[key]

    return remembered


def depends(*dependencies: Any, **options: Any) -> Callable[[Any], Any]:
    """The function as it is where what it depends on is true; else one that fails, or the given
    fallback.
    """

    def decorate(function: Any) -> Any:
        lacking = [
            dependency
            for dependency in dependencies
            if not isinstance(dependency, str) and not dependency
        ]
        names = function.__globals__
        lacking += [
            dependency
            for dependency in dependencies
            if isinstance(dependency, str) and not names.get(dependency, True)
        ]
        return options.get("fallback_function") or _failing(function) if lacking else function

    return decorate


def _failing(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        raise exceptions.CommandNotFoundError(f"{function.__name__} lacks what it depends on")

    return call


Depends = depends


def timing(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which logs how long it took."""

    @functools.wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        began = time.monotonic()
        answer = function(*args, **options)
        took = time.monotonic() - began
        logging.getLogger(function.__module__).debug("%s took %.3f s", function.__name__, took)
        return answer

    return call


def ignores_kwargs(*kwarg_names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The function without some named arguments."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*args: Any, **options: Any) -> Any:
            left = {key: value for key, value in options.items() if key not in kwarg_names}
            return function(*args, **left)

        return call

    return decorate


def allow_one_of(*allowed_args: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The function, which takes at most one of some named arguments."""
    return _counting(allowed_args, lambda count: count <= 1, "at most one")


def require_one_of(*required_args: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The function, which takes exactly one of some named arguments."""
    return _counting(required_args, lambda count: count == 1, "exactly one")


def _counting(
    names: tuple[str, ...], fits: Callable[[int], bool], how_many: str
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*args: Any, **options: Any) -> Any:
            if not fits(sum(name in options for name in names)):
                raise exceptions.SaltInvocationError(
                    f"{function.__name__} takes {how_many} of the arguments {', '.join(names)}"
                )
            return function(*args, **options)

        return call

    return decorate


def _needing(programs: tuple[str, ...], found: Callable[[list[bool]], bool]) -> Any:
    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        if found([shutil.which(program) is not None for program in programs]):
            return function

        @functools.wraps(function)
        def call(*args: Any, **options: Any) -> Any:
            names = ", ".join(repr(program) for program in programs)
            raise exceptions.CommandNotFoundError(f"{names} could not be found in the PATH")

        return call

    return decorate


def which(exe: str) -> Any:
    """The function where there is a program, else one that fails."""
    return _needing((exe,), all)


def which_bin(exes: Any) -> Any:
    """The function where there is one of some programs, else one that fails."""
    return _needing(tuple(exes), any)


path = ModuleType("salt.utils.decorators.path")
path.__dict__.update(which=which, which_bin=which_bin)
