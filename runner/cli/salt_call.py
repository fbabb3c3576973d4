# SPDX-License-Identifier: Apache-2.0
"""`runner-salt-call`: the part of salt-call's command line that scripts use, for a masterless
machine.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from contextlib import ExitStack, redirect_stdout
from typing import Any

from runner.cli import start
from runner.cli.commands import doc
from runner.cli.running import shown_run, state_functions, streams, values
from runner.cli.running.answers import failed, write_value
from runner.cli.running.exit_codes import FAILED
from runner.cli.running.options import Common, form_named, options_of
from runner.model import releases
from runner.model.errors import UsageError
from runner.output.formats import SALT, SALTS_OWN, Form, forms_of, highstate
from runner.output.salt_reports import STATE_OUTPUT
from runner.output.text import choose_colour
from runner.pipeline import calling
from runner.support.files.links import open_output

ABOUT = """Salt's salt-call --local, done by runner.

Example: runner-salt-call --local state.apply web test=True --out json"""
# what a masterless machine is without, and what pretty output decides itself
ACCEPTED_FLAGS = (
    "--local",
    "--hard-crash",
    "--skip-grains",
    "--refresh-grains-cache",
    "--no-return-event",
    "--output-diff",
)
ACCEPTED = ("--saltfile", "--master", "-t --timeout", "--set-metadata")


def main(arguments: list[str] | None = None) -> None:
    """The console script."""
    start(_run, arguments)


def parser() -> Any:
    """The parser of its command line, of argparse."""

    class Parser(argparse.ArgumentParser):
        def error(self, message: str) -> Any:
            raise UsageError(message, hint="runner-salt-call --help")

    reader = Parser(
        prog="runner-salt-call",
        description=ABOUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_output_options(reader.add_argument)
    _add_run_options(reader.add_argument)
    for name in ACCEPTED_FLAGS:
        reader.add_argument(*name.split(), action="store_true", help=argparse.SUPPRESS)
    for name in ACCEPTED:
        reader.add_argument(*name.split(), help=argparse.SUPPRESS)
    return reader


def _add_output_options(option: Callable[..., Any]) -> None:
    option("function", metavar="MODULE.FUN", nargs="?")
    option("words", nargs="*", metavar="ARGUMENT", help="a value, or key=value; read as YAML")
    option(
        "--out",
        "--output",
        metavar="FORM",
        help=", ".join(form.name for form in forms_of(SALT)) + "; Salt's others are pretty",
    )
    option(
        "--state-output",
        "--state_output",
        metavar="HOW",
        help="of highstate: full, terse, mixed, changes; with _id at the end: IDs, not names",
    )
    option(
        "--state-verbose",
        "--state_verbose",
        metavar="BOOL",
        help="of highstate: False leaves out what is in order",
    )
    option("--out-file", "--output-file", metavar="FILE", help="write the answer there")
    option(
        "--out-file-append", "--output-file-append", action="store_true", help="add it to that file"
    )
    option(
        "--out-indent",
        "--output-indent",
        type=int,
        metavar="N",
        help="of json; negative: all on one line",
    )


def _add_run_options(option: Callable[..., Any]) -> None:
    option(
        "-c",
        "--config-dir",
        metavar="DIR",
        help="folder with a file `minion`, or a configuration file",
    )
    option("-l", "--log-level", metavar="LEVEL", help="of the log on stderr")
    option("--log-file", metavar="FILE", help="write the log there")
    option("--log-file-level", metavar="LEVEL", help="of the log in the file")
    option("--file-root", action="append", default=[], metavar="DIR", help="folder of the states")
    option("--pillar-root", action="append", default=[], metavar="DIR", help="folder of the pillar")
    option("--states-dir", metavar="DIR", help="one more folder of state modules")
    option("-m", "--module-dirs", action="append", metavar="DIR", help="one more folder of modules")
    option("--cachedir", metavar="DIR", help="keep everything below this folder")
    option("--id", help="this machine's ID")
    option(
        "--retcode-passthrough",
        action="store_true",
        help="exit with the code of a command that failed",
    )
    option("--no-parse", default="", metavar="NAME,...", help="arguments whose values are texts")
    option("-g", "--grains", action="store_true", help="show the grains")
    option(
        "-d", "--doc", "--documentation", action="store_true", help="show the manual of MODULE.FUN"
    )
    option(
        "-V",
        "--version",
        "--versions-report",
        action="version",
        version=f"runner {releases.version()}",
    )
    option("--no-color", "--no-colour", action="store_true", help="no colours on a terminal")
    option("--force-color", "--force-colour", action="store_true", help="colours in a pipe, too")


def _run(arguments: list[str]) -> int:
    try:
        parsed = parser().parse_intermixed_args(arguments)
    except SystemExit as stop:  # --help, --version
        return int(stop.code or 0)
    function = "grains.items" if parsed.grains else parsed.function
    if not function and not parsed.doc:
        raise UsageError("no function is named", hint="runner-salt-call --local state.apply, say")
    positional, named = values.arguments_of(parsed.words, parsed.no_parse.split(","))
    common = Common(
        config=_config(parsed.config_dir),
        state_tree=parsed.file_root,
        pillar_tree=parsed.pillar_root,
        id=parsed.id,
        cachedir=parsed.cachedir,
        log_level=parsed.log_level,
        log_file=parsed.log_file,
        form=_form(parsed),
        indent=parsed.out_indent,
        more={
            "as_salt": True,
            "log_level_logfile": parsed.log_file_level,
            "module_dirs": parsed.module_dirs,
            "states_dirs": parsed.states_dir and [parsed.states_dir],
        },
    )
    if parsed.no_color or parsed.force_color:
        choose_colour("never" if parsed.no_color else "always")
    with ExitStack() as opened:
        if parsed.out_file:
            _into(parsed.out_file, "a" if parsed.out_file_append else "w", opened)
        if parsed.doc:
            return doc.show_doc(common, function)
        try:
            return _dispatch(common, function, positional, named, parsed.retcode_passthrough)
        except (Exception, KeyboardInterrupt) as error:
            return failed(common, error)


def _form(parsed: Any) -> Form:
    """The form that the options ask for. Raises UsageError where there is none like it."""
    if parsed.out not in (None, "highstate"):
        return form_named(parsed.out, SALT)
    if parsed.out is None and parsed.state_output is None and parsed.state_verbose is None:
        return SALTS_OWN
    how = parsed.state_output or "full"
    if how.removesuffix("_id") not in STATE_OUTPUT:
        raise UsageError(f"--state-output {how}: expected {', '.join(STATE_OUTPUT)}")
    verbose = str(parsed.state_verbose).lower() not in ("false", "0", "no", "off")
    return form_named("highstate", SALT)._replace(data=highstate(how, verbose))


def _into(path: str, mode: str, opened: ExitStack) -> None:
    try:
        file = opened.enter_context(open(path, mode, encoding="utf-8", opener=open_output))  # noqa: SIM115
    except OSError as error:
        raise UsageError(f"--out-file {path}: {error.strerror}") from None
    opened.enter_context(redirect_stdout(file))


def _dispatch(
    common: Any, function: str, positional: list[Any], named: dict[str, Any], passthrough: bool
) -> int:
    done = state_functions.dispatch(common, function, positional, named)
    if done is not None:
        return done
    if function == "test.ping":
        write_value(common, True)
        return 0
    with streams.answer_alone(common.for_people):
        options = options_of(common)
        value, failed = calling.call(
            options, function, positional, named, [shown_run.notices(options)]
        )
    write_value(common, value)
    return failed if passthrough else FAILED if failed else 0


def _config(folder: str | None) -> str | None:
    inside = os.path.join(folder, "minion") if folder else ""
    return inside if inside and os.path.isfile(inside) else folder
