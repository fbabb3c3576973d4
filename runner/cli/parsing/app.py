# SPDX-License-Identifier: Apache-2.0
"""All commands together, as typer has them: it reads command lines, explains them and says what is
wrong with one.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any

import typer

from runner.cli.parsing.option_spec import COMMANDS, Option, command_named, text_about
from runner.model import releases
from runner.model.errors import UsageError


def _version(wanted: bool) -> None:
    if wanted:
        print(f"runner {releases.version()}")
        raise typer.Exit()


def build(names: Iterable[str] = COMMANDS, listed: bool = False) -> Callable[..., object]:
    """The application with these commands. listed: what is said of each in a list is enough."""
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
        --test`. `runner COMMAND --help` explains a command, `runner doc` a state.

        Exit codes: 0 done, 1 did not compile or wrong usage, 2 some state failed, 3 another run
        holds the lock, 4 a new tree was refused and the last good one run.
        """

    for name in names:
        if listed:
            app.command(name, help=text_about(name))(lambda: None)
        else:
            app.command(name)(typed(command_named(name)))
    return app


def typed(command: Callable[..., int]) -> Callable[..., int]:
    """A command whose signature declares its options and arguments as typer does."""

    signature = inspect.signature(command, eval_str=True)

    def call(**values: Any) -> int:
        _refuse_empty(signature, values)
        return command(**values)

    parameters = [
        parameter.replace(annotation=_annotation(parameter.annotation))
        for parameter in signature.parameters.values()
    ]
    call.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {item.name: item.annotation for item in parameters}
    call.__doc__, call.__name__ = command.__doc__, command.__name__
    return call


def _refuse_empty(signature: inspect.Signature, values: Mapping[str, Any]) -> None:
    """Raise UsageError for an option without a value: that is a variable of a script which is not
    set, and without the option another file is read, nothing is verified, or every host is meant.
    """
    for name, value in values.items():
        declared = signature.parameters[name]
        _, spec = declared.annotation
        empty = value == "" != declared.default or (isinstance(value, list) and "" in value)
        if empty and isinstance(spec, Option) and not spec.may_be_empty:
            hint = "is a variable not set?"
            raise UsageError(f"{spec.names[0]}: the value is empty", hint=hint)


def _annotation(declared: Any) -> Any:
    kind, spec = declared
    if isinstance(spec, Option):
        typers: Any = typer.Option(
            *spec.names,
            help=spec.help,
            metavar=spec.metavar,
            show_default=spec.show_default,
            hidden=spec.hidden,
        )
    else:
        typers = typer.Argument(metavar=spec.metavar, help=spec.help, hidden=spec.hidden)
    return Annotated[kind, typers]
