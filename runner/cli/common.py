"""The options that commands share, and what they mean."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable
from contextlib import ExitStack, suppress
from typing import Annotated, Any

import typer

from runner.cli.streams import answer_alone
from runner.cli.words import mapping
from runner.errors import CompileError, RunnerError, UsageError
from runner.model import Report
from runner.records import Record

OUTPUTS = ("pretty", "json", "yaml")
REPORTS = (*OUTPUTS, "junit")  # of runs


class Common(Record):
    """The shared options of one command line, as typed."""

    config: str | None = None
    state_tree: list[str] = []
    pillar: str | None = None
    pillar_tree: list[str] = []
    id: str | None = None
    saltenv: str | None = None
    pillarenv: str | None = None
    cachedir: str | None = None
    only: list[str] = []
    exclude: list[str] = []
    test: bool = False
    out: str = "pretty"
    verbose: bool = False
    quiet: bool = False
    log_level: str | None = None
    log_file: str | None = None
    detailed_exitcodes: bool = False
    wait: float | None = None
    timeout: float | None = None
    events: str | None = None
    splay: float = 0.0
    shuffle: str | None = None
    verify: bool = False
    indent: int | None = None  # of JSON
    more: dict[str, Any] = {}  # under the configuration's names


def _option(*names: str, help: str = "", **more: Any) -> Any:
    return typer.Option(*names, help=help, show_default=False, **more)


READING: dict[str, Any] = {
    "config": Annotated[str | None, _option("--config", "-c", metavar="FILE", help="Configuration file.")],
    "state_tree": Annotated[list[str], _option("--state-tree", metavar="DIR", help="Folder of SLS files.")],
    "pillar": Annotated[str | None, _option("--pillar", metavar="TEXT", help="More pillar, as JSON or YAML.")],
    "pillar_tree": Annotated[list[str], _option("--pillar-tree", metavar="DIR", help="Folder of pillar SLS files.")],
    "id": Annotated[str | None, _option("--id", metavar="ID", help="This machine's ID.")],
    "saltenv": Annotated[str | None, _option("--saltenv", metavar="ENV", help="Environment of the states.")],
    "pillarenv": Annotated[str | None, _option("--pillarenv", metavar="ENV", help="Environment of the pillar.")],
    "cachedir": Annotated[str | None, _option("--cachedir", metavar="DIR", help="Keep everything below this folder.")],
    "out": Annotated[str, _option("--out", metavar="FORM")],
    "log_level": Annotated[str | None, _option("--log-level", "-l", metavar="LEVEL", help="debug ... critical.")],
    "log_file": Annotated[str | None, _option("--log-file", metavar="FILE", help="Write the log to a file.")],
    "verbose": Annotated[bool, _option("-v", "--verbose", help="Say more: unchanged states too.")],
    "quiet": Annotated[bool, _option("-q", "--quiet", help="Silence unless something changed or failed.")],
}
RUNNING: dict[str, Any] = {
    "test": Annotated[bool, _option("--test", help="Change nothing; show what would change.")],
    "wait": Annotated[
        float | None,
        _option("--wait", metavar="[SECONDS]", help="Wait for another run to end; bare: for ever."),
    ],
    "timeout": Annotated[float | None, _option("--timeout", metavar="SECONDS", help="End the run after this time.")],
}
CHANGING: dict[str, Any] = {
    **RUNNING,
    "only": Annotated[list[str], _option("--only", metavar="ID", help="Only this state and what it needs.")],
    "exclude": Annotated[list[str], _option("--exclude", metavar="ID", help="Leave this state or SLS out.")],
    "shuffle": Annotated[str | None, _option("--shuffle", metavar="[SEED]", help="Random order where it may be.")],
    "verify": Annotated[bool, _option("--verify", help="Look again after each change; fail what did not converge.")],
    "splay": Annotated[float, _option("--splay", metavar="SECONDS", help="Start up to so much later.")],
    "events": Annotated[str | None, _option("--events", metavar="FILE|-", help="Events as JSON lines.")],
    "detailed_exitcodes": Annotated[
        bool, _option("--detailed-exitcodes", help="Exit 2 on changes, 4 on failures, 6 on both.")
    ],
}
DEFAULTS = Common()


def with_common(
    *groups: dict[str, Any], forms: tuple[str, ...] = OUTPUTS
) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Give a command the shared options; it receives them as one value, `common`. forms: what --out may be."""
    options = {name: annotation for group in groups for name, annotation in group.items()}
    allowed = REPORTS if "events" in options else forms
    said = f"{', '.join(allowed[:-1])} or {allowed[-1]}."
    options["out"] = Annotated[str, _option("--out", metavar="FORM", help=said)]

    def wrap(command: Callable[..., int]) -> Callable[..., int]:
        own = inspect.signature(command, eval_str=True)

        def call(**given: Any) -> int:
            common = Common(**{name: given.pop(name) for name in options})
            if common.out not in allowed:
                raise UsageError(f"--out {common.out}: there is no such form", hint="one of " + ", ".join(allowed))
            return answered(common, lambda: command(common=common, **given))

        parameters = [item for item in own.parameters.values() if item.name != "common"]
        for name, annotation in options.items():
            default = getattr(DEFAULTS, name)
            kind = inspect.Parameter.KEYWORD_ONLY
            parameters.append(inspect.Parameter(name, kind, default=default, annotation=annotation))
        parameters = [item.replace(kind=inspect.Parameter.KEYWORD_ONLY) for item in parameters]
        call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        call.__annotations__ = {item.name: item.annotation for item in parameters}
        call.__doc__, call.__name__ = command.__doc__, command.__name__
        return call

    return wrap


