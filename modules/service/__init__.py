# SPDX-License-Identifier: Apache-2.0
"""Services: each call goes to the provider that suits this machine."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Sequence
from typing import Any, Protocol

from modules import cmd
from modules.service import _outdated, _planned, systemd, sysv, unit_files
from modules.service._offline import AtRest
from modules.service.unit import Unit
from runner.api import (
    Feature,
    Provider,
    ProviderModule,
    Providers,
    StateFailed,
    check_later,
    for_states,
    forget_check,
    forget_looks,
    planned_as,
)
from runner.api.later import warn_later
from runner.api.offline import is_offline

_REPLACED = "services on replaced files"  # what is told of them at the end
LASTS = 2.0  # seconds after which a service that was started has to run still


class Services(Protocol):
    """Services that a service manager manages: the machine's, or those of a user."""

    def available(self, name: str) -> bool: ...
    def status(self, name: str) -> bool: ...
    def enabled(self, name: str) -> bool: ...
    def masked(self, name: str, runtime: bool = False) -> bool: ...
    def get_all(self) -> list[str]: ...
    def get_enabled(self) -> list[str]: ...
    def get_running(self) -> list[str]: ...
    def log(self, name: str, since: float = 0) -> str: ...
    def act(self, name: str, action: str, options: Sequence[str] = ()) -> None: ...
    def reload_units(self) -> None: ...
    def show(self, name: str) -> dict[str, Any]: ...
    def get_static(self) -> list[str]: ...


class Manager(Services, Provider, Protocol):
    """The interface of a service manager."""

    def runlevels(self, name: str) -> list[str]: ...
    def of_user(self, user: str) -> Services: ...


PROVIDERS: Providers[Manager] = Providers(
    "service manager",
    Manager,
    (  # the module, and the programs that show that its tool is here
        systemd,
        ProviderModule("modules.service.openrc", ("/sbin/openrc", "/usr/sbin/openrc")),
        ProviderModule("modules.service.runit", ("/usr/bin/sv", "/sbin/sv", "/usr/sbin/sv")),
        ProviderModule("modules.service.s6", ("/usr/bin/s6-svc", "/bin/s6-svc")),
        sysv,
    ),
    {
        "maskable": Feature("services can be masked: nothing can start them"),
        "unit_files": Feature("changed unit files have to be read anew", ("reload_units",)),
        "runlevels": Feature("a service is started by the runlevels it is in", ("runlevels",)),
        "properties": Feature("services have properties", ("show", "get_static")),
        "user_units": Feature("users have services of their own", ("of_user",)),
    },
    "this machine has no service manager that runner knows (systemd, OpenRC, runit, s6, init"
    " scripts)",
    "service",
    "init",
    AtRest,
)


@for_states
def provider() -> Manager:
    """The provider that the state names with `provider:`, else the one that suits. Raises
    StateFailed without one.
    """
    return PROVIDERS()


@for_states
def services(user: str | None) -> Services:
    """The machine's services, or those of a user. Raises StateFailed for a provider without such.

    user: whose; None or empty: the machine's.
    """
    manager = provider()
    if not user:
        return manager
    if not manager.has("user_units"):
        raise StateFailed(
            f"{manager.NAMES[0]} has no services of users (the feature user_units): only systemd"
            " has"
        )
    return manager.of_user(user)


def available(name: str, user: str | None = None) -> bool:
    """Return whether there is such a service. user: one of this user's.

    {% if salt['service.available']('nginx') %}
    """
    return services(user).available(name)


def missing(name: str, user: str | None = None) -> bool:
    """Return whether there is no such service. user: none of this user's."""
    return not available(name, user)


def status(name: str, sig: str | None = None, user: str | None = None) -> bool:
    """Return whether a service runs (`sig`: for init scripts, whether a process with this text in
    its command line does). user: one of this user's.
    """
    return _status(services(user), name, sig)


def _status(manager: Services, name: str, sig: str | None) -> bool:
    if sig and "sysv" in getattr(manager, "NAMES", ()):
        pids = cmd.probe(["pgrep", "-f", "--", sig]).stdout.split()
        # whoever called runner names it, too
        return bool({int(pid) for pid in pids} - {os.getpid(), os.getppid()})
    return manager.status(name)


