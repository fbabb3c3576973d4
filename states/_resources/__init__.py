# SPDX-License-Identifier: Apache-2.0
"""The present machine as states, read by `runner resource` alone: what takes more lines in a file
of its own, by the name of its state module.
"""

from __future__ import annotations

# os in this file: what this machine has, outside of runs
import glob
import re
from collections.abc import Iterator
from typing import Any

from modules import aliases, alternatives, hosts, locale, pkg, service, sysctl, timezone
from modules import file as any_file  # `file` is a module of this folder
from modules.service.unit import Unit
from runner.api import Resource

ROLE = {
    **dict.fromkeys(("alias", "locale", "sysctl", "timezone"), "system"),
    "alternatives": "files",
    "host": "network",
    "pkg": "packages",
    "service": "services",
}
AFTER = {"alternatives": ("file",)}


# what the mail server of each installation begins with
_ALIASES = tuple(
    """
    mailer-daemon postmaster nobody hostmaster usenet news webmaster www ftp abuse noc security
    """.split()
)


def alias_resources(name: str | None) -> Iterator[Resource]:
    """The aliases with their targets."""
    for alias, target in aliases.list_aliases().items():
        if name in (None, alias) and target:
            shipped = alias.lower() in _ALIASES and target in ("root", "postmaster")
            files = (aliases.PATH,)
            yield Resource("alias.present", alias, {"target": target}, shipped=shipped, files=files)


def alternatives_resources(name: str | None) -> Iterator[Resource]:
    """Yield what names mean that somebody decided on, and alternatives of no package."""
    brought = pkg.shipped()
    owned = brought.paths if brought else {}
    for known, mode, path in alternatives.selections():
        if name not in (None, known):
            continue
        group = alternatives.group(known) if mode == "manual" or path not in owned else None
        own = [choice for choice in group.choices if choice not in owned] if group else []
        for choice in own:
            if group:
                arguments = {"link": group.link, "path": choice, "priority": group.choices[choice]}
                yield Resource("alternatives.install", known, arguments)
        if mode == "manual":
            yield Resource("alternatives.set", known, {"path": path})
        else:
            yield Resource("alternatives.auto", known, shipped=True)


# what each installation has: this machine itself, and groups of machines
_OWN = ("127.0.0.1", "127.0.1.1", "::1", "fe00::0", "ff00::0", "ff02::1", "ff02::2", "ff02::3")


def host_resources(name: str | None) -> Iterator[Resource]:
    """The names in /etc/hosts with their addresses."""
    lines = [line for line in hosts.lines() if line.ip]
    for host in dict.fromkeys(host_name for line in lines for host_name in line.names):
        if name in (None, host):
            addresses = list(dict.fromkeys(line.ip for line in lines if host in line.names))
            own = {*addresses} <= {*_OWN}
            yield Resource(
                "host.present", host, {"ip": addresses}, shipped=own, files=(hosts.PATH,)
            )


_PLAIN = ("", "C", "POSIX", "C.UTF-8", "C.utf8")


def locale_resources(name: str | None) -> Iterator[Resource]:
    """The locales that locale-gen made, and that of the system."""
    lines = any_file.read_bytes(locale.LIST).decode("utf-8", "replace") if _has_locales() else ""
    for wanted in dict.fromkeys(re.findall(r"(?m)^[ \t]*([^#\s]+[ \t]+[^#\s]+)[ \t]*$", lines)):
        language, charset = wanted.split()
        known = language if language.partition(".")[2].partition("@")[0] == charset else wanted
        if name in (None, language, wanted) and locale.avail(language):
            yield Resource(
                "locale.present", known, shipped=language in _PLAIN, files=(locale.LIST,)
            )
    system = locale.get_locale()
    if system and name in (None, system):
        files = (locale.DEFAULT,) if _says_only_lang() else ()
        yield Resource("locale.system", system, shipped=system in _PLAIN, files=files)


def _has_locales() -> bool:
    return any_file.is_file(locale.LIST)


def _says_only_lang() -> bool:
    if not any_file.is_file(locale.DEFAULT):
        return False
    text = any_file.read_bytes(locale.DEFAULT).decode("utf-8", "replace")
    return all(line.startswith(("LANG=", "#")) for line in text.splitlines() if line.strip())


