"""Services: each call goes to the provider that suits this machine."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Protocol

from modules.service import systemd, sysv
from runner.api import (
    Feature,
    Provider,
    ProviderModule,
    Providers,
    check_later,
    for_states,
    forget_check,
    forget_looks,
)

LASTS = 2.0  # seconds after which a service that was started has to run still


class Manager(Provider, Protocol):
    """The interface of a service manager."""

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
    def runlevels(self, name: str) -> list[str]: ...
    def show(self, name: str) -> dict[str, Any]: ...
    def get_static(self) -> list[str]: ...


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
    },
    "this machine has no service manager that runner knows (systemd, OpenRC, runit, s6, init"
    " scripts)",
    "service",
)


@for_states
def provider() -> Manager:
    """The provider that the state names with `provider:`, else the one that suits. Raises
    StateFailed without one.
    """
    return PROVIDERS()


def available(name: str) -> bool:
    """Return whether there is such a service.

    {% if salt['service.available']('nginx') %}
    """
    return provider().available(name)


def missing(name: str) -> bool:
    """Return whether there is no such service."""
    return not available(name)


def status(name: str, sig: str | None = None) -> bool:
    """Return whether a service runs (`sig`: for init scripts, whether a process with this text in
    its command line does).
    """
    return _status(provider(), name, sig)


def _status(manager: Manager, name: str, sig: str | None) -> bool:
    if sig and "sysv" in manager.NAMES:
        from modules import cmd

        pids = cmd.probe(["pgrep", "-f", "--", sig]).stdout.split()
        return bool(
            {int(pid) for pid in pids} - {os.getpid(), os.getppid()}
        )  # whoever called runner names it, too
    return manager.status(name)


def enabled(name: str, runlevels: str | Sequence[str] | None = None, **kwargs: Any) -> bool:
    """Return whether a service starts with the machine. runlevels: whether these all start it."""
    if runlevels:
        return set(_names(runlevels)) <= set(provider().runlevels(name))
    return provider().enabled(name)


def disabled(name: str, runlevels: str | Sequence[str] | None = None, **kwargs: Any) -> bool:
    """Return whether a service does not start with the machine. runlevels: whether none of these
    starts it.
    """
    if runlevels:
        return not set(_names(runlevels)) & set(provider().runlevels(name))
    return not provider().enabled(name)


def _names(runlevels: str | Sequence[str] | None) -> list[str]:
    return [runlevels] if isinstance(runlevels, str) else list(runlevels or ())


def masked(name: str, runtime: bool = False) -> bool:
    """Return whether a service is masked, for good or (runtime) until the next start of the
    machine.
    """
    return provider().masked(name, runtime)


def get_all() -> list[str]:
    """All services.

    {% if 'nginx' in salt['service.get_all']() %}
    """
    return provider().get_all()


def get_enabled() -> list[str]:
    """The services that start with the machine."""
    return provider().get_enabled()


def get_disabled() -> list[str]:
    """The services that do not start with the machine."""
    enabled_ones = set(get_enabled())
    return [name for name in get_all() if name not in enabled_ones]


def get_running() -> list[str]:
    """The services that run."""
    return provider().get_running()


def get_static() -> list[str]:
    """The services that only others start (systemd)."""
    return provider().get_static()


def show(name: str) -> dict[str, Any]:
    """All properties of a service (systemd).

    {{ salt['service.show']('nginx').MainPID }}
    """
    return provider().show(name)


def wait_until(name: str, sig: str | None, runs: bool, timeout: float | None) -> bool:
    """Wait up to `timeout` seconds for a service to run (or not to); whether it does."""
    import time

    end = time.monotonic() + (timeout or 0)
    while status(name, sig) is not runs:
        if time.monotonic() >= end:
            return False
        time.sleep(0.1)
        forget_looks(frozenset({"services"}))
    return True


def check_at_end(name: str, sig: str | None, since: float) -> None:
    """Check a service that was started again before the run ends: some die a second after
    a good start.

    since: when it was started, in seconds since the epoch.
    """

    manager = provider()  # the state's own, which nobody knows any more at the end

    def problem() -> str:
        forget_looks(frozenset({"services"}))
        if _status(manager, name, sig):
            return ""
        if not manager.available(name):  # it was taken away on purpose
            return ""
        why = manager.log(name, since)
        return f"Service {name} had started, and is dead at the end of the run{why}"

    check_later(f"service {name}", LASTS, problem)


def can_mask() -> bool:
    """Return whether this machine's services can be masked; init scripts cannot."""
    return provider().has("maskable")


def log(name: str, since: float = 0) -> str:
    """A paragraph with the last lines that a service wrote, or nothing. since: seconds since the
    epoch.
    """
    return provider().log(name, since)


def act(name: str, action: str, options: Sequence[str] = ()) -> None:
    """Have the provider do something with a service."""
    provider().act(name, action, options)
    if action == "stop":
        forget_check(f"service {name}")


def start(name: str, **kwargs: Any) -> bool:
    """Start a service."""
    act(name, "start")
    return True


def stop(name: str, **kwargs: Any) -> bool:
    """Stop a service."""
    act(name, "stop")
    return True


def restart(name: str, **kwargs: Any) -> bool:
    """Restart a service."""
    act(name, "restart")
    return True


full_restart = restart


def reload_(name: str, **kwargs: Any) -> bool:
    """Have a service read its configuration anew."""
    act(name, "reload")
    return True


def force_reload(name: str, **kwargs: Any) -> bool:
    """Have a service read its configuration anew; one that cannot is restarted."""
    act(name, "reload-or-restart" if provider().has("unit_files") else "force-reload")
    return True


def enable(name: str, runlevels: str | Sequence[str] | None = None, **kwargs: Any) -> bool:
    """Start a service with the machine. runlevels: by these (OpenRC)."""
    act(name, "enable", _names(runlevels))
    return True


def disable(name: str, runlevels: str | Sequence[str] | None = None, **kwargs: Any) -> bool:
    """Do not start a service with the machine. runlevels: not by these (OpenRC)."""
    act(name, "disable", _names(runlevels))
    return True


def mask(name: str, runtime: bool = False) -> bool:
    """Let nobody start a service (runtime: until the next start of the machine)."""
    act(name, "mask", ["--runtime"] if runtime else [])
    return True


def unmask_(name: str, runtime: bool = False) -> bool:
    """Let a service be started again."""
    act(name, "unmask", ["--runtime"] if runtime else [])
    return True


def systemctl_reload() -> bool:
    """Read all unit files anew."""
    if provider().has("unit_files"):
        provider().reload_units()
    return True
