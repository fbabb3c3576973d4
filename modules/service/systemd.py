# SPDX-License-Identifier: Apache-2.0
"""Services of systemd."""

from __future__ import annotations

import errno
import os
import re
import time
from collections.abc import Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

from modules import _paths, cmd, file
from modules import user as users
from modules.service import _offline, _planned_units, sysv
from modules.service._former import acts
from modules.service._planned import will_be_enabled, will_run
from modules.service.unit import Unit
from modules.service.user_units import account, systemctl
from runner.api import CommandFailed, cached_look, changer, here
from runner.api.offline import is_offline, offline_as

MANAGING = "org.freedesktop.systemd1.manage-units"
# with one of these a unit's programs are found elsewhere, later, or not needed
ELSEWHERE = tuple(
    """
    RootDirectory RootImage BindPaths BindReadOnlyPaths MountImages TemporaryFileSystem
    ExtensionImages ExecStartPre RequiresMountsFor
    """.split()
)
ASKED = ("FragmentPath", "ExecStart", "EnvironmentFiles", "User", "DynamicUser", *ELSEWHERE)


def refuse_act(unit: str, action: str, runtime: bool) -> None:
    """Raise CommandFailed for what systemctl would not do with a unit of the system."""
    if not is_offline() and not _paths.isdir("/run/systemd/system"):  # systemctl has the words
        cmd.probe(["systemctl", "show", "--property=Version"]).or_fail("systemctl")
    _refuse_unauthorized(unit, action)
    path = f"/{'run' if runtime else 'etc'}/systemd/system/{unit}"
    if action == "mask" and _paths.lexists(path) and not _paths.islink(path):
        raise CommandFailed(f"Failed to mask unit: File {path} already exists.")
    if action in ("start", "restart"):
        _refuse_start(unit)


def _refuse_offline(unit: str, action: str) -> None:
    if os.geteuid():
        raise CommandFailed(f"Failed to {action} unit: {os.strerror(errno.EACCES)}")


@offline_as(_refuse_offline)
def _refuse_unauthorized(unit: str, action: str) -> None:
    if os.geteuid() and not _is_authorized():
        raise CommandFailed(f"Failed to {action} {unit}: Interactive authentication required.")


def _is_authorized() -> bool:
    """Return whether polkit lets a plain user manage units without asking anything."""
    if not cmd.which("pkcheck"):
        return False
    who = ["--process", str(os.getpid())]
    return not cmd.probe(["pkcheck", "--action-id", MANAGING, *who]).retcode


def _refuse_start(unit: str) -> None:
    words = [f"--property={','.join(ASKED)}", "--", unit]
    lines = cmd.probe(["systemctl", "show", *words]).stdout.splitlines()
    declared = [line.partition("=")[::2] for line in lines]
    properties = dict(declared)
    if any(properties.get(key) for key in ELSEWHERE) or not _is_certain(properties):
        return
    failed = f"Service {unit.removesuffix('.service')} failed to start"
    user = properties.get("User", "")
    if user and properties.get("DynamicUser") == "no" and not _is_user(user):
        raise CommandFailed(f"{failed}: there is no user {user}", missing=("user", user))
    for key, value in declared:
        needed = re.match(r"{ path=(/.*?) ; ", value) if key == "ExecStart" else None
        if needed and "ignore_errors=no" in value and not _paths.exists(needed[1]):
            raise CommandFailed(
                f"{failed}: there is no program {needed[1]}", missing=("file", needed[1])
            )
        wanted = re.fullmatch(r"(/.*) \(ignore_errors=no\)", value)
        if key == "EnvironmentFiles" and wanted and not _paths.glob(wanted[1]):
            raise CommandFailed(f"{failed}: there is no {wanted[1]}", missing=("file", wanted[1]))


def _is_certain(properties: dict[str, str]) -> bool:
    """Return whether the unit is started as the machine has it: no pending state writes its file,
    which has no conditions.
    """
    path = properties.get("FragmentPath", "")
    text = _paths.text_of(path)
    try:
        with open(path, encoding="utf-8", errors="replace") as real:  # os: what is loaded by now
            same = text == real.read()
    except OSError:
        return False
    return same and not re.search(r"^\s*(Condition|Assert)", text, re.MULTILINE)


def _is_user(name: str) -> bool:
    return name.isdigit() or bool(users.info(name))


