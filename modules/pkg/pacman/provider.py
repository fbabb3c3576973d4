# SPDX-License-Identifier: Apache-2.0
"""Packages on Arch Linux and its relatives: pacman.

Older versions than the repositories have come from pacman's cache. Holds are IgnorePkg in
pacman.conf.
"""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from modules import _paths, cmd, file
from modules.pkg import _provided
from modules.pkg._former import former_reasons, nothing_lasting
from modules.pkg._run import error_list
from modules.pkg._tar import unpacking_words as contents_words
from modules.pkg.package_manager import (
    Archive,
    Changes,
    InstallOptions,
    Need,
    PackageGroup,
    PackageTarget,
    Placement,
    Simulation,
    Transaction,
    Versions,
)
from modules.pkg.pacman import archives as pacman_archives
from modules.pkg.pacman import conf as pacman_conf
from modules.pkg.pacman import keys as pacman_keys
from modules.pkg.pacman import marks as pacman_marks
from modules.pkg.pacman import records as pacman_records
from modules.pkg.pacman import repositories
from modules.pkg.pacman import run as pacman_run
from modules.pkg.pacman.archives import control
from modules.pkg.pacman.hooks import hooks
from modules.pkg.pacman.records import Package
from modules.pkg.pacman.versions import compare, newest_first
from runner.api import CommandFailed, cached_look, changer, fetcher, here

NAMES: tuple[str, ...] = ("pacman", "pacmanpkg")
FAMILIES: tuple[str, ...] = ("Arch",)
FEATURES: tuple[str, ...] = ("upgradable",)
INSTALLED = "/var/lib/pacman/local"
DATABASE = f"{INSTALLED}/ALPM_DB_VERSION"
LISTS = "/var/lib/pacman/sync"
REPOSITORY_FILES: tuple[str, ...] = (pacman_conf.MAIN, pacman_conf.FOLDER)
AVAILABLE = (INSTALLED, LISTS, *REPOSITORY_FILES)  # what candidates depend on
ARCHIVES = "/var/cache/pacman/pkg/"
PRINT = ("--print", "--print-format", "%n %v")
_ARCHIVE = re.compile(
    r"(?P<name>.+)-(?P<version>[^-]+-[^-]+)-(?P<arch>[^-]+)\.pkg\.tar(?:\.(?!sig)\w+)?$"
)
leftovers = _provided.none_left
normal = _provided.plain_name


def suits() -> bool:
    """Return whether this machine has pacman."""
    return _paths.exists("/usr/bin/pacman")


# ---------------------------------------------------------------- what is installed


@cached_look("packages", INSTALLED)
def list_pkgs() -> Versions:
    """Return the installed packages with their versions."""
    return dict(_pairs(cmd.probe(["pacman", "-Q"]).stdout))


@cached_look("packages", INSTALLED)
def _installed() -> Mapping[str, Package]:
    """Return what pacman says of all installed packages."""
    output = cmd.probe(["pacman", "-Qi"]).stdout
    return {package.name: package for package in pacman_records.parse(output)}


def _pairs(output: str) -> Iterator[tuple[str, str]]:
    """Return name and version from each line that begins with them."""
    for line in output.splitlines():
        words = line.split()
        if len(words) >= 2:
            yield words[0], words[1]


# ---------------------------------------------------------------- what could be installed


@cached_look("candidates", *AVAILABLE)
def _available() -> dict[str, list[str]]:
    """Return the versions of all packages in the repositories, in the order pacman asks them."""
    available: dict[str, list[str]] = {}
    for line in cmd.probe(["pacman", "-Sl"]).stdout.splitlines():
        words = line.split()
        if len(words) >= 3:
            available.setdefault(words[1], []).append(words[2])
    return available


def candidates(names: tuple[str, ...]) -> Versions:
    """Return the version of each package that installing it would give; unknown packages are
    missing.
    """
    available = _available()
    return {name: available[name][0] for name in names if name in available}


