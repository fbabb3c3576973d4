"""Command lines without a mistake, read at once: typer takes as long to import as all of Jinja.

Whatever is not plain (a mistake, `--help`, `--`, an option that comes twice, a value that looks
like an option) is left to typer. What is plain means the same to both.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from types import NoneType, UnionType
from typing import Any, get_args, get_origin

from runner.cli.option_spec import COMMANDS, Option


class NotPlain(Exception):
    """This is for typer."""


def command(name: str, words: Sequence[str]) -> Callable[[], int] | None:
    """What a line calls; None for a line that is not plain."""
    if name not in COMMANDS:
        return None
    found: Callable[..., int] = getattr(import_module(f"runner.cli.{COMMANDS[name]}"), name)
    try:
        return partial(found, **read(inspect.signature(found, eval_str=True).parameters, words))
    except NotPlain:
        return None


def read(parameters: Mapping[str, inspect.Parameter], words: Sequence[str]) -> dict[str, Any]:
    """What words mean to the parameters of a command. Raises NotPlain."""
    given = {name: each.default for name, each in parameters.items()}
    declared = {name: get_args(each.annotation) for name, each in parameters.items()}
    options = {
        flag: name
        for name, (_, said) in declared.items()
        if isinstance(said, Option)
        for flag in said.names
    }
    free = [name for name, (_, said) in declared.items() if not isinstance(said, Option)]
    rest = list(reversed(words))
    said: set[str] = set()
    while rest:
        word = rest.pop()
        if word[:1] == "-" and len(word) > 1:
            name, value = _option(word, rest, options, declared)
        elif free:
            name, value = free[0], word
        else:
            raise NotPlain
        kind, listed = _kind(declared[name][0])
        if listed:
            given[name] = [*(given[name] if name in said else ()), value]
        elif name in said:
            raise NotPlain
        else:
            given[name] = _converted(kind, value)
            free = [each for each in free if each != name]
        said.add(name)
    if inspect.Parameter.empty in given.values():
        raise NotPlain
    return given


def _option(
    word: str, rest: list[str], options: Mapping[str, str], declared: Mapping[str, tuple[Any, ...]]
) -> tuple[str, Any]:
    """The parameter that a word is an option of, and its value, which may be the next word."""
    flag, equals, value = word.partition("=")
    name = options.get(flag)
    if name is None or (equals and not (value and flag.startswith("--"))):
        raise NotPlain
    if declared[name][0] is bool:
        if equals:
            raise NotPlain
        return name, True
    if equals:
        return name, value
    if not rest or not rest[-1] or (rest[-1][:1] == "-" and rest[-1] != "-"):
        raise NotPlain
    return name, rest.pop()


def _kind(annotation: Any) -> tuple[Any, bool]:
    """`float | None` is float, `list[str] | None` several str."""
    if isinstance(annotation, UnionType):
        annotation = next(each for each in get_args(annotation) if each is not NoneType)
    return (
        (get_args(annotation)[0], True) if get_origin(annotation) is list else (annotation, False)
    )


def _converted(kind: Any, value: Any) -> Any:
    try:
        return kind(value)
    except ValueError:
        raise NotPlain from None
