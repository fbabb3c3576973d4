"""All commands together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer


def _version(wanted: bool) -> None:
    if wanted:
        from runner import __version__

        print(f"runner {__version__}")
        raise typer.Exit()


# where each command stands; only the one that is called is imported, since each costs a start its milliseconds
COMMANDS = {
    "highstate": "states",
    "sls": "states",
    "single": "states",
    "call": "looking",
    "check": "looking",
    "show": "looking",
    "why": "manual",
    "doc": "manual",
    "schema": "manual",
    "history": "past",
    "forget": "past",
    "undo": "past",
    "schedule": "schedule",
    "resource": "resource",
    "init": "starting",
    "completion": "completing",
}


def build(wanted: str = "") -> Callable[..., object]:
    """The application: with the wanted command alone if there is one of that name, else with all of them."""
    import importlib

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
            bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
        ] = False,
    ) -> None:
        """Bring one Linux machine to the state that its SLS files describe.

        To begin: `runner init my-machine`, and in that folder `runner check`, `runner highstate --test`.
        `runner COMMAND --help` tells more of a command, `runner doc` of states.

        Exit codes: 0 done, 1 did not compile or wrong usage, 2 some state failed, 3 another run holds the lock.
        """

    for name in [wanted] if wanted in COMMANDS else COMMANDS:
        app.command()(getattr(importlib.import_module(f"runner.cli.{COMMANDS[name]}"), name))
    return app
