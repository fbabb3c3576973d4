"""The commands, and what their lines may say: each declares it in its signature.

Three read that: typer (app.py), which also explains it and what is wrong with a line,
`fast_parser.py`, which understands lines without a mistake at a tenth of the cost, and
`completion.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from runner.model.records import Record

# in the order of `runner --help`; the command NAME is the function NAME of the file NAME.py beside
# this one, which is imported only when it is called, since each costs a start its milliseconds
COMMANDS = (
    "highstate",
    "sls",
    "single",
    "call",
    "check",
    "show",
    "why",
    "doc",
    "schema",
    "history",
    "forget",
    "undo",
    "schedule",
    "resource",
    "init",
    "completion",
)


def command_named(name: str) -> Callable[..., int]:
    """The command of that name, one of COMMANDS."""
    command: Callable[..., int] = getattr(import_module(f"runner.cli.{name}"), name)
    return command


class Option(Record):
    """An option of a command: `Annotated[TYPE, option("--name", "-n", ...)]`; a bool is a flag."""

    names: tuple[str, ...]
    help: str
    metavar: str | None
    show_default: bool


# what the Tab key offers for the words of an argument, the last one for all further words: a source
# of `completion.py`, or the words themselves
Complete = tuple[str | tuple[str, ...], ...]


class Argument(Record):
    """A word of a command that is not an option; a list takes all that are left."""

    metavar: str | None
    help: str
    hidden: bool
    complete: Complete


def option(
    *names: str, help: str, metavar: str | None = None, show_default: bool = False
) -> Option:
    return Option(names, help, metavar, show_default)


def argument(
    metavar: str | None = None, help: str = "", hidden: bool = False, complete: Complete = ()
) -> Argument:
    return Argument(metavar, help, hidden, complete)
