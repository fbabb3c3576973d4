"""Commands that read: call, check, show."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any

from runner.cli.option_spec import argument, option
from runner.cli.options import (
    OUTPUTS,
    READING,
    Common,
    loaded,
    options_of,
    with_common,
    write,
    write_value,
)
from runner.cli.streams import answer_alone
from runner.cli.values import arguments_of, mapping
from runner.model.errors import RunnerError, UsageError

TEST = {"test": Annotated[bool, option("--test", help="Change nothing.")]}
PICTURES = ("dot", "mermaid", "svg", "html")
SUBJECTS = (
    "top",
    "sls",
    "low-sls",
    "highstate",
    "lowstate",
    "graph",
    "pillar",
    "grains",
    "pending",
)
FORMER_SUBJECTS = {"debts": "pending", "owed": "pending"}  # still accepted, in no help text


@with_common(READING, TEST)
def call(
    *,
    function: Annotated[str, argument(metavar="MODULE.FUN", help="An execution function.")],
    words: Annotated[
        list[str] | None,
        argument(metavar="[value ...] [key=value ...]", help="YAML; [lists] in brackets."),
    ] = None,
    common: Common,
) -> int:
    """Call one execution function and print what it returns.

    The exit code is 2 where a command that it ran failed.

    Example: runner call pkg.version nginx
    """
    from runner import pipeline
    from runner.cli.exit_codes import FAILED

    positional, named = arguments_of(words or ())
    if function.startswith("state."):
        from runner.cli.state_functions import dispatch

        done = dispatch(common, function, positional, named)
        if done is not None:
            return done
    with answer_alone(common.out):
        value, failed = pipeline.call(options_of(common), function, positional, named)
    write_value(common, value)
    return FAILED if failed else 0


@with_common(READING, forms=(*OUTPUTS, "sarif", "github"))
def check(
    *,
    names: Annotated[
        list[str] | None, argument(metavar="[NAME...]", help="SLS files; without: all.")
    ] = None,
    lenient: Annotated[
        bool, option("--lenient", help="Unknown arguments and states are warnings.")
    ] = False,
    grains: Annotated[
        str | None, option("--grains", metavar="FILE", help="Grains of another machine, as YAML.")
    ] = None,
    common: Common,
) -> int:
    """Report all mistakes of the tree at once. Touches nothing but what templates execute.

    Example: runner check nginx
    """
    from runner.output import annotations, diagnostics, json_, text

    with answer_alone(common.out):
        problems = _checked(common, grains, list(names or ()), lenient)
    if common.out == "pretty":
        diagnostics.show(problems, sys.stdout, text.wants_colour(sys.stdout, os.environ))
        if not common.quiet:
            print(_summary(problems))
    elif common.out == "github":
        print(annotations.github(problems))
    elif common.out == "sarif":
        print(json_.text(annotations.sarif(problems)))
    else:
        write(common, json_.diagnostics(problems))
    return int(any(problem.severity == "error" for problem in problems))


def _summary(problems: list[Any]) -> str:
    problems = [problem for problem in problems if problem.severity != "info"]
    if not problems:
        return "No mistakes found."
    counts = [
        (kind, sum(problem.severity == kind for problem in problems))
        for kind in ("error", "warning")
    ]
    return (
        ", ".join(f"{count} {kind}{'s' if count != 1 else ''}" for kind, count in counts if count)
        + "."
    )


def _checked(common: Common, grains: str | None, names: list[str], lenient: bool) -> list[Any]:
    """The mistakes of the configuration and of the tree."""
    from runner.check import check

    try:
        more = {"grains": mapping(_contents(grains), "--grains")} if grains else {}
        options, warnings = loaded(common, **more)
    except RunnerError as error:
        if error.source is None:  # the command line's own
            raise
        return list(error.diagnostics)
    return check(options, names, lenient, warnings)


def _contents(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--grains {path}: {getattr(error, 'strerror', None) or error}") from None


@with_common(READING, forms=(*OUTPUTS, *PICTURES))
def show(
    *,
    what: Annotated[str, argument(metavar="WHAT", help="One of the words above.")],
    names: Annotated[list[str] | None, argument(metavar="[NAME...]", help="SLS files.")] = None,
    show_secrets: Annotated[
        bool, option("--show-secrets", help="Do not replace secrets by **********.")
    ] = False,
    common: Common,
) -> int:
    """Print the result of one stage of compiling. Nothing is changed; secrets are hidden.

    \b
    top            the SLS files that the top file gives, with its lines
    sls NAME       the rendered SLS files        low-sls NAME  their states
    highstate      the SLS files of the top file, rendered
    lowstate       all states with their arguments, in the order of a run
    graph [NAME]   the dependency graph: --out dot, mermaid, svg, html or json
    pillar         this machine's pillar         grains        its grains
    pending        reactions that are pending since a run was killed or failed

    Example: runner show graph --out html > graph.html
    """
    what = FORMER_SUBJECTS.get(what, what)
    if what not in SUBJECTS:
        raise UsageError(f"there is no {what!r} to show", hint="one of " + ", ".join(SUBJECTS))
    wanted = [name for word in names or () for name in word.split(",") if name]
    if what in ("sls", "low-sls") and not wanted:
        raise UsageError(
            f"runner show {what} needs the name of an SLS file", hint=f"runner show {what} NAME"
        )
    if what == "graph":
        return _graph(common, wanted)
    if wanted and what not in ("sls", "low-sls"):
        instead = {
            "pillar": "call pillar.get",
            "grains": "call grains.get",
            "highstate": "show sls",
        }
        hint = f"runner {instead.get(what, 'show low-sls')} {wanted[0]}"
        raise UsageError(f"runner show {what} takes no name", hint=hint)
    if common.out in PICTURES:
        raise UsageError(
            f"--out {common.out} is for `runner show graph`", hint="one of " + ", ".join(OUTPUTS)
        )
    from runner.queries import show as asking

    options = options_of(common)
    if what == "top" and common.out == "pretty":
        print(asking.explained_top(options))
    else:
        with answer_alone(common.out):
            found = asking.show(options, what, wanted, show_secrets)
        write_value(common, found)
    return 0


def _graph(common: Common, names: list[str]) -> int:
    from runner.drawing import dot_mermaid, page
    from runner.output import diagnostics, text
    from runner.queries import explain

    options = options_of(common)
    with answer_alone("dot"):  # `pretty` is dot here, which other programs read
        found, problems = explain.picture(options, names)
    diagnostics.show(problems, sys.stderr, text.wants_colour(sys.stderr, os.environ))
    if common.out in ("json", "yaml"):
        write_value(common, found)
    elif common.out == "html":
        print(
            page.html(
                found, f"Dependency graph of {options.id}: {', '.join(names) or 'the highstate'}"
            )
        )
    else:
        print(
            {"mermaid": dot_mermaid.mermaid, "svg": page.svg}.get(common.out, dot_mermaid.dot)(
                found
            )
        )
    return 0
