# SPDX-License-Identifier: Apache-2.0
"""The command `watch`: a process that looks when something has changed."""

from __future__ import annotations

import sys
import time
from functools import partial
from typing import Any

from runner.cli.parsing.option_spec import Annotated, argument, option
from runner.cli.running import scheduling, watching
from runner.cli.running.answers import write_value
from runner.cli.running.options import READING, RUNNING, Common, options_of, with_common, words
from runner.cli.running.shown_run import finish
from runner.model.errors import UsageError
from runner.output.text import safe
from runner.pipeline import lock, stages
from runner.tools.watch import acts, mounts, resident, status
from runner.tools.watch.watched_by import watched_by

ACTIONS = ("status", "fix")


@with_common(READING, RUNNING)
def watch(
    *,
    names: Annotated[
        list[str] | None,
        argument(
            metavar="[SLS...|status|fix]",
            help="SLS files; those of the top file. Or what to do.",
            complete=("sls-list",),
        ),
    ] = None,
    act: Annotated[
        str | None,
        option("--act", metavar="HOW", help="report (default), drift: put right, or ask."),
    ] = None,
    every: Annotated[
        str | None,
        option("--every", metavar="TIME", help="Look at everything: 30m (default), 1h, 1d ..."),
    ] = None,
    listed: Annotated[
        bool, option("--list", help="Show what tells of changes of each state, and end.")
    ] = False,
    common: Common,
) -> int:
    """Look at states whenever something changes that they look at.

    It compiles the tree once, sleeps, and looks at a state, and at those that depend on it, when a
    file, a package, an account, a unit or a mount that it goes by is changed; what nothing tells of
    is looked at every half hour. `status` says what it has found, `fix` puts that right.

    Example: runner watch --act drift
    """
    given = words(names or ())
    if given[:1] and given[0] in ACTIONS:
        if len(given) > 1 or act or every or listed:
            raise UsageError(f"`runner watch {given[0]}` takes no more")
        return _status(common) if given[0] == "status" else _fix(common)
    if act is not None and act not in acts.ACTS:
        raise UsageError(f"--act {act}: one of {', '.join(acts.ACTS)}")
    if common.test and act == acts.DRIFT:
        raise UsageError("--act drift changes the machine; --act report does not")
    if listed:
        return _list(common, given)
    return _watch(common, given, act or acts.REPORT, every or "30m")


def _watch(common: Common, names: list[str], act: str, every: str) -> int:
    seconds = scheduling.seconds(every, "--every", least=1)
    state_dir = watching.configured(common).state_dir
    make = watching.compiling(common, names, act)
    with lock.held(state_dir, name=status.LOCK) as leave:
        settings = resident.Settings(state_dir, act, float(seconds), tuple(names))
        resident.Resident(settings, make, _tell, leave).run()
    return 0


def _tell(line: str) -> None:
    print(f"runner watch: {safe(line, sys.stderr)}", file=sys.stderr, flush=True)


def _list(common: Common, names: list[str]) -> int:
    plan = watching.compiling(common, names, acts.REPORT)()
    if not isinstance(plan, watching.CommandPlan):
        return 1
    states, answer = plan.facts()["states"], plan.look(None)
    if "looks" not in answer:
        return 1
    is_polled = mounts.Polled(mounts.present()).has
    found = [(states[tag], watched_by(answer["looks"].get(tag, ()), is_polled)) for tag in states]
    if not common.for_people:
        rows = [
            {"state": state, "by": list(by.kinds), "paths": sorted({path for _, path in by.places})}
            for state, by in found
        ]
        write_value(common, rows)
        return 0
    width = max((len(state) for state, _ in found), default=0)
    for state, by in found:
        print(f"{safe(state, sys.stdout):{width}}  {', '.join(by.kinds)}")
        for path in sorted({path for _, path in by.places}) if common.verbose else ():
            print(f"    {safe(path, sys.stdout)}")
    return 0


def _status(common: Common) -> int:
    known = status.read(options_of(common).state_dir)
    if not common.for_people:
        write_value(common, known and known.as_data() | {"alive": known.is_alive})
        return 0
    if known is None:
        print("Nobody watches.")
        return 0
    since = time.strftime("%F %T", time.localtime(known.since))
    gone = "" if known.is_alive else ", which has ended"
    print(f"process {known.pid} since {since}{gone}: --act {known.act}, {known.states} states")
    if known.by_timer:
        print(f"of {known.by_timer} not everything tells: they are looked at by the timer, too")
    if known.unwatched:
        print(f"{known.unwatched} by the timer alone: {safe(known.lack, sys.stdout)}")
    if known.problem:
        print(safe(known.problem, sys.stdout))
    for each in known.deviations:
        when = time.strftime("%F %T", time.localtime(each.since))
        print(safe(f"{each.outcome}: {each.state} ({when}: {each.event})", sys.stdout))
        if each.left_alone:
            print(safe(f"    left alone: {each.left_alone}", sys.stdout))
    if known.deviations:
        print("\nTo put that right:\n    runner watch fix")
    return 0


def _fix(common: Common) -> int:
    """Run what the process that watches has found."""
    options = options_of(common, running=True)
    known = status.read(options.state_dir)
    only = tuple(each.state for each in known.deviations) if known else ()
    if not only:
        if not common.quiet and common.for_people:
            print("Nothing is known that is not as it should be.")
        return 0
    options = options._replace(only=only)
    run: Any = partial(stages.highstate, options)
    if known and known.names:
        run = partial(stages.sls, options, known.names)
    return finish(common, options, run)
