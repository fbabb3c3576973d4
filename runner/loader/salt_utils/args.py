"""salt.utils.args: arguments of functions."""

from __future__ import annotations

import inspect
import re
import shlex
from collections.abc import Callable
from typing import Any

from runner.model.records import Record


def clean_kwargs(**kwargs: Any) -> dict[str, Any]:
    """The arguments without those that Salt adds (`__pub_user`)."""
    return {key: value for key, value in kwargs.items() if not key.startswith("__")}


def invalid_kwargs(invalid_kwargs: dict[str, Any], raise_exc: bool = True) -> str:
    """Raises SaltInvocationError for arguments that a function does not take, or tells them."""
    from runner.loader.salt_exceptions import SaltInvocationError

    named = ", ".join(f"{key}={value}" for key, value in invalid_kwargs.items())
    message = f"The following keyword arguments are not valid: {named}"
    if raise_exc:
        raise SaltInvocationError(message)
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
    from runner.loader.salt_utils.yaml import YAMLError, safe_load

    if not isinstance(arg, str) or arg.strip() == "" or "\n" in arg:
        return arg
    if arg in ("None", "null"):
        return None
    if "_" in arg and re.fullmatch(r"[+-]?[\d_]+", arg):
        return arg
    try:
        value = safe_load(arg)
    except (YAMLError, ValueError):
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
    """Tell whether `test` is true among arguments."""
    return any(
        key.lower() == "test" and str(value).lower() in ("true", "1")
        for key, value in kwargs.items()
    )
