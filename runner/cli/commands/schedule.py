# SPDX-License-Identifier: Apache-2.0
"""The command `schedule`: runs that start by themselves."""

from __future__ import annotations

import os
import pwd
import shlex
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

from runner.api.own_program import own_program
from runner.api.scheduled import cron_command
from runner.cli.parsing.option_spec import Annotated, argument, option
from runner.cli.running import installed_schedule
from runner.cli.running import scheduling as plans
from runner.cli.running.answers import show_problems, write_value
from runner.cli.running.options import (
    BUILDING,
    READING,
    ROOTED,
    RUNNING,
    Common,
    options_without_tree,
    with_common,
)
from runner.cli.running.shown_run import finish
from runner.history import disabled as history_disabled
from runner.model.diagnostics import Diagnostic
from runner.model.errors import RunnerError, UsageError
from runner.output.text import safe
from runner.pipeline import stages
from runner.sources.config import load
from runner.tools.queries import show
from runner.tools.watch.acts import ACTS

ACTIONS = ("install", "status", "remove")
SCHEDULED_COMMANDS = ("runner highstate", "runner pull", "runner watch:")


@with_common(READING, ROOTED, BUILDING, RUNNING)
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
    pull: Annotated[
        bool, option("--pull", help="Run `runner pull`: fetch the tree before each run.")
    ] = False,
    ac_power: Annotated[bool, option("--ac-power", help="Not while on battery (timers).")] = False,
    user: Annotated[bool, option("--user", help="In your own systemd.")] = False,
    first_boot: Annotated[
        bool,
        option("--first-boot", help="When the machine starts, until a run succeeds; then no more."),
    ] = False,
    watch: Annotated[
        str | None,
        option("--watch", metavar="HOW", help="A service that watches: report, drift or ask."),
    ] = None,
    common: Common,
) -> int:
    """Run `runner highstate -q`, or `runner pull -q`, regularly.

    It creates a systemd timer, which waits for the network, or an entry in /etc/cron.d where there
    is no systemd. `runner disable` stops the runs for a while; `status` says so. `--user` is about
    the runs of a plain user, with their own tree and rights.

    Example: runner schedule install --every 30m --splay 10m
    """
    if action not in ACTIONS:
        raise UsageError(
            f"runner schedule {action}: there is no such action",
            hint="one of " + ", ".join(ACTIONS),
        )
    typed = {"--every": every, "--cron": cron, "--splay": delay != "0", "--cron-d": cron_d}
    typed |= {"--timer": timer, "--ac-power": ac_power, "--pull": pull, "--first-boot": first_boot}
    typed |= {"--watch": watch}
    given = [name for name, value in typed.items() if value]
    if given and action != "install":
        raise UsageError(f"{given[0]} is for `runner schedule install`")
    if action == "status":
        return _status(common, user)
    if first_boot:
        if user or {*given} - {"--first-boot", "--pull"}:
            raise UsageError("--first-boot goes with install and --pull alone")
        return _at_first_boot(common, pull)
    if watch:
        if {*given} - {"--watch", "--every"}:
            raise UsageError("--watch goes with install, --every and --user alone")
        return _watching(common, watch, every or "30m", user)
    if (cron_d and timer) or (every and cron):
        raise UsageError("--cron-d or --timer, --every or --cron: one of each")
    options = options_without_tree(common, running=True)
    has_systemd = os.path.isdir("/run/systemd/system") or bool(options.root and _is_systemd())
    uses_timer = timer or user or (has_systemd and not cron_d and not cron)
    if (user and (cron_d or cron)) or (ac_power and not uses_timer):
        raise UsageError(f"{'--user' if user else '--ac-power'} is for timers: not for cron")
    minutes = None if cron else plans.minutes(every or "30m")
    splay = plans.seconds(delay, "--splay")
    owner = _owner(common.test) if user else ""
    command = _command(common, _command_of(pull), options)
    plan = plans.SchedulePlan(command, minutes, cron, splay, ac_power, owner)
    if os.geteuid() != 0 and not user and not common.test:
        raise _needs_root(action, plan)
    if action == "remove":
        states = plans.removing(has_systemd, owner, os.path.expanduser("~"))
    else:
        states = plans.installing(plan, uses_timer, has_systemd)
        _check_pull(pull, options.tree_source is not None, uses_timer and not user)
    return finish(common, options, partial(stages.several, options, states))


def _at_first_boot(common: Common, pull: bool) -> int:
    options = options_without_tree(common, running=True)
    if os.geteuid() != 0 and not common.test:
        raise RunnerError("this needs root: it is the machine's")
    _check_pull(pull, options.tree_source is not None, uses_timer=True)
    command = _command(common, _command_of(pull), options, "-q")
    return finish(common, options, partial(stages.several, options, plans.at_first_boot(command)))


def _watching(common: Common, act: str, every: str, of_user: bool) -> int:
    if act not in ACTS:
        raise UsageError(f"--watch {act}: one of {', '.join(ACTS)}")
    seconds = plans.seconds(every, "--every", least=1)
    options = options_without_tree(common, running=True)
    owner = _owner(common.test) if of_user else ""
    if os.geteuid() != 0 and not owner and not common.test:
        raise RunnerError("this needs root: it is the machine's", hint="--user watches as a user")
    if options.root or not os.path.isdir("/run/systemd/system"):
        raise RunnerError("--watch: no systemd runs there", hint="`runner watch` does without one")
    command = _command(common, "watch", options, "--act", act, "--every", every)
    run = partial(stages.several, options, plans.watching(command, seconds, owner))
    return finish(common, options, run)


