# SPDX-License-Identifier: Apache-2.0
"""The arguments that module.run hands to the functions that it calls of the functions that it
calls.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from runner.api import Record, StateFailed

# what an SLS means by these itself; the argument of a function that has such a name is typed with
# `m_` before it
TAKEN = ("fun", "name", "names", "state", "saltenv")
READ = ("func", "returner", "returner_config", "returner_kwargs", "sfun")
EMPTY = inspect.Parameter.empty


class Call(Record):
    """A function with its arguments. unused: arguments in the call that it does not have."""

    function: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    unused: tuple[str, ...] = ()


def call_from_mapping(
    function: str, signature: inspect.Signature, arguments: Mapping[str, Any]
) -> Call:
    """The older form: arguments by their names. Raises StateFailed when one is missing."""
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    used, missing = set(), []
    for parameter in signature.parameters.values():
        key = f"m_{parameter.name}" if parameter.name in TAKEN else parameter.name
        used.add(key)
        if parameter.kind == parameter.VAR_POSITIONAL:
            args += _listed_values(parameter.name, arguments.get(key))
        elif parameter.kind == parameter.VAR_KEYWORD:
            kwargs |= dict(arguments.get(key) or {})
        elif key in arguments and parameter.kind == parameter.POSITIONAL_ONLY:
            args.append(arguments[key])
        elif key in arguments:
            kwargs[parameter.name] = arguments[key]
        elif parameter.default is EMPTY:
            missing.append(parameter.name)
    if missing:
        raise StateFailed(f"The following arguments are missing: {' '.join(missing)}", changes={})
    if args:
        args, kwargs = _named_first(args, kwargs, signature)
    return Call(
        function,
        tuple(args),
        kwargs,
        tuple(key for key in arguments if key not in used and key not in READ),
    )


def _listed_values(name: str, value: Any) -> list[Any]:
    if value is not None and not isinstance(value, list):
        raise StateFailed(f"'{name}' must be a list.", changes={})
    return list(value or ())


def _named_first(
    args: list[Any], kwargs: dict[str, Any], signature: inspect.Signature
) -> tuple[list[Any], dict[str, Any]]:
    """Put arguments with a name before those without, if they may be given by their place."""
    first: list[Any] = []
    for parameter in signature.parameters.values():
        if parameter.kind == parameter.POSITIONAL_OR_KEYWORD and parameter.name in kwargs:
            first.append(kwargs.pop(parameter.name))
    return first + args, kwargs


def call_from_list(function: str, signature: inspect.Signature, arguments: Any) -> Call:
    """The newer form: a list of values and of one-key mappings. Raises TypeError when an argument
    is missing.
    """
    args, kwargs = _split(arguments)
    missing = [name for name in _required_names(signature)[len(args) :] if name not in kwargs]
    if missing:
        raise TypeError(f"Missing arguments: {', '.join(missing)}")
    return Call(function, tuple(args), kwargs)


def _split(arguments: Any) -> tuple[list[Any], dict[str, Any]]:
    if arguments is None:
        return [], {}
    if not isinstance(arguments, list):
        return ([], dict(arguments)) if isinstance(arguments, dict) else ([arguments], {})
    named = {
        key: value for item in arguments if isinstance(item, dict) for key, value in item.items()
    }
    return [item for item in arguments if not isinstance(item, dict)], named


def _required_names(signature: inspect.Signature) -> list[str]:
    """The arguments that have to be there and may be given by their place."""
    places = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [
        parameter.name
        for parameter in signature.parameters.values()
        if parameter.kind in places and parameter.default is EMPTY
    ]


def reports_failure(answer: Any) -> bool:
    """Return whether the answer of a function says that it failed, anywhere in it.

    >>> [reports_failure(answer) for answer in (False, {"retcode": 1}, {"web": {"result": False}})]
    [True, True, True]
    >>> reports_failure(0)
    False
    """
    if not isinstance(answer, Mapping):
        return answer is False
    if answer.get("result") is False or answer.get("retcode", 0) != 0:
        return True
    return any(reports_failure(value) for value in answer.values() if isinstance(value, Mapping))
