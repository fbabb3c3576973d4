# SPDX-License-Identifier: Apache-2.0
"""The commands, and what their lines may say: each declares it in its signature.

Three read that: typer (app.py), which also explains it and what is wrong with a line, `plain_call`
and `completion.py`. typer takes as long to import as all of Jinja. So lines without a mistake are
read here, at a tenth of the cost; whatever is not plain (a mistake, `--help`, an option that comes
twice, a value that looks like an option) is left to typer. What is plain means the same to both.
"""

from __future__ import annotations

import inspect
from functools import partial
from types import FunctionType

from runner.model.records import Record
from runner.support.own_modules import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    import inspect
    from collections.abc import Callable, Mapping, Sequence
    from typing import Annotated as Annotated
    from typing import Any
else:

    class Annotated:
        """The kind of a parameter and what is to be said of it, as a pair."""

        def __class_getitem__(cls, pair):
            return pair


# in the order of `runner --help`; the command NAME is the function NAME of `cli/commands/NAME.py`
# (where Python has that word, both with `_` behind it), which is imported only when it is called,
# since each costs a start its milliseconds
COMMANDS = tuple(
    """
    highstate sls single plan apply pull rehearse call check show why doc schema history forget undo
    orphans prune secret schedule watch disable enable report collect formulas fleet resource
    import init bundle lsp completion
    """.split()
)


def command_named(name: str) -> Callable[..., int]:
    """The command of that name, one of COMMANDS."""
    module, own = _home(name)
    command: Callable[..., int] = getattr(module, own)
    return command


def text_about(name: str) -> str:
    """The docstring of a command, whose file is read and not executed for it."""
    module, own = _home(name)
    code = module.__loader__.get_code(module.__name__)
    found = (each for each in code.co_consts if getattr(each, "co_name", "") == own)
    return FunctionType(next(found), {}).__doc__ or ""


def _home(name: str) -> tuple[Any, str]:
    """The module of a command, which is not executed yet, and its function there."""
    own = f"{name}_" if name == "import" else name
    return import_module(f"runner.cli.commands.{own}"), own


class Parameter(Record):
    """A parameter of a command, all of which are keywords. default: REQUIRED where it has none."""

    annotation: Any  # the kind of value and its Option or CliArgument
    default: Any


REQUIRED: Any = object()


def parameters_of(command: Callable[..., int], leave_out: str = "") -> dict[str, Parameter]:
    """The parameters of a command, as `inspect.signature` finds them: importing that costs a tenth
    of a start.
    """
    if hasattr(command, "parameters"):
        declared: dict[str, Parameter] = command.parameters()
        return declared
    annotations, names, code = command.__annotations__, command.__globals__, command.__code__
    with_default = reversed(code.co_varnames[: code.co_argcount])
    defaults = dict(zip(with_default, reversed(command.__defaults__ or ()), strict=False))
    defaults |= command.__kwdefaults__ or {}
    return {
        name: Parameter(eval(text, names), defaults.get(name, REQUIRED))  # noqa: S307  # our own texts
        for name, text in annotations.items()
        if name not in ("return", leave_out)
    }


def signature_of(parameters: Mapping[str, Parameter]) -> inspect.Signature:
    """The signature of a command with these parameters."""
    return inspect.Signature(
        [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=inspect.Parameter.empty if default is REQUIRED else default,
                annotation=annotation,
            )
            for name, (annotation, default) in parameters.items()
        ]
    )


class Option(Record):
    """An option of a command: `Annotated[TYPE, option("--name", "-n", ...)]`; a bool is a flag."""

    names: tuple[str, ...]
    help: str
    metavar: str | None
    show_default: bool
    hidden: bool
    may_be_empty: bool


# what the Tab key offers for the words of an argument, the last one for all further words: a source
# of `completion.py`, or the words themselves
Complete = tuple[str | tuple[str, ...], ...]


class CliArgument(Record):
    """A word of a command that is not an option; a list takes all that are left."""

    metavar: str | None
    help: str
    hidden: bool
    complete: Complete


def option(
    *names: str,
    help: str,
    metavar: str | None = None,
    show_default: bool = False,
    hidden: bool = False,
    may_be_empty: bool = False,
) -> Option:
    return Option(names, help, metavar, show_default, hidden, may_be_empty)


def argument(
    metavar: str | None = None, help: str = "", hidden: bool = False, complete: Complete = ()
) -> CliArgument:
    return CliArgument(metavar, help, hidden, complete)


# ---------------------------------------------------------------- lines without a mistake


class NotPlain(Exception):
    """This is for typer."""


def plain_call(name: str, words: Sequence[str]) -> Callable[[], int] | None:
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