def versions(name: str) -> list[str]:
    """Return all versions of a package in the repositories and in the cache, newest first."""
    return newest_first([*_available().get(name, ()), *archives().get(name, {})])


def file_info(path: str) -> tuple[str, str]:
    """Return name and version of a package file. Raises CommandFailed for what is none."""
    done = cmd.probe(["pacman", "-Qp", "--", path])
    pair = next(_pairs(done.stdout), None)
    if done.retcode or pair is None:
        raise CommandFailed(f"{path} is not a package: {done.stderr.strip()}")
    return pair


@cached_look("files", pacman_conf.MAIN)
def _cache_folders() -> list[str]:
    return cmd.probe(["pacman-conf", "CacheDir"]).stdout.split() or [ARCHIVES]


def archives() -> dict[str, dict[str, Any]]:
    """Return what lies in the cache: name -> version -> path, size, creation_date_time_t."""
    by_name: dict[str, dict[str, Any]] = {}
    for folder in _cache_folders():
        for path, stat in _paths.below(folder):
            if match := _ARCHIVE.match(os.path.basename(path)):
                archives = by_name.setdefault(match["name"], {})
                archives[match["version"]] = _provided.in_cache(path, stat)
    return by_name


def package_lists() -> tuple[str, ...]:
    """Return where the package lists are."""
    return (LISTS,)


@cached_look("candidates", *AVAILABLE)
def find_archives(versions: tuple[tuple[str, str], ...]) -> dict[str, Archive]:
    """Return the archives of packages, by name."""
    return pacman_archives.find(versions, _cache_folders()[0])


@fetcher
def fetch_archives(
    versions: tuple[tuple[str, str], ...], options: InstallOptions, seconds: float
) -> None:
    """Have archives in pacman's cache. Raises CommandFailed."""
    pacman_archives.fetch(versions, seconds)


def placement(names: tuple[str, ...]) -> Placement:
    """Return how pacman places what is in archives of packages."""
    there = list_pkgs()
    return pacman_archives.PacmanPlacement([_folder(name) for name in names if name in there])


def lists_age() -> float | None:
    """Return the seconds since the package lists were renewed; None when there are none.

    The lists have the time that their server has for them; the folder has that of the renewal.
    """
    if not _paths.isdir(LISTS) or not any(name.endswith(".db") for name in _paths.listdir(LISTS)):
        return None
    return _provided.age([_paths.stat(LISTS).st_mtime])


def _renew() -> None:
    if pacman_conf.repositories():  # pacman refuses without any
        pacman_run.run("-Sy")


refresh_db, renew_db = _provided.renewal(_renew)


# ---------------------------------------------------------------- transactions


def command_lines(transaction: Transaction) -> list[list[str]]:
    """Return a transaction in pacman's words: what is in repositories first, then files.

    The options that pacman has nothing like are ignored: it installs no optional dependencies,
    takes older versions when they are named, and keeps changed configuration files.
    """
    action, options = transaction.action, transaction.options
    names = [target.name for target in transaction.targets]
    if action in ("install", "upgrade", "full-upgrade") and names:
        words = [_target_words(target, options) for target in transaction.targets]
        needed = [] if options.reinstall else ["--needed"]
        by_name = [word for word, is_file in words if not is_file]
        by_file = [word for word, is_file in words if is_file]
        lines = [["-S", *needed, "--", *by_name]] if by_name else []
        return lines + ([["-U", *needed, "--", *by_file]] if by_file else [])
    if action in ("upgrade", "full-upgrade"):
        return [["-Su", *(["-u"] if options.downgrade else [])]]
    if action == "autoremove":
        names = cmd.probe(["pacman", "-Qdtq"]).stdout.split()
        return [["-R", "-s", "--", *names]] if names else []
    if action == "purge":  # what needs it goes too, and what only it needed
        return [["-R", "-s", "-c", "--", *names]] if names else []
    return [["-R", "--", *names]] if names else []


