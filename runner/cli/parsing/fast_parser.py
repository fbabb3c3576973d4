# SPDX-License-Identifier: Apache-2.0
"""Command lines without a mistake, read at once: typer takes as long to import as all of Jinja.

Whatever is not plain (a mistake, `--help`, an option that comes twice, a value that looks like an
option) is left to typer. What is plain means the same to both.
"""

from __future__ import annotations

from functools import partial

from runner.cli.parsing.option_spec import (
    COMMANDS,
    REQUIRED,
    Option,
    Parameter,
    command_named,
    parameters_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any


class NotPlain(Exception):
    """This is for typer."""


def command(name: str, words: Sequence[str]) -> Callable[[], int] | None:
    """The call that a line means; None for a line that is not plain."""
    if name not in COMMANDS:
        return None
    function = command_named(name)
    try:
        return partial(function, **read(parameters_of(function), words))
    except NotPlain:
        return None


def read(parameters: Mapping[str, Parameter], words: Sequence[str]) -> dict[str, Any]:
    """The values that words give the parameters of a command. Raises NotPlain."""
    values = {name: parameter.default for name, parameter in parameters.items()}
    declared = {name: parameter.annotation for name, parameter in parameters.items()}
    options = {
        flag: name
        for name, (_, spec) in declared.items()
        if isinstance(spec, Option)
        for flag in spec.names
    }
    free = [name for name, (_, spec) in declared.items() if not isinstance(spec, Option)]
    rest = list(reversed(words))
    typed: set[str] = set()
    may_be_option = True
    while rest:
        word = rest.pop()
        if may_be_option and word == "--":
            may_be_option = False
            continue
        if may_be_option and word[:1] == "-" and len(word) > 1:
            name, value = _option(word, rest, options, declared)
        elif free:
            name, value = free[0], word
        else:
            raise NotPlain
        kind, listed = _kind(declared[name][0])
        if listed:
            values[name] = [*(values[name] if name in typed else ()), value]
        elif name in typed:
            raise NotPlain
        else:
            values[name] = _converted(kind, value)
            free = [other for other in free if other != name]
        typed.add(name)
    if REQUIRED in values.values():
        raise NotPlain
    return values


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


_UNION: Any = type(int | None)  # types.UnionType


def _kind(annotation: Any) -> tuple[Any, bool]:
    """`float | None` is float, `list[str] | None` several str."""
    if isinstance(annotation, _UNION):
        annotation = next(kind for kind in annotation.__args__ if kind is not type(None))
    if getattr(annotation, "__origin__", None) is list:
        return annotation.__args__[0], True
    return annotation, False


def _converted(kind: Any, value: Any) -> Any:
    try:
        return kind(value)
    except ValueError:
        raise NotPlain from None
