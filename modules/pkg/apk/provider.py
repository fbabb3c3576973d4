# SPDX-License-Identifier: Apache-2.0
"""Packages on Alpine Linux and its relatives: apk.

apk has no holds: a version that is asked for stands in /etc/apk/world and stays until another one
is asked for.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any

from modules import _paths, cmd
from modules._paths import text_of
from modules.pkg import _provided
from modules.pkg._former import former_reasons
from modules.pkg.apk import archives as apk_archives
from modules.pkg.apk import database as apk_database
from modules.pkg.apk import repositories
from modules.pkg.apk import run as apk_run
from modules.pkg.apk import versions as apk_versions
from modules.pkg.apk.archives import contents_words, control
from modules.pkg.apk.archives import digest as archive_digest
from modules.pkg.apk.triggers import hooks
from modules.pkg.package_manager import (
    TOUCHED,
    Archive,
    InstallOptions,
    PackageTarget,
    Placement,
    Simulation,
    Transaction,
    Versions,
)
from runner.api import CommandFailed, cached_look, changer, fetcher, here

NAMES: tuple[str, ...] = ("apk", "apkpkg")
FAMILIES: tuple[str, ...] = ("Alpine",)
FEATURES: tuple[str, ...] = ("upgradable",)
DATABASE = "/lib/apk/db/installed"
REPOSITORY_FILES: tuple[str, ...] = ("/etc/apk/repositories",)
WORLD = "/etc/apk/world"
LISTS = ("/var/cache/apk", "/etc/apk/cache")
AVAILABLE = (DATABASE, WORLD, *LISTS, *REPOSITORY_FILES)  # what candidates depend on
_CHANGED = re.compile(
    r"\(\d+/\d+\) (?P<what>Installing|Upgrading|Downgrading|Replacing|Reinstalling|Purging)"
    r" (?P<name>[^\s@]+)(?:@\S+)? \((?P<first>\S+?)(?: -> (?P<second>\S+))?\)"
)
leftovers = _provided.none_left
normal = _provided.plain_name
compare = apk_versions.compare


def suits() -> bool:
    """Return whether this machine has apk."""
    return _paths.exists("/sbin/apk")


# ---------------------------------------------------------------- what is installed


@cached_look("packages", DATABASE)
def list_pkgs() -> Versions:
    """Return the installed packages with their versions."""
    lines = cmd.probe(["apk", "info", "-v"]).stdout.splitlines()
    return dict(sorted(filter(None, map(_name_and_version, lines))))


def _name_and_version(text: str) -> tuple[str, str] | None:
    """Return the parts of `name-version-revision`."""
    parts = text.strip().rsplit("-", 2)
    return (parts[0], f"{parts[1]}-{parts[2]}") if len(parts) == 3 and " " not in text else None


# ---------------------------------------------------------------- what could be installed


@cached_look("candidates", *AVAILABLE)
def _policies(names: tuple[str, ...]) -> dict[str, list[str]]:
    """Return the versions of packages in repositories that need no tag, newest first."""
    lines = cmd.probe(["apk", "policy", *names]).stdout.splitlines() if names else []
    policies: dict[str, list[str]] = {}
    name = version = ""
    for line in lines:
        if line.endswith(" policy:"):
            name = line.removesuffix(" policy:")
        elif line.startswith("    "):
            source = line.strip()
            if not source.startswith("@") and source != DATABASE.lstrip("/"):
                policies.setdefault(name, []).append(version)
        elif line.startswith("  "):
            version = line.strip().removesuffix(":")
    return {name: apk_versions.newest_first(versions) for name, versions in policies.items()}


def candidates(names: tuple[str, ...]) -> Versions:
    """Return the version of each package that installing it would give; unknown packages are
    missing.
    """
    return {name: several[0] for name, several in _policies(names).items()}


def versions(name: str) -> list[str]:
    """Return all versions of a package that could be installed, newest first."""
    return _policies((name,)).get(name, [])


def file_info(path: str) -> tuple[str, str]:
    """Return name and version of a package file. Raises CommandFailed for what is none."""
    done = cmd.probe(["tar", "-xzOf", path, ".PKGINFO"])
    fields = dict(re.findall(r"^(pkgname|pkgver) = (.+)$", done.stdout, re.MULTILINE))
    if len(fields) < 2:
        raise CommandFailed(f"{path} is not a package: {done.stderr.strip()}")
    return fields["pkgname"], fields["pkgver"]


def lists_age() -> float | None:
    """Return the seconds since the package lists were renewed; None when there are none."""
    return _provided.age(
        at.st_ctime
        for folder in LISTS
        for path, at in _paths.below(folder)
        if os.path.basename(path).startswith("APKINDEX.")
    )


# ---------------------------------------------------------------- what is in packages


def package_lists() -> tuple[str, ...]:
    """Return where the package lists are."""
    return LISTS


def _folder() -> str:
    """Where archives go that are looked at: apk keeps none that it installs."""
    return here.cache_folder("apk").path


@cached_look("candidates", *AVAILABLE)
def find_archives(versions: tuple[tuple[str, str], ...]) -> dict[str, Archive]:
    """Return the archives of packages, by name."""
    lists = [
        path
        for folder in LISTS
        for path, _ in _paths.below(folder)
        if os.path.basename(path).startswith("APKINDEX.")
    ]
    return apk_archives.find(versions, lists, _folder())


@fetcher
def fetch_archives(
    versions: tuple[tuple[str, str], ...], options: InstallOptions, seconds: float
) -> None:
    """Have archives in the cache. Raises CommandFailed."""
    apk_archives.fetch(versions, here.cache_folder("apk"), seconds)


@cached_look("packages", DATABASE)
def placement(names: tuple[str, ...]) -> Placement:
    """Return how apk places what is in archives of packages."""
    there = list_pkgs()
    return apk_archives.ApkPlacement(DATABASE, [name for name in names if name in there])


def installed_scripts(name: str) -> dict[str, str]:
    """Return the scripts of an installed package, by name."""
    return apk_archives.installed_scripts(name, list_pkgs().get(name, ""))


@cached_look("packages", DATABASE)
def kept_by_others(name: str, paths: tuple[str, ...]) -> set[str]:
    """Return those paths that belong to other installed packages, too."""
    return apk_archives.kept_by_others(DATABASE, name, paths)


refresh_db, renew_db = _provided.renewal(lambda: apk_run.run("update"))


# ---------------------------------------------------------------- transactions


def command_lines(transaction: Transaction) -> list[list[str]]:
    """Return a transaction in apk's words: what is installed anew first, then what is added.

    The options that apk has nothing like are ignored: it installs no recommended packages, takes
    older versions when they are named, and keeps changed configuration files.
    """
    action, options = transaction.action, transaction.options
    names = [target.name for target in transaction.targets]
    trust = ["--allow-untrusted"] if options.unsigned else []
    if action == "install":
        again = [name for name in names if name in list_pkgs()] if options.reinstall else []
        others = [target for target in transaction.targets if target.name not in again]
        newest = candidates(tuple(sorted(target.name for target in others if target.version)))
        upgrade = any(newest.get(target.name) == target.version for target in others)
        words = [_target_word(target, options, newest) for target in others]
        lines = [["fix", "--reinstall", *trust, "--", *again]] if again else []
        add = ["add", *trust, *(["--upgrade"] if upgrade else []), "--", *words]
        return lines + ([add] if words else [])
    if action in ("upgrade", "full-upgrade"):
        return [["upgrade", *(["--available"] if options.downgrade else []), "--", *names]]
    if action == "autoremove":  # apk does so whenever it solves what /etc/apk/world says
        return [["add"]]
    return [["del", *(["--purge"] if action == "purge" else []), "--", *names]] if names else []


def _target_word(target: PackageTarget, options: InstallOptions, newest: Versions) -> str:
    """Return a target in apk's words; the newest version by its name, so that it is not fixed."""
    if target.path:
        return target.path
    tag = f"@{options.repository.removeprefix('@')}" if options.repository else ""
    fixed = target.version and newest.get(target.name) != target.version
    return f"{target.name}{f'={target.version}' if fixed else ''}{tag}"


