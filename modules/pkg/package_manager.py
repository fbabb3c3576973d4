# SPDX-License-Identifier: Apache-2.0
"""The interface of a package manager: how to write a provider.

A provider is a folder beside this file with its `provider.py`, and its line in the table of
`modules/pkg/providers.py`. It defines the constants and functions of `PackageManager` below as
plain module functions; `modules/pkg/apt/provider.py` is the model. Nothing in `states/` changes:
the state functions speak of packages, versions and `InstallOptions`, and the provider alone knows
the words of its tool.

1. Say who you are: `NAMES` (the tool's name first, then Salt's name of the module, so that
   `provider: yumpkg` works), `FAMILIES` (values of the grain os_family whose own tool it is),
   `DATABASE`, `REPOSITORY_FILES`, and `suits()`: the tool is on this machine. If the tool has words
   of its own for a package that it does not know: `UNKNOWN_PACKAGE` and `UNKNOWN_VERSION`, texts
   with {name} and {version}.
2. Write the looks. They read, and never change anything; `cmd.probe([...])` runs a program and
   returns its output. Put `@cached_look(topic, *files)` above each: the answer is kept for the run
   until one of the files or the topic changes. Topics: "packages" (what is installed, what is
   held) and "candidates" (what could be installed).
   `list_pkgs`, `leftovers`, `candidates`, `versions`, `compare`, `normal`, `file_info`,
   `lists_age`.
3. Write one function `Transaction -> argv` and use it in both `simulate` (the tool's own solver,
   nothing is changed: `dnf --assumeno`, `zypper --dry-run`, `pacman -p`) and `run` (a `@changer`).
   So a dry run asks the tool the very question that the real run does.
4. Write `refresh_db` (`@fetcher(refreshes="package lists")`: at most once a run, never in a dry
   run) and `renew_db` (`@changer`: after the repositories changed, and when asked for).
5. Give what belongs to a feature of `FEATURES` only if the tool has it: define all methods of that
   feature and the provider has it; leave them out and states that need it fail by a message that
   names the provider and the feature. Options of InstallOptions that the tool has nothing like are
   ignored, as Salt does.

A tool that fails raises CommandFailed with the tool's own errors; `modules/pkg/apt/get.py` shows
how another program's lock is waited for and an interrupted transaction is finished first.

`tests/modules/pkg/test_providers.py` runs for each provider of the table: it checks the interface
(names, parameters, decorators), what the provider makes of what its tool printed, and the words of
each option and action, by the table `tests/modules/pkg/recorded/NAME.py`. `pytest -k NAME` of it
says what is missing.
"""

from __future__ import annotations

import time

from runner.api import Feature, Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from io import BufferedReader
    from typing import Any, Protocol

    from modules.pkg._action import Action
    from modules.pkg._ahead import PlannedPackage
    from runner.api import Provider
else:
    from runner.api.providers import Interface as Provider

    Protocol = object

Versions = dict[str, str]  # package -> version; several of one package: "1.0,2.0", oldest first
Changes = dict[str, dict[str, str]]  # package -> {"old": version or "", "new": version or ""}


class PackageTarget(Record):
    """A package that a transaction is about.

    version: exactly this one; empty: the newest. path: of a package file to install from.
    """

    name: str
    version: str = ""
    path: str = ""


class InstallOptions(Record):
    """How packages are to be installed, in no tool's words.

    repository: only from this repository or release. enable, disable: repositories that are used,
    or not, for this transaction. disable_excludes: whose exclusions are ignored. settings: raw
    `key=value` settings of the tool. recommended: also what the packages recommend. no_recommends:
    the same question, as zypper's states ask it. only_upgrade: nothing that is not installed yet.
    reinstall: even if the version is installed. downgrade: an older version may replace a newer
    one. unsigned: do not verify signatures. change_held: change held packages too.
    replace_configuration: new configuration files replace changed ones; otherwise they are kept.
    security: an upgrade takes only versions that mend security problems.
    """

    repository: str = ""
    enable: tuple[str, ...] = ()
    disable: tuple[str, ...] = ()
    disable_excludes: str = ""
    settings: tuple[str, ...] = ()
    recommended: bool = True
    no_recommends: bool = False
    only_upgrade: bool = False
    reinstall: bool = False
    downgrade: bool = False
    unsigned: bool = False
    change_held: bool = False
    replace_configuration: bool = False
    security: bool = False