def answered(common: Common, run: Callable[[], int]) -> int:
    """Errors go to stdout as Salt's JSON where that was asked for, to stderr otherwise (the edge does it)."""
    try:
        return run()
    except KeyboardInterrupt as interrupt:  # the command-line parser would end with 130, without a word
        from runner.cli.edge import stopped

        return stopped(interrupt)
    except RunnerError as error:
        if common.out not in OUTPUTS or common.out == "pretty":
            raise
        from runner.cli.edge import LOCKED, NOT_RUN
        from runner.output import json_

        write(common, json_.errors(error.diagnostics))
        if not isinstance(error, CompileError):
            print(f"runner: {error.message}", file=sys.stderr)
        return LOCKED if error.code == "locked" else NOT_RUN


def options_of(common: Common, **more: Any) -> Any:
    """The configuration: file, environment and command line together. Warnings go to stderr."""
    from runner.cli.logs import set_up
    from runner.output import diagnostics, text

    options, warnings = loaded(common, **more)
    set_up(options.raw, bool(common.log_file))
    if not common.quiet:
        diagnostics.show(warnings, sys.stderr, text.wants_colour(sys.stderr, os.environ))
    return options


def loaded(common: Common, **more: Any) -> tuple[Any, tuple[Any, ...]]:
    """The configuration, and what is odd about it."""
    from runner import config

    return config.load(common.config, {**overrides(common), **more}, os.environ)


def overrides(common: Common) -> dict[str, Any]:
    """What the command line says, under the configuration's names; nothing for what it does not say."""
    said: dict[str, Any] = {
        "id": common.id,
        "saltenv": common.saltenv,
        "pillarenv": common.pillarenv,
        "cachedir": common.cachedir,
        "log_level": common.log_level,
        "log_file": common.log_file,
        "only": common.only or None,
        "exclude": common.exclude or None,
        "test": common.test or None,
        "wait": common.wait,
        "quiet": common.quiet or None,
        "timeout": common.timeout,
        "shuffle": common.shuffle,
        "verify": common.verify or None,
        **common.more,
    }
    if common.state_tree:
        said["file_roots"] = {common.saltenv or "base": [os.path.abspath(folder) for folder in common.state_tree]}
    if common.pillar_tree:
        said["pillar_roots"] = {common.pillarenv or "base": [os.path.abspath(each) for each in common.pillar_tree]}
    if common.pillar is not None:
        said["pillar"] = mapping(common.pillar, "--pillar")
    return {name: value for name, value in said.items() if value is not None}


def write(common: Common, data: Any) -> None:
    """Print an answer to stdout in the form that was asked for."""
    from runner.output import json_, plain, yaml_

    if common.out in plain.FORMS:
        print(plain.FORMS[common.out](json_.simple(data)), end="")
    else:
        print(json_.text(data, common.indent) if common.out == "json" else yaml_.text(data))


def write_value(common: Common, value: Any) -> None:
    """Print what `show` and `call` found."""
    write(common, value if common.out == "pretty" else {"local": value})


def finish(
    common: Common,
    options: Any,
    run: Callable[[tuple[Any, ...]], Report],
    shown: Callable[[Report], Any] | None = None,
) -> int:
    """Run states with the listeners that the output needs, and print what they do not.

    shown: what json and yaml show of the report.
    """
    from runner.cli.edge import code_of
    from runner.output import json_, junit

    if common.splay:
        import random
        import time

        time.sleep(random.uniform(0, common.splay))
    listeners: list[Any] = [_pretty(common)] if common.out == "pretty" else []
    with ExitStack() as opened:
        if common.events:
            listeners.append(_events(common.events, opened))
        if path := options.raw.get("prometheus_textfile"):
            from runner.output.prometheus import Prometheus

            listeners.append(Prometheus(path))
        with answer_alone(common.out, common.events):
            report = run(tuple(listeners))
    with suppress(OSError):
        for problem in filter(None, (getattr(listener, "problem", "") for listener in listeners)):
            print(f"warning: {problem}", file=sys.stderr)
    if common.out == "junit":
        print(junit.text(report))
    elif common.out != "pretty":
        write(common, (shown or json_.report)(report))
    return code_of(report, common.detailed_exitcodes)


def _events(where: str, opened: ExitStack) -> Any:
    from runner.output.events import Events

    if where == "-":
        return Events(sys.stdout)
    try:
        return Events(opened.enter_context(open(where, "a", encoding="utf-8")))
    except OSError as error:
        raise UsageError(f"--events {where}: {error.strerror}") from None


def _pretty(common: Common) -> Any:
    import shutil

    from runner.output import text
    from runner.output.pretty import Pretty

    colour = text.wants_colour(sys.stdout, os.environ)
    return Pretty(
        sys.stdout,
        verbose=common.verbose,
        quiet=common.quiet,
        colour=colour,
        width=shutil.get_terminal_size().columns,
        dry=common.test,
        live=colour or (sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"),
        command=_real_command(sys.argv) if common.test else "",
    )


def _real_command(argv: list[str]) -> str:
    import shlex

    return shlex.join(["runner", *(word for word in argv[1:] if word not in ("--test", "test=True", "test=true"))])