NAMES: tuple[str, ...] = ("systemd", "systemd_service")
FEATURES = ("maskable",)
REFUSED = ("bad-setting", "error")  # units that systemd cannot load, as its journal says
THERE = ("loaded", "masked", *REFUSED)
PROPERTIES = "LoadState,ActiveState,UnitFileState,CanReload"
# where units lie, and where systemd leaves a trace of each start, each stop (units) and each reload
# (its generators')
FOLDERS = (
    "/etc/systemd/system",
    "/run/systemd/system",
    "/usr/local/lib/systemd/system",
    "/usr/lib/systemd/system",
    "/run/systemd/units",
    "/run/systemd",
)
ENABLED_BY_PACKAGES = "/var/lib/systemd/deb-systemd-helper-enabled"  # of Debian
RUNNING = ("active", "reloading")
ENABLED = ("enabled", "enabled-runtime", "static", "alias", "indirect", "generated", "transient")


@offline_as(lambda: _offline.init() == "systemd")
def suits() -> bool:
    """Return whether systemd runs this machine."""
    return _paths.isdir("/run/systemd/system")


def unit(name: str) -> str:
    """The name of the unit: `nginx` is nginx.service. Raises CommandFailed for what cannot be one:
    a pattern, which would be all units that it matches, a path, and what systemctl would escape.
    """
    if not re.fullmatch(r"[\w:.@\\-]+", name, re.ASCII):
        raise CommandFailed(f"{name!r} is not the name of a unit")
    suffixes = tuple(
        ".service .socket .timer .mount .target .path .slice .scope .automount".split()
    )
    return name if name.endswith(suffixes) else f"{name}.service"


@offline_as(lambda name, user="": _planned_units.properties(unit(name), user))
def properties(name: str, user: str = "") -> dict[str, str]:
    """The properties of a unit. One question for all services of the run, asked again when
    units change; of a user's unit, one each time. Raises CommandFailed for a template, which has
    none.
    """
    if "@." in (template := unit(name)):
        (default,) = _planned_units.asked(template, "DefaultInstance", user)[-1:] or ["NAME"]
        instance = template.replace("@.", f"@{default}.").removesuffix(".service")
        raise CommandFailed(f"{template} is a template: name an instance of it, {instance}")
    if user:
        return _asked((unit(name),), user)[unit(name)]
    return _declared().get(unit(name)) or _show((unit(name),))[unit(name)]


@cached_look("services", *FOLDERS)
def _declared() -> dict[str, dict[str, str]]:
    services = (
        chunk for chunk in here.chunks if chunk.state == "service" and chunk.fun != "current"
    )
    try:
        names = dict.fromkeys(unit(chunk.name) for chunk in services if "user" not in chunk.args)
        return {} if not names else _show(tuple(names))
    except CommandFailed:
        return {}  # one of the names is none: let its own state say so


@offline_as(lambda units: {name: _planned_units.properties(name) for name in units})
@cached_look("services", *FOLDERS)
def _show(units: tuple[str, ...]) -> dict[str, dict[str, str]]:
    return _asked(units)


def _asked(units: tuple[str, ...], user: str = "") -> dict[str, dict[str, str]]:
    done = cmd.probe(systemctl(user, "show", f"--property={PROPERTIES}", "--", *units))
    if done.retcode:
        raise CommandFailed(f"systemctl: {done.stderr.strip()}")
    blocks = done.stdout.strip().split("\n\n")
    return {
        name: dict(line.split("=", 1) for line in block.splitlines() if "=" in line)
        for name, block in zip(units, blocks, strict=True)
    }


def available(name: str, user: str = "") -> bool:
    """Return whether there is such a unit."""
    if not user and _planned_units.comes_as_script(unit(name)):
        return True
    if not _planned_units.concerns(unit(name), user):
        return properties(name, user).get("LoadState") in THERE
    if _planned_units.definition(unit(name), user) or status(name, user):
        return True
    # without its file systemd knows what it has in memory, until it reads all anew
    is_enabled = properties(name, user).get("UnitFileState") == "enabled"
    return is_enabled and will_be_enabled(unit(name), user) is not False


def status(name: str, user: str = "") -> bool:
    """Return whether a service runs."""
    will = will_run(_planned_units.own_name(unit(name), user), user)
    return properties(name, user).get("ActiveState") in RUNNING if will is None else will


def enabled(name: str, user: str = "") -> bool:
    """Return whether a service starts with the machine: an indirect one by what goes with it."""
    full = unit(name)
    will = will_be_enabled(_planned_units.own_name(full, user), user)
    if _planned_units.concerns(full, user):
        if _planned_units.masked_by(full, user):
            return False
        if will is None and _planned_units.definition(full, user):
            return _planned_units.will_be_enabled(full, user)
    if will is not None:
        return will
    state = properties(name, user).get("UnitFileState")
    others = _planned_units.asked(full, "Also", user) if state == "indirect" else []
    plain = [other for other in others if "%" not in other and "@." not in other]
    return _starts(full, state, user) and not any(
        properties(other, user).get("UnitFileState") == "disabled" for other in plain
    )


