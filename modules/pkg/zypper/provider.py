# SPDX-License-Identifier: Apache-2.0
"""Packages on SUSE and its relatives: rpm to look, zypper to change."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Sequence
from typing import Any

from modules import _paths, cmd
from modules._paths import text_of
from modules._texts.url import local_path
from modules.pkg import _provided, _run
from modules.pkg._former import former_packages, former_reasons, nothing_lasting
from modules.pkg.package_manager import (
    TOUCHED,
    Archive,
    Changes,
    InstallOptions,
    PackageGroup,
    PackageTarget,
    Simulation,
    Transaction,
    Versions,
)
from modules.pkg.rpm import lists as rpm_lists
from modules.pkg.rpm import packages as rpm
from modules.pkg.rpm.archives import (
    contents_words,
    control,
    installed_scripts,
    kept_by_others,
    placement,
)
from modules.pkg.rpm.packages import (
    compare,
    file_info,
    file_list,
    import_key,
    info_installed,
    normal,
    owner,
    verify,
)
from modules.pkg.rpm.scripts import hooks
from modules.pkg.zypper import command as zypper_command
from modules.pkg.zypper import marks as zypper_marks
from modules.pkg.zypper import repositories
from runner.api import CommandFailed, cached_look, changer, fetcher, here

NAMES: tuple[str, ...] = ("zypper", "zypperpkg")
FAMILIES: tuple[str, ...] = ("Suse",)
FEATURES: tuple[str, ...] = ("upgradable", "distribution_upgrades")
UNKNOWN_PACKAGE = "No provider of '{name}' found."
UNKNOWN_VERSION = "No provider of '{name} = {version}' found."
DATABASE = rpm.DATABASE
LOCKS = "/etc/zypp/locks"
SETTINGS = "/etc/zypp/zypp.conf"
METADATA = "/var/cache/zypp/raw"
ARCHIVES = "/var/cache/zypp/packages"
LOCAL = ("dir", "file")  # schemes of repositories on this machine
REPOSITORY_FILES: tuple[str, ...] = ("/etc/zypp/repos.d", "/etc/zypp/services.d")
_SOURCES = (*rpm.FILES, LOCKS, METADATA, *REPOSITORY_FILES)  # what a solver's answer depends on
leftovers = _provided.none_left


def suits() -> bool:
    """Return whether this machine has zypper."""
    return _paths.exists("/usr/bin/zypper")


def list_pkgs() -> Versions:
    """Return the installed packages with their versions; several of one, oldest first.

    Of a package whose update was interrupted it is the old version: the update is still to be done.
    """
    installed = rpm.list_pkgs()
    unfinished = _unfinished()
    if not unfinished:
        return installed
    return {**installed, **{name: versions[0] for name, versions in unfinished.items()}}


@cached_look("packages", *rpm.FILES)
def _unfinished() -> dict[str, list[str]]:
    """Return the packages that are there in several versions, oldest first, and should not be:
    something was killed between installing the new one and removing the old one.
    """
    versions = {name: text.split(",") for name, text in rpm.list_pkgs().items() if "," in text}
    allowed = _several_allowed() if versions else []
    return {
        name: several
        for name, several in versions.items()
        if name not in allowed
        and "multiversion(" not in cmd.probe(["rpm", "-q", "--provides", "--", name]).stdout
    }


def _several_allowed() -> list[str]:
    """Return the packages that zypper's settings allow in several versions, beside kernels."""
    lines = re.findall(r"(?m)^\s*multiversion\s*=(.*)$", text_of(SETTINGS))
    return [name for line in lines for name in re.split(r"[,\s]+", line) if name]


# ---------------------------------------------------------------- what could be installed


