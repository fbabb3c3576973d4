"""The command `schedule`: runs that start by themselves."""

from __future__ import annotations

import os
import shutil
import sys
from typing import Annotated, Any

from runner.cli.option_spec import argument, option
from runner.cli.options import (
    READING,
    RUNNING,
    Common,
    finish,
    options_of,
    with_common,
    write_value,
)
from runner.model.errors import RunnerError, UsageError
from runner.output.text import safe

ACTIONS = ("install", "status", "remove")


@with_common(READING, RUNNING)
def schedule(
    *,
    action: Annotated[
        str,
        argument(metavar="install|status|remove", help="What to do with it.", complete=(ACTIONS,)),
    ],
    every: Annotated[
        str | None, option("--every", metavar="TIME", help="30m (default), 2h, 1d ...")
    ] = None,
    cron: Annotated[
        str | None, option("--cron", metavar="EXPR", help="Five fields, as in a crontab.")
    ] = None,
    delay: Annotated[
        str,
        option(
            "--splay",
            metavar="TIME",
            help="Delay the start randomly, up to this.",
            show_default=True,
        ),
    ] = "0",
    cron_d: Annotated[bool, option("--cron-d", help="An entry in /etc/cron.d.")] = False,
    timer: Annotated[
        bool, option("--timer", help="A systemd timer (default where systemd runs).")
    ] = False,
    common: Common,
) -> int:
    """Run `runner highstate -q` regularly.

    It creates a systemd timer, or an entry in /etc/cron.d where there is no systemd.

    Example: runner schedule install --every 30m --splay 10m
    """
    from runner import pipeline
    from runner.cli import scheduling as plans

    if action not in ACTIONS:
        raise UsageError(
            f"runner schedule {action}: there is no such action",
            hint="one of " + ", ".join(ACTIONS),
        )
    if action == "status":
        return _status(common)
    if (cron_d and timer) or (every and cron):
        raise UsageError("--cron-d or --timer, --every or --cron: one of each")
    has_systemd = os.path.isdir("/run/systemd/system")
    uses_timer = timer or (has_systemd and not cron_d and not cron)
    minutes = None if cron else plans.minutes(every or "30m")
    plan = plans.Plan(_command(common), minutes, cron, plans.seconds(delay, "--splay"))
    states = (
        plans.installing(plan, uses_timer, has_systemd)
        if action == "install"
        else plans.removing(has_systemd)
    )
    if os.geteuid() != 0 and not common.test:
        entry = f"{plans.expression(plan)} {' '.join(plan.command)}"
        raise RunnerError(
            "this needs root", hint=f"as a user, put a line into `crontab -e`:\n    {entry}"
        )
    options = options_of(common, running=True)
    return finish(common, options, lambda listeners: pipeline.several(options, states, listeners))


def _command(common: Common) -> tuple[str, ...]:
    """The command line to start, with whole paths: cron has next to no PATH."""
    program = os.path.realpath(sys.argv[0])
    if not os.access(program, os.X_OK):
        program = shutil.which("runner") or "runner"
    words = [program, "highstate", "-q"]
    if common.config:
        words += ["--config", os.path.abspath(common.config)]
    if common.cachedir:
        words += ["--cachedir", os.path.abspath(common.cachedir)]
    return tuple(words)


def _status(common: Common) -> int:
    from runner.queries import show

    runs = show.past(options_of(common), (), 100, real=True)
    last = next((run for run in runs if run["command"].startswith("runner highstate")), None)
    how, upcoming = _installed()
    if not common.for_people:
        write_value(common, {"installed": how, "last": last, "next": upcoming})
        return 0
    print(f"installed: {how or 'no'}")
    print(f"last run:  {last['started']}: {last['outcome']}" if last else "last run:  none yet")
    for error in last["errors"] if last else ():
        print("\n".join(f"           {safe(line)}" for line in error.splitlines()))
    print(f"next run:  {upcoming or 'not known'}")
    return 0


def _installed() -> tuple[str | None, str | None]:
    """(what is installed, when the next run is due)."""
    from runner.cli import scheduling as plans

    unit = f"{plans.UNIT}.timer"
    if os.path.exists(f"{plans.UNIT_FOLDER}/{unit}"):
        return f"{plans.UNIT_FOLDER}/{unit}", _elapses(unit)
    try:
        with open(plans.CRON_FILE, encoding="utf-8") as file:
            lines = file.read().splitlines()
    except OSError:
        return None, None
    expression = plans.installed_expression(lines)
    from datetime import datetime

    due: Any = plans.due(expression, datetime.now()) if expression else None
    return plans.CRON_FILE, due.isoformat(" ") if due else None


def _elapses(unit: str) -> str | None:
    import subprocess

    argv = ["systemctl", "show", "--property=NextElapseUSecRealtime", "--value", unit]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None
