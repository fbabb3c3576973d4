# SPDX-License-Identifier: Apache-2.0
"""Processes of supervisor."""

from __future__ import annotations

from modules import supervisord
from runner.api import AbsolutePath, FilePath, Name, Plan, Planned, StateFailed


def running(
    name: Name,
    restart: bool = False,
    update: bool = False,
    user: Name | None = None,
    conf_file: FilePath | None = None,
    bin_env: AbsolutePath | None = None,
) -> Planned:
    """Make sure that a process of supervisor runs.

    name: The process, or a group as `name:` or `name:*`.
    restart: Restart the process in each run.
    update: Have supervisord read its configuration first, which restarts what differs.
    user: The user whose supervisorctl it is.
    conf_file: The configuration.
    bin_env: A virtual environment, or the path of supervisorctl.

        worker:
          supervisord.running:
            - update: True
    """
    how = (user, conf_file, bin_env)
    group = name.endswith((":", ":*"))
    present = supervisord.matching(name, supervisord.status(None, *how))
    stopped = [process for process, state in present.items() if state not in supervisord.RUNNING]
    if present and not stopped and not restart:
        if group:
            return f"All services in group '{name}' are already running"
        return f"Not starting already running service: {name}"
    if not present:
        changes, comment = f"Adding service: {name}", f"Service {name} will be added and started"
    elif stopped:
        changes, comment = f"Starting service: {name}", f"Service {name} will be started"
    else:
        changes, comment = f"Restarting service: {name}", f"Service {name} will be restarted"
    yield Plan({name: changes}, comment, provides=[("supervisord", name)], reacted_by=[name])
    if update:
        supervisord.update(*how)
    elif not present:
        supervisord.reread(*how)
    known = supervisord.matching(name, supervisord.status(None, *how))
    if not known:
        supervisord.add(name, *how)
        known = supervisord.matching(name, supervisord.status(None, *how))
    target = f"{name.removesuffix('*')}*" if group else name
    if any(state not in supervisord.RUNNING for state in known.values()):
        supervisord.start(target, *how)
    elif present and not stopped:
        supervisord.restart(target, *how)
    after = supervisord.matching(name, supervisord.status(None, *how))
    failed = [process for process, state in after.items() if state not in supervisord.RUNNING]
    if failed or not after:
        raise StateFailed(f"Service {name} does not run: {', '.join(failed) or 'it is not known'}")
    return changes


def dead(
    name: Name,
    user: Name | None = None,
    conf_file: FilePath | None = None,
    bin_env: AbsolutePath | None = None,
) -> Planned:
    """Make sure that a process of supervisor does not run.

    name: The process, or a group as `name:` or `name:*`.
    user, conf_file, bin_env: as of supervisord.running.

        worker:
          supervisord.dead: []
    """
    how = (user, conf_file, bin_env)
    present = supervisord.matching(name, supervisord.status(None, *how))
    if not present:
        return f"Service {name} doesn't exist"
    if not any(state in (*supervisord.RUNNING, "BACKOFF") for state in present.values()):
        return f"Service {name} is not running"
    yield Plan({name: f"Stopping service: {name}"}, f"Service {name} will be stopped")
    group = name.endswith((":", ":*"))
    supervisord.stop(f"{name.removesuffix('*')}*" if group else name, *how)
    return f"Stopped service: {name}"


REACTS = ("running",)  # a watched change makes dead look again, no more


def mod_watch(
    name: Name,
    sfun: str | None = None,
    restart: bool = True,
    update: bool = False,
    user: Name | None = None,
    conf_file: FilePath | None = None,
    bin_env: AbsolutePath | None = None,
) -> Planned:
    """Restart a process after a change of what it watches; read the configuration with update."""
    if sfun == "dead":
        return (yield from dead(name, user, conf_file, bin_env))
    return (yield from running(name, restart, update, user, conf_file, bin_env))


OPPOSITE = {"running": "dead"}
