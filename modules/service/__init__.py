"""Services: each call goes to the provider that suits this machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from modules.service import systemd, sysv
from runner.api import StateFailed, here


class Provider(Protocol):
    """What a service manager has to offer."""

    NAMES: tuple[str, ...]

    def suits(self) -> bool: ...
    def available(self, name: str) -> bool: ...
    def status(self, name: str) -> bool: ...
    def enabled(self, name: str) -> bool: ...
    def masked(self, name: str) -> bool: ...
    def names(self) -> list[str]: ...
    def act(self, name: str, action: str, options: Sequence[str] = ()) -> None: ...
    def reload_units(self) -> None: ...


PROVIDERS: tuple[Provider, ...] = (systemd, sysv)


def provider() -> Provider:
    """The provider that the state names with `provider:`, else the one that suits. Raises StateFailed without one."""
    named = here.chunk.args.get("provider") if here.chunk else None
    for each in PROVIDERS:
        if named in each.NAMES if named else each.suits():
            return each
    what = f"there is no service manager {named!r}" if named else "this machine has neither systemd nor init scripts"
    raise StateFailed(what)


def available(name: str) -> bool:
    """Whether there is such a service.

    {% if salt['service.available']('nginx') %}
    """
    return provider().available(name)


def get_all() -> list[str]:
    """The names of all services, sorted.

    {{ salt['service.get_all']() }}
    """
    return sorted(provider().names())


def missing(name: str) -> bool:
    """Whether there is no such service."""
    return not available(name)


def status(name: str, sig: str | None = None) -> bool:
    """Whether a service runs (`sig`: whether a process with this text in its command line does)."""
    if sig:
        from modules import cmd

        return cmd.probe(["pgrep", "-f", sig]).retcode == 0
    return provider().status(name)


def enabled(name: str, **kwargs: Any) -> bool:
    """Whether a service starts with the machine."""
    return provider().enabled(name)


def disabled(name: str, **kwargs: Any) -> bool:
    """Whether a service does not start with the machine."""
    return not provider().enabled(name)


def masked(name: str) -> bool:
    """Whether a unit is masked."""
    return provider().masked(name)


def can_mask() -> bool:
    """Whether this machine's services can be masked; init scripts cannot."""
    return "systemd" in provider().NAMES


def act(name: str, action: str, options: Sequence[str] = ()) -> None:
    """Have the provider do something with a service."""
    provider().act(name, action, options)


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


def enable(name: str, **kwargs: Any) -> bool:
    """Start a service with the machine."""
    act(name, "enable")
    return True


def disable(name: str, **kwargs: Any) -> bool:
    """Do not start a service with the machine."""
    act(name, "disable")
    return True


def systemctl_reload() -> bool:
    """Read all unit files anew."""
    provider().reload_units()
    return True