def _target_words(target: PackageTarget, options: InstallOptions) -> tuple[str, bool]:
    """Return a target in pacman's words, and whether it is a file."""
    if target.path:
        return target.path, True
    name = f"{options.repository}/{target.name}" if options.repository else target.name
    if not target.version:
        return name, False
    if not any(
        compare(target.version, available) == 0 for available in _available().get(target.name, ())
    ):
        for version, archive in archives().get(target.name, {}).items():
            if compare(target.version, version) == 0:
                return str(archive["path"]), True
    return f"{name}={target.version}", False


def simulate(transaction: Transaction) -> Simulation:
    """Return what a transaction would change, as `pacman --print` says. Changes nothing."""
    if problem := pacman_run.stale_lock():
        here.warn(problem)
    return _simulate(transaction)


@_provided.solved_once(*AVAILABLE)
def _simulate(transaction: Transaction) -> Simulation:
    if refusal := _held_targets(transaction):
        return Simulation(None, refusal)
    printed: dict[str, str] = {}
    for words in command_lines(transaction):
        done = cmd.probe([*pacman_run.START, *PRINT, *words])
        if done.retcode or "[y/N]" in done.stdout:  # a question that is answered with no
            return Simulation(None, pacman_run.errors(done))
        printed |= dict(_pairs(_without_notes(done.stdout)))
    old = list_pkgs()
    if transaction.action in ("remove", "purge", "autoremove"):
        return Simulation(_provided.going(printed, old))
    changes = {name: {"old": old.get(name, ""), "new": new} for name, new in printed.items()}
    return _checked(transaction, changes)


def _without_notes(output: str) -> str:
    """Return what pacman prints without its own remarks (`loading packages...`)."""
    remarks = (":: ", "loading ", "checking ", "resolving ", "looking ")
    return "".join(f"{line}\n" for line in output.splitlines() if not line.startswith(remarks))


def _checked(transaction: Transaction, changes: Changes) -> Simulation:
    """Return the simulation with what `--print` leaves out: conflicts, and what is replaced."""
    if not changes:
        return Simulation(changes)
    new = _described_new(transaction, changes)
    installed = _installed()
    old = {name: package.version for name, package in installed.items()}
    if transaction.action in ("upgrade", "full-upgrade") and not transaction.targets:
        gone = pacman_records.replaced(new, installed)
        changes = pacman_records.without_replaced(changes, gone, old)
    new = {name: package for name, package in new.items() if changes.get(name, {}).get("new")}
    staying = {name: package for name, package in installed.items() if name not in changes}
    problems = pacman_records.conflicts(new, staying)
    if problems:
        return Simulation(None, error_list(*problems))
    return Simulation(changes)


def _described_new(transaction: Transaction, names: Iterable[str]) -> dict[str, Package]:
    """Return what pacman says of packages that a transaction would install."""
    new = _described_in_repositories(tuple(sorted(names)))
    words = [_target_words(target, transaction.options) for target in transaction.targets]
    files = [word for word, is_file in words if is_file]
    if files:
        described = cmd.probe(["pacman", "-Qip", "--", *files]).stdout
        new |= {package.name: package for package in pacman_records.parse(described)}
    return new


@cached_look("candidates", *AVAILABLE)
def _described_in_repositories(names: tuple[str, ...]) -> dict[str, Package]:
    """Return what pacman says of packages in the repositories; the first one that has it counts."""
    packages: dict[str, Package] = {}
    output = cmd.probe(["pacman", "-Si", "--", *names]).stdout if names else ""
    for package in pacman_records.parse(output):
        packages.setdefault(package.name, package)
    return packages


