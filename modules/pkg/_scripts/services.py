# SPDX-License-Identifier: Apache-2.0
"""Commands of maintainer scripts that enable and start services of the planned machine."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Sequence

from modules import _paths, file
from modules._texts.shell import Unread
from modules.pkg._scripts.known import Told, known, options, read, refuse
from modules.pkg._scripts.run import Outcome
from modules.service import _planned_units as units
from modules.service._planned import plan_enabled, plan_running
from runner.api.offline import is_offline

POLICY = "/usr/sbin/policy-rc.d"
ENABLED_ONCE = "/var/lib/systemd/deb-systemd-helper-enabled"


def unit_name(name: str) -> str:
    return name if re.search(r"\.[a-z]+$", name) else f"{name}.service"


@known("deb-systemd-helper", only_looks=frozenset(("was-enabled", "debian-installed")))
def _helper(words: list[str], text: str | None) -> Told:
    _, _, (action, *names) = options(words, ("--quiet", "--user"))
    for unit in map(unit_name, names):
        noted = f"{ENABLED_ONCE}/{unit}.dsh-also"
        if action == "was-enabled":
            if _paths.exists(noted):
                return Outcome(0 if units.starts_with_machine(unit) else None)
            continue
        if action == "debian-installed":
            return int(not _paths.exists(noted))
        if action in ("enable", "disable"):
            if units.definition(unit) and not units.masked_by(unit):
                units.act(unit, action)
        if action in ("enable", "update-state"):
            file.makedirs(ENABLED_ONCE, mode="0755")
            if not _paths.exists(noted):
                file.write(noted, b"", mode="0644", user=0, group=0)
        elif action == "purge":
            for path in [noted, *_paths.glob(f"/etc/systemd/system/*.*/{unit}")]:
                if _paths.lexists(path):
                    file.remove(path)
        elif action not in ("unmask", "disable"):
            raise Unread(f"deb-systemd-helper {action}")
    return 0


@known("deb-systemd-invoke")
def _invoke(words: list[str], text: str | None) -> Told:
    _, _, (action, *names) = options(words, ("--quiet", "--no-dbus", "--system", "--user"))
    if is_offline():
        return 0
    if _paths.exists(POLICY):
        raise Unread("policy-rc.d")
    if "--user" in words or action in ("daemon-reload", "daemon-reexec"):
        return 0
    for unit in map(unit_name, names):
        if action in ("start", "restart") and not units.starts_with_machine(unit):
            continue
        units.act(unit, action)
    return 0


@known("invoke-rc.d", "service")
def _invoke_rc(words: list[str], text: str | None) -> Told:
    flags = ("--skip-systemd-native", "--quiet", "--disclose-deny", "--force", "--try-anyway")
    given, _, rest = options(words, flags)
    name, action = rest[:2] if len(rest) > 1 else refuse("invoke-rc.d")
    if is_offline():
        return 0
    if _paths.exists(POLICY):
        raise Unread("policy-rc.d")
    is_native = bool(units.definition(unit_name(name))) and _paths.isdir("/run/systemd/system")
    if is_native and "--skip-systemd-native" in given:
        return 0
    if action in ("reload", "try-restart", "force-reload", "status", "rotate"):
        return 0
    if is_native:
        units.act(unit_name(name), action)
    elif action in ("start", "restart"):
        plan_running(name, True)
    elif action == "stop":
        plan_running(name, False)
    else:
        raise Unread(f"invoke-rc.d {name} {action}")
    return 0


@known("update-inetd")
def _update_inetd(words: list[str], text: str | None) -> Told:
    if _paths.exists("/etc/inetd.conf"):
        raise Unread("update-inetd")
    return 0


@known("update-rc.d")
def _update_rc(words: list[str], text: str | None) -> Told:
    _, _, rest = options(words, ("-f",))
    name, action = rest[:2] if len(rest) > 1 else refuse("update-rc.d")
    action = "defaults" if action in ("start", "stop") else action  # as it was written once
    if action in ("enable", "disable"):
        if units.definition(unit_name(name)):
            units.act(unit_name(name), action)
        else:
            plan_enabled(name, action == "enable")
        return 0
    if action not in ("defaults", "defaults-disabled", "remove"):
        raise Unread("update-rc.d")
    if not units.definition(unit_name(name)) and _paths.exists(f"/etc/init.d/{name}"):
        plan_enabled(name, action == "defaults")
    return 0


@known("systemctl")
def _systemctl(words: list[str], text: str | None) -> Told:
    flags = ("--quiet", "-q", "--system", "--no-block", "--now", "--no-reload", "--global")
    given, _, rest = options(words, flags)
    action, *names = rest or [""]
    if action in ("daemon-reload", "daemon-reexec", "reload", "try-restart", "reset-failed"):
        return 0
    if action == "preset":
        _preset(names)
        return 0
    if action not in ("start", "stop", "restart", "enable", "disable", "mask", "unmask"):
        return Outcome(None, None)
    if "--global" in given:
        raise Unread("systemctl --global")
    for unit in map(unit_name, names):
        units.act(unit, action)
        if "--now" in given:
            units.act(unit, {"enable": "start", "disable": "stop"}.get(action, "stop"))
    return 0


PRESETS = tuple(
    f"{folder}/systemd/system-preset" for folder in ("/etc", "/run", "/usr/local/lib", "/usr/lib")
)


def _preset(names: Sequence[str]) -> None:
    """Plan that units are enabled or disabled as the distribution wants it."""
    found: dict[str, str] = {}
    for folder in PRESETS:
        for path in _paths.glob(f"{folder}/*.preset"):
            found.setdefault(path.rpartition("/")[2], path)
    lines = [line for name in sorted(found) for line in (read(found[name]) or "").splitlines()]
    for unit in map(unit_name, names):
        if units.definition(unit) and not units.masked_by(unit):
            units.act(unit, _wanted(unit, lines))


def _wanted(unit: str, lines: Sequence[str]) -> str:
    """What the first line about a unit says; units that none is about are enabled."""
    for words in map(str.split, lines):
        if words[:1] in (["enable"], ["disable"]) and fnmatch.fnmatchcase(unit, words[1]):
            return words[0]
    return "enable"


_RESTARTING: tuple[str, ...] = (
    "mark-restart-system-units",
    "system-reload-restart",
    "system-reload",
)
_RESTARTING += ("system-restart",)


@known("systemd-update-helper")
def _update_helper(words: list[str], text: str | None) -> Told:
    """What packages of rpm call for their units: presets for new ones."""
    if words[:1] == ["install-system-units"]:
        _preset(words[1:])
    elif words[:1] == ["remove-system-units"]:
        for unit in map(unit_name, words[1:]):
            units.act(unit, "disable")
            units.act(unit, "stop")
    elif not words or not re.fullmatch(
        r"(mark-restart-)?system-(units|reload.*|restart)", words[0]
    ):
        raise Unread("systemd-update-helper")
    return 0


def _a2en(kind: str, endings: tuple[str, ...]) -> None:
    @known({"mods": "a2enmod", "conf": "a2enconf", "sites": "a2ensite"}[kind])
    def enable(words: list[str], text: str | None) -> Told:
        names = options(words, ("-m", "-q", "--maintmode", "--quiet"))[2]
        for name in names:
            for ending in endings:
                available = f"/etc/apache2/{kind}-available/{name}{ending}"
                link = f"/etc/apache2/{kind}-enabled/{name}{ending}"
                if not _paths.exists(available):
                    continue
                needed = re.search(r"(?m)^# Depends:\s*(.*)$", read(available) or "")
                if needed and needed[1].split():
                    enable(needed[1].replace(",", " ").split(), None)
                if not _paths.lexists(link):
                    file.symlink(f"../{kind}-available/{name}{ending}", link)
        return 0


_a2en("mods", (".load", ".conf"))
_a2en("conf", (".conf",))
_a2en("sites", (".conf",))