def enabled(
    name: str, runlevels: str | Sequence[str] | None = None, user: str | None = None, **kwargs: Any
) -> bool:
    """Return whether a service starts with the machine. runlevels: whether these all start it.
    user: one of this user's, which starts with the user's systemd.
    """
    if runlevels:
        return set(_runlevel_names(runlevels)) <= set(provider().runlevels(name))
    return services(user).enabled(name)


def disabled(
    name: str, runlevels: str | Sequence[str] | None = None, user: str | None = None, **kwargs: Any
) -> bool:
    """Return whether a service does not start with the machine. runlevels: whether none of these
    starts it. user: one of this user's.
    """
    if runlevels:
        return not set(_runlevel_names(runlevels)) & set(provider().runlevels(name))
    return not services(user).enabled(name)


def _runlevel_names(runlevels: str | Sequence[str] | None) -> list[str]:
    return [runlevels] if isinstance(runlevels, str) else list(runlevels or ())


def masked(name: str, runtime: bool = False, user: str | None = None) -> bool:
    """Return whether a service is masked, for good or (runtime) until the next start of the
    machine. user: one of this user's.
    """
    return services(user).masked(name, runtime)


def get_all(user: str | None = None) -> list[str]:
    """All services. user: this user's.

    {% if 'nginx' in salt['service.get_all']() %}
    """
    return services(user).get_all()


def get_enabled(user: str | None = None) -> list[str]:
    """The services that start with the machine. user: this user's."""
    return _planned.enabled(services(user).get_enabled(), user or "")


def get_disabled(user: str | None = None) -> list[str]:
    """The services that do not start with the machine. user: this user's."""
    enabled_ones = set(get_enabled(user))
    return [name for name in get_all(user) if name not in enabled_ones]


def get_running(user: str | None = None) -> list[str]:
    """The services that run. user: this user's."""
    return _planned.running(services(user).get_running(), user or "")


def get_static(user: str | None = None) -> list[str]:
    """The services that only others start (systemd). user: this user's."""
    return services(user).get_static()


@for_states
def units() -> list[Unit]:
    """Return all services: where one look does not show them, what is asked of each, and none is
    known to be as its package wants it.
    """
    manager = provider()
    look: Callable[[], list[Unit]] | None = getattr(manager, "units", None)
    if look:
        return look()
    return [
        Unit(name, True, status(name), enabled(name), masked(name), True)
        for name in manager.get_all()
        if manager.available(name)
    ]


@for_states
def outdated(keep: Collection[str] = ()) -> _outdated.Outdated:
    """Return what runs programs or libraries that were replaced since. keep: shell patterns of
    services to leave alone.
    """
    return _outdated.outdated(keep, provider().has("properties"))


@for_states
def tell_outdated() -> None:
    """Have it told at the end of the run which services run on with files that were replaced."""

    def problem() -> str:
        try:
            found = outdated()
        except StateFailed:  # nobody can tell
            return ""
        if not found.stale:
            return ""
        left = f"; till a restart of the machine: {', '.join(found.left)}" if found.left else ""
        stale = ", ".join(found.stale)
        return f"services run on with files that were replaced: {stale}{left}"

    if not is_offline():
        warn_later(_REPLACED, problem, "`service.current` restarts services")


@for_states
def forget_outdated() -> None:
    """Do not tell it: a state has."""
    forget_check(_REPLACED)


def show(name: str, user: str | None = None) -> dict[str, Any]:
    """All properties of a service (systemd). user: of one of this user's.

    {{ salt['service.show']('nginx').MainPID }}
    """
    return services(user).show(name)


def _status_planned(
    name: str, sig: str | None, runs: bool, timeout: float | None, user: str | None = None
) -> bool:
    return status(name, sig, user) is runs


@planned_as(_status_planned)
def wait_until(
    name: str, sig: str | None, runs: bool, timeout: float | None, user: str | None = None
) -> bool:
    """Wait up to `timeout` seconds for a service to run (or not to); whether it does."""
    end = time.monotonic() + (timeout or 0)
    while status(name, sig, user) is not runs:
        if time.monotonic() >= end:
            return False
        time.sleep(0.1)
        forget_looks(frozenset({"services"}))
    return True