def _held_targets(transaction: Transaction) -> str:
    """Return why a transaction is refused that names held packages: pacman would only ask."""
    if transaction.action != "install" or transaction.options.change_held:
        return ""
    present = list_pkgs()
    targets = {target.name for target in transaction.targets if target.name in present}
    names = sorted(targets & {*held()}) if targets else []
    if not names:
        return ""
    return f"errors:\n    - held back by IgnorePkg in {pacman_conf.MAIN}: {', '.join(names)}"


@_provided.transacts
def run(transaction: Transaction) -> None:
    """Carry out a transaction. Raises CommandFailed with pacman's errors."""
    if refusal := _held_targets(transaction):
        raise CommandFailed(refusal)
    for action, *words in command_lines(transaction):
        # --print does not go with -n: what the simulation asks has no such word
        configuration_too = ["-n"] if transaction.action == "purge" else []
        pacman_run.run(action, *configuration_too, *words)


@changer(touches=["files"], before=nothing_lasting)
def download(transaction: Transaction) -> None:
    """Have packages, and what they need, in pacman's cache."""
    options = transaction.options._replace(reinstall=True)
    for action, *words in command_lines(transaction._replace(options=options)):
        pacman_run.run(action, "--downloadonly", *words)


@cached_look("candidates", *AVAILABLE)
def needs(names: tuple[str, ...]) -> dict[str, list[Need]]:
    """Return what packages bring along in the version that would be installed."""
    installed = _installed()
    described = {name: installed[name] for name in names if name in installed}
    described |= _described_in_repositories(tuple(name for name in names if name in _available()))
    return {
        name: [_need(word, described) for word in package.words("Depends On")]
        for name, package in described.items()
    }


def _need(condition: str, described: Mapping[str, Package]) -> Need:
    """Return a need with the packages that meet it: the one of its name, then those that provide
    it, of those that take part and those that are installed.
    """
    name = pacman_records.bare(condition)
    around = {**_installed(), **described}
    providing = [provider for provider, package in around.items() if package.meets(condition)]
    known = name in _available() or name in around
    named = [name] if known else []
    return Need(((*named, *(provider for provider in providing if provider != name)),), False)


# ---------------------------------------------------------------- holds


@cached_look("packages", INSTALLED, *REPOSITORY_FILES)
def held() -> list[str]:
    """Return the packages that stay at their version: IgnorePkg, patterns resolved."""
    return _provided.matched(cmd.probe(["pacman-conf", "IgnorePkg"]).stdout.split(), list_pkgs())


@_provided.holds
def hold(names: Sequence[str], release: Sequence[str] = ()) -> None:
    """Keep packages at their version, and release others: IgnorePkg in pacman.conf. Raises
    CommandFailed when a pattern or an included file still holds one to release.
    """
    text = pacman_conf.read(pacman_conf.MAIN)
    changed = pacman_conf.with_ignored(text, names, {*release})
    if changed != text:
        file.write(pacman_conf.MAIN, changed.encode())
    left = cmd.probe(["pacman-conf", "IgnorePkg"]).stdout.split()
    stuck = [name for name in release if any(fnmatch.fnmatch(name, word) for word in left)]
    if stuck:
        raise CommandFailed(
            f"{', '.join(stuck)}: still held by a pattern of IgnorePkg in {pacman_conf.MAIN}, or"
            " by a file that it includes. Change that by hand"
        )


# ---------------------------------------------------------------- why packages are installed


@cached_look("packages", INSTALLED)
def manually_installed() -> list[str]:
    """Return the packages that were installed by hand, and not for others."""
    return pacman_marks.manually_installed()


def vital() -> list[str]:
    """Return the packages of HoldPkg, and `base`."""
    return pacman_marks.vital()


def simulate_marks(automatic: tuple[str, ...], manual: tuple[str, ...]) -> Simulation:
    """Return what pacman would remove if packages were so marked, with all that only they need."""
    done = pacman_marks.unneeded(INSTALLED, automatic, manual)
    if done is None:
        return Simulation({})
    if done.retcode:
        return Simulation(None, pacman_run.errors(done))
    return Simulation(_provided.going(dict(_pairs(_without_notes(done.stdout))), list_pkgs()))


