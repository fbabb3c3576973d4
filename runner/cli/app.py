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


def build() -> Callable[..., object]:
    """The application."""
    from runner.cli import looking, manual, past, schedule, starting, states

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

        Exit codes: 0 done, 1 did not compile or wrong usage, 2 some state failed, 3 another run holds the lock.
        """

    running = (states.highstate, states.sls, states.single, looking.call)
    asking = (looking.check, looking.show, manual.why, manual.doc, manual.schema)
    keeping = (past.history, past.forget, past.undo, schedule.schedule, starting.init)
    for command in (*running, *asking, *keeping):
        app.command()(command)
    return app