def pkg_resources(name: str | None) -> Iterator[Resource]:
    """Packages, and which of them are held; with its version one that is named."""
    provider = pkg.provider()
    present, leftovers = provider.list_pkgs(), provider.leftovers()
    held = {*provider.held()} if provider.has("holdable") else set()
    chosen = {*provider.manually_installed()} if provider.has("install_reasons") else {*present}
    brought = pkg.shipped()
    chosen -= brought.usual if brought else set()
    for package in sorted(present) if name is None else [name]:
        if package in present:
            version = {"version": present[package]} if name is not None else {}
            hold = {"hold": True} if package in held else {}
            shipped = package not in chosen and not hold
            yield Resource("pkg.installed", package, {**version, **hold}, shipped=shipped)
        elif name is not None:
            yield Resource("pkg.removed" if package in leftovers else "pkg.purged", package)


def service_resources(name: str | None) -> Iterator[Resource]:
    """Services: whether they run, and whether they start with the machine."""
    if name is None:
        yield from (_of_unit(unit) for unit in service.units() if unit.available)
    elif service.available(name):
        yield _of_unit(
            Unit(
                name, True, service.status(name), service.enabled(name), service.masked(name), True
            )
        )


def _of_unit(unit: Unit) -> Resource:
    if unit.masked:
        suffix = "" if "." in unit.name else ".service"
        files = (f"/etc/systemd/system/{unit.name}{suffix}",)
        return Resource("service.masked", unit.name, shipped=not unit.changed, files=files)
    arguments: dict[str, Any] = {"enable": unit.enabled}
    if unit.enabled and not unit.running:  # it has done its work, or somebody stopped it
        return Resource("service.enabled", unit.name, shipped=not unit.changed)
    function = "service.running" if unit.running else "service.dead"
    return Resource(function, unit.name, arguments, shipped=not unit.changed)


def sysctl_resources(name: str | None) -> Iterator[Resource]:
    """A parameter of the kernel; without a name those that a configuration file keeps."""
    configured: dict[str, dict[str, str]] = {}  # parameter -> file -> value
    for path in (*sorted(glob.glob(f"{sysctl.FOLDER}/*.conf")), "/etc/sysctl.conf"):
        for key, value in sysctl.show(path).items():
            configured.setdefault(key.lstrip("-").replace("/", "."), {})[path] = " ".join(
                value.split()
            )
    brought = pkg.shipped()
    owned = brought.paths if brought else {}
    files = {path for values in configured.values() for path in values if path not in owned}
    running = {key: sysctl.get(key) for key in configured if sysctl.exists(key)}
    # a file with a parameter that has another value now says more than states can
    odd = {
        path
        for key, values in configured.items()
        for path, value in values.items()
        if running.get(key) != value
    }
    for parameter in sorted(configured) if name is None else [name]:
        if not sysctl.exists(parameter):
            if name is None:
                note = f"{parameter}: the kernel has no such parameter now"
                yield Resource("", parameter, note=note, shipped=True)
            continue
        values = configured.get(parameter, {})
        own = {*values} & files - odd
        yield _parameter(
            parameter, running.get(parameter) or sysctl.get(parameter), values
        )._replace(files=tuple(own), shipped=name is None and not own)


def _parameter(name: str, value: str, configured: dict[str, str]) -> Resource:
    files = [path for path, text in configured.items() if text == value]
    arguments: dict[str, Any] = {"value": int(value) if value.isdigit() else value}
    if files and sysctl.default_config() not in files:
        arguments["config"] = files[-1]
    elif not files:
        arguments["persist"] = False
    others = "; ".join(f"{path} says {text}" for path, text in configured.items() if text != value)
    return Resource("sysctl.present", name, arguments, others)


_ZONES = ("UTC", "Etc/UTC")


def timezone_resources(name: str | None) -> Iterator[Resource]:
    """The time zone, and whether the hardware clock keeps UTC."""
    zone, utc = timezone.get_zone(), timezone.get_hwclock() == "UTC"
    files = (timezone.LINK, timezone.NAME, "/etc/adjtime")
    if name not in (None, zone):
        return
    if not timezone.zone_exists(zone):
        yield Resource("", zone, note=f"the time zone {zone} has no file in {timezone.ZONES}")
        return
    arguments = {} if utc else {"utc": False}
    shipped = zone in _ZONES and utc
    yield Resource("timezone.system", zone, arguments, shipped=shipped, files=files)