@_provided.solved_once(*AVAILABLE)
def simulate(transaction: Transaction) -> Simulation:
    """Return what a transaction would change, as `apk --simulate` says. Changes nothing."""
    changes: dict[str, dict[str, str]] = {}
    for words in command_lines(transaction):
        done = cmd.probe([*apk_run.START, "--simulate", *words])
        if apk_run.refuses(done):
            return Simulation(None, apk_run.errors(done))
        for match in _CHANGED.finditer(done.stdout):
            changes[match["name"]] = _change(match["what"], match["first"], match["second"])
    return Simulation(changes)


def _change(what: str, first: str, second: str | None) -> dict[str, str]:
    if second:
        return {"old": first, "new": second}
    old = "" if what == "Installing" else first
    return {"old": old, "new": "" if what == "Purging" else first}


@_provided.transacts
def run(transaction: Transaction) -> None:
    """Carry out a transaction. Raises CommandFailed with apk's errors."""
    for words in command_lines(transaction):
        apk_run.run(*words)


# ---------------------------------------------------------------- why packages are installed

VITAL = ("alpine-base", "alpine-baselayout", "alpine-keys", "apk-tools", "busybox", "musl")


@cached_look("packages", DATABASE, WORLD)
def manually_installed() -> list[str]:
    """Return the packages that /etc/apk/world asks for."""
    names = [re.split(r"[<>=~@]", word)[0] for word in text_of(WORLD).split()]
    installed = list_pkgs()
    return [name for name in names if name in installed]