def _starts(full: str, state: str | None, user: str = "") -> bool:
    """Return whether a unit starts with the machine; of an init script its links say it."""
    if state == "generated" and not user and _planned_units.is_script(full):
        return sysv.enabled(full)
    return state in ENABLED


def masked(name: str, runtime: bool = False, user: str = "") -> bool:
    """Return whether a unit is masked, for good or (runtime) until the next start of the
    machine.
    """
    folder = f"/{'run' if runtime else 'etc'}/systemd/system"
    if user:
        owner = account(user)
        folder = f"{owner.runtime()}/systemd/user" if runtime else owner.folder()
    path = f"{folder}/{unit(name)}"
    return file.is_link(path) and file.readlink(path) == os.devnull


def names(*options: str, user: str = "") -> list[str]:
    """The services that systemctl lists, without their suffix."""
    shape = ("--type=service", "--no-legend", "--plain", "--full", "--no-pager")
    done = cmd.probe(systemctl(user, *options, *shape))
    return sorted(
        {
            line.split()[0].removesuffix(".service")
            for line in done.stdout.splitlines()
            if line.split()
        }
    )


def get_all(user: str = "") -> list[str]:
    """All services."""
    return sorted({*names("list-unit-files", user=user), *names("list-units", "--all", user=user)})


def get_enabled(user: str = "") -> list[str]:
    """The services that start with the machine."""
    return names("list-unit-files", "--state=enabled,enabled-runtime", user=user)


def get_running(user: str = "") -> list[str]:
    """The services that run."""
    return names("list-units", "--state=running", user=user)


def units() -> list[Unit]:
    """Return the services, timers and sockets that there are, in one look."""
    kinds = "--type=service,timer,socket,path"
    words = ("list-unit-files", kinds, "--no-legend", "--plain", "--full", "--no-pager")
    rows = [line.split() for line in cmd.probe(systemctl("", *words)).stdout.splitlines()]
    rows = [row for row in rows if len(row) > 1 and "@." not in row[0] and row[1] != "alias"]
    names = tuple(row[0] for row in rows)
    presets = {row[0]: row[2] if len(row) > 2 else "" for row in rows}
    shown = _show(names) if names else {}
    return [_unit(name, about, presets[name]) for name, about in shown.items()]


def _unit(name: str, about: dict[str, str], preset: str) -> Unit:
    state = about.get("UnitFileState", "")
    return Unit(
        name.removesuffix(".service"),
        about.get("LoadState") in THERE,
        about.get("ActiveState") in RUNNING,
        _starts(name, state),
        masked(name),
        not _as_shipped(name, state, preset),
    )


def _as_shipped(name: str, state: str, preset: str) -> bool:
    """Return whether a unit starts with the machine as its package, or the preset, has it."""
    if file.is_file(f"{FOLDERS[0]}/{name}") and not file.is_link(f"{FOLDERS[0]}/{name}"):
        return state not in ("enabled", "disabled")  # of no package; static ones only others start
    if state == "disabled" and file.is_dir(ENABLED_BY_PACKAGES):
        return not file.exists(f"{ENABLED_BY_PACKAGES}/{name}.dsh-also")
    if state == "enabled" and preset != "enabled":
        return file.exists(f"{ENABLED_BY_PACKAGES}/{name}.dsh-also")
    return state != "masked" or not masked(name)  # some packages mask a unit themselves


def get_static(user: str = "") -> list[str]:
    """The services that others start and that nobody can enable."""
    return names("list-unit-files", "--state=static", user=user)


def show(name: str, user: str = "") -> dict[str, Any]:
    """All properties of a unit; what systemctl puts in braces (ExecStart) as a mapping."""
    done = cmd.probe(systemctl(user, "show", "--", unit(name)))
    if done.retcode:
        raise CommandFailed(f"systemctl: {done.stderr.strip()}")
    pairs = (line.partition("=") for line in done.stdout.splitlines() if "=" in line)
    return {key: _property(key, value) for key, _, value in pairs}


def _property(key: str, value: str) -> Any:
    if value.startswith("{"):
        pairs = (part.partition("=") for part in value.strip("{} ").split(" ; "))
        return {name.strip(): text.strip() for name, _, text in pairs}
    return value.split() if key in ("Before", "After", "Wants") else value


