"""Services of the machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from modules import service
from runner.api import CommandFailed, Done, Plan, Planned, StateFailed


def running(
    name: str,
    enable: bool | None = None,
    sig: str | None = None,
    init_delay: float | None = None,
    no_block: bool = False,
    unmask: bool = False,
) -> Planned:
    """Make sure that a service runs.

    name: the service. enable: whether it starts with the machine. sig: a text in the command line of its process that
    tells whether it runs. init_delay: seconds to wait after a start. no_block: do not wait for it. unmask: unmask it.

        nginx:
          service.running:
            - enable: True
            - reload: True
            - watch:
              - file: /etc/nginx/nginx.conf

    Behaviour: Salt 3008's service.running.
    """
    _known(name)
    steps = _enabling(name, enable)
    steps = [*(["unmask"] if unmask and service.masked(name) else []), *steps]
    runs = service.status(name, sig)
    if runs and not steps:
        return f"The service {name} is already running"
    actions = [*steps, *([] if runs else ["start"])]
    yield Plan(
        {name: True}, f"Service {name} is set to {'start' if not runs else steps[0]}", provides=[("service", name)]
    )
    _do(name, actions, no_block)
    _wait(init_delay if not runs else None)
    if not no_block and not service.status(name, sig):
        raise StateFailed(f"Service {name} is dead", changes={name: False})
    if runs:
        return Done(_enabled_comment(name, enable, "is already running" if not steps else "is running"), {name: True})
    return Done(_enabled_comment(name, enable, "is running") if steps else f"Started service {name}", {name: True})


def dead(
    name: str,
    enable: bool | None = None,
    sig: str | None = None,
    init_delay: float | None = None,
    no_block: bool = False,
) -> Planned:
    """Make sure that a service does not run. Arguments as those of service.running.

        bluetooth:
          service.dead:
            - enable: False

    Behaviour: Salt 3008's service.dead.
    """
    if not service.available(name):
        return f"The named service {name} is not available"
    steps = _enabling(name, enable)
    runs = service.status(name, sig)
    if not runs and not steps:
        return f"The service {name} is already dead"
    comment = f"Service {name} is set to be killed" if runs else f"Service {name} is set to {steps[0]}"
    yield Plan({name: True}, comment)
    _do(name, [*steps, *(["stop"] if runs else [])], no_block)
    _wait(init_delay if runs else None)
    if runs and not no_block and service.status(name, sig):
        raise StateFailed(f"Service {name} failed to die", changes={})
    return f"Service {name} was killed" if runs else _enabled_comment(name, enable, "is dead")


def enabled(name: str) -> Planned:
    """Make sure that a service starts with the machine.

        cron:
          service.enabled: []

    Behaviour: Salt 3008's service.enabled.
    """
    _known(name)
    if service.enabled(name):
        return f"Service {name} is already enabled, and is in the desired state"
    yield Plan({name: True}, f"Service {name} set to be enabled")
    _do(name, ["enable"], False)
    return f"Service {name} has been enabled, and is in the desired state"


def disabled(name: str) -> Planned:
    """Make sure that a service does not start with the machine.

        bluetooth:
          service.disabled: []

    Behaviour: Salt 3008's service.disabled.
    """
    if not service.available(name) or not service.enabled(name):
        return f"Service {name} is already disabled, and is in the desired state"
    yield Plan({name: True}, f"Service {name} set to be disabled")
    _do(name, ["disable"], False)
    return f"Service {name} has been disabled, and is in the desired state"


def mod_watch(
    name: str,
    sfun: str,
    sig: str | None = None,
    reload: bool = False,
    full_restart: bool = False,
    init_delay: float | None = None,
    force: bool = False,
    no_block: bool = False,
) -> Planned:
    """Restart a service because something that it watches changed; a stopped one is started, service.dead stops it.

    reload: reload instead. full_restart, force: taken for Salt's sake. init_delay: seconds to wait afterwards.
    """
    if sfun == "dead":
        if not service.status(name, sig):
            return "Service is already stopped"
        action, past = "stop", "stopped"
    elif not service.status(name, sig):
        action, past = "start", "started"
    else:
        action, past = ("reload", "reloaded") if reload else ("restart", "restarted")
    yield Plan({name: True}, f"Service is set to be {past}")
    _do(name, [action], no_block)
    _wait(init_delay)
    return f"Service {past}"


def _known(name: str) -> None:
    if not service.available(name):
        raise StateFailed(f"The named service {name} is not available", lacks=("service", name))


def _enabling(name: str, enable: bool | None) -> list[str]:
    if enable is None or service.enabled(name) is enable:
        return []
    return ["enable" if enable else "disable"]


def _do(name: str, actions: list[str], no_block: bool) -> None:
    for action in actions:
        try:
            service.act(name, action, ["--no-block"] if no_block and action not in ("enable", "disable") else [])
        except CommandFailed as failure:
            raise StateFailed(f"Failed to {action} service {name}: {failure.message}", changes={}) from None


def _wait(seconds: float | None) -> None:
    if seconds:
        import time

        time.sleep(seconds)


def _enabled_comment(name: str, enable: Any, state: str) -> str:
    what = "enabled" if enable else "disabled"
    return f"Service {name} has been {what}, and {state}"


def autorequire(name: str, **_: object) -> Iterator[tuple[str, str]]:
    """A service comes after its package and after the files that define it."""
    unit = name if "." in name else f"{name}.service"
    yield "pkg", name.partition("@")[0].removesuffix(".service")
    for folder in ("/etc/systemd/system", "/lib/systemd/system", "/usr/lib/systemd/system", "/run/systemd/system"):
        yield "file", f"{folder}/{unit}"
    for path in (f"/etc/init.d/{name}", f"/etc/default/{name}"):
        yield "file", path


def masked(name: str, runtime: bool = False) -> Planned:
    """Make sure that a service cannot be started at all.

    name: the service. runtime: only until the next start of the machine.

        rpcbind:
          service.masked: []

    Behaviour: Salt 3008's service.masked.
    """
    if service.masked(name):
        return f"Service {name} is already masked"
    if not service.can_mask():
        raise StateFailed(f"Failed to mask service {name}: an init script cannot be masked")
    yield Plan({name: True}, f"Service {name} is set to be masked")
    _mask(name, "mask", runtime)
    return f"Service {name} was masked"


def unmasked(name: str, runtime: bool = False) -> Planned:
    """Make sure that a service can be started. Arguments as those of service.masked.

        rpcbind:
          service.unmasked: []

    Behaviour: Salt 3008's service.unmasked.
    """
    if not service.masked(name):
        return f"Service {name} is already unmasked"
    yield Plan({name: True}, f"Service {name} is set to be unmasked")
    _mask(name, "unmask", runtime)
    return f"Service {name} was unmasked"


def _mask(name: str, action: str, runtime: bool) -> None:
    try:
        service.act(name, action, ["--runtime"] if runtime else [])
    except CommandFailed as failure:
        raise StateFailed(f"Failed to {action} service {name}: {failure.message}", changes={}) from None
