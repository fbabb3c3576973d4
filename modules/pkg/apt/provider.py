# SPDX-License-Identifier: Apache-2.0
"""Packages on Debian and its relatives: dpkg-query to look, apt-get to change."""

from __future__ import annotations

import os
import stat as bits
from contextlib import suppress

from modules import _paths, cmd
from modules._paths import text_of
from modules.pkg import _provided
from modules.pkg._former import former_reasons, nothing_lasting
from modules.pkg._run import error_list
from modules.pkg.apt import archives as apt_archives
from modules.pkg.apt import depends as apt_depends
from modules.pkg.apt import get as apt_get
from modules.pkg.apt import marks as apt_marks
from modules.pkg.apt import path_rules as path_rules
from modules.pkg.apt import questions, repositories
from modules.pkg.apt import security as apt_security
from modules.pkg.apt import shipped as apt_shipped
from modules.pkg.apt import status as apt_status
from modules.pkg.package_manager import (
    Archive,
    Changes,
    Control,
    InstallOptions,
    Need,
    PackageTarget,
    Placement,
    Shipped,
    Simulation,
    Transaction,
    Versions,
    date_of,
)
from runner.api import CommandFailed, cached_look, changer, fetcher, here, pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

NAMES: tuple[str, ...] = ("apt", "aptpkg")
FAMILIES: tuple[str, ...] = ("Debian",)
FEATURES: tuple[str, ...] = ("security_updates", "upgradable")
INSTALLED = (
    "installed",
    "triggers-awaited",
    "triggers-pending",
)  # the last two until dpkg's next run
UNFINISHED = ("unpacked", "half-configured", "half-installed")
DATABASE = questions.STATUS
STATUS = (DATABASE, questions.UPDATES)
LISTS = "/var/lib/apt/lists"
REPOSITORY_FILES: tuple[str, ...] = tuple(
    f"/etc/apt/{name}" for name in ("sources.list", "sources.list.d", "preferences.d", "apt.conf.d")
)
_KNOWLEDGE = (*STATUS, LISTS, *REPOSITORY_FILES)  # what a solver's answer depends on
UNKNOWN_PACKAGE = "E: Unable to locate package {name}"
UNKNOWN_VERSION = "E: Version '{version}' for '{name}' was not found"
_SET = pattern(r"(?m)^(\w+)='(\w+)'")  # as apt-config tells a shell
_REMOUNT = pattern(r"(?im)^\s*dpkg::pre-invoke\b[^;]*\bremount\b")
# what apt-get takes for one name and nothing else, whether there is such a package or not
_PLAIN = pattern(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(:[a-z0-9-]*[a-z0-9])?")
_INSTALLED = pattern(r"Inst (?P<name>\S+) (?:\[(?P<old>[^\]]+)\] )?\((?P<new>\S+)")
_CONFIGURED = pattern(r"Conf (?P<name>\S+) \((?P<new>\S+)")
_REMOVED = pattern(r"(?:Remv|Purg) (?P<name>\S+) \[(?P<old>[^\]]+)\]")


def suits() -> bool:
    """Return whether this machine has apt."""
    return _paths.exists("/usr/bin/apt-get")


@cached_look("packages", *STATUS)
def _selections() -> dict[str, tuple[str, str, str]]:
    """Return what is wanted of each package that dpkg has something of, its state and version."""
    rows = apt_status.rows()
    if rows is None:
        columns = ("Package", "db:Status-Want", "db:Status-Status", "Version", "Architecture")
        shown = "\\t".join(f"${{{column}}}" for column in columns)
        done = cmd.probe(["dpkg-query", "-W", "-f", f"{shown}\\n", "--", "*"])
        rows = [apt_status.row(line) for line in done.stdout.splitlines()]
    own = next((built_for for name, *_, built_for in rows if name == "dpkg"), "") or architecture()
    ours = (own, "all", "")
    return {
        name if built_for in ours else f"{name}:{built_for}": (wanted, state, of)
        for name, wanted, state, of, built_for in rows
    }


@cached_look("packages", *STATUS)
def dpkg_states() -> dict[str, tuple[str, str]]:
    """Return each package that dpkg knows: its state (installed, config-files, ...) and version."""
    known = _selections().items()
    return {name: (state, of) for name, (_, state, of) in known if state != "not-installed"}


@cached_look("architecture", "/usr/bin/dpkg")
def architecture() -> str:
    """Return what this machine's own packages are built for."""
    return questions.own_architecture() or cmd.probe(["dpkg", "--print-architecture"]).stdout


def name_normalizer(own: str = "") -> Callable[[str], str]:
    """Return `normal` for many names. own: the architecture, which is looked up if it matters."""

    def normalized(name: str) -> str:
        bare, colon, built_for = name.partition(":")
        return bare if colon and built_for in (own or architecture(), "all") else name

    return normalized


def normal(name: str) -> str:
    """Return a package's name without the architecture, unless that is a foreign one."""
    return name_normalizer()(name)


def file_info(path: str) -> tuple[str, str]:
    """The name and version of a package in a file. Raises CommandFailed for any other file."""
    done = cmd.probe(["dpkg-deb", "--showformat=${Package}\\t${Version}", "--show", "--", path])
    if done.retcode:
        raise CommandFailed(f"{path} is not a package: {done.stderr.strip()}")
    name, version = done.stdout.split("\t")
    return name, version


ARCHIVES = "/var/cache/apt/archives"


def archives() -> dict[str, dict[str, Any]]:
    """The packages that lie in apt's cache: name -> version -> path, size and time."""
    by_name: dict[str, dict[str, Any]] = {}
    for path, seen in _paths.below(ARCHIVES):
        parts = os.path.basename(path).removesuffix(".deb").split("_")
        if path.endswith(".deb") and len(parts) == 3:
            version = parts[1].replace("%3a", ":")
            by_name.setdefault(parts[0], {})[version] = _provided.in_cache(path, seen)
    return by_name


@cached_look("packages", *STATUS)
def list_pkgs() -> Versions:
    """Return the installed packages with their versions."""
    known = dpkg_states().items()
    return {name: version for name, (state, version) in known if state in INSTALLED}


def leftovers() -> Versions:
    """Return the packages that are removed but for their configuration, or half installed."""
    gone = (*INSTALLED, "", "not-installed")
    return {name: version for name, (state, version) in dpkg_states().items() if state not in gone}


def unfinished() -> Versions:
    """Return the packages that were unpacked and not set up, as far as their versions are known."""
    known = dpkg_states().items()
    return {name: version for name, (state, version) in known if version and state in UNFINISHED}


def leaves_configuration(name: str) -> bool:
    """Return whether removing an installed package leaves something that purge takes away."""
    stems = (name, f"{name}:{architecture()}")
    kinds = ("conffiles", "postrm")
    return any(
        _paths.exists(f"/var/lib/dpkg/info/{stem}.{kind}") for stem in stems for kind in kinds
    )


@cached_look("candidates", *_KNOWLEDGE)
def candidates(names: tuple[str, ...]) -> dict[str, str]:
    """The newest version of each package that apt would install; packages that it does not know are
    missing.
    """
    done = questions.probe("apt-cache", "policy", "--", *names)
    newest: dict[str, str] = {}
    name = ""
    for line in done.stdout.splitlines():
        if line and not line.startswith(" "):
            name = line.rstrip(":")
        elif line.strip().startswith("Candidate:"):
            version = line.split(":", 1)[1].strip()
            if version != "(none)":
                newest[name] = version
    return newest


def versions(name: str) -> list[str]:
    """All versions of a package that apt could install, newest first."""
    done = questions.probe("apt-cache", "madison", "--", name)
    return list(
        dict.fromkeys(
            line.split("|")[1].strip() for line in done.stdout.splitlines() if "|" in line
        )
    )


def available() -> dict[str, list[str]]:
    """The packages in the lists, with their versions."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in questions.probe("apt-cache", "dumpavail").stdout.splitlines():
        key, _, value = line.partition(": ")
        if key == "Package":
            name = value
        elif key == "Version":
            found.setdefault(name, []).append(value)
    return found


def compare(left: str, right: str) -> int:
    """Return -1, 0 or 1: how one version compares with another, as dpkg says."""
    if left == right or _stands(left, "eq", right):
        return 0
    return -1 if _stands(left, "lt", right) else 1


@cached_look("versions", "/usr/bin/dpkg")
def _stands(left: str, relation: str, right: str) -> bool:
    return cmd.probe(["dpkg", "--compare-versions", "--", left, relation, right]).retcode == 0


def lists_age() -> float | None:
    """Seconds since the package lists were renewed; None when there are none."""
    return _provided.age(
        at.st_mtime
        for path, at in _paths.below(LISTS)
        if bits.S_ISREG(at.st_mode) and path != f"{LISTS}/lock"
    )


@cached_look("candidates", *_KNOWLEDGE)
def needs(names: tuple[str, ...]) -> dict[str, list[Need]]:
    """Return what packages bring along in the version that apt would install; what they recommend
    if apt installs that.
    """
    unread = ["replaces", "enhances", *_unread()]
    normalized, there = name_normalizer(), list_pkgs()

    def stands(name: str, relation: str, version: str) -> bool:
        # a package that stays as it is will do: otherwise apt would have changed it, too
        if name not in there or not relation or name not in names:
            return name in there
        return _stands(there[name], relation, version)

    words = [*(f"--no-{kind}" for kind in unread), "-o", "APT::Cache::ShowVersion=true"]
    done = questions.probe("apt-cache", "depends", *words, "--", *names)
    return {
        normalized(name): needed
        for name, needed in apt_depends.parse(done.stdout.splitlines(), normalized, stands)
    }


@cached_look("candidates", *REPOSITORY_FILES)
def _unread() -> list[str]:
    """The kinds of dependencies that apt does not install along with a package."""
    kinds = {"recommends": "true", "suggests": "false"}  # with what they are unless set otherwise
    words = [word for kind in kinds for word in (kind, f"APT::Install-{kind.title()}/b")]
    output = cmd.probe(["apt-config", "shell", *words]).stdout
    chosen = kinds | dict(_SET.findall(output))
    return [kind for kind, value in chosen.items() if value != "true"]


refresh_db, renew_db = _provided.renewal(lambda: apt_get.run("update"))


# ---------------------------------------------------------------- transactions


def install_words(options: InstallOptions) -> list[str]:
    """Return the options of an installation in apt-get's words.

    apt has nothing like enable, disable, disable_excludes, settings (dnf) and no_recommends
    (zypper); `security` chooses versions.
    """
    switches = {
        "--allow-downgrades": options.downgrade,
        "--allow-unauthenticated": options.unsigned,
        "--allow-change-held-packages": options.change_held,
        "--no-install-recommends": not options.recommended,
        "--only-upgrade": options.only_upgrade,
        "--reinstall": options.reinstall,
    }
    words = [word for word, chosen in switches.items() if chosen]
    words += ["-t", options.repository] if options.repository else []
    if options.replace_configuration:
        words += ["-o", apt_get.NEW_CONFFILES]
    return words


def transaction_words(transaction: Transaction) -> list[str]:
    """Return a transaction in apt-get's words: the action, its options, its targets. Raises
    CommandFailed for a name that apt-get would take for something else.
    """
    refuse_patterns([target.name for target in transaction.targets if not target.path])
    action: str = transaction.action
    options = transaction.options
    if action == "full-upgrade":
        action = "dist-upgrade"
    if action == "upgrade" and transaction.targets:  # only these
        action, options = "install", options._replace(only_upgrade=True)
    words = install_words(options)
    return [action, *words, "--", *map(_target_word, transaction.targets)]


def refuse_patterns(names: Sequence[str]) -> None:
    """Raise CommandFailed for names that no package has and that apt-get would not take for names:
    `hello-` removes hello, `lib.*` and `gree*` are all packages that they match.
    """
    for name in names:
        if not _PLAIN.fullmatch(name) and not _is_known(name.partition(":")[0]):
            raise CommandFailed(error_list(UNKNOWN_PACKAGE.format(name=name)))


@cached_look("candidates", *_KNOWLEDGE)
def _is_known(name: str) -> bool:
    found = questions.probe("apt-cache", "pkgnames", "--all-names", "--", name)
    return name in found.stdout.split()


def _target_word(target: PackageTarget) -> str:
    if target.path:
        return _file_word(target.path)
    return f"{target.name}={target.version}" if target.version else target.name


def _file_word(path: str) -> str:
    """A package file as apt-get finds it: it passes over one whose path has a colon, and says
    nothing.
    """
    if ":" not in path:
        return path
    link = f"{here.scratch()}/{path.replace('/', '_').replace(':', '_')[-200:]}"
    with suppress(FileExistsError):
        os.symlink(path, link)
    return link


def simulate(transaction: Transaction) -> Simulation:
    """Return what a transaction would change, as apt-get's simulation says."""
    if apt_get.interrupted():
        here.warn(
            "dpkg was interrupted: the next change first finishes what was left (dpkg"
            " --configure -a)"
        )
    return _simulate_once(transaction)


@cached_look("candidates", *_KNOWLEDGE)
def simulate_after(
    transaction: Transaction, versions: tuple[tuple[str, str], ...], held: tuple[str, ...]
) -> Simulation:
    """Return what a transaction would change when some packages have other versions than now."""
    return _simulate(transaction, *apt_status.planned_status(dict(versions), held))


def _simulate(transaction: Transaction, *options: str) -> Simulation:
    # without its log of what it plans: a look writes nothing
    quiet = ["-s", "-q", "-y", "-o", "Dir::Log::Planner=", *options]
    try:
        chosen, kept = _of_security(transaction, *options)
        words = transaction_words(chosen)
    except CommandFailed as failure:
        return Simulation(None, failure.message)
    done = questions.probe("apt-get", *quiet, *words, env=apt_get.QUIET)
    if done.retcode:
        return Simulation(None, "" if apt_get.repairs(done) else apt_get.errors(done))
    kept = kept or tuple(map(normal, apt_security.kept_back(done.stdout)))
    return Simulation(_simulated_changes(done.stdout), kept=kept)


def _of_security(transaction: Transaction, *options: str) -> tuple[Transaction, tuple[str, ...]]:
    """Return an upgrade that takes versions of security archives alone where that is asked for, and
    what of these it keeps back. Raises CommandFailed where apt-get refuses the upgrade.
    """
    if not transaction.options.security or not transaction.action.endswith("upgrade"):
        return transaction, ()
    everything = Transaction(transaction.action, (), transaction.options._replace(security=False))
    whole = _simulate(everything, *options)
    if whole.changes is None:
        raise CommandFailed(whole.refusal)
    upgraded = {name for name, change in whole.changes.items() if change["old"] and change["new"]}
    found = apt_security.versions({*upgraded, *whole.kept}, name_normalizer())
    named = {target.name for target in transaction.targets} or upgraded
    targets = [PackageTarget(*pair) for pair in found.items() if pair[0] in named & upgraded]
    chosen = transaction.options._replace(only_upgrade=True, security=False)
    kept = tuple(name for name in found if name not in upgraded)
    return Transaction("install", tuple(targets), chosen), kept


_simulate_once = _provided.solved_once(*_KNOWLEDGE)(_simulate)


def _simulated_changes(output: str) -> Changes:
    normalized = name_normalizer()
    changes: Changes = {}
    for line in output.splitlines():
        match = _INSTALLED.match(line) or _REMOVED.match(line)
        if half := _CONFIGURED.match(line):  # it was unpacked before, or is installed here
            changes.setdefault(normalized(half["name"]), {"old": "", "new": half["new"]})
        if match:
            new = match.groupdict().get("new") or ""
            changes[normalized(match["name"])] = {"old": match["old"] or "", "new": new}
    return changes


@_provided.transacts
def run(transaction: Transaction) -> None:
    """Carry out a transaction. Raises CommandFailed with apt-get's errors."""
    apt_get.run(*transaction_words(_of_security(transaction)[0]))


@changer(touches=["files"], before=nothing_lasting)
def download(transaction: Transaction) -> None:
    """Have packages, and what they need, in apt's cache."""
    action, *words = transaction_words(transaction)
    apt_get.run(action, "--download-only", "--reinstall", *words)


def package_lists() -> tuple[str, ...]:
    """Return where the package lists are."""
    return (LISTS,)


@cached_look("candidates", LISTS, *REPOSITORY_FILES)
def find_archives(versions: tuple[tuple[str, str], ...]) -> dict[str, Archive]:
    """Return the archives of packages, by name."""
    return apt_archives.find(versions)


@fetcher
def fetch_archives(
    versions: tuple[tuple[str, str], ...], options: InstallOptions, seconds: float
) -> None:
    """Have archives in apt's cache. Raises CommandFailed."""
    words = ["--allow-unauthenticated"] if options.unsigned else []
    apt_archives.fetch(words, versions, seconds)


def control(path: str) -> Control:
    """Return what an archive says of itself."""
    return apt_archives.control(path)


def contents_words(path: str) -> list[str]:
    """Return the program that prints what an archive installs."""
    return apt_archives.contents_words(path)


def placement(names: tuple[str, ...]) -> Placement:
    """Return how dpkg places what is in archives of packages."""
    states = dpkg_states()
    return apt_archives.DpkgPlacement(tuple(name for name in names if name in states))


@cached_look("packages", *STATUS)
def installed_scripts(name: str) -> dict[str, str]:
    """Return the scripts of an installed package, by name."""
    return apt_shipped.scripts((name, f"{name}:{architecture()}"))


@cached_look("packages", *STATUS)
def kept_by_others(name: str, paths: tuple[str, ...]) -> set[str]:
    """Return those paths that belong to other installed packages, too."""
    return apt_shipped.listed_elsewhere((name, f"{name}:{architecture()}"), paths)


def held() -> list[str]:
    """The packages that stay at their version."""
    return [name for name, (wanted, *_) in _selections().items() if wanted == "hold"]


@_provided.holds
def hold(names: Sequence[str], release: Sequence[str] = ()) -> None:
    """Keep packages at their version, and let others go. Raises CommandFailed if apt-mark fails."""
    refuse_patterns([*names, *release])
    for action, chosen in (("hold", names), ("unhold", release)):
        if chosen:
            questions.probe("apt-mark", action, "--", *chosen).or_fail(f"apt-mark {action}")


@cached_look("packages", *STATUS, apt_marks.STATES)
def manually_installed() -> list[str]:
    """Return the packages that were installed by hand, and not for others."""
    return [normal(name) for name in apt_marks.manually_installed()]


def vital() -> list[str]:
    """Return the packages that are essential, protected or required."""
    return [normal(name) for name in apt_marks.vital()]


def simulate_marks(automatic: tuple[str, ...], manual: tuple[str, ...]) -> Simulation:
    """Return what apt-get would remove if packages were so marked."""
    options = apt_marks.marked_copy(automatic, manual)
    return _simulate(Transaction("autoremove"), *options)


@changer(touches=["packages", "candidates"], before=former_reasons)
def mark(automatic: Sequence[str], manual: Sequence[str]) -> None:
    """Mark packages as installed for others, and as installed by hand."""
    apt_marks.mark(automatic, manual)


# ---------------------------------------------------------------- files, details, repositories


def owner(path: str) -> str:
    """Return the package that a file belongs to; empty when there is none."""
    first, *_ = [*cmd.probe(["dpkg-query", "-S", "--", path]).stdout.splitlines(), ""]
    return "" if first.startswith("diversion ") else normal(first.rpartition(": ")[0])


def owners(paths: Sequence[str]) -> dict[str, str]:
    """Return the packages of those files that belong to one."""
    found: dict[str, str] = {}
    for start in range(0, len(paths), 500):  # one look at dpkg's lists takes a quarter of a second
        names = [*paths[start : start + 500]]
        for line in cmd.probe(["dpkg-query", "-S", "--", *names]).stdout.splitlines():
            packages, _, path = line.partition(": ")
            if not packages.startswith("diversion "):
                found[path] = normal(packages.partition(",")[0])
    return {path: found[path] for path in paths if path in found}


def file_list(name: str) -> list[str]:
    """Return the files and folders of an installed package."""
    if own := apt_shipped.paths((name, f"{name}:{architecture()}")):
        return own
    lines = cmd.probe(["dpkg-query", "-L", "--", name]).stdout.splitlines()
    return [line for line in lines if line.startswith("/") and line != "/."]


def shipped() -> Shipped:
    """Return what the installed packages brought."""
    return apt_shipped.shipped()


DETAILS = {  # Salt's key -> dpkg's field
    "name": "Package",
    "version": "Version",
    "arch": "Architecture",
    "source": "source:Package",
    "group": "Section",
    "packager": "Maintainer",
    "url": "Homepage",
    "vendor": "Origin",
    "size": "Installed-Size",
    "summary": "binary:Summary",
    "description": "Description",
}


def info_installed(names: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """Return details of installed packages, with Salt's keys; all packages without names."""
    query = "\x1f".join(["${db:Status-Status}", *(f"${{{field}}}" for field in DETAILS.values())])
    done = cmd.probe(["dpkg-query", "-W", "-f", query + "\x1e", "--", *names])
    normalized = name_normalizer()
    described = {}
    for record in done.stdout.split("\x1e"):
        state, *values = record.split("\x1f")
        if state in INSTALLED:
            details: dict[str, Any] = {
                key: value for key, value in zip(DETAILS, values, strict=True) if value
            }
            described[normalized(f"{details['name']}:{details['arch']}")] = details
            details |= _installed_on(details["name"], details["arch"])
    return described


def _installed_on(name: str, built_for: str) -> dict[str, Any]:
    """Return when a package was installed, by the list of its files."""
    for stem in (name, f"{name}:{built_for}"):
        path = f"/var/lib/dpkg/info/{stem}.list"
        if _paths.exists(path):
            seconds = int(_paths.stat(path).st_mtime)
            return {"install_date": date_of(seconds), "install_date_time_t": seconds}
    return {}


def show(names: tuple[str, ...]) -> dict[str, dict[str, dict[str, str]]]:
    """Return what the package lists say of packages: name -> version -> field -> text."""
    described: dict[str, dict[str, dict[str, str]]] = {}
    for stanza in questions.probe("apt-cache", "show", "--", *names).stdout.split("\n\n"):
        fields: dict[str, str] = {}
        last = ""
        for line in stanza.splitlines():
            if line.startswith(" "):
                fields[last] += f"\n{line.strip()}"
            else:
                last, _, value = line.partition(":")
                fields[last] = value.strip()
        if "Package" in fields:
            name, version = fields.pop("Package"), fields.pop("Version", "")
            described.setdefault(name, {})[version] = fields
    return described


@cached_look("candidates", *_KNOWLEDGE)
def resolve_capabilities(names: tuple[str, ...]) -> dict[str, str]:
    """Return the package that provides each name: an installed one, else the only one; names that
    nothing provides are missing. Raises CommandFailed where several do.
    """
    known = {**candidates(names), **list_pkgs()}
    providing = {name: name for name in names if name in known}
    unknown = [name for name in names if name not in known]
    for name, packages in _providers(unknown).items():
        there = [package for package in packages if package in list_pkgs()]
        if len(packages) > 1 and not there:
            what = f"E: {name} is no package; {', '.join(packages)} provide it: name one of them"
            raise CommandFailed(error_list(what), missing=("capability", name))
        if packages:
            providing[name] = (there or packages)[0]
    return providing


def _providers(names: Sequence[str]) -> dict[str, list[str]]:
    """The packages that provide each name, sorted. A name that apt does not know is a pattern to
    it, which brings others.
    """
    shown = questions.probe("apt-cache", "showpkg", "--", *names).stdout if names else ""
    found = {}
    for name in names:
        of_name = f"\n{shown}".partition(f"\nPackage: {name}\n")[2].partition("\nPackage: ")[0]
        lines = of_name.partition("\nReverse Provides: \n")[2].splitlines()
        found[name] = sorted({normal(line.split()[0]) for line in lines if line.strip()})
    return found


def remounts() -> bool:
    """Return whether apt mounts what is read-only writable for as long as dpkg works."""
    single, folder = questions.SETTINGS
    paths = [single, *_paths.glob(f"{folder}/*")]
    return any(_REMOUNT.search(text_of(path)) for path in paths)
