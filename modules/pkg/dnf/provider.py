# SPDX-License-Identifier: Apache-2.0
"""Packages on Fedora, RHEL and their relatives: rpm to look, dnf (or dnf5) to change."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from modules import _paths, cmd
from modules._paths import text_of
from modules.pkg import _provided
from modules.pkg._former import former_packages, former_reasons, nothing_lasting
from modules.pkg.dnf import archives as dnf_archives
from modules.pkg.dnf import marks as dnf_marks
from modules.pkg.dnf import needs as dnf_needs
from modules.pkg.dnf import repositories
from modules.pkg.dnf import run as dnf_run
from modules.pkg.package_manager import (
    TOUCHED,
    Archive,
    Changes,
    InstallOptions,
    Need,
    PackageGroup,
    PackageTarget,
    Simulation,
    Transaction,
    Versions,
)
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
    list_pkgs,
    normal,
    owner,
    verify,
)
from modules.pkg.rpm.scripts import hooks
from runner.api import CommandFailed, cached_look, changer, fetcher, here

NAMES: tuple[str, ...] = ("dnf", "yumpkg", "yum", "dnf5")
FAMILIES: tuple[str, ...] = ("RedHat",)
FEATURES: tuple[str, ...] = ("security_updates", "upgradable")
DATABASE = rpm.DATABASE
REPOSITORY_FILES: tuple[str, ...] = (
    "/etc/yum.repos.d",
    "/etc/dnf",
    "/etc/distro.repos.d",
    "/etc/yum.conf",
)
CACHES = ("/var/cache/dnf", "/var/cache/libdnf5")
HOLDS = "/etc/dnf/plugins/versionlock.list"
HOLDS_OF_DNF5 = "/etc/dnf/versionlock.toml"
UNKNOWN_PACKAGE = "No match for argument: {name}"
UNKNOWN_VERSION = "No match for argument: {name}-{version}"
# not CACHES: every call of dnf makes files there and removes them
LISTS = tuple(f"{cache}/*/repodata/repomd.xml" for cache in CACHES)
_KNOWLEDGE = (*rpm.FILES, *LISTS, *REPOSITORY_FILES, HOLDS, HOLDS_OF_DNF5)
leftovers = _provided.none_left


def suits() -> bool:
    """Return whether this machine has dnf."""
    return any(map(_paths.exists, dnf_run.PROGRAMS))


# ---------------------------------------------------------------- what could be installed

_FIELDS = ("name", "epoch", "version", "release", "arch")
_FORMAT = "\t".join(f"%{{{field}}}" for field in _FIELDS) + "\n"


@cached_look("candidates", *_KNOWLEDGE)
def candidates(names: tuple[str, ...]) -> Versions:
    """Return the version of each package that installing it would give: the newest one, be it in a
    repository or installed.
    """
    newest = dict(_available("--latest-limit=1", *names)) if names else {}
    installed = list_pkgs()
    for name in names:
        for version in installed.get(name, "").split(","):
            if version and (name not in newest or compare(version, newest[name]) >= 0):
                newest[name] = version
    return {name: newest[name] for name in names if name in newest}


@cached_look("candidates", *_KNOWLEDGE)
def versions(name: str) -> list[str]:
    """Return all versions of a package that could be installed, newest first."""
    several = [version for package, version in _available(name) if package == name]
    return list(dict.fromkeys(reversed(rpm.in_order(several))))


def _available(*words: str) -> list[tuple[str, str]]:
    """Return name and version of packages in the repositories."""
    lines = dnf_run.look("repoquery", "--qf", _FORMAT, *words).stdout.splitlines()
    rows = [fields for line in lines if len(fields := line.split("\t")) == len(_FIELDS)]
    return [
        (rpm.name_with_architecture(name, built_for), rpm.joined_version(epoch, version, release))
        for name, epoch, version, release, built_for in rows
        if built_for not in ("src", "nosrc")
    ]


SHOWN = {  # field -> what repoquery calls it
    "Architecture": "arch",
    "Repository": "reponame",
    "Summary": "summary",
    "License": "license",
    "Homepage": "url",
    "Size": "downloadsize",
    "Source": "sourcerpm",
}


def show(names: tuple[str, ...]) -> dict[str, dict[str, dict[str, str]]]:
    """Return what the repositories say of packages: name -> version -> field -> text."""
    wanted = (*_FIELDS[:-1], *SHOWN.values())
    query = "\t".join(f"%{{{field}}}" for field in wanted) + "\n"
    described: dict[str, dict[str, dict[str, str]]] = {}
    for line in dnf_run.look("repoquery", "--qf", query, *names).stdout.splitlines():
        values = line.split("\t")
        if len(values) == len(wanted) and values[4] not in ("src", "nosrc"):
            name = rpm.name_with_architecture(values[0], values[4])
            fields = dict(zip(SHOWN, values[4:], strict=True))
            described.setdefault(name, {})[rpm.joined_version(*values[1:4])] = fields
    return described


def lists_age() -> float | None:
    """Return the seconds since the package lists were renewed; None when there are none."""
    return _provided.age(_paths.stat(path).st_mtime for path in package_lists())


def _make_cache() -> None:
    done = dnf_run.run("makecache", "--refresh")
    for line in f"{done.stdout}\n{done.stderr}".splitlines():
        if line.startswith("Ignoring repositories:"):
            here.warn(f"the package lists are old: {line}; their mirrors do not answer")


refresh_db, renew_db = _provided.renewal(_make_cache)


# ---------------------------------------------------------------- transactions


def install_words(options: InstallOptions) -> list[str]:
    """Return the options of a transaction in dnf's words.

    dnf has nothing like no_recommends (zypper), replace_configuration (apt), and downgrades
    whenever an older version is named.
    """
    words = ["--disablerepo=*"] if options.repository else []
    enable = (*options.repository.split(","), *options.enable)
    words += [f"--enablerepo={name}" for name in enable if name]
    words += [f"--disablerepo={name}" for name in options.disable]
    words += [f"--setopt={setting}" for setting in options.settings]
    if options.disable_excludes:
        words.append(f"--setopt=disable_excludes={options.disable_excludes}")
    switches = {
        "--setopt=install_weak_deps=False": not options.recommended,
        "--nogpgcheck": options.unsigned,
        "--disableplugin=versionlock": options.change_held,
        "--security": options.security,
    }
    return words + [word for word, chosen in switches.items() if chosen]


ACTIONS = {"purge": "remove", "full-upgrade": "upgrade"}


def transaction_words(transaction: Transaction) -> list[list[str]]:
    """Return a transaction in dnf's words: the action, its options, its targets. There are two
    where some packages are to be installed anew, for which dnf has an action of its own.
    """
    action: str = ACTIONS.get(transaction.action, transaction.action)
    options, targets = transaction.options, transaction.targets
    again: tuple[PackageTarget, ...] = ()
    if action == "install" and options.reinstall:
        again = tuple(target for target in targets if _is_there(target))
        targets = tuple(target for target in targets if target not in again)
    if action == "install" and options.only_upgrade:
        action = "upgrade"
    parts = [(action, targets), ("reinstall", again)]
    parts = [part for part in parts if part[1]] or [(action, ())]
    words = install_words(options)
    return [[verb, *words, *map(_target_word, chosen)] for verb, chosen in parts]


def _is_there(target: PackageTarget) -> bool:
    name, version = file_info(target.path) if target.path else (target.name, target.version)
    installed = list_pkgs().get(name, "").split(",")
    return installed != [""] and (
        not version or any(compare(version, one) == 0 for one in installed)
    )


def _target_word(target: PackageTarget) -> str:
    word = target.path or target.name
    if word.startswith("-"):
        raise CommandFailed(f"{word} is not the name of a package")
    if target.path or not target.version:
        return word
    bare, architecture = rpm.split_name(target.name)
    return f"{bare}-{target.version}{architecture}"


def simulate(transaction: Transaction) -> Simulation:
    """Return what a transaction would change, as dnf's own solver says."""
    if duplicates := dnf_run.duplicated_packages():
        here.warn(
            f"dnf was interrupted, and {', '.join(duplicates)} is there twice: the next change"
            " first removes the old versions (dnf remove --duplicates)"
        )
    return _simulate(transaction)