@changer(touches=["packages", "candidates"], before=former_reasons)
def mark(automatic: Sequence[str], manual: Sequence[str]) -> None:
    """Mark packages as installed for others, and as installed by hand."""
    pacman_marks.mark(automatic, manual)


# ---------------------------------------------------------------- files, details, groups


@cached_look("packages", INSTALLED)
def installed_scripts(name: str) -> dict[str, str]:
    """Return the scripts of an installed package, by name."""
    return dict(pacman_archives.installed_scripts(_folder(name)))


def _folder(name: str) -> str:
    """The folder of what pacman has of an installed package."""
    return f"{INSTALLED}/{name}-{list_pkgs().get(name, '')}"


@cached_look("packages", INSTALLED)
def kept_by_others(name: str, paths: tuple[str, ...]) -> set[str]:
    """Return those paths that belong to other installed packages, too."""
    kept = set()
    for line in cmd.probe(["pacman", "-Qo", "--", *paths]).stdout.splitlines():
        path, _, package = line.partition(" is owned by ")
        if package.partition(" ")[0] not in ("", name):
            kept.add(path.rstrip("/"))
    return kept & {*paths}


def owner(path: str) -> str:
    """Return the package that a file belongs to; empty when there is none."""
    lines = cmd.probe(["pacman", "-Qoq", "--", path]).stdout.splitlines()
    return lines[0] if lines else ""


def file_list(name: str) -> list[str]:
    """Return the files and folders of an installed package."""
    return cmd.probe(["pacman", "-Qlq", "--", name]).stdout.splitlines()


def info_installed(names: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """Return details of installed packages, with Salt's keys; all packages without names."""
    installed = _installed()
    chosen = names or tuple(installed)
    return {name: pacman_records.described(installed[name]) for name in chosen if name in installed}


def group(name: str) -> PackageGroup | None:
    """Return a group of packages, all of them default; None when there is no such group."""
    output = cmd.probe(["pacman", "-Sg", "--", name]).stdout
    names = [line.split()[1] for line in output.splitlines() if len(line.split()) == 2]
    return PackageGroup(default=tuple(dict.fromkeys(names))) if names else None


def verify(names: tuple[str, ...], ignore_types: Sequence[str]) -> list[str]:
    """Return those packages of which installed files were altered.

    ignore_types: `config` (or c) passes over changed configuration files.
    """
    passed_over = ("backup file: ",) if {"config", "c"} & {*ignore_types} else ()
    altered = []
    for name in names:
        done = cmd.probe(["pacman", "-Qkk", "--", name])
        lines = [line for line in f"{done.stdout}\n{done.stderr}".splitlines() if "(" in line]
        marks = (f"warning: {name}: ", f"backup file: {name}: ")
        if any(line.startswith(marks) and not line.startswith(passed_over) for line in lines):
            altered.append(name)
    return altered


def resolve_capabilities(names: tuple[str, ...]) -> dict[str, str]:
    """Return the package that provides each name: an installed one, else the one that pacman would
    choose; names that nothing provides are missing.
    """
    providing: dict[str, str] = {}
    for name in names:
        installed = [package.name for package in _installed().values() if package.meets(name)]
        if name in _available() or installed:
            providing[name] = name if name in [*_available(), *installed] else installed[0]
            continue
        done = cmd.probe([*pacman_run.START, *PRINT, "-S", "-dd", "--", name])
        if not done.retcode and (pair := next(_pairs(done.stdout), None)):
            providing[name] = pair[0]
    return providing


@changer(touches=["candidates"])
def import_key(key: bytes) -> None:
    """Have pacman trust what is signed with a key: its keyring has it, signed by this machine."""
    pacman_keys.import_key(key)
