# SPDX-License-Identifier: Apache-2.0
"""The command `show`: what each stage of compiling makes of the tree."""

from __future__ import annotations

from runner.cli.parsing.option_spec import Annotated, argument, option
from runner.cli.running.answers import print_text, show_problems, write_value
from runner.cli.running.options import READING, ROOTED, Common, options_of, with_common, words
from runner.cli.running.streams import answer_alone
from runner.model.errors import UsageError
from runner.output.formats import DATA, GRAPH, forms_of
from runner.tools.queries import explain
from runner.tools.queries import show as queries

SUBJECTS = tuple("top sls low-sls highstate lowstate graph pillar grains pending".split())
FORMER_SUBJECTS = {"debts": "pending", "owed": "pending"}  # still accepted, in no help text


@with_common(READING, ROOTED, answer=GRAPH)
def show(
    *,
    what: Annotated[
        str, argument(metavar="WHAT", help="One of the words above.", complete=(SUBJECTS,))
    ],
    names: Annotated[
        list[str] | None, argument(metavar="[NAME...]", help="SLS files.", complete=("sls",))
    ] = None,
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
    wanted = words(names or ())
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
    if common.form.data is None:
        others = ", ".join(form.name for form in forms_of(DATA))
        raise UsageError(
            f"--out {common.form.name} is for `runner show graph`", hint=f"one of {others}"
        )
    options = options_of(common)
    if what == "top" and common.for_people:
        print(queries.explained_top(options))
    else:
        with answer_alone(common.for_people):
            answer = queries.show(options, what, wanted, show_secrets)
        if common.for_people and not common.verbose:
            answer = queries.shortened(answer)
        write_value(common, answer)
    return 0


def _graph(common: Common, names: list[str]) -> int:
    options = options_of(common)
    with answer_alone():  # `pretty` is dot here, which other programs read
        picture, problems = explain.picture(options, names)
    show_problems(problems)
    if common.form.graph is None:
        write_value(common, picture)
    else:
        title = f"Dependency graph of {options.id}: {', '.join(names) or 'the highstate'}"
        print_text(common.form.graph(picture, title))
    return 0