@_provided.solved_once(*_KNOWLEDGE)
def _simulate(transaction: Transaction) -> Simulation:
    changes: Changes = {}
    for words in transaction_words(transaction):
        simulated = _simulate_words(words)
        if simulated.changes is None:
            return simulated
        changes |= simulated.changes
    return Simulation(changes)


def _simulate_words(words: list[str]) -> Simulation:
    done = cmd.probe([dnf_run.program(), "-C", "--assumeno", *words])
    output = done.stdout + done.stderr
    if done.retcode and dnf_run.ABORTED not in output:
        unknown = dnf_run.NO_LISTS in output  # a real run fetches them
        return Simulation(None, "" if unknown else dnf_run.errors(done))
    return Simulation(simulated_changes(done.stdout, list_pkgs()))


_ADDING = re.compile(r"(Installing|Upgrading|Updating|Downgrading|Reinstalling)\b")
_REMOVING = re.compile(r"Removing\b")
_REPLACING = re.compile(r"\s+replacing\s+(?P<name>\S+)\.(?P<arch>[^.\s]+)\s+(?P<version>\S+)")


def simulated_changes(output: str, installed: Mapping[str, str]) -> Changes:
    """Return the changes in dnf's table of a transaction: sections, in which a row has the name,
    the architecture and the version of a package.
    """
    changes: Changes = {}
    section = ""
    for line in _whole_rows(output):
        if line.endswith(":") and not line.startswith(" "):
            section = line
            continue
        if replaced := _REPLACING.match(line):
            name = rpm.name_with_architecture(replaced["name"], replaced["arch"])
            changes.setdefault(name, {"old": replaced["version"], "new": ""})
            continue
        fields = line.split()
        adds, removes = _ADDING.match(section), _REMOVING.match(section)
        if len(fields) < 4 or not line.startswith(" ") or not (adds or removes):
            continue
        name = rpm.name_with_architecture(fields[0], fields[1])
        changes[name] = _change(section, installed.get(name, ""), fields[2], bool(adds))
    return changes


