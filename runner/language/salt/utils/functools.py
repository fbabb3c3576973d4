# SPDX-License-Identifier: Apache-2.0
"""salt.utils.functools: functions made of functions."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping
from typing import Any


def namespaced_function(
    function: Callable[..., Any],
    global_dict: Mapping[str, Any],
    defaults: Any = None,
    preserve_context: bool | None = None,
) -> Callable[..., Any]:
    """A copy of a function that sees other globals, over those of its own module."""
    inner: Any = inspect.unwrap(function)
    names = {**inner.__globals__, **global_dict}
    copied = types.FunctionType(
        inner.__code__,
        names,
        inner.__name__,
        inner.__defaults__ if defaults is None else defaults,
        inner.__closure__,
    )
    copied.__kwdefaults__ = inner.__kwdefaults__
    copied.__dict__.update(inner.__dict__)
    return copied


def alias_function(fun: Any, name: str, doc: str | None = None) -> Callable[..., Any]:
    """A copy of a function under another name."""
    copied = types.FunctionType(
        fun.__code__, fun.__globals__, str(name), fun.__defaults__, fun.__closure__
    )
    copied.__dict__.update(fun.__dict__)
    copied.__kwdefaults__ = fun.__kwdefaults__
    copied.__doc__ = doc if isinstance(doc, str) else f"Another name of {fun.__name__}."
    return copied


def call_function(salt_function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a function with arguments, some of which may be mappings of named ones."""
    positional = [argument for argument in args if not isinstance(argument, Mapping)]
    named = {
        key: value
        for argument in args
        if isinstance(argument, Mapping)
        for key, value in argument.items()
    }
    return salt_function(*positional, **named, **kwargs)