@cached_look("candidates", *_SOURCES)
def candidates(names: tuple[str, ...]) -> Versions:
    """Return the version of each package that zypper would install, by the priorities and vendors
    of the repositories; unknown packages are missing.
    """
    if not names:
        return {}
    bare = dict.fromkeys(rpm.split_name(name)[0] for name in names)
    done = zypper_command.look("info", "--type", "package", "--", *bare, xml=False)
    known: Versions = {}
    name = version = ""
    for line in done.stdout.splitlines():
        key, colon, value = line.partition(" : ")
        if not colon or line.startswith(" "):
            continue
        key, value = key.strip(), value.strip()
        if key == "Name":
            name = value
        elif key == "Version":
            version = value
        elif key == "Arch":
            known[name] = known[rpm.name_with_architecture(name, value)] = version
    return {
        name: known[rpm.split_name(name)[0]] for name in names if rpm.split_name(name)[0] in known
    }


@cached_look("candidates", *_SOURCES)
def versions(name: str) -> list[str]:
    """Return all versions of a package that could be installed, newest first."""
    words = ("--details", "--match-exact", "--type", "package", "--", rpm.split_name(name)[0])
    available = {
        package["edition"]
        for package in zypper_command.elements(
            zypper_command.look("search", *words).stdout, "solvable"
        )
        if not package.get("repository", "").startswith("(")  # (System Packages): in no repository
        and package.get("edition")
    }
    return rpm.in_order([*available])[::-1]


def lists_age() -> float | None:
    """Return the seconds since the package lists were renewed; None when there are none."""
    folders = [repository for repository, _ in _paths.below(METADATA)]
    indexes = ("repodata/repomd.xml", "content", "cookie")
    paths = (f"{repository}/{index}" for repository in folders for index in indexes)
    return _provided.age(_paths.stat(path).st_mtime for path in paths if _paths.exists(path))


@fetcher(refreshes="package lists")
def refresh_db() -> bool:
    """Renew the package lists. Raises CommandFailed when none can be renewed."""
    done = zypper_command.unlocked([*REFRESH])
    if done.retcode in (*zypper_command.SUCCESS, zypper_command.NO_REPOSITORIES):
        return True
    if "Some of the repositories have not been refreshed" not in done.stdout:
        raise CommandFailed(zypper_command.errors(done))
    here.warn(f"some package lists are old: {zypper_command.errors(done)}")
    return True


@changer(touches=["package lists", "candidates"], before=nothing_lasting)
def renew_db() -> None:
    """Renew the package lists after the repositories changed. Raises CommandFailed."""
    done = zypper_command.unlocked([*REFRESH])
    if done.retcode not in (*zypper_command.SUCCESS, zypper_command.NO_REPOSITORIES):
        raise CommandFailed(zypper_command.errors(done))


REFRESH = (*zypper_command.PROGRAM, "--xmlout", "refresh")

# ---------------------------------------------------------------- transactions

COMMANDS = {"full-upgrade": "dist-upgrade", "upgrade": "update", "purge": "remove"}


def install_words(options: InstallOptions) -> list[str]:
    """Return the options of an installation in zypper's words.

    zypper has nothing like enable, disable, disable_excludes, settings (dnf), only_upgrade and
    replace_configuration (apt); change_held is in the environment.
    """
    switches = {
        "--oldpackage": options.downgrade,
        "--force": options.reinstall,
        "--no-recommends": not options.recommended or options.no_recommends,
    }
    words = [word for word, chosen in switches.items() if chosen]
    return words + (["--from", options.repository] if options.repository else [])


def transaction_words(transaction: Transaction, *further: str) -> list[str]:
    """Return a transaction in zypper's words: global options, the command, its options, targets."""
    action, options = transaction.action, transaction.options
    words = ["--no-gpg-checks"] if options.unsigned else []
    words += [COMMANDS.get(action, action), *further]
    if action in ("install", "upgrade", "full-upgrade"):
        words += ["--auto-agree-with-licenses"]
    if action == "install":
        files = any(target.path for target in transaction.targets)
        words += [*([] if files else ["--name"]), *install_words(options)]
    elif action in ("remove", "purge"):
        words += ["--name"]
    return [*words, "--", *map(_target_word, transaction.targets)]