def _change(section: str, old: str, version: str, adds: bool) -> dict[str, str]:
    version = rpm.joined_version(*rpm.parse_version(version))
    others = [one for one in old.split(",") if one and one != version]
    if not adds:
        return {"old": old or version, "new": ",".join(others)}
    beside = section.startswith("Installing") and others  # as kernels are
    return {"old": old, "new": ",".join([*others, version]) if beside else version}


def _whole_rows(output: str) -> list[str]:
    """Return the lines of a table; a row that dnf broke behind a long name is one line again."""
    rows: list[str] = []
    for line in output.splitlines():
        if rows and line.startswith("     ") and len(rows[-1].split()) == 1 and rows[-1][:1] == " ":
            rows[-1] += line
        else:
            rows.append(line.rstrip())
    return rows


@_provided.transacts
def run(transaction: Transaction) -> None:
    """Carry out a transaction. Raises CommandFailed with dnf's errors."""
    dnf_run.repair()
    for words in transaction_words(transaction):
        dnf_run.run(*words)


@cached_look("candidates", *_KNOWLEDGE)
def needs(names: tuple[str, ...]) -> dict[str, list[Need]]:
    """Return what packages bring along in the version that would be installed."""
    return dnf_needs.needs(names)


# ---------------------------------------------------------------- downloads