def _plan(name: str, action: str, options: Sequence[str] = (), user: str = "") -> None:
    if not user:
        refuse_act(unit(name), action, "--runtime" in options)
    if action == "reload" and not _reloads(name, user):
        full = unit(name)
        raise CommandFailed(
            f"Failed to reload {full}: Job type reload is not applicable for unit {full}."
        )
    if "start" in action and not _planned_units.concerns(unit(name), user):
        if (state := properties(name, user).get("LoadState")) in REFUSED:
            raise CommandFailed(
                f"Failed to {action} {unit(name)}: systemd cannot load it ({state}); `systemctl"
                f" status {unit(name)}` says why"
            )
    needed = _planned_units.triggers(unit(name), user) if "start" in action else ""
    if needed and "%" not in needed and not available(needed, user):
        raise CommandFailed(
            f"Failed to {action} {unit(name)}: there is no {needed}, which it starts",
            missing=("service", needed),
        )
    _planned_units.act(name, action, options, user)


def _reloads(name: str, user: str) -> bool:
    """Return whether a unit will have been told how to read its configuration anew."""
    if _planned_units.reloads(unit(name), user):
        return True
    if _planned_units.concerns(unit(name), user):
        return False
    return properties(name, user).get("CanReload") != "no"


def _act_on_files(name: str, action: str, options: Sequence[str] = (), user: str = "") -> None:
    """Do with the files of a unit what systemctl does where no systemd runs."""
    if action not in _offline.KEPT:
        return
    if not cmd.which("systemctl"):  # it comes later, or with another image
        _planned_units.act(name, action, options, user)
        return
    cmd.probe(systemctl(user, action, *options, "--", unit(name))).or_fail()


@acts(__name__, _plan)
@offline_as(_act_on_files)
def act(name: str, action: str, options: Sequence[str] = (), user: str = "") -> None:
    """Start, stop, restart, reload, enable, disable, mask, unmask a unit; units are read anew where
    they changed.

    Raises CommandFailed with the unit's last log lines.
    """
    asks = "--property=NeedDaemonReload,SubState,FragmentPath,DropInPaths"
    shown = cmd.probe(systemctl(user, "show", asks, "--", unit(name))).stdout.splitlines()
    now = dict(line.partition("=")[::2] for line in shown)
    read = now.get("FragmentPath", ""), now.get("DropInPaths", "").split()
    if now.get("NeedDaemonReload") == "yes" or _planned_units.is_outdated(unit(name), user, *read):
        cmd.probe(systemctl(user, "daemon-reload"))
    if action == "start" and now.get("SubState") == "auto-restart":
        action = "restart"  # a start would wait for its next attempt, which may be far away
    began = time.time()
    done = cmd.probe(systemctl(user, action, *options, "--", unit(name)))
    if done.retcode:
        raise CommandFailed(done.stderr.strip() + log(name, began, user))
    if "can still be activated by" in done.stderr:  # a socket or a timer brings it back
        here.warn(" ".join(done.stderr.split()).removeprefix("Warning: "))


@offline_as(lambda name, since=0, user="": "")
def log(name: str, since: float = 0, user: str = "") -> str:
    """A paragraph with the last lines that a unit wrote, or nothing. since: seconds since the
    epoch.
    """
    whose = ["-u", unit(name)]
    if user:
        whose = [f"_SYSTEMD_USER_UNIT={unit(name)}", f"_UID={account(user).uid}"]
    argv = ["journalctl", "-q", "-n", "10", "--no-pager", "-o", "cat", f"--since=@{since:.6f}"]
    cmd.probe(["journalctl", "--sync"], timeout=3)  # the last lines may still be on their way
    lines = cmd.probe([*argv, *whose]).stdout.strip()
    return f"\n\nThe last lines of its journal:\n{lines}" if lines else ""


@changer(
    touches=["services"],
    before=lambda user="": {},
    planned=lambda user="": None,
    planned_touches=[],
)
@offline_as(lambda user="": None)
def reload_units(user: str = "") -> None:
    """Read all unit files anew."""
    cmd.probe(systemctl(user, "daemon-reload"))


def of_user(user: str) -> SimpleNamespace:
    """The same functions for the units of a user."""
    looks = (available, status, enabled, masked, log, show)
    lists = (get_all, get_enabled, get_running, get_static)
    return SimpleNamespace(
        **{
            function.__name__: partial(function, user=user)
            for function in (*looks, *lists, act, reload_units)
        }
    )