def _target_word(target: PackageTarget) -> str:
    return target.path or (f"{target.name}={target.version}" if target.version else target.name)


def _environment(transaction: Transaction) -> dict[str, str]:
    """Return what a transaction needs in zypper's environment: settings that ignore the locks."""
    if not transaction.options.change_held or not _paths.exists(LOCKS):
        return {}
    settings = re.sub(
        r"(?m)^\s*(locksfile\.apply|\[main\]).*\n?", "", text_of(SETTINGS, "surrogateescape")
    )
    path = f"{here.scratch()}/zypp.conf"
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(f"[main]\nlocksfile.apply = no\n{settings}")
    return {"ZYPP_CONF": path}


def simulate(transaction: Transaction) -> Simulation:
    """Return what a transaction would change, by zypper's own solver."""
    if transaction.action == "autoremove":
        return Simulation(_provided.going(_unneeded(), list_pkgs()))
    if unfinished := _unfinished():
        names = ", ".join(unfinished)
        here.warn(f"an update was interrupted, which the next change first finishes: {names}")
    return _simulate(transaction)


@_provided.solved_once(*_SOURCES)
def _simulate(transaction: Transaction) -> Simulation:
    words = transaction_words(transaction, "--dry-run")
    done = zypper_command.look(*words, environment=_environment(transaction))
    if done.retcode not in zypper_command.SUCCESS:
        return Simulation(None, zypper_command.errors(done))
    return Simulation(_planned_changes(done.stdout))


def _planned_changes(output: str) -> Changes:
    """Return what zypper's summary says, in the terms of the list of installed packages."""
    installed = list_pkgs()
    after: dict[str, list[str]] = {}
    for action, package in zypper_command.summary(output):
        name = rpm.name_with_architecture(package["name"], package.get("arch", ""))
        present = [version for version in installed.get(name, "").split(",") if version]
        present = after.setdefault(name, present)
        removed = package["edition"] if action == "remove" else package.get("edition-old")
        if removed in present:
            present.remove(removed)
        if action != "remove":
            present.append(package["edition"])
    return {
        name: {"old": installed.get(name, ""), "new": ",".join(rpm.in_order(present))}
        for name, present in after.items()
    }


def _unneeded(*options: str) -> list[str]:
    """Return the packages that were installed for others, which are gone."""
    done = zypper_command.look(*options, "packages", "--unneeded")
    installed = list_pkgs()
    names = []
    for line in done.stdout.splitlines():
        columns = [column.strip() for column in line.split("|")]
        if len(columns) == 5 and columns[0].startswith("i"):
            names.append(rpm.name_with_architecture(columns[2], columns[4]))
    return sorted(name for name in names if name in installed)


@_provided.transacts
def run(transaction: Transaction) -> None:
    """Carry out a transaction, an interrupted one first. Raises CommandFailed with zypper's
    errors.
    """
    for name, versions in _unfinished().items():
        words = ["install", "--force", "--oldpackage", "--name", "--", f"{name}={versions[-1]}"]
        zypper_command.run(words)
        here.warn(f"an update had been interrupted and was finished first: {name} {versions[-1]}")
    if transaction.action == "autoremove":
        transaction = Transaction("remove", tuple(map(PackageTarget, _unneeded())))
        if not transaction.targets:
            return
    zypper_command.run(transaction_words(transaction), _environment(transaction))


# ---------------------------------------------------------------- why packages are installed


def manually_installed() -> list[str]:
    """Return the packages that were installed by hand, and not for others."""
    return zypper_marks.manually_installed(list_pkgs())


def vital() -> list[str]:
    """Return the packages that zypper's own check of the system asks for."""
    return [name for name in zypper_marks.system_check() if name in list_pkgs()]


