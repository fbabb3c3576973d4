# SPDX-License-Identifier: Apache-2.0
"""Parameters of the kernel."""

from __future__ import annotations

from collections.abc import Iterator

from modules import file, sysctl
from runner.api import FilePath, Name, NonEmptyLine, Plan, Planned, StateFailed, here
from runner.api.claims import VALUE, Claim, edits
from runner.api.offline import at_boot, offline_as
from states._tools import explained

_edits = edits("config")
ABOUT_ONE_FILE = {"present": "value config"}


def its_file(name: str, config: str | None = None, **_: object) -> str:
    """The file that keeps the value: the running one is set before that."""
    return config or sysctl.default_config()


def owns(fun: str, name: str, value: object = None, **arguments: object) -> Iterator[Claim]:
    """The parameter, and some of its file."""
    yield from _edits(fun, name, **arguments)
    yield Claim(VALUE, f"sysctl {name.replace('/', '.')}", "value", values=(_text(value),))


def dry_run_check(
    plan: Plan, name: str, config: str | None = None, persist: bool = True, **arguments: object
) -> None:
    """Raise StateFailed when the caller may not keep the value."""
    if persist:
        file.refuse_rewrite(file.real_path(config or sysctl.default_config()))


def _set_at_boot(
    name: str, value: object, config: str | None = None, persist: bool = True, **_: object
) -> Planned:
    """`present` of a system that does not run: the running kernel is another one's."""
    done = _told_at_boot(name, value)
    if not persist:
        return f"Sysctl value {name} is not set: this system does not run"
    configured = sysctl.kept(name, config)
    if configured is not None and _text(configured) == _text(value):
        return done
    yield Plan({name: value}, f"Sysctl option {name} set to be changed to {value} in config file.")
    with explained(f"Failed to set {name} to {value}", changes={}):
        sysctl.keep(name, _text(value), config)
    return done


def _told_at_boot(name: str, value: object, persist: bool = True, **_: object) -> str:
    return f"Sysctl value {name} = {value} is set at boot" if persist else ""


@file.validated
@at_boot(_told_at_boot)
@offline_as(_set_at_boot)
def present(
    name: Name,
    value: NonEmptyLine | int | float | bool,
    config: FilePath | None = None,
    persist: bool = True,
) -> Planned:
    """Make sure that a kernel parameter has a value, now and after the next start.

    name: The parameter, such as net.ipv4.ip_forward, or net/ipv4/conf/eth0.5/forwarding.
    value: The value that it has to have.
    config: The file that keeps it; without it /etc/sysctl.d/99-salt.conf where systemd runs, else
      /etc/sysctl.conf.
    persist: False sets the running value alone.

        vm.swappiness:
          sysctl.present:
            - value: 20
    """
    wanted = _text(value)
    if not sysctl.exists(name):
        raise StateFailed(
            f"Failed to set {name} to {value}: sysctl {name} does not exist (where a module of the"
            " kernel brings it, kmod.present comes first)",
            missing=_missing_facts(name),
        )
    configured = sysctl.kept(name, config)
    is_kept = configured is not None and _text(configured) == wanted
    if not sysctl.is_write_only(name):
        runs = sysctl.is_value(name, wanted)
    elif persist:  # the file tells whether it was written
        runs = is_kept
    else:
        raise StateFailed(
            f"{name} only takes values: nothing tells whether {value} was written. Use cmd.run with"
            f" `sysctl -w {name}={wanted}` and `onchanges`, or keep it in a file (persist)"
        )
    if persist and (lost := sysctl.lost_at_start(name, wanted, config)):
        here.warn(lost)
    if runs and (is_kept or not persist):
        return f"Sysctl value {name} = {value} is already set"
    yield Plan({name: value}, _pending(name, value, runs, configured))
    with explained(f"Failed to set {name} to {value}", changes={}):
        if persist:
            sysctl.persist(name, wanted, config)
        else:
            sysctl.assign(name, wanted)
    return f"Updated sysctl value {name} = {value}"


def _text(value: object) -> str:
    """A value as the kernel shows it."""
    return " ".join(str(int(value) if isinstance(value, bool) else value).split())


def _pending(name: str, value: object, runs: bool, configured: str | None) -> str:
    """The reason why a value is to be set. runs: it is the running one. configured: the
    value of the file.
    """
    if runs:
        where = "not in a config file" if configured is None else "different in the config file"
        pending = f"Sysctl option {name} set to be changed to {value} in config file."
        return f"Sysctl value is currently set on the running system but {where}. {pending}"
    if configured is None:
        return f"Sysctl option {name} set to be changed to {value}"
    return f"Sysctl option {name} would be changed to {value}"


def _missing_facts(name: str) -> list[tuple[str, str]]:
    """The facts that may bring a parameter: net.ipv4.conf.eth1.forwarding is there when eth1 is."""
    return [("sysctl", name), *(("network", part) for part in sysctl.parts(name)[3:4])]