class Transaction(Record):
    """The work that the package manager is to do at once.

    action: install (also upgrades and downgrades), remove (configuration stays), purge, upgrade
    (all packages, none is added or removed), full-upgrade (all, whatever it takes), autoremove
    (what nothing needs any more).
    """

    action: Action
    targets: tuple[PackageTarget, ...] = ()
    options: InstallOptions = InstallOptions()

    def __str__(self) -> str:
        """The transaction in one line, for the history."""
        named = (target.path or f"{target.name} {target.version}" for target in self.targets)
        return f"{self.action} {', '.join(name.strip() for name in named)}".strip()


class Simulation(Record):
    """The changes that a transaction would make.

    changes: of all packages, dependencies included; None where the tool cannot say, or refuses.
    refusal: why it refuses, in its own words; empty where it does not, or would repair it first.
    kept: the packages that it says it keeps back in an upgrade.
    """

    changes: Changes | None
    refusal: str = ""
    kept: tuple[str, ...] = ()


class Need(Record):
    """Something that a package needs; one of several will do.

    alternatives: in the order of preference, each with the packages that it may be: the one of its
    name first, then those that provide it; a name that no package has: nothing says which of the
    rest is taken. weak: a recommendation. enough: those of them that are installed in a version
    that will do, as far as the package manager tells.
    """

    alternatives: tuple[tuple[str, ...], ...]
    weak: bool
    enough: tuple[str, ...] = ()


class PackageGroup(Record):
    """A group of packages: which of them belong to it in any case, by default, if wanted."""

    mandatory: tuple[str, ...] = ()
    default: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()


class RepositorySettings(Record):
    """The description of a repository: the arguments of pkgrepo.managed and
    pkgrepo.absent.

    What the tool has nothing like is ignored; what is missing here is added here. options: further
    keys of the repository in the words of the tool's own file, "" for a key that is to go.
    """

    ppa: str | None = None
    copr: str | None = None
    aptkey: bool = True
    file: str | None = None
    key_url: tuple[str, ...] = ()
    key_text: str | None = None
    keyid: tuple[str, ...] = ()
    keyserver: str | None = None
    signedby: str | None = None
    dist: str | None = None
    comps: tuple[str, ...] = ()
    architectures: tuple[str, ...] = ()
    disabled: bool | None = None
    comments: tuple[str, ...] = ()
    clean_file: bool = False
    consolidate: bool = False
    humanname: str | None = None
    trusted: bool | None = None
    gpgcheck: bool | None = None
    allow_insecure_key: bool = True
    baseurl: str | None = None
    mirrorlist: str | None = None
    metalink: str | None = None
    gpgkey: str | None = None
    gpgautoimport: bool | None = None
    priority: int | None = None
    autorefresh: bool | None = None
    options: Mapping[str, str] = {}
    server: tuple[str, ...] = ()
    siglevel: str | None = None


class RepositoryChange(Record):
    """The files to write for a repository to be as described.

    entry: the repository, as messages name it. changes: for the state's result; empty: it is in
    order. files: path -> its new bytes, None where the file goes. key_files: the same, written
    first, readable for everyone. keys: for the tool's own keyring (`import_key`), where keys are no
    files. trust: the tool is to fetch and trust the repository's own keys (`trust_repository`).
    """

    entry: str
    changes: Mapping[str, Any] = {}
    files: Mapping[str, bytes | None] = {}
    key_files: Mapping[str, bytes] = {}
    keys: tuple[bytes, ...] = ()
    trust: bool = False


class Diversion(Record):
    """Where packages put a path instead. by: the package whose own path stays; ":" for none."""

    to: str
    by: str


class Override(Record):
    """The owner, group and mode (four octal digits) of a path, whatever its package says."""

    user: str
    group: str
    mode: str


class Shipped(Record):
    """What packages brought to this machine.

    paths: the paths of packages, each with the digest of a configuration file (md5:...), else "".
    copies: digests of all their files: what lies elsewhere with the same contents is a copy of one.
    accounts: words by which packages name the users and groups that they make. usual: packages that
    each installation begins with.
    """

    paths: Mapping[str, str]
    copies: frozenset[str]
    accounts: frozenset[str]
    usual: frozenset[str]


class Archive(Record):
    """The archive of a package, as the package lists describe it.

    path: where it lies once it is fetched. digest: of its bytes (sha256:...), by which it is known.
    """

    name: str
    version: str
    path: str
    size: int
    digest: str


NEEDS, PROVIDES = "needs", "provides"


class Control(Record):
    """What an archive says of itself.

    texts: by name, its scripts (postinst, ...) among them; names that it needs and provides, a line
    each, where that orders the scripts of several (NEEDS, PROVIDES). configuration: the paths of
    files that stay as they are where this machine has them. replaced: those of them that make room
    for the new ones where they were changed here.
    """

    texts: Mapping[str, str]
    configuration: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()