def simulate_marks(automatic: tuple[str, ...], manual: tuple[str, ...]) -> Simulation:
    """Return what zypper would remove if packages were so marked, with all that only they need."""
    options = zypper_marks.marked_copy(automatic, manual)
    names = _unneeded(*options)
    if not names:
        return Simulation({})
    words = ["remove", "--dry-run", "--clean-deps", "--name", "--", *names]
    done = zypper_command.look(*options, *words)
    if done.retcode not in zypper_command.SUCCESS:
        return Simulation(None, zypper_command.errors(done))
    return Simulation(_planned_changes(done.stdout))


@changer(touches=["packages", "candidates"], before=former_reasons)
def mark(automatic: Sequence[str], manual: Sequence[str]) -> None:
    """Mark packages as installed for others, and as installed by hand."""
    zypper_marks.mark(automatic, manual)


# ---------------------------------------------------------------- downloads


def archives() -> dict[str, dict[str, Any]]:
    """Return the packages in zypper's cache: name -> version -> path, size and time."""
    described: dict[str, dict[str, Any]] = {}
    for folder, _, names in _paths.walk(ARCHIVES):
        for path in sorted(f"{folder}/{name}" for name in names if name.endswith(".rpm")):
            package, version = file_info(path)
            described.setdefault(package, {})[version] = _provided.in_cache(path, _paths.stat(path))
    return described


def package_lists() -> tuple[str, ...]:
    """Return where the package lists are."""
    return tuple(sorted(_paths.glob(f"{METADATA}/*/repodata/repomd.xml")))


@cached_look("candidates", *_SOURCES)
def find_archives(versions: tuple[tuple[str, str], ...]) -> dict[str, Archive]:
    """Return the archives of packages, by name."""
    enabled = {name: each for name, each in repositories.list_repos().items() if each["enabled"]}
    local = {name: local_path(str(each.get("baseurl")), *LOCAL) for name, each in enabled.items()}
    folders = [(f"{METADATA}/{name}", local[name] or f"{ARCHIVES}/{name}") for name in enabled]
    return rpm_lists.find(versions, folders)


@fetcher
def fetch_archives(
    versions: tuple[tuple[str, str], ...], options: InstallOptions, seconds: float
) -> None:
    """Have archives in zypper's cache. Raises CommandFailed."""
    targets = tuple(PackageTarget(name, version) for name, version in versions)
    transaction = Transaction("install", targets, options._replace(downgrade=True))
    words = transaction_words(transaction, "--download-only")
    env = {**_environment(transaction), "ZYPP_LOCK_TIMEOUT": "0"}
    _run.fetch([*zypper_command.XML, *words], seconds, zypper_command.errors, env)


@changer(touches=["files"], before=nothing_lasting)
def download(transaction: Transaction) -> None:
    """Have packages, and what they need, in zypper's cache. Raises CommandFailed."""
    options = transaction.options._replace(reinstall=True, downgrade=True)
    words = transaction_words(transaction._replace(options=options), "--download-only")
    zypper_command.run(words, _environment(transaction))


# ---------------------------------------------------------------- locks


def locks() -> list[str]:
    """Return the names and globs of packages that are locked."""
    names = []
    for stanza in text_of(LOCKS).split("\n\n"):
        pairs = (line.partition(":") for line in stanza.splitlines())
        fields = {key.strip(): value.strip() for key, _, value in pairs}
        if fields.get("type", "package") == "package" and fields.get("solvable_name"):
            names.append(fields["solvable_name"])
    return list(dict.fromkeys(names))


@cached_look("packages", *rpm.FILES, LOCKS)
def held() -> list[str]:
    """Return the packages that stay at their version: what a glob locks, too."""
    return _provided.matched(locks(), list_pkgs())


