# SPDX-License-Identifier: Apache-2.0
"""The command `plan`: what a saved plan says."""

from __future__ import annotations

from typing import Any

from runner.cli.parsing.option_spec import Annotated, argument
from runner.cli.running.answers import print_text, write
from runner.cli.running.exit_codes import DONE
from runner.cli.running.options import READING, ROOTED, Common, loaded, with_common
from runner.cli.running.shown_run import live_listener
from runner.history.saved_plan import machine_key as machine_keys
from runner.history.saved_plan import plan as saved_plan
from runner.history.saved_plan import plan_file
from runner.model.errors import UsageError
from runner.model.events import RunFinished, RunStarted, StateFinished
from runner.model.places import of_host
from runner.output import json_
from runner.output.formats import RUN
from runner.output.text import safe


@with_common(READING, ROOTED, answer=RUN)
def plan(
    *,
    words: Annotated[
        list[str], argument(metavar="show FILE", help="A plan that --plan FILE has kept.")
    ],
    common: Common,
) -> int:
    """Print a saved plan for review, as its dry run was reported.

    It says when, where and from what the plan was made. Whether it was altered since only the
    machine can tell that made it.

    Example: runner plan show web1.plan
    """
    if len(words) != 2 or words[0] != "show":
        raise UsageError("runner plan show FILE")
    document = plan_file.parsed(plan_file.read_private(words[1], "plan"))
    saved = saved_plan.plan_of(document)
    options, _ = loaded(common)
    key = machine_keys.machine_key(options.state_dir)
    is_own = key is not None and key.identity == saved.key
    if is_own:
        plan_file.authenticated(document, key, options.id)
    if common.form.report:
        print_text(common.form.report(saved.report))
    elif common.for_people:
        _print(saved, is_own, common)
    else:
        write(common, _data(saved, is_own))
    return DONE


def _print(saved: Any, is_own: bool, common: Common) -> None:
    for line in _head(saved, is_own):
        print(safe(line))
    print()
    shown = live_listener(common._replace(test=True), None, "")
    report = saved.report
    shown(RunStarted(len(report.results), True))
    for result in report.results:
        shown(StateFinished(result))
    shown(RunFinished(report))


def _head(saved: Any, is_own: bool) -> list[str]:
    roots = of_host("; ".join(map(str, saved.roots))) or "no tree"
    lines = [
        f"Plan of {saved.machine} ({saved.host}), made {saved.made} by user {saved.user}",
        f"  {saved.typed}",
        f"  from {roots}",
    ]
    if not is_own:
        lines.append("  made elsewhere, so that nobody here can tell whether it was altered")
    if saved.pillar:
        lines.append("  with --pillar, whose values are not kept: `runner apply` needs it again")
    if saved.undecided:
        names = ", ".join(state.title for state in saved.undecided)
        lines.append(f"  What these would do is not known before: {names}")
    return lines


def _data(saved: Any, is_own: bool) -> dict[str, Any]:
    about = saved._asdict()
    for name in ("states", "pillar", "key", "request"):
        del about[name]
    return {
        **json_.report(saved.report),
        "plan": {
            **about,
            "roots": [root._asdict() for root in saved.roots],
            "verified": is_own,
            "with_pillar": bool(saved.pillar),
            "undecided": [state.result.tag for state in saved.undecided],
            "before": {
                state.result.tag: {item.subject: dict(item.facts) for item in state.before}
                for state in saved.states
                if state.before
            },
        },
    }