class Hook(Record):
    """A script that is run because packages have come. owner: whose it is; kind: what that calls
    it; targets: the lines that it reads.
    """

    owner: str
    kind: str
    script: str
    targets: tuple[str, ...] = ()


class Placement(Protocol):
    """How a package manager of this machine places what archives hold."""

    LEFT: str
    """What follows the name of a new configuration file beside the one that stays."""
    LEFT_WARNING: str
    """What a real run warns of then, with {path} and {left}; empty: nothing."""
    REPLACED: str
    """The same of the former one, beside the new one."""
    SAVED: str
    """What follows the name of a changed configuration file when its package is removed, while one
    that nobody changed goes."""
    KEEPS: bool
    """Whether both stay instead, as they are."""
    SAVED_WARNING: str
    """What a real run warns of then, with {path} and {saved}; empty: nothing."""
    PURGES: bool
    """Return whether purging takes changed configuration files, too."""
    RESTORES: bool
    """Return whether a configuration file that somebody has removed comes back."""
    BESIDE: tuple[str, ...]
    """What follows the names of all copies that go with a configuration file."""
    configuration: dict[str, str]
    """Configuration files that the packages have brought before, with the digests that they had."""

    def path(self, package: str, path: str) -> str:
        """Return where a member of a package goes; empty for one that is left out."""

    def rights(self, path: str) -> tuple[str, str, int] | None:
        """Return user, group and mode of a path; None for those of the archive."""


class Repositories(Protocol):
    """What a provider knows of repositories: `modules/pkg/NAME/repositories.py`."""

    def list_repos(self) -> dict[str, Any]:
        """Return the repositories as Salt's pkg.list_repos does for this tool."""

    def plan_repository(self, name: str, settings: RepositorySettings) -> RepositoryChange:
        """Return what has to be written so that a repository is there. Raises StateFailed."""

    def plan_repository_removal(self, name: str, settings: RepositorySettings) -> RepositoryChange:
        """Return what has to be written so that a repository is gone. Raises StateFailed."""


class PathRules(Protocol):
    """What a provider lets one decide of paths of packages: `modules/pkg/NAME/path_rules.py`."""

    def diversions(self) -> dict[str, Diversion]:
        """Return the paths that packages put elsewhere."""

    def divert(self, path: str, to: str, rename: bool) -> None:
        """Have packages put a path elsewhere: a changer. rename: what is there moves now."""

    def undivert(self, path: str, rename: bool) -> None:
        """Have packages put a path where it belongs: a changer."""

    def overrides(self) -> dict[str, Override]:
        """Return the paths whose owner and mode packages leave alone."""

    def override(self, path: str, wanted: Override) -> None:
        """Give a path an owner and a mode that packages leave alone: a changer."""

    def drop_override(self, path: str) -> None:
        """Let packages decide on the owner and mode of a path again: a changer."""


FEATURES = {
    "holdable": Feature("packages can be kept at their version", ("held", "hold")),
    "upgradable": Feature(
        "all packages can be brought to their newest version at once (upgrade, full-upgrade)"
    ),
    "security_updates": Feature(
        "versions that mend security problems are told from others; elsewhere leave out `security`,"
        " or name advisories in pkg.patch_installed"
    ),
    "install_reasons": Feature(
        "it is known which packages were installed by hand, and which were added for others",
        ("manually_installed", "vital", "simulate_marks", "mark"),
    ),
    "downloadable": Feature(
        "packages can be downloaded without being installed", ("archives", "download")
    ),
    "archives_ahead": Feature(
        "what is in a package is known before it is installed",
        tuple(
            """
            package_lists find_archives fetch_archives control contents_words placement
            installed_scripts kept_by_others
            """.split()
        ),
    ),
    "digests": Feature(
        "archives are known by digests of what they say of their files", ("archive_digest",)
    ),
    "hooks": Feature("what is run because other packages have come is known", ("hooks",)),
    "dependencies": Feature(
        "what a package brings along is known, so that one simulation answers for many states",
        ("needs",),
    ),
    "simulates_plans": Feature(
        "the solver can be asked of packages as they will be by then", ("simulate_after",)
    ),
    "repositories": Feature("repositories can be listed, added and deleted", ("repositories",)),
    "distribution_upgrades": Feature(
        "bringing all packages up to date (upgrade) and the distribution to a new release"
        " (full-upgrade) are two things: pkg.uptodate does the first"
    ),
    "trusting": Feature(
        "the tool fetches and trusts the keys that a repository offers itself",
        ("trust_repository",),
    ),
    "keyring": Feature("the tool has a keyring of its own that keys go into", ("import_key",)),
    "ownership": Feature(
        "the files of a package, and the package of a file, are known", ("owner", "file_list")
    ),
    "information": Feature("details of installed packages are known", ("info_installed",)),
    "descriptions": Feature("what the package lists say of packages can be shown", ("show",)),
    "groups": Feature(
        "groups of packages have a name; elsewhere list the packages in `pkgs` of pkg.installed",
        ("group",),
    ),
    "modules": Feature(
        "packages come in modules, of which each machine follows one stream",
        ("module_streams", "set_module_stream"),
    ),
    "advisories": Feature(
        "advisories (patches) can be listed and installed; elsewhere pkg.uptodate and pkg.latest"
        " bring newer versions",
        ("advisories", "patch"),
    ),
    "advisory_downloads": Feature(
        "it is known whether the packages of an advisory are downloaded", ("downloaded_advisories",)
    ),
    "path_rules": Feature(
        "paths of packages can be put elsewhere, and get an owner and a mode of their own",
        ("path_rules",),
    ),
    "verifiable": Feature("installed files can be compared with their package", ("verify",)),
    "capabilities": Feature(
        "a package can be asked for by something that it provides", ("resolve_capabilities",)
    ),
}

