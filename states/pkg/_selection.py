# SPDX-License-Identifier: Apache-2.0
"""Which packages a state asks for, in which versions, and whether those are there."""

from __future__ import annotations

import fnmatch

from modules import debconf, file, pkg, service
from modules.pkg import package_manager
from runner.api import (
    Annotated,
    Chunk,
    CommandFailed,
    Group,
    Line,
    Name,
    OneOrMany,
    Record,
    StateFailed,
    here,
    pattern,
    requires_feature,
)
from runner.api.versions import holds
from states._tools import Variables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from typing import Any

Names = list[Name | dict[Name, Line | None]]
LISTS = ("package lists", "")  # the fact that a pending repository provides
PROBLEM = "Problem encountered installing package(s). Additional info follows:\n\n"


class Installing(Record):
    """How packages are installed.

    fromrepo: The release or repository to install from.
    skip_verify: Do not check signatures of packages.
    install_recommends: Install also what is recommended; false only what is needed.
    only_upgrade: Upgrade only what is installed already.
    update_holds: Change packages that are held, too.
    force_conf_new: New configuration files replace changed ones.
    enablerepo: Repositories that are switched on for this (dnf); other package managers ignore it.
    disablerepo: Repositories that are switched off for this (dnf).
    disableexcludes: The repositories whose excluded packages count for once, such as `main` (dnf).
    setopt: Settings of dnf as `key=value`.
    no_recommends: Leave out what is recommended (zypper).
    cache_valid_time: Seconds for which the package lists need no renewal.
    debconf: A file with answers to the packages' questions, given before.
    env: Further variables for the package manager, as a mapping or a list of them.
    """

    fromrepo: Name | None = None
    skip_verify: bool = False
    install_recommends: bool = True
    only_upgrade: bool = False
    update_holds: Annotated[bool, requires_feature("holdable")] = False
    force_conf_new: bool = False
    enablerepo: OneOrMany[Line] | None = None
    disablerepo: OneOrMany[Line] | None = None
    disableexcludes: Line | None = None
    setopt: OneOrMany[Line] | None = None
    no_recommends: bool = False
    cache_valid_time: int = 0
    debconf: Line | None = None
    env: Variables | None = None

    def options(self, reinstall: bool = False) -> pkg.InstallOptions:
        """Return this in the words of package managers."""
        return pkg.InstallOptions(
            repository=str(self.fromrepo or ""),
            enable=_words(self.enablerepo),
            disable=_words(self.disablerepo),
            disable_excludes=str(self.disableexcludes or ""),
            settings=_words(self.setopt),
            recommended=bool(self.install_recommends),
            no_recommends=bool(self.no_recommends),
            only_upgrade=bool(self.only_upgrade),
            reinstall=reinstall,
            unsigned=bool(self.skip_verify),
            change_held=bool(self.update_holds),
            replace_configuration=bool(self.force_conf_new),
        )


_SOURCES = ("fromrepo", "enablerepo", "disablerepo", "disableexcludes", "setopt")
_FETCHING = ("cache_valid_time", *_SOURCES, "skip_verify")
_UPGRADING = ("force_conf_new", "no_recommends", "env")
AnyInstalling = Annotated[Installing, Group()]
Downloading = Annotated[
    Installing, Group({name: name for name in (*_FETCHING, "install_recommends")})
]
Upgrading = Annotated[Installing, Group({name: name for name in (*_FETCHING, *_UPGRADING)})]


def options_of(chunk: Chunk) -> pkg.InstallOptions:
    """Return how a state says that packages are to be installed, before its arguments are bound."""
    given = {name: value for name, value in chunk.args.items() if name in Installing._fields}
    return Installing()._replace(**given).options(bool(chunk.args.get("reinstall")))


def wanted(
    name: str,
    version: str | None,
    pkgs: Names | None,
    sources: Names | None,
    normalize: bool = True,
) -> dict[str, str | None]:
    """Each package with what is asked of its version, or the file it comes from."""
    if pkgs is not None and sources is not None:
        raise StateFailed('Only one of "pkgs" and "sources" is permitted.')
    listed = sources if sources is not None else pkgs
    requested: dict[str, str | None] = {name: version} if listed is None else {}
    for entry in listed or ():
        if isinstance(entry, dict):
            requested |= {
                str(key): None if value is None else str(value) for key, value in entry.items()
            }
        else:
            requested[str(entry)] = None
    return {
        pkg.provider().normal(package) if normalize else package: want
        for package, want in requested.items()
    }


def fits(present: str | None, want: str | None, ignore_epoch: bool = False) -> bool:
    """Return whether an installed version is one that is wanted; several conditions are separated
    by commas, and so are several versions that are installed, of which one will do.
    """
    if present is None:
        return False
    conditions = [condition.strip() for condition in (want or "").split(",") if condition.strip()]
    return any(
        all(_meets(version, condition, ignore_epoch) for condition in conditions)
        for version in present.split(",")
    )


def _meets(present: str, want: str, ignore_epoch: bool) -> bool:
    operator, bare = _operator(want)
    if ignore_epoch:
        present, bare = present.split(":", 1)[-1], bare.split(":", 1)[-1]
    return holds(_order(present, bare), operator)


def _order(present: str, wanted: str) -> int:
    """How a version is to another one; `1.2*` is the same as all that it matches."""
    if "*" not in wanted:
        return pkg.provider().compare(present, wanted)
    if fnmatch.fnmatch(present, wanted):
        return 0
    return pkg.provider().compare(present, wanted.partition("*")[0].rstrip(".-+~")) or -1


_WANTED = pattern(r"(?s)(<=|>=|==|!=|<|>|=)?\s*(.*)$")


def _operator(want: str) -> tuple[str, str]:
    match = _WANTED.match(want)
    assert match
    return match[1] or "=", match[2]


