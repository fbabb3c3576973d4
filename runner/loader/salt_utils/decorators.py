"""salt.utils.decorators: what functions depend on."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


def memoize(func: Callable[..., Any]) -> Callable[..., Any]:
    """The function, called once for the same arguments."""
    return functools.lru_cache(maxsize=None)(func)


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
        from runner.loader.salt_exceptions import CommandNotFoundError

        raise CommandNotFoundError(f"{function.__name__} lacks what it depends on")

    return call
