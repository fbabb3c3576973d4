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

from modules import aliases, alternatives, hosts, locale, pkg, service, shadow, sysctl, timezone
from modules import file as any_file  # `file` is a module of this folder
from modules import group as groups
from modules import user as users
from modules.service.unit import Unit
from modules.ssh import keys, known_hosts
from runner.api import Resource, StateFailed
from states._account import AGING
from states.ssh_auth import CONFIG

ROLE = {
    **dict.fromkeys(("alias", "locale", "sysctl", "timezone"), "system"),
    "alternatives": "files",
    "host": "network",
    "pkg": "packages",
    "service": "services",
    **dict.fromkeys(("group", "ssh_auth", "ssh_known_hosts", "user"), "users"),
}
AFTER = {
    "alternatives": ("file",),
    "ssh_auth": ("user",),
    "ssh_known_hosts": ("user",),
    "user": ("group",),
}


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


# ---------------------------------------------------------------- users

_FIRST_OF_PEOPLE = 1000  # smaller numbers are the system's
_NOBODY = 65534
_OF_PEOPLE = ("/home/", "/srv/", "/opt/", "/usr/local/")


def _made_by_package(name: str, number: int, home: str = "") -> bool:
    """Return whether an account is one of the system's that no person made."""
    if _FIRST_OF_PEOPLE <= number != _NOBODY or f"{home}/".startswith(_OF_PEOPLE):
        return False
    brought = pkg.shipped()
    return brought is None or name in brought.accounts


def group_resources(name: str | None) -> Iterator[Resource]:
    """Groups with their numbers and members. Without a name only those members that packages made:
    what others belong to their own states say, which come after those of groups.
    """
    there = groups.getent()
    numbers = [entry["gid"] for entry in there]
    for entry in there if name is None else [groups.info(name)]:
        if not entry:
            yield Resource("group.absent", str(name))
            continue
        arguments: dict[str, Any] = {"gid": entry["gid"]}
        if numbers.count(entry["gid"]) > 1:
            arguments["non_unique"] = True
        known = [member for member in entry["members"] if users.info(member)]
        note = "" if known == entry["members"] else "it has members that are no users"
        if name is None:
            known = [member for member in known if _is_of_package(member)]
        if name is None or note:
            arguments |= {"addusers": known} if known else {}
        else:
            arguments["members"] = known
        yield Resource(
            "group.present",
            entry["name"],
            arguments,
            note,
            shipped=_made_by_package(entry["name"], entry["gid"]),
            files=("/etc/group", "/etc/gshadow"),
        )


def _is_of_package(login: str) -> bool:
    account = users.info(login)
    return _made_by_package(login, account["uid"], account["home"])


_ACCOUNT_FILES = tuple(f"/etc/{name}" for name in ("passwd", "shadow", "subuid", "subgid"))

# what useradd gives a new user
_DAYS = {"mindays": 0, "maxdays": 99999, "warndays": 7, "inactdays": -1, "expire": -1}


def user_resources(name: str | None) -> Iterator[Resource]:
    """Users with their numbers, groups, home, shell and GECOS field; never their passwords."""
    for login in users.list_users() if name is None else [name]:
        account = users.info(login)
        yield (
            Resource(
                "user.present",
                login,
                _of_account(account),
                shipped=_made_by_package(login, account["uid"], account["home"]),
                files=_ACCOUNT_FILES,
            )
            if account
            else Resource("user.absent", login)
        )


def _of_account(account: dict[str, Any]) -> dict[str, Any]:
    name = account["name"]
    primary = users.primary_group(name)
    further = [
        group_name
        for group_name in account["groups"]
        if group_name != primary and groups.info(group_name)
    ]
    arguments = {
        "uid": account["uid"],
        "gid": account["gid"],
        "groups": further,
        "home": account["home"],
        "shell": account["shell"],
    }
    arguments |= {key: account[key] for key in users.GECOS if account[key]}
    if not any_file.is_dir(account["home"]):
        arguments["createhome"] = False
    if users.lingers(name):
        arguments["linger"] = True
    aged = shadow.info(name)
    days = {key: aged[AGING[key]] for key in _DAYS if aged[AGING[key]] not in ("", _DAYS[key])}
    return {key: value for key, value in (arguments | days).items() if value != ""}


def ssh_auth_resources(name: str | None) -> Iterator[Resource]:
    """The keys of users, by their digits, their comment or the user."""
    for user in users.list_users():
        try:
            path = keys.path_of(user, CONFIG)
            lines = keys.lines(path) if any_file.lexists(path) else []
        except (StateFailed, PermissionError) as failure:
            reason = failure.message if isinstance(failure, StateFailed) else str(failure)
            if name in (None, user):
                yield Resource("", user, note=f"keys of {user}: {reason}")
            continue
        present = {key.key: key for key in map(keys.parsed, lines) if key}
        yield from (
            _of_key(key, user)
            for key in present.values()
            if name in (None, key.key, key.comment, user)
        )


def _of_key(key: keys.Key, user: str) -> Resource:
    options = keys.option_list(key.options)
    if ",".join(options) != key.options:  # no list says it
        return Resource("ssh_auth.present", key.line, {"user": user})
    arguments: dict[str, Any] = {"user": user, "enc": key.kind}
    arguments |= {"comment": key.comment} if key.comment else {}
    arguments |= {"options": options} if options else {}
    return Resource("ssh_auth.present", key.key, arguments)


_HOST = re.compile(r"(?P<bare>[^\[\]|*?!,@]+)|\[(?P<name>[^\[\]|*?!,@]+)\]:(?P<port>\d+)")


def ssh_known_hosts_resources(name: str | None) -> Iterator[Resource]:
    """Known hosts of the system and of users; those whose names are hidden only as a remark."""
    for user in (None, *users.list_users()):
        try:
            path = known_hosts.path_of(user, None)
            lines = keys.lines(path) if any_file.lexists(path) else []
        except (StateFailed, PermissionError):
            continue  # ssh_auth remarks on a home that cannot be read
        listed = [item for line in lines for item in _hosts(line, user)]
        hidden = sum(line.startswith("|") for line in lines)
        if name is None and hidden:
            note = f"{path}: the names of {hidden} hosts are hidden: left out"
            yield Resource("", path, note=note)
        told = (known_hosts.SYSTEM,) if user is None and not hidden else ()
        yield from (item._replace(files=told) for item in listed if name in (None, item.name))


def _hosts(line: str, user: str | None) -> Iterator[Resource]:
    names, *rest = [*line.split(), "", ""][:3]
    for label in names.split(","):
        match = _HOST.fullmatch(label)
        if match and all(rest) and re.fullmatch(keys.KINDS, rest[0]):
            arguments: dict[str, Any] = {"user": user} if user else {}
            arguments |= {"port": int(match["port"])} if match["port"] else {}
            arguments |= {"enc": rest[0], "key": rest[1], "hash_known_hosts": False}
            yield Resource("ssh_known_hosts.present", match["bare"] or match["name"], arguments)
