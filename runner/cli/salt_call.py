"""`runner-salt-call`: the part of salt-call's command line that scripts use, for a masterless machine."""

from __future__ import annotations

import sys
from typing import Any


def main(arguments: list[str] | None = None) -> None:
    """The console script."""
    from runner.cli.edge import program

    program(lambda: _run(sys.argv[1:] if arguments is None else arguments))


def _parsed(arguments: list[str]) -> Any:
    import argparse

    class Parser(argparse.ArgumentParser):
        def error(self, message: str) -> Any:
            from runner.errors import UsageError

            raise UsageError(message, hint="runner-salt-call --help")

    parser = Parser(prog="runner-salt-call", description="Salt's salt-call --local, done by runner.")
    parser.add_argument("function", metavar="MODULE.FUN")
    parser.add_argument("words", nargs="*", metavar="ARGUMENT")
    parser.add_argument("--local", action="store_true", help="always so; accepted for scripts")
    parser.add_argument("--retcode-passthrough", action="store_true", help="exit 2 if a state fails (always so)")
    parser.add_argument("--out", "--output", default="pretty", help="json, yaml or pretty")
    parser.add_argument("-c", "--config-dir", help="folder with a file `minion`, or a configuration file")
    parser.add_argument("-l", "--log-level")
    parser.add_argument("--log-file")
    parser.add_argument("--file-root", action="append", default=[])
    parser.add_argument("--pillar-root", action="append", default=[])
    parser.add_argument("--id")
    parser.add_argument("--no-color", "--no-colour", "--force-color", action="store_true", help="accepted")
    return parser.parse_intermixed_args(arguments)


def _run(arguments: list[str]) -> int:
    from runner.cli.common import OUTPUTS, Common, answered, arguments_of
    from runner.errors import UsageError

    given = _parsed(arguments)
    positional, named = arguments_of(given.words)
    out = {"nested": "pretty", "highstate": "pretty"}.get(given.out, given.out)
    if out not in OUTPUTS:
        raise UsageError(f"--out {given.out}: there is no such form", hint="one of " + ", ".join(OUTPUTS))
    common = Common(
        config=_config(given.config_dir),
        state_tree=given.file_root,
        pillar_tree=given.pillar_root,
        id=given.id,
        log_level=given.log_level,
        log_file=given.log_file,
        out=out,
    )
    return answered(common, lambda: _dispatch(common, given.function, positional, named))


def _dispatch(common: Any, function: str, positional: list[Any], named: dict[str, Any]) -> int:
    from runner import run
    from runner.cli.common import options_of, write_value
    from runner.cli.state_functions import dispatch

    done = dispatch(common, function, positional, named)
    if done is not None:
        return done
    if function == "test.ping":
        write_value(common, True)
        return 0
    write_value(common, run.call(options_of(common), function, positional, named))
    return 0


def _config(given: str | None) -> str | None:
    import os

    inside = os.path.join(given, "minion") if given else ""
    return inside if inside and os.path.isfile(inside) else given
