# SPDX-License-Identifier: Apache-2.0
"""The commands, and what their lines may say: each declares it in its signature.

Three read that: typer (app.py), which also explains it and what is wrong with a line,
`fast_parser.py`, which understands lines without a mistake at a tenth of the cost, and
`completion.py`.
"""

from __future__ import annotations

from types import FunctionType

from runner.model.records import Record
from runner.support.own_modules import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    import inspect
    from collections.abc import Callable, Mapping
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
    from inspect import Parameter as Declared
    from inspect import Signature

    return Signature(
        [
            Declared(
                name,
                Declared.KEYWORD_ONLY,
                default=Declared.empty if default is REQUIRED else default,
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
