"""What a command line may say: commands declare it in their signatures.

Two read that: typer (app.py), which also explains it and what is wrong with a line, and
`fast_parser.py`, which understands lines without a mistake at a tenth of the cost.
"""

from __future__ import annotations

from runner.model.records import Record

# where each command stands; only the one that is called is imported, since each costs a start its
# milliseconds
COMMANDS = {
    "highstate": "states",
    "sls": "states",
    "single": "states",
    "call": "show",
    "check": "show",
    "show": "show",
    "why": "manual",
    "doc": "manual",
    "schema": "manual",
    "history": "history",
    "forget": "history",
    "undo": "history",
    "schedule": "schedule",
    "resource": "resource",
    "init": "init",
    "completion": "completion",
}


class Option(Record):
    """An option of a command: `Annotated[TYPE, option("--name", "-n", ...)]`; a bool is a flag."""

    names: tuple[str, ...]
    help: str
    metavar: str | None
    show_default: bool


class Argument(Record):
    """A word of a command that is no option; a list takes all that are left."""

    metavar: str | None
    help: str
    hidden: bool


def option(
    *names: str, help: str, metavar: str | None = None, show_default: bool = False
) -> Option:
    return Option(names, help, metavar, show_default)


def argument(metavar: str | None = None, help: str = "", hidden: bool = False) -> Argument:
    return Argument(metavar, help, hidden)