def version_for(name: str, want: str | None, ignore_epoch: bool = False) -> str | None:
    """The version to install; None for the newest."""
    if want is None:
        return None
    operator, bare = _operator(want)
    if operator in ("=", "==") and not {"*", ","} & set(want) and not ignore_epoch:
        return bare
    for version in pkg.provider().versions(name):
        if fits(version, want, ignore_epoch):
            return version
    raise StateFailed(f"No version of '{name}' matches {want}{_there(name)}", missing=LISTS)


def _there(name: str) -> str:
    """The versions of a package that there are, for a message."""
    return f" (there are {', '.join(pkg.provider().versions(name)) or 'none'})"


def refresh_lists(valid: int) -> bool:
    """Renew the package lists, unless they are younger than so many seconds. Whether they are as
    they are to be.
    """
    age = pkg.provider().lists_age()
    if valid and age is not None and age < valid:
        return True
    return pkg.provider().refresh_db() is not None  # None: in a dry run


def refuse_unknown(targets: Mapping[str, str | None], newest: Mapping[str, str]) -> None:
    """Fail for packages and versions that the package manager does not know; it would say the same
    when it is to install them.
    """
    manager = pkg.provider()
    problems = [_unknown_package(package) for package in targets if package not in newest]
    for package, version in targets.items():
        if version and package in newest and not _is_available(package, version):
            words = getattr(manager, "UNKNOWN_VERSION", package_manager.UNKNOWN_VERSION)
            problems.append(words.format(name=package, version=version) + _there(package))
    if problems:
        raise StateFailed(
            PROBLEM + "errors:" + "".join(f"\n    - {line}" for line in problems), missing=LISTS
        )


def _unknown_package(name: str) -> str:
    words = getattr(pkg.provider(), "UNKNOWN_PACKAGE", package_manager.UNKNOWN_PACKAGE)
    return str(words.format(name=name))


def _is_available(name: str, version: str) -> bool:
    manager = pkg.provider()
    there = manager.versions(name)
    return version in there or any(manager.compare(available, version) == 0 for available in there)


def refuse_unlisted(names: Collection[str], newest: Mapping[str, str]) -> None:
    """Fail in a dry run for names that no package list has, unless there are no lists yet or a
    state may renew them.
    """
    age = pkg.provider().lists_age()
    unknown = [package for package in names if package not in newest]
    if age is None or not unknown:
        return
    problems = "".join(f"\n    - {_unknown_package(package)}" for package in unknown)
    hours = f"{age / 3600:.0f} hours old" if age < 2 * 86400 else f"{age / 86400:.0f} days old"
    when = f"\nThe package lists are {hours}; a real run renews them before it looks again."
    sources = [
        ("file", chunk.name)
        for chunk in here.chunks
        if chunk.name.startswith(pkg.provider().REPOSITORY_FILES)
    ]
    raise StateFailed(f"{PROBLEM}errors:{problems}{when}", missing=[LISTS, *sources])


def answer(source: str | None) -> None:
    """Give the answers in a file, if there is one, to the questions of packages."""
    if source:
        debconf.set_file(local_file(source))


def _words(value: Any) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(map(str, value or ()))


def differences(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, Any]:
    """The changes from one list of packages to another."""
    return {
        name: {"old": before.get(name, ""), "new": after.get(name, "")}
        for name in sorted({*before, *after})
        if before.get(name) != after.get(name)
    }


def name_of(entry: Any) -> str:
    """A package in a list: its name, or a mapping of it."""
    return str(next(iter(entry))) if isinstance(entry, dict) else str(entry)


def carried_out(
    transaction: pkg.Transaction,
    before: Mapping[str, str],
    problem: str = "",
    undone: Callable[[Collection[str]], str] = lambda names: "",
) -> dict[str, Any]:
    """Carry out a transaction; the changes from what was there before. Raises StateFailed with the
    changes that were made all the same.

    problem: the beginning of the message. undone: another one, for packages that are not as they
    should be although the package manager says nothing.
    """
    try:
        if transaction.targets or transaction.action.endswith("upgrade"):
            carry_out(transaction)
    except pkg.NotDone as failure:
        done = differences(before, pkg.list_pkgs())
        message = f"{undone(failure.packages)}\n{failure.message}".strip()
        raise StateFailed(message, changes=done) from None
    except CommandFailed as failure:
        done = differences(before, pkg.list_pkgs())
        raise StateFailed(problem + failure.message, changes=done) from None
    return differences(before, pkg.list_pkgs())


def carry_out(transaction: pkg.Transaction) -> None:
    """Carry out a transaction; at the end of the run it is told what runs on with replaced files.
    Raises as pkg.carry_out does.
    """
    service.tell_outdated()
    pkg.carry_out(transaction)


ERROR = "An error was encountered while installing package(s): "


def local_files(sources: Mapping[str, str | None]) -> dict[str, str]:
    """The file of each package."""
    return {
        name: local_file(str(source), f" for package {name}") for name, source in sources.items()
    }


def local_file(source: str, what: str = "") -> str:
    """The file of a source: salt://, http(s):// or a path. Raises StateFailed without it."""
    if source.startswith(("http://", "https://", "ftp://")):
        path, problem = file.download(source)
        if problem:
            raise StateFailed(
                f"{ERROR}Unable to cache source {source}{what}: {problem}", changes={}
            )
        return path
    local_path = file.fetched(source)
    if local_path is None and source.startswith("salt://"):
        raise StateFailed(f"{ERROR}Unable to cache source {source}{what}", changes={})
    if local_path is None:
        missing = ("file", source.removeprefix("file://"))
        raise StateFailed(f"{ERROR}{source} does not exist on minion", changes={}, missing=missing)
    return local_path
