# SPDX-License-Identifier: Apache-2.0
"""Services of the machine."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Annotated

from modules import file, pkg, service
from runner.api import (
    OPEN,
    CommandFailed,
    Done,
    Duration,
    Line,
    Name,
    NonEmptyLine,
    OneOrMany,
    Plan,
    Planned,
    ServiceName,
    StateFailed,
    here,
    planned_as,
    requires_feature,
)
from runner.api.argtypes import with_home
from runner.api.claims import ABSENT, Claim
from runner.api.near import closest
from runner.api.offline import at_boot, offline_as
from runner.api.opposite import Opposite, Removal

PROVIDERS = service.PROVIDERS
ENDS = ("stop", "disable", "mask", "unmask")
User = Annotated[Name | None, requires_feature("user_units")]


def _starts_at_boot(
    name: str,
    enable: bool | None = None,
    unmask: bool = False,
    unmask_runtime: bool = False,
    runlevels: Sequence[str] | None = None,
    user: str | None = None,
    **_: object,
) -> Planned:
    """`running` of a system that does not run: it sees to what decides whether a service starts."""
    _require_available(name, user)
    masks = _masks(name, unmask, unmask_runtime, user)
    steps = _enabling(name, enable, runlevels, user)
    starts = service.enabled(name, None, user) if enable is None else enable
    comment = _at_boot(name, starts)
    if steps or masks:
        yield Plan({name: True}, comment, provides=[("service", name)])
        _unmask(name, masks, user)
        _act(name, steps, (), runlevels, user=user)
    return comment


def _stays_down(
    name: str,
    enable: bool | None = None,
    runlevels: Sequence[str] | None = None,
    user: str | None = None,
    **_: object,
) -> Planned:
    """`dead` of a system that does not run: it sees to what decides whether a service starts."""
    if not service.available(name, user):
        return _unavailable(name)
    steps = _enabling(name, enable, runlevels, user)
    starts = service.enabled(name, None, user) if enable is None else enable
    comment = _at_boot(name, starts)
    if steps:
        yield Plan({name: True}, comment)
        _act(name, steps, (), runlevels, user=user)
    return comment


def _at_boot(name: str, starts: bool) -> str:
    return f"Service {name} starts at boot" if starts else f"Service {name} does not start at boot"


def _reads_at_boot(name: str, sfun: str, user: str | None = None, **_: object) -> str:
    """The reaction of a service of a system that does not run: it starts with what is there."""
    return _at_boot(name, service.enabled(name, None, user))


def _starting(name: str, enable: bool | None = None, user: str | None = None, **_: object) -> str:
    """What a service leaves to the boot; nothing for one of a user, who may never log in."""
    starts = service.enabled(name, None, user) if enable is None else enable
    return _at_boot(name, True) if starts and not user else ""


@at_boot(_starting)
@offline_as(_starts_at_boot)
def running(
    name: ServiceName,
    enable: bool | None = None,
    sig: Line | None = None,
    init_delay: Duration[float] | None = None,
    no_block: bool = False,
    unmask: Annotated[bool, requires_feature("maskable")] = False,
    unmask_runtime: Annotated[bool, requires_feature("maskable")] = False,
    timeout: Duration[float] | None = None,
    runlevels: Annotated[OneOrMany[Name] | None, requires_feature("runlevels")] = None,
    user: User = None,
) -> Planned:
    """Make sure that a service runs.

    name: The service.
    enable: Whether it starts with the machine; without it as it is.
    sig: For init scripts, a text in the command line of its process by which it is found running;
      systemd needs none.
    init_delay: Seconds to wait after a start.
    no_block: Start it without waiting until it runs (systemd).
    unmask: Take away a mask that keeps it from being started.
    unmask_runtime: Take away a mask that holds until the next start of the machine.
    timeout: Seconds that it may take until it runs.
    runlevels: The runlevels of OpenRC that are to start it, or with `enable: False` not to; without
      them `default`.
    user: The user whose own systemd has the service; it runs while the user lingers (user.present)
      or is logged in.

        nginx:
          service.running:
            - enable: True
            - reload: True
            - watch:
              - file: /etc/nginx/nginx.conf
        /etc/nginx/nginx.conf:
          file.managed:
            - source: salt://nginx.conf
    """
    _require_available(name, user)
    masks = _masks(name, unmask, unmask_runtime, user)
    steps = _enabling(name, enable, runlevels, user)
    runs = service.status(name, sig, user)
    mask = _mask_comment(name, unmask_runtime, masks, "would be") if unmask else ""
    if runs and not steps and not masks:
        return f"The service {name} is already running{mask}"
    comment = (
        f"Service {name} is set to start"
        if not runs
        else f"Service {name} set to be {steps[0]}d"
        if steps
        else ""
    )
    # who is only enabled or unmasked has still to be restarted for what it watches
    starts = () if runs else (name,)
    yield Plan(
        {name: True}, (comment + mask).strip(), provides=[("service", name)], reacted_by=starts
    )
    began = time.time()
    _unmask(name, masks, user)
    _act(name, [*steps, *([] if runs else ["start"])], _options(no_block), runlevels, user=user)
    waited = _wait(init_delay if not runs else None)
    mask = waited + (_mask_comment(name, unmask_runtime, masks, "was") if unmask else "")
    if not no_block and not service.wait_until(name, sig, True, timeout, user):
        what = (
            f"Service {name} failed to start"
            if enable is None
            else _enable_comment(name, enable, steps, True, "dead")
        )
        if service.ends_by_itself(name, user):
            what += ": it ends with its start (Type=oneshot without RemainAfterExit=yes)"
        raise StateFailed(
            what + mask + service.log(name, began, user), changes={name: True} if steps else {}
        )
    if not runs and not no_block:
        service.check_at_end(name, sig, began, user)
    if runs and not steps:
        return f"The service {name} is already running{mask}"
    started = f"Started service {name}"
    return (
        started if enable is None else _enable_comment(name, enable, steps, not runs, "running")
    ) + mask


@at_boot(_starting)
@offline_as(_stays_down)
def dead(
    name: ServiceName,
    enable: bool | None = None,
    sig: Line | None = None,
    init_delay: Duration[float] | None = None,
    no_block: bool = False,
    timeout: Duration[float] | None = None,
    runlevels: Annotated[OneOrMany[Name] | None, requires_feature("runlevels")] = None,
    user: User = None,
) -> Planned:
    """Make sure that a service does not run.

    name: The service.
    enable: Whether it starts with the machine; without it as it is.
    sig, runlevels, user: as of service.running.
    init_delay: Seconds to wait after a stop.
    no_block: Stop it without waiting until it has ended (systemd).
    timeout: Seconds that it may take until it has ended.

        bluetooth:
          service.dead:
            - enable: False
    """
    if not service.available(name, user):
        return _unavailable(name)
    steps = _enabling(name, enable, runlevels, user)
    runs = service.status(name, sig, user)
    if not runs and not steps:
        return f"The service {name} is already dead"
    comment = (
        f"Service {name} is set to be killed" if runs else f"Service {name} set to be {steps[0]}d"
    )
    ended = [("processes", "ended")] if runs else []  # whichever they are
    yield Plan({name: not runs or bool(steps)}, comment, provides=ended)
    # the stop comes first: a name that is an alias is gone with what enables it
    _act(name, [*(["stop"] if runs else []), *steps], _options(no_block), runlevels, user=user)
    _wait(init_delay if runs else None)
    if runs and not no_block and not service.wait_until(name, sig, False, timeout, user):
        raise StateFailed(f"Service {name} failed to die", changes={})
    return (
        f"Service {name} was killed"
        if enable is None
        else _enable_comment(name, enable, steps, runs, "dead")
    )


@at_boot(partial(_starting, enable=True))
def enabled(
    name: ServiceName,
    runlevels: Annotated[OneOrMany[Name] | None, requires_feature("runlevels")] = None,
    user: User = None,
) -> Planned:
    """Make sure that a service starts with the machine.

    name: The service.
    runlevels: OpenRC's runlevels that are to start it; without them any is enough.
    user: as of service.running.

        cron:
          service.enabled: []
    """
    _require_available(name, user)
    if service.enabled(name, runlevels, user):
        return f"Service {name} is already enabled, and is in the desired state"
    yield Plan({name: True}, f"Service {name} set to be enabled")
    _act(name, ["enable"], runlevels=runlevels, user=user)
    return f"Service {name} has been enabled, and is in the desired state"


def disabled(
    name: ServiceName,
    runlevels: Annotated[OneOrMany[Name] | None, requires_feature("runlevels")] = None,
    user: User = None,
) -> Planned:
    """Make sure that a service does not start with the machine.

    name: The service.
    runlevels: OpenRC's runlevels that are not to start it; without them: none.
    user: as of service.running.

        bluetooth:
          service.disabled: []
    """
    if not service.available(name, user):
        return _unavailable(name)
    if service.disabled(name, runlevels, user):
        return f"Service {name} is already disabled, and is in the desired state"
    yield Plan({name: True}, f"Service {name} set to be disabled")
    _act(name, ["disable"], runlevels=runlevels, user=user)
    return f"Service {name} has been disabled, and is in the desired state"


@offline_as(lambda name, **_: "No service runs here")
def current(
    name: ServiceName, restart: bool = True, keep: OneOrMany[NonEmptyLine] | None = None
) -> Planned:
    """Make sure that no service runs on with programs or libraries that an upgrade has replaced, as
    `needrestart` and `dnf needs-restarting` tell it. The state runs after all other states of
    service.

    Only told are sessions of users, services whose restart would end sessions or cut the network or
    containers (dbus, systemd-logind, display managers, docker, ...), and what the configuration of
    needrestart excludes where that is installed. Scripts whose modules were replaced are not seen.

    name: Names the state.
    restart: The services are restarted; false only tells them, as a warning.
    keep: Services, or shell patterns of them, that are left as they are.

        services run what is installed:
          service.current:
            - keep: postgresql*
            - order: last

    With systemd; elsewhere services that leave `/run/NAME.pid`. Salt has nothing like it.
    """
    upgraded = pkg.planned_changes()
    pending = bool(upgraded) and not upgraded.keys().isdisjoint(pkg.provider().list_pkgs())
    outdated = service.outdated(keep or ())
    service.forget_outdated()  # what is left is left on purpose, or told here
    told = "".join(f"\nleft as it is: {name} ({why})" for name, why in outdated.left.items())
    stale = ", ".join(outdated.stale)
    if outdated.stale and not restart:
        here.warn(f"services run files that were replaced since they were started: {stale}")
        return f"These services run replaced files: {stale}{told}"
    if not outdated.stale and not pending:
        return f"No service runs files that were replaced{told}"
    yield Plan(
        {"restarted": outdated.stale} if outdated.stale else {},
        f"Services will be restarted: {stale or 'those whose files are replaced'}{told}",
        exact=not pending,
        why="packages are to be upgraded or removed before" if pending else None,
    )
    problems = [problem for one in outdated.stale if (problem := _restarted(one))]
    if problems:
        raise StateFailed("\n".join(problems))
    return f"Services were restarted: {stale}{told}"


def _restarted(name: str) -> str:
    """Restart a service; why that failed, or nothing."""
    began = time.time()
    try:
        service.act(name, "restart")
    except CommandFailed as failure:
        return f"{name}: {failure.message}"
    if not service.wait_until(name, None, True, None):
        return f"{name}: Service restarted, and is dead{service.log(name, began)}"
    service.check_at_end(name, None, began)
    return ""


COMES_LAST = frozenset({"current"})
REACTS = ("running", "dead")


@at_boot(lambda name, sfun, user=None, **_: _starting(name, user=user))
@offline_as(_reads_at_boot)
def mod_watch(
    name: ServiceName,
    sfun: Line,
    sig: Line | None = None,
    reload: bool = False,
    full_restart: bool = False,
    init_delay: Duration[float] | None = None,
    force: bool = False,
    no_block: bool = False,
    user: User = None,
) -> Planned:
    """Restart a service because something that it watches changed; a stopped one is started,
    service.dead stops it.

    reload: Have the service read its configuration anew instead of restarting it; what service.dead
      stops is stopped all the same.
    full_restart: Ignored; the service manager decides how it restarts.
    init_delay: Seconds to wait afterwards.
    force: With reload, restart a service that cannot reload.
    no_block: Do not wait until it is done.
    """
    if sfun not in REACTS:
        here.warn(
            f"service.{sfun} has nothing to restart: what it watches belongs to a service.running"
        )
        return f"Service {name} is in the desired state"
    if sfun == "dead":
        if not service.status(name, sig, user):
            return "Service is already stopped"
        action, past = "stop", "stopped"
    elif not service.status(name, sig, user):
        _require_available(name, user)
        action, past = "start", "started"
    else:
        action, past = _reaction(reload, force)
    yield Plan({name: sfun == "running"}, f"Service is set to be {past}")
    began = time.time()
    _act(name, [action], _options(no_block), user=user)
    _wait(init_delay)
    if sfun == "running" and not no_block and not service.wait_until(name, sig, True, None, user):
        raise StateFailed(
            f"Service {past}, and is dead" + service.log(name, began, user), changes={}
        )
    if sfun == "running" and not no_block and action != "reload":
        service.check_at_end(name, sig, began, user)
    return f"Service {past}"


def _masks(name: str, unmask: bool, unmask_runtime: bool, user: str | None) -> list[bool]:
    """The masks to take away: for good (False), until the next start of the machine (True)."""
    masks = [runtime for runtime, wanted in ((False, unmask), (True, unmask_runtime)) if wanted]
    return [runtime for runtime in masks if service.masked(name, runtime, user)]


def _unmask(name: str, masks: Sequence[bool], user: str | None) -> None:
    for runtime in masks:
        _act(name, ["unmask"], ["--runtime"] if runtime else [], user=user)


def _reaction(reload: bool, force: bool) -> tuple[str, str]:
    if not reload:
        return "restart", "restarted"
    return ("force-reload", "forcefully reloaded") if force else ("reload", "reloaded")


def _require_available(name: str, user: str | None) -> None:
    if not service.available(name, user):
        raise StateFailed(
            f"The named service {name} is not available{_meant(name)}",
            missing=_missing_facts(name),
        )


def _unavailable(name: str) -> Done:
    """The result when there is nothing to stop, unless a package or a unit file that is pending
    brings it.
    """
    comment = f"The named service {name} is not available{_meant(name)}"
    return Done(comment, missing=[*_missing_facts(name), OPEN])


def _meant(name: str) -> str:
    """The service that was probably meant by the name of none, to end a sentence; mostly empty."""
    folders = [os.path.dirname(path) for path in islice(_definitions(name), 5)]
    known = [entry for folder in folders if file.is_dir(folder) for entry in file.listdir(folder)]
    names = {entry.removesuffix(".service").casefold(): entry for entry in known}
    near = closest(name.casefold(), names, 0.75)
    return f": did you mean {names[near].removesuffix('.service')}?" if near else ""


def _missing_facts(name: str) -> list[tuple[str, str]]:
    return [("service", name), *(("file", path) for path in _definitions(name))]


def _enabling(
    name: str, enable: bool | None, runlevels: Sequence[str] | None, user: str | None
) -> list[str]:
    if enable is None:
        return []
    is_so = service.enabled if enable else service.disabled
    return [] if is_so(name, runlevels, user) else ["enable" if enable else "disable"]


def _act(
    name: str,
    actions: Sequence[str],
    options: Sequence[str] = (),
    runlevels: Sequence[str] | None = None,
    user: str | None = None,
) -> None:
    for action in actions:
        try:
            words = runlevels or () if action in ("enable", "disable") else options
            service.act(name, action, words, user)
        except CommandFailed as failure:
            cure = "" if action in ENDS else _cure_of_mask(name, user)
            if action == "mask" and "already exists" in failure.message:
                cure = "\nA mask has that name: `file.absent` removes a unit file of your own"
            raise StateFailed(failure.message + cure, changes={}, missing=failure.missing) from None


def _cure_of_mask(name: str, user: str | None) -> str:
    """What takes away the masks that keep a service from being started; empty without any."""
    words = [
        f"`- unmask{'_runtime' * runtime}: True`"
        for runtime in (False, True)
        if service.masked(name, runtime, user)
    ]
    return f"\n{' and '.join(words)} of service.running unmasks it" if words else ""


def _options(no_block: bool) -> list[str]:
    """The options for a start or stop; only systemd has any."""
    return ["--no-block"] if no_block and service.can_mask() else []


@planned_as(lambda seconds: "")
def _wait(seconds: float | None) -> str:
    """The comment on the wait."""
    if not seconds:
        return ""
    time.sleep(seconds)
    return f"\nDelayed return for {seconds:g} seconds"


def _enable_comment(name: str, enable: bool, steps: list[str], acted: bool, state: str) -> str:
    now = f"has been {steps[0]}d" if steps else f"is already {'enabled' if enable else 'disabled'}"
    return f"Service {name} {now}, and is {state if acted else 'in the desired state'}"


def _mask_comment(name: str, runtime: bool, masks: list[bool], verb: str) -> str:
    kind = "runtime unmasked" if runtime else "unmasked"
    return f"\nService {name} {verb if runtime in masks else 'was already'} {kind}"


def autorequire(name: str, user: str | None = None, **_: object) -> Iterator[tuple[str, str]]:
    """A service comes after its package and after the files that define it, one of a user after the
    user.
    """
    if user:
        yield "user", user
        unit = name if "." in name else f"{name}.service"
        yield "file", with_home(f"~{user}/.config/systemd/user/{unit}")
    yield "pkg", name.partition("@")[0].removesuffix(".service")
    for path in (*_definitions(name), f"/etc/default/{name}"):
        yield "file", path


def _definitions(name: str) -> Iterator[str]:
    """The files that a service may be made of."""
    unit = name if "." in name else f"{name}.service"
    template = "@.".join((unit.partition("@")[0], unit.rpartition(".")[2])) if "@" in unit else unit
    for folder in (
        "/etc/systemd/system",
        "/lib/systemd/system",
        "/usr/lib/systemd/system",
        "/run/systemd/system",
    ):
        yield f"{folder}/{template}"
    yield f"/etc/init.d/{name}"
    yield f"/etc/sv/{name}/run"
    yield f"/etc/s6/sv/{name}/run"


@requires_feature("maskable")
def masked(name: ServiceName, runtime: bool = False, user: User = None) -> Planned:
    """Make sure that a service cannot be started at all.

    name: The service.
    runtime: Mask it only until the next start of the machine.
    user: as of service.running.

        rpcbind:
          service.masked: []
    """
    kind = "runtime masked" if runtime else "masked"
    if service.masked(name, runtime, user):
        return f"Service {name} is already {kind}"
    if not service.can_mask():
        raise StateFailed(f"Failed to mask service {name}: an init script cannot be masked")
    yield Plan({kind: {"old": False, "new": True}}, f"Service {name} would be {kind}")
    _act(name, ["mask"], ["--runtime"] if runtime else [], user=user)
    return f"Service {name} was {kind}"


@requires_feature("maskable")
def unmasked(name: ServiceName, runtime: bool = False, user: User = None) -> Planned:
    """Make sure that a service can be started.

    name: The service.
    runtime: Take away only a mask that holds until the next start of the machine.
    user: as of service.running.

        rpcbind:
          service.unmasked: []
    """
    kind = "runtime masked" if runtime else "masked"
    done = kind.replace("masked", "unmasked")
    if not service.masked(name, runtime, user):
        return f"Service {name} was already {done}"
    yield Plan(
        {kind: {"old": True, "new": False}},
        f"Service {name} would be {done}",
        provides=[("unmasked", name)],
    )
    _act(name, ["unmask"], ["--runtime"] if runtime else [], user=user)
    return f"Service {name} was {done}"


def owns(
    fun: str,
    name: str,
    enable: object = None,
    user: str | None = None,
    runlevels: object = None,
    **_: object,
) -> Iterator[Claim]:
    """That it does not start with the machine."""
    if fun in ("dead", "running") and str(enable).lower() == "false" and not runlevels:
        for removal in _enabled(name, user):
            yield Claim(ABSENT, f"service {removal.thing}")


def _enabled(name: str, user: str | None = None, **_: object) -> Iterator[Removal]:
    whose = {"user": user} if user else {}
    yield Removal(name, whose, thing=f"{name} at the start of the machine", function="disabled")


def _running(
    name: str, enable: object = None, user: str | None = None, **_: object
) -> Iterator[Removal]:
    """It runs, and starts with the machine: one of the two may have been so before."""
    yield Removal(name, {"user": user} if user else {})
    yield from (
        removal._replace(made=enable is True or str(enable).lower() == "true")
        for removal in _enabled(name, user)
    )


def _masked(
    name: str, runtime: bool = False, user: str | None = None, **_: object
) -> Iterator[Removal]:
    given = {key: value for key, value in (("runtime", runtime), ("user", user)) if value}
    yield Removal(name, given, thing=f"{name}, masked")


OPPOSITE = {
    "running": Opposite("dead", things=_running),
    "enabled": Opposite("disabled", things=_enabled),
    "masked": Opposite("unmasked", things=_masked),
}