def vital() -> list[str]:
    """Return the packages that each Alpine has."""
    return [name for name in VITAL if name in list_pkgs()]


def simulate_marks(automatic: tuple[str, ...], manual: tuple[str, ...]) -> Simulation:
    """Return what apk would remove without packages in /etc/apk/world. Others that only they need
    are listed even if `manual` has one that needs them, too: apk simulates one change at a time.
    """
    if not automatic:
        return Simulation({})
    done = cmd.probe([*apk_run.START, "--simulate", "del", "--", *automatic])
    if done.retcode:
        return Simulation(None, apk_run.errors(done))
    gone = {match["name"]: match["first"] for match in _CHANGED.finditer(done.stdout)}
    return Simulation(
        {name: {"old": old, "new": ""} for name, old in gone.items() if name not in manual}
    )


@changer(touches=TOUCHED, before=former_reasons)
def mark(automatic: Sequence[str], manual: Sequence[str]) -> None:
    """Ask for packages in /etc/apk/world, and no longer for others, which go if nothing needs
    them.
    """
    if manual:
        apk_run.run("add", "--", *manual)
    if automatic:
        apk_run.run("del", "--", *automatic, stays=True)


# ---------------------------------------------------------------- files, details, repositories


def owner(path: str) -> str:
    """Return the package that a file belongs to; empty when there is none."""
    output = cmd.probe(["apk", "info", "--who-owns", "--", path]).stdout
    _, owned, package = output.strip().partition(" owned by ")
    pair = _name_and_version(package) if owned else None
    return pair[0] if pair else ""


def file_list(name: str) -> list[str]:
    """Return the files of an installed package."""
    if name not in list_pkgs():
        return []
    lines = cmd.probe(["apk", "info", "--contents", "--", name]).stdout.splitlines()
    return [f"/{line}" for line in lines if line and not line.endswith(" contains:")]


def info_installed(names: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """Return details of installed packages, with Salt's keys; all packages without names."""
    described = apk_database.read(DATABASE)
    return {name: described[name] for name in names or described if name in described}
