"""All commands together, as typer has them: it reads command lines, explains them and tells what is
wrong with one.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import import_module
from typing import Annotated, Any, get_args

import typer

from runner.cli.option_spec import COMMANDS, Option


def _version(wanted: bool) -> None:
    if wanted:
        from runner import __version__

        print(f"runner {__version__}")
        raise typer.Exit()


def build(wanted: str = "") -> Callable[..., object]:
    """The application: with the wanted command alone if there is one of that name, else with all of
    them.
    """
    app = typer.Typer(
        name="runner",
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        add_completion=False,
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
    )

    @app.callback()
    def runner(
        version: Annotated[
            bool,
            typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
        ] = False,
    ) -> None:
        """Bring one Linux machine to the state that its SLS files describe.

        To begin: `runner init my-machine`, and in that folder `runner check`, `runner highstate
        --test`. `runner COMMAND --help` tells more of a command, `runner doc` of states.

        Exit codes: 0 done, 1 did not compile or wrong usage, 2 some state failed, 3 another run
        holds the lock.
        """

    for name in [wanted] if wanted in COMMANDS else COMMANDS:
        app.command()(typed(getattr(import_module(f"runner.cli.{COMMANDS[name]}"), name)))
    return app


def typed(command: Callable[..., int]) -> Callable[..., int]:
    """A command whose signature declares its options and arguments as typer does."""

    def call(**given: Any) -> int:
        return command(**given)

    found = inspect.signature(command, eval_str=True)
    parameters = [
        each.replace(annotation=_annotation(each.annotation)) for each in found.parameters.values()
    ]
    call.__signature__ = found.replace(parameters=parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {item.name: item.annotation for item in parameters}
    call.__doc__, call.__name__ = command.__doc__, command.__name__
    return call


def _annotation(declared: Any) -> Any:
    kind, said = get_args(declared)
    if isinstance(said, Option):
        shown: Any = typer.Option(
            *said.names, help=said.help, metavar=said.metavar, show_default=said.show_default
        )
    else:
        shown = typer.Argument(metavar=said.metavar, help=said.help, hidden=said.hidden)
    return Annotated[kind, shown]