UNKNOWN_PACKAGE = "Unable to locate package {name}"
UNKNOWN_VERSION = "Version '{version}' for '{name}' was not found"


class PackageManager(Provider, Protocol):
    """The interface of a provider. What belongs to a feature may be left out."""

    NAMES: tuple[str, ...]
    """Its names for `provider:` of a state and `providers: {pkg: ...}` of the configuration."""
    FAMILIES: tuple[str, ...]
    """Values of the grain os_family: it is preferred there to another one that suits, too."""
    DATABASE: str
    """The file that says what is installed: who cannot write it cannot install packages."""
    REPOSITORY_FILES: tuple[str, ...]
    """How the paths begin of files that say where packages come from."""

    # -- what is installed

    def list_pkgs(self) -> Versions:
        """Return the installed packages with their versions."""

    def leftovers(self) -> Versions:
        """Return what purge would still take away of packages that are not (wholly) installed:
        their configuration, say. Empty where the tool leaves nothing.
        """

    def normal(self, name: str) -> str:
        """Return a package's name without what this machine need not say (`:amd64`, `.x86_64`)."""

    # -- what could be installed

    def candidates(self, names: tuple[str, ...]) -> Versions:
        """Return the version of each package that installing it would give; unknown packages are
        missing.
        """

    def versions(self, name: str) -> list[str]:
        """Return all versions of a package that could be installed, newest first."""

    def compare(self, left: str, right: str) -> int:
        """Return -1, 0 or 1: how one version compares with another by the tool's own rules."""

    def file_info(self, path: str) -> tuple[str, str]:
        """Return name and version of a package file. Raises CommandFailed for what is none."""

    def lists_age(self) -> float | None:
        """Return the seconds since the package lists were renewed; None when there are none."""

    def refresh_db(self) -> Any:
        """Renew the package lists: a fetcher, so at most once a run and not in a dry run (None).

        Raises CommandFailed.
        """

    def renew_db(self) -> None:
        """Renew the package lists in any case: a changer. Raises CommandFailed."""

    # -- transactions

    def simulate(self, transaction: Transaction) -> Simulation:
        """Return what a transaction would change, by the tool's own solver. Changes nothing."""

    def run(self, transaction: Transaction) -> None:
        """Carry out a transaction: a changer that touches TOUCHED. Raises CommandFailed."""

    # -- features

    def held(self) -> list[str]:
        """Return the packages that stay at their version."""

    def hold(self, names: Sequence[str], release: Sequence[str] = ()) -> None:
        """Keep packages at their version, and release others: a changer."""

    def manually_installed(self) -> list[str]:
        """Return the packages that somebody asked for: they were not added for others."""

    def vital(self) -> list[str]:
        """Return the packages that the system or the tool itself cannot be without."""

    def simulate_marks(self, automatic: tuple[str, ...], manual: tuple[str, ...]) -> Simulation:
        """Return what would go if packages were marked as added for others (automatic) and as asked
        for (manual), and if all that nothing needs were then removed. Changes nothing.
        """

    def mark(self, automatic: Sequence[str], manual: Sequence[str]) -> None:
        """Mark packages as added for others, and as asked for: a changer. A tool that then removes
        at once what nothing needs may do so. Raises CommandFailed.
        """

    def archives(self) -> dict[str, dict[str, Any]]:
        """Return what lies in the cache: name -> version -> path, size, creation_date_time_t."""

    def download(self, transaction: Transaction) -> None:
        """Have the packages of an installation, and what they need, in the cache: a changer."""

    def package_lists(self) -> tuple[str, ...]:
        """Return the files and folders of which one is another when the package lists are."""

    def find_archives(self, versions: tuple[tuple[str, str], ...]) -> dict[str, Archive]:
        """Return the archives of packages in these versions, by name; those that nobody offers, or
        that no digest vouches for, are missing.
        """

    def fetch_archives(
        self, versions: tuple[tuple[str, str], ...], options: InstallOptions, seconds: float
    ) -> None:
        """Have archives in the tool's own cache, its signatures checked: a fetcher. Raises
        CommandFailed.
        """

    def control(self, path: str) -> Control:
        """Return what an archive says of itself."""

    def archive_digest(self, opened: BufferedReader, kind: str) -> str:
        """Return the digest of an archive that is not one of all its bytes; empty for one whose
        parts are not of each other. Raises BadArchive.
        """

    def contents_words(self, path: str) -> list[str]:
        """Return the program, with its arguments, that prints what an archive installs as tar."""

    def placement(self, names: tuple[str, ...]) -> Placement:
        """Return how what is in the archives of packages is placed here."""

    def installed_scripts(self, name: str) -> dict[str, str]:
        """Return the scripts of an installed package, by name."""

    def kept_by_others(self, name: str, paths: tuple[str, ...]) -> set[str]:
        """Return those paths that belong to other installed packages than this one, too."""

    def hooks(self, packages: Sequence[PlannedPackage]) -> Iterator[Hook]:
        """Yield what is run once packages have come, in its order."""

    def needs(self, names: tuple[str, ...]) -> dict[str, list[Need]]:
        """Return what packages bring along in the version that would be installed."""

    def simulate_after(
        self, transaction: Transaction, versions: tuple[tuple[str, str], ...], held: tuple[str, ...]
    ) -> Simulation:
        """Return what a transaction would change when some packages have other versions than now
        ("" for none) and these are held. Changes nothing.
        """

    @property
    def repositories(self) -> Repositories:
        """The functions of repositories: the module of that name beside the provider's."""

    @property
    def path_rules(self) -> PathRules:
        """What is decided of paths of packages: the module of that name beside the provider's."""

    def import_key(self, key: bytes) -> None:
        """Add a key to the tool's keyring: a changer."""

    def trust_repository(self, name: str) -> None:
        """Fetch a repository's metadata with its keys, and trust those: a changer."""

    def owner(self, path: str) -> str:
        """Return the package that a file belongs to; empty when there is none."""

    def file_list(self, name: str) -> list[str]:
        """Return the files of an installed package."""

    def info_installed(self, names: tuple[str, ...]) -> dict[str, dict[str, Any]]:
        """Return details of installed packages, with Salt's keys; all packages without names."""

    def show(self, names: tuple[str, ...]) -> dict[str, dict[str, dict[str, str]]]:
        """Return what the package lists say: name -> version -> field -> text."""

    def group(self, name: str) -> PackageGroup | None:
        """Return a group of packages; None when there is no such group."""

    def module_streams(self, name: str) -> dict[str, tuple[str, ...]]:
        """Return the streams of a module, each with what holds for it: enabled, disabled, default.
        Empty for an unknown module.
        """

    def set_module_stream(self, name: str, stream: str) -> None:
        """Enable a stream of a module; "" disables the module: a changer."""

    def advisories(self) -> dict[str, bool]:
        """Return the advisories that concern this machine: ID -> whether it is installed."""

    def patch(self, advisories: Sequence[str], download_only: bool = False) -> None:
        """Install (or only download) what advisories ask for: a changer."""

    def downloaded_advisories(self, names: tuple[str, ...]) -> list[str]:
        """Return those advisories of which all packages lie in the cache."""

    def verify(self, names: tuple[str, ...], ignore_types: Sequence[str]) -> list[str]:
        """Return those packages of which installed files were altered."""

    def resolve_capabilities(self, names: tuple[str, ...]) -> dict[str, str]:
        """Return the package that provides each name; names that nothing provides are missing."""


TOUCHED = ("packages", "candidates", "services", "users", "groups", "files")
"""The topics that a transaction makes stale, for `@changer(touches=TOUCHED)`."""


def date_of(seconds: int) -> str:
    """A time in seconds since 1970 as Salt has it in what it says of packages."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