def archives() -> dict[str, dict[str, Any]]:
    """Return the packages that lie in dnf's cache: name -> version -> path, size and time."""

    described: dict[str, dict[str, Any]] = {}
    for path in sorted(
        path for cache in CACHES for path in _paths.glob(f"{cache}/*/packages/*.rpm")
    ):
        try:
            name, version = file_info(path)
        except CommandFailed:  # it is being downloaded
            continue
        described.setdefault(name, {})[version] = _provided.in_cache(path, _paths.stat(path))
    return described


def package_lists() -> tuple[str, ...]:
    """Return where the package lists are."""
    return tuple(path for pattern in LISTS for path in sorted(_paths.glob(pattern)))


@cached_look("candidates", *_KNOWLEDGE)
def find_archives(versions: tuple[tuple[str, str], ...]) -> dict[str, Archive]:
    """Return the archives of packages, by name."""
    return dnf_archives.find(versions)


@fetcher
def fetch_archives(
    versions: tuple[tuple[str, str], ...], options: InstallOptions, seconds: float
) -> None:
    """Have archives in dnf's cache. Raises CommandFailed."""
    dnf_archives.fetch(install_words(options), versions, seconds)


@changer(touches=["files"], before=nothing_lasting)
def download(transaction: Transaction) -> None:
    """Have packages, and what they need, in dnf's cache."""
    options = transaction.options._replace(reinstall=True)  # what is installed, too
    for action, *words in transaction_words(transaction._replace(options=options)):
        dnf_run.run(action, "--downloadonly", *words)


# ---------------------------------------------------------------- holds

_LOCK = re.compile(r"(?P<name>.+)-(?:\d+:)?[^-]+-[^-]+")


@cached_look("packages", HOLDS, HOLDS_OF_DNF5)
def held() -> list[str]:
    """Return the packages that stay at their version, by the plugin versionlock."""
    return list(dict.fromkeys([*_locks(HOLDS), *_locks_of_dnf5(HOLDS_OF_DNF5)]))


def _locks(path: str) -> list[str]:
    entries = [line.partition("#")[0].strip() for line in text_of(path).splitlines()]
    matches = [(entry, _LOCK.fullmatch(entry)) for entry in entries if entry and entry[0] != "!"]
    return [match["name"] if match else entry for entry, match in matches]


def _locks_of_dnf5(path: str) -> list[str]:
    if not _paths.exists(path):
        return []
    with _paths.open_bytes(path) as file:
        table = tomllib.load(file)
    entries = table.get("packages", [])
    return [str(entry["name"]) for entry in entries if isinstance(entry, dict) and "name" in entry]


@_provided.holds
def hold(names: Sequence[str], release: Sequence[str] = ()) -> None:
    """Keep packages at their version, and let others go."""
    anew = {*names} & {*held()}  # at the version that they have now, and no longer the one before
    for action, chosen in (("delete", [*release, *sorted(anew)]), ("add", names)):
        if chosen:
            dnf_run.run("versionlock", action, *chosen)


# ---------------------------------------------------------------- why packages are installed


def manually_installed() -> list[str]:
    """Return the packages that were installed by hand, and not for others."""
    return dnf_marks.manually_installed()


def vital() -> list[str]:
    """Return the packages that dnf protects."""
    return dnf_marks.vital(list_pkgs())


def simulate_marks(automatic: tuple[str, ...], manual: tuple[str, ...]) -> Simulation:
    """Return what dnf would remove if packages were so marked."""
    return _simulate_words(["autoremove", *dnf_marks.marked_copy(automatic, manual)])


@changer(touches=["packages", "candidates"], before=former_reasons)
def mark(automatic: Sequence[str], manual: Sequence[str]) -> None:
    """Mark packages as installed for others, and as installed by hand."""
    dnf_marks.mark(automatic, manual)


