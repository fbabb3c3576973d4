# SPDX-License-Identifier: Apache-2.0
"""Services of OpenRC (Alpine, Gentoo): init scripts that runlevels start."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from modules import _paths, cmd, file
from modules.service import _offline, _planned
from modules.service._former import acts
from modules.service._names import file_name
from runner.api import CommandFailed, cached_look
from runner.api.offline import offline_as

NAMES: tuple[str, ...] = ("openrc", "gentoo_service", "rc-service")
SCRIPTS = ("/etc/init.d", "/usr/local/etc/init.d")
RUNLEVELS = "/etc/runlevels"
STARTED = "/run/openrc/started"  # a link for each service that was started
DEFAULT = "default"  # the runlevel of what is enabled without naming one
# status of a service that was started and whose process, or whose supervisor, is gone
CRASHED = (32, 64)


@offline_as(lambda: _offline.init() == "openrc")
def suits() -> bool:
    """Return whether OpenRC has started this machine."""
    return _paths.isdir("/run/openrc") and not _paths.isdir("/run/systemd/system")


def available(name: str) -> bool:
    """Return whether there is such a service."""
    return any(_paths.access(f"{folder}/{file_name(name)}", os.X_OK) for folder in SCRIPTS)


@cached_look("services", STARTED)
def _state(name: str) -> int:
    """The exit status of a service's own `status`: 0 runs, 3 stopped, 32 crashed, 64
    unsupervised."""
    return cmd.probe(["rc-service", "--quiet", "--", name, "status"]).retcode


def status(name: str) -> bool:
    """Return whether a service runs."""
    will = _planned.will_run(name)
    return available(name) and (_state(file_name(name)) == 0 if will is None else will)


def runlevels(name: str) -> list[str]:
    """The runlevels that start a service."""
    return [
        level
        for level in (sorted(_paths.listdir(RUNLEVELS)) if _paths.isdir(RUNLEVELS) else [])
        if _paths.lexists(f"{RUNLEVELS}/{level}/{file_name(name)}")
    ]


def enabled(name: str) -> bool:
    """Return whether a runlevel starts a service."""
    return bool(runlevels(name))


def masked(name: str, runtime: bool = False) -> bool:
    """False: services of OpenRC cannot be masked."""
    return False


def log(name: str, since: float = 0) -> str:
    """Nothing: OpenRC keeps no log of each service."""
    return ""


def get_all() -> list[str]:
    """All services."""
    return sorted(cmd.probe(["rc-service", "--list"]).stdout.split())


def get_enabled() -> list[str]:
    """The services that a runlevel starts."""
    return sorted({name for _, _, names in _paths.walk(RUNLEVELS) for name in names})


def get_running() -> list[str]:
    """The services that run."""
    started = _paths.listdir(STARTED) if _paths.isdir(STARTED) else []
    return sorted(name for name in started if status(name))


def _plan(name: str, action: str, options: Sequence[str] = ()) -> None:
    """Plan what an action does."""
    service = file_name(name)
    if action == "enable":
        for level in options or (DEFAULT,):
            if not _paths.isdir(f"{RUNLEVELS}/{level}"):
                raise CommandFailed(f"rc-update: runlevel `{level}' does not exist")
            if not _paths.lexists(f"{RUNLEVELS}/{level}/{service}"):
                file.refuse_put(f"{RUNLEVELS}/{level}/{service}")
                file.symlink(f"{SCRIPTS[0]}/{service}", f"{RUNLEVELS}/{level}/{service}")
    elif action == "disable":
        for level in options or runlevels(service):
            file.refuse_put(f"{RUNLEVELS}/{level}/{service}")
            file.remove(f"{RUNLEVELS}/{level}/{service}")
    else:
        _planned.act(name, action)


@acts(__name__, _plan)
def act(name: str, action: str, options: Sequence[str] = ()) -> None:
    """Start, stop, restart, reload, enable or disable a service. Raises CommandFailed.

    options: for enable and disable the runlevels; none: the default one, or all that there are.
    """
    service = file_name(name)
    if action == "enable":
        _run("rc-update", "add", service, *(options or (DEFAULT,)))
    elif action == "disable":
        _run("rc-update", "del", service, *(options or runlevels(service)))
    elif action in ("mask", "unmask"):
        raise CommandFailed(f"a service of OpenRC cannot be {action}ed")
    elif action == "force-reload":
        if cmd.probe(["rc-service", "--", service, "reload"]).retcode:
            _run("rc-service", "--", service, "restart")
    elif action == "start" and _state(service) in CRASHED:
        _run("rc-service", "--", service, "restart")  # it would say that it is started already
    else:
        _run("rc-service", "--", service, action)


def _run(*argv: str) -> None:
    done = cmd.probe(argv, env={"EINFO_COLOR": "no", "RC_NOCOLOR": "yes"})
    if done.retcode:
        raise CommandFailed(plain_words(f"{done.stdout}{done.stderr}") or f"{argv[0]} failed")


def plain_words(text: str) -> str:
    """Return what OpenRC printed, without colours, stars and the cursor's moves."""
    text = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", text)
    lines = (re.sub(r"^\s*\*\s*|\s*\[ (ok|!!) \]\s*$", "", line) for line in text.splitlines())
    return "\n".join(line.rstrip() for line in lines if line.strip())