def check_at_end(name: str, sig: str | None, since: float, user: str | None = None) -> None:
    """Check a service that was started again before the run ends: some die a second after
    a good start.

    since: when it was started, in seconds since the epoch.
    """
    manager = services(user)  # the state's own, which nobody knows any more at the end

    def problem() -> str:
        forget_looks(frozenset({"services"}))
        if _status(manager, name, sig):
            return ""
        if not manager.available(name):  # it was taken away on purpose
            return ""
        why = manager.log(name, since)
        return f"Service {name} had started, and is dead at the end of the run{why}"

    check_later(_topic(name, user), LASTS, problem)


def _topic(name: str, user: str | None) -> str:
    return f"service {name}" + (f" of {user}" if user else "")


def can_mask() -> bool:
    """Return whether this machine's services can be masked; init scripts cannot."""
    return provider().has("maskable")


@for_states
def ends_by_itself(name: str, user: str | None = None) -> bool:
    """Return whether a service has ended when its start is done, as its unit says. user: one of
    this user's.
    """
    return unit_files.ends_by_itself(systemd.unit(name), user or "")


@planned_as(lambda name, since=0, user=None: "")
def log(name: str, since: float = 0, user: str | None = None) -> str:
    """A paragraph with the last lines that a service wrote, or nothing. since: seconds since the
    epoch. user: of a service of this user.
    """
    return services(user).log(name, since)


def act(name: str, action: str, options: Sequence[str] = (), user: str | None = None) -> None:
    """Have the provider do something with a service. user: one of this user's."""
    services(user).act(name, action, options)
    if action == "stop":
        forget_check(_topic(name, user))


def start(name: str, user: str | None = None, **kwargs: Any) -> bool:
    """Start a service. user: one of this user's."""
    act(name, "start", user=user)
    return True


def stop(name: str, user: str | None = None, **kwargs: Any) -> bool:
    """Stop a service. user: one of this user's."""
    act(name, "stop", user=user)
    return True


def restart(name: str, user: str | None = None, **kwargs: Any) -> bool:
    """Restart a service. user: one of this user's."""
    act(name, "restart", user=user)
    return True


full_restart = restart


def reload_(name: str, user: str | None = None, **kwargs: Any) -> bool:
    """Have a service read its configuration anew. user: one of this user's."""
    act(name, "reload", user=user)
    return True


def force_reload(name: str, user: str | None = None, **kwargs: Any) -> bool:
    """Have a service read its configuration anew; one that cannot is restarted. user: one of this
    user's.
    """
    act(name, "reload-or-restart" if provider().has("unit_files") else "force-reload", user=user)
    return True


def enable(
    name: str, runlevels: str | Sequence[str] | None = None, user: str | None = None, **kwargs: Any
) -> bool:
    """Start a service with the machine. runlevels: by these (OpenRC). user: one of this
    user's.
    """
    act(name, "enable", _runlevel_names(runlevels), user)
    return True


def disable(
    name: str, runlevels: str | Sequence[str] | None = None, user: str | None = None, **kwargs: Any
) -> bool:
    """Do not start a service with the machine. runlevels: not by these (OpenRC). user: one of this
    user's.
    """
    act(name, "disable", _runlevel_names(runlevels), user)
    return True


def mask(name: str, runtime: bool = False, user: str | None = None) -> bool:
    """Let nobody start a service (runtime: until the next start of the machine). user: one
    of this user's.
    """
    act(name, "mask", ["--runtime"] if runtime else [], user)
    return True


def unmask_(name: str, runtime: bool = False, user: str | None = None) -> bool:
    """Let a service be started again. user: one
    of this user's.
    """
    act(name, "unmask", ["--runtime"] if runtime else [], user)
    return True


def systemctl_reload(user: str | None = None) -> bool:
    """Read all unit files anew. user: those of this user."""
    if provider().has("unit_files"):
        services(user).reload_units()
    return True
