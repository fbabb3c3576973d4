# SPDX-License-Identifier: Apache-2.0
"""salt.utils.args: arguments of functions."""

from __future__ import annotations

import inspect
import re
import shlex
from collections.abc import Callable
from typing import Any

from runner.language.salt import exceptions
from runner.language.salt.utils import yaml
from runner.model.records import Record


def clean_kwargs(**kwargs: Any) -> dict[str, Any]:
    """The arguments without those that Salt adds (`__pub_user`)."""
    return {key: value for key, value in kwargs.items() if not key.startswith("__")}


def invalid_kwargs(invalid_kwargs: dict[str, Any], raise_exc: bool = True) -> str:
    """Raises SaltInvocationError for arguments that a function does not take, or tells them."""
    named = ", ".join(f"{key}={value}" for key, value in invalid_kwargs.items())
    message = f"The following keyword arguments are not valid: {named}"
    if raise_exc:
        raise exceptions.SaltInvocationError(message)
    return message


class _Spec(Record):
    args: list[str]
    varargs: str | None
    keywords: str | None
    defaults: tuple[Any, ...] | None


def get_function_argspec(func: Callable[..., Any], is_class_method: bool | None = None) -> _Spec:
    """The arguments of a function. Raises TypeError for what cannot be called."""
    if not callable(func):
        raise TypeError(f"{func} is not a callable")
    spec = inspect.getfullargspec(inspect.unwrap(func))
    return _Spec(
        spec.args[1:] if inspect.ismethod(func) else spec.args,
        spec.varargs,
        spec.varkw,
        spec.defaults,
    )


def arg_lookup(fun: Callable[..., Any], aspec: Any = None) -> dict[str, Any]:
    """The arguments that a function needs, and those that have a default."""
    spec = aspec or get_function_argspec(fun)
    count = len(spec.defaults or ())
    needed = len(spec.args) - count
    return {
        "kwargs": dict(zip(spec.args[needed:], spec.defaults or (), strict=False)),
        "args": spec.args[:needed],
    }


def parse_kwarg(string_: str) -> tuple[str | None, str | None]:
    """The name and the value of `name=value`."""
    matched = re.match(r"([^\d\W][\w.-]*)=(?!=)(.*)$", string_, re.S)
    return (matched[1], matched[2]) if matched else (None, None)


def yamlify_arg(arg: Any) -> Any:
    """A word of a command line as YAML has it; texts of several lines, with `#` and `:` at their
    end stay.
    """
    if not isinstance(arg, str) or arg.strip() == "" or "\n" in arg:
        return arg
    if arg in ("None", "null"):
        return None
    if "_" in arg and re.fullmatch(r"[+-]?[\d_]+", arg):
        return arg
    try:
        value = yaml.safe_load(arg)
    except (yaml.YAMLError, ValueError):
        return arg
    if isinstance(value, dict) and not arg.startswith("{"):
        return arg
    if "#" in arg and not isinstance(value, list | dict):
        return arg
    known = isinstance(value, list | dict | int | float | bool | str)
    return value if known else arg


def split_input(val: Any, mapper: Callable[[Any], Any] | None = None) -> list[Any]:
    """The items of a list, or of a text with commas."""
    change = mapper or (lambda item: item)
    if isinstance(val, list):
        return [change(item) for item in val]
    return [change(part.strip()) for part in str(val).split(",")]


def shlex_split(s: Any, **options: Any) -> Any:
    """The words of a text; anything else as it is."""
    return shlex.split(s, **options) if isinstance(s, str) else s


def test_mode(**kwargs: Any) -> bool:
    """Return whether `test` is true among arguments."""
    return any(
        key.lower() == "test" and str(value).lower() in ("true", "1")
        for key, value in kwargs.items()
    )


KWARG_REGEX = re.compile(r"^([^\d\W][\w.-]*)=(?!=)(.*)$", re.UNICODE)


def parse_input(
    args: Any, condition: bool = True, no_parse: Any = None
) -> list[Any] | tuple[list[Any], dict[str, Any]]:
    """The words of a command line as values; named ones in a mapping at the end, or apart
    (condition false).
    """
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for word in args:
        name, value = parse_kwarg(word) if isinstance(word, str) else (None, None)
        if name is not None:
            named[name] = value if no_parse and name in no_parse else yamlify_arg(value)
        elif isinstance(word, dict) and word.pop("__kwarg__", False):
            named |= word
        else:
            positional.append(yamlify_arg(word) if isinstance(word, str) else word)
    return condition_input(positional, named) if condition else (positional, named)


def condition_input(args: Any, kwargs: Any) -> list[Any]:
    """Positional arguments, with the named ones in a mapping at the end."""
    return [*args, *([{"__kwarg__": True, **kwargs}] if kwargs else [])]


def parse_function(s: str) -> tuple[str | None, list[str] | None, dict[str, str] | None]:
    """The name, the positional and the named arguments of `module.function(a, b=c)`, as texts; None
    for each where it is no such text.
    """
    words = shlex.shlex(s, posix=True)
    words.whitespace_split = False
    words.wordchars += "."
    tokens = list(words)
    if len(tokens) < 3 or tokens[1] != "(" or tokens[-1] != ")":
        return None, None, None
    parts: list[list[str]] = [[]]
    depth = 0
    for token in tokens[2:-1]:
        depth += (token in "([{") - (token in ")]}") if token else 0
        if token == "," and not depth:
            parts.append([])
        else:
            parts[-1].append(token)
    named = {part[0]: "".join(part[2:]) for part in parts if part[1:2] == ["="]}
    positional = ["".join(part) for part in parts if part and part[1:2] != ["="]]
    return tokens[0], positional, named