# ---------------------------------------------------------------- groups, advisories, provisions

_KINDS = {"mandatory": "mandatory", "default": "default", "optional": "optional"}


@cached_look("candidates", *_KNOWLEDGE)
def group(name: str) -> PackageGroup | None:
    """Return a group of packages, by its ID or its name; None when there is no such group."""
    done = dnf_run.look("group", "info", name)
    members: dict[str, list[str]] = {}
    kind = ""
    for line in done.stdout.splitlines():
        title, _, first = line.strip().partition(":")
        if title.strip().lower().endswith(" packages"):  # " Mandatory Packages:", then the names
            kind = title.split()[0].lower()
            members.setdefault(kind, []).extend(first.split())
        elif kind and not title.strip() and first:  # dnf5 lines up the further names behind colons
            members[kind] += first.split()
        elif kind and line.startswith("  ") and ":" not in line:
            members[kind] += line.split()
        elif kind and ":" in line:  # the next group of that name
            kind = ""
    if done.retcode or not members:
        return None
    return PackageGroup(*(tuple(members.get(member_kind, ())) for member_kind in _KINDS))


_STREAM = re.compile(r"(?P<name>\S+)\s+(?P<stream>\S+)(?P<marks>(?: ?\[[a-z]\])*)\s")
_MARKS = {"[e]": "enabled", "[x]": "disabled", "[d]": "default"}


@cached_look("candidates", *_KNOWLEDGE, "/etc/dnf/modules.d")
def module_streams(name: str) -> dict[str, tuple[str, ...]]:
    """Return the streams of a module, each with what holds for it: enabled, disabled, default."""
    streams: dict[str, tuple[str, ...]] = {}
    for line in dnf_run.look("module", "list", name).stdout.splitlines():
        row = _STREAM.match(line)
        if row and row["name"] == name:
            streams[row["stream"]] = tuple(
                meaning for mark, meaning in _MARKS.items() if mark in row["marks"]
            )
    return streams


@changer(touches=["candidates"])
def set_module_stream(name: str, stream: str) -> None:
    """Enable a stream of a module, be another one enabled; "" disables the module."""
    words = ("enable", f"{name}:{stream}") if stream else ("disable", name)
    dnf_run.run("module", *words, "--setopt=module_stream_switch=True")


@cached_look("candidates", *_KNOWLEDGE)
def advisories() -> dict[str, bool]:
    """Return the advisories that concern this machine: ID -> whether it is installed."""
    by_id: dict[str, bool] = {}
    for option, installed in (("--available", False), ("--installed", True)):
        for line in dnf_run.look("updateinfo", "list", option).stdout.splitlines():
            fields = line.split()
            if len(fields) >= 3 and fields[0] != "Name":  # dnf5 has a line of titles
                by_id[fields[0]] = installed
    return by_id


@changer(touches=TOUCHED, before=former_packages)
def patch(advisories: Sequence[str], download_only: bool = False) -> None:
    """Install (or only download) what advisories ask for."""
    words = ["--downloadonly"] if download_only else []
    dnf_run.run("upgrade", *words, *(f"--advisory={advisory}" for advisory in advisories))


@cached_look("candidates", *_KNOWLEDGE)
def resolve_capabilities(names: tuple[str, ...]) -> dict[str, str]:
    """Return the package that provides each name; names that nothing provides are missing."""
    known = candidates(names)
    providing = {name: name for name in names if name in known}
    for name in (name for name in names if name not in known):
        words = ("repoquery", "--latest-limit=1", "--qf", _FORMAT, "--whatprovides", name)
        rows = [line.split("\t") for line in dnf_run.look(*words).stdout.splitlines()]
        packages = sorted(row[0] for row in rows if len(row) == len(_FIELDS))
        if packages:
            installed = list_pkgs()
            providing[name] = next(
                (package for package in packages if package in installed), packages[0]
            )
    return providing