@_provided.holds
def hold(names: Sequence[str], release: Sequence[str] = ()) -> None:
    """Keep packages at their version (addlock), and release others (removelock).

    Raises CommandFailed for a package that only a lock of several holds.
    """
    by_glob = [name for name in release if name not in locks()]
    if by_glob:
        globs = [lock for lock in locks() if fnmatch.filter(by_glob, lock)]
        raise CommandFailed(
            f"{', '.join(by_glob)}: held by {', '.join(globs) or LOCKS}, which holds others too."
            f" Remove that lock yourself (zypper removelock '{'|'.join(globs)}') and hold what is"
            " to stay."
        )
    for command, chosen in (("addlock", names), ("removelock", release)):
        if chosen:
            zypper_command.run([command, "--", *chosen])


# ---------------------------------------------------------------- patterns, patches, capabilities


@cached_look("candidates", *_SOURCES)
def group(name: str) -> PackageGroup | None:
    """Return a pattern: what it requires, recommends and suggests; None when there is none."""
    done = zypper_command.look("info", "--type", "pattern", "--", name, xml=False)
    if not re.search(rf"(?m)^Name +: {re.escape(name)}$", done.stdout):
        return None
    members: dict[str, list[str]] = {"Required": [], "Recommended": [], "Suggested": []}
    for line in done.stdout.splitlines():
        columns = [column.strip() for column in line.split("|")]
        if len(columns) == 4 and columns[2] == "package" and columns[3] in members:
            members[columns[3]].append(columns[1])
    required, recommended, suggested = map(tuple, members.values())
    return PackageGroup(required, recommended, suggested)


@cached_look("candidates", *_SOURCES)
def advisories() -> dict[str, bool]:
    """Return the patches: name -> whether there is nothing to do for it on this machine. Raises
    CommandFailed when zypper fails.
    """
    done = zypper_command.look("list-patches", "--all")
    if done.retcode not in zypper_command.SUCCESS:
        raise CommandFailed(zypper_command.errors(done))
    return {
        patch["name"]: patch.get("status") != "needed"
        for patch in zypper_command.elements(done.stdout, "update")
        if patch.get("kind") == "patch"
    }


@changer(touches=TOUCHED, before=former_packages)
def patch(advisories: Sequence[str], download_only: bool = False) -> None:
    """Install (or only download) what patches ask for. Raises CommandFailed."""
    words = ["install", *(["--download-only"] if download_only else ())]
    words += ["--auto-agree-with-licenses", "--type", "patch", "--", *advisories]
    zypper_command.run(words)


def downloaded_advisories(names: tuple[str, ...]) -> list[str]:
    """Return those patches of which all packages lie in the cache."""
    words = ("install", "--dry-run", "--auto-agree-with-licenses", "--type", "patch", "--")
    summaries = {name: zypper_command.look(*words, name).stdout for name in names}
    return [name for name, summary in summaries.items() if ' download-size="0"' in summary]


def resolve_capabilities(names: tuple[str, ...]) -> dict[str, str]:
    """Return the package that provides each name; names that nothing provides are missing, and
    those that several packages provide.
    """
    return {name: provider for name in names if (provider := _providing(name))}


@cached_look("candidates", *_SOURCES)
def _providing(name: str) -> str:
    if name in list_pkgs():
        return name
    words = ("--provides", "--match-exact", "--type", "package", "--", name)
    output = zypper_command.look("search", *words).stdout
    names = {package["name"] for package in zypper_command.elements(output, "solvable")}
    return name if name in names else names.pop() if len(names) == 1 else ""


@changer(touches=["packages", "package lists", "candidates"])
def trust_repository(name: str) -> None:
    """Fetch a repository with its keys, and trust those. Raises CommandFailed."""
    words = ["--gpg-auto-import-keys", "--xmlout", "refresh", "--", name]
    done = zypper_command.unlocked([*zypper_command.PROGRAM, *words])
    if done.retcode not in zypper_command.SUCCESS:
        raise CommandFailed(zypper_command.errors(done))