def _needs_root(action: str, plan: plans.SchedulePlan) -> RunnerError:
    entry = f"{plans.expression(plan)} {cron_command(plan.command)}"
    what = f"put a line into `crontab -e`:\n    {entry}"
    if action == "remove":
        what = "take the line out of `crontab -e`"
    return RunnerError("this needs root", hint=f"as a user, take --user, or {what}")


def _owner(dry: bool) -> str:
    """Who asks, if a systemd of their own runs for them. Raises RunnerError."""
    uid = os.geteuid()
    if uid == 0:
        raise UsageError("--user is for plain users", hint="for root, the same without --user")
    try:
        name = pwd.getpwuid(uid).pw_name
    except KeyError:
        raise RunnerError(f"there is no user {uid}") from None
    lingering = f"sudo loginctl enable-linger {name}"
    if not dry and not os.path.exists(f"/run/user/{uid}/systemd/private"):
        raise RunnerError(f"no systemd runs for {name}", hint=lingering)
    if not os.path.exists(f"/var/lib/systemd/linger/{name}"):
        message = "the runs are only started while you are logged in"
        show_problems([Diagnostic(message, None, lingering, "schedule", "info")])
    return name


def _is_systemd() -> bool:
    """Return whether systemd will run an image."""
    return any(os.path.exists(f"{folder}/systemd/systemd") for folder in ("/lib", "/usr/lib"))


def _command_of(pull: bool) -> str:
    return "pull" if pull else "highstate"


def _command(common: Common, name: str, options: Any, *how: str) -> tuple[str, ...]:
    """The command line to start, with whole paths: cron has next to no PATH, and would not look for
    a configuration in the current directory. An image has its own one.
    """
    used = options.raw.get("conf_file")
    words = [*own_program(), name, *(how or ("-q", "--scheduled"))]
    if options.root:
        _check_image()
    elif common.config or (used and used != load.SYSTEM):
        words += ["--config", os.path.abspath(common.config or str(used))]
    if common.cachedir and not options.root:
        words += ["--cachedir", os.path.abspath(common.cachedir)]
    return (*words, *_given(common, name, bool(options.root)))


def _given(common: Common, name: str, in_image: bool) -> Iterator[str]:
    """The options that say which machine of which trees it is. Raises UsageError for what the runs
    cannot have.
    """
    if common.pillar is not None or common.pillar_stdin:
        raise UsageError(
            "--pillar is for one run", hint="its values belong into the pillar's files"
        )
    for option_name, value in (
        ("--id", common.id),
        ("--saltenv", common.saltenv),
        ("--pillarenv", common.pillarenv),
    ):
        if value is not None:
            yield from (option_name, value)
    for option_name, folders in (
        ("--state-tree", common.state_tree),
        ("--pillar-tree", common.pillar_tree),
    ):
        if folders and (in_image or name == "pull"):
            of = "of an image" if in_image else "of a pulled tree"
            hint = "their configuration says where it is"
            raise UsageError(f"{option_name} is not for runs {of}", hint=hint)
        for folder in folders:
            yield from (option_name, os.path.abspath(folder))


def _check_image() -> None:
    """Say what the runs of an image lack there."""
    if not os.path.exists(load.SYSTEM):
        message = f"these runs read {load.SYSTEM} of the image, which is not there yet"
        show_problems([Diagnostic(message, None, None, "schedule", "info")])


def _check_pull(pull: bool, has_remote: bool, uses_timer: bool) -> None:
    """Raises UsageError for `--pull` without a remote; says what else may surprise."""
    if pull and not has_remote:
        raise UsageError(
            "--pull: the configuration names no remote of the tree",
            hint="`tree: {remote: URL}`, which `runner init --from URL` writes",
        )
    if pull and not uses_timer:
        message = "nothing here waits for the network: a run without it uses the last good tree"
        show_problems([Diagnostic(message, None, None, "schedule", "info")])
    if has_remote and not pull:
        message = "these runs fetch nothing: they use the tree as the last `runner pull` left it"
        hint = "`runner schedule install --pull` fetches it before each run"
        show_problems([Diagnostic(message, None, hint, "schedule", "info")])


def _status(common: Common, of_user: bool) -> int:
    options = options_without_tree(common)
    runs = show.past(options, (), 100, real=True)
    last = next((run for run in runs if run["command"].startswith(SCHEDULED_COMMANDS)), None)
    schedule = installed_schedule.installed(of_user)
    stopped = history_disabled.disabled(options.state_dir)
    how, command = (schedule.path, shlex.join(schedule.command)) if schedule else (None, None)
    upcoming = schedule.next_run if schedule else None
    first, watches = installed_schedule.first_boot(), installed_schedule.watch(of_user)
    if not common.for_people:
        answer = {"installed": how, "command": command, "last": last, "next": upcoming}
        answer |= {"first_boot": first, "watch": shlex.join(watches) or None}
        write_value(common, answer | {"disabled": stopped and stopped.as_data()})
        return 0
    print(f"installed: {how or 'no'}")
    if command:
        print(f"command:   {safe(command)}")
    if first:
        print(f"first run: {first}")
    if watches:
        print(f"watch:     {safe(shlex.join(watches))}")
    if stopped:
        print(f"disabled:  {safe(str(stopped), sys.stdout)}")
    print(f"last run:  {last['started']}: {last['outcome']}" if last else "last run:  none yet")
    for error in last["errors"] if last else ():
        print("\n".join(f"           {safe(line)}" for line in error.splitlines()))
    print(f"next run:  {upcoming or 'not known'}")
    if stopped:
        show_problems(installed_schedule.disobedient(schedule, options.state_dir))
    return 0
