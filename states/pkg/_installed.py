# SPDX-License-Identifier: Apache-2.0
"""pkg.installed, and what several such states do in one transaction."""

from __future__ import annotations

import inspect
from functools import cached_property

from modules import pkg
from modules.pkg import InstallOptions, PackageTarget, Transaction
from runner.api import CommandFailed, Done, Name, Plan, Planned, StateFailed, here, requires_feature
from states.pkg import _selection as selection
from states.pkg import _simulation as simulation
from states.pkg._holds import Holding, held_packages
from states.pkg._selection import AnyInstalling, Installing, Names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, MutableMapping
    from typing import Annotated, Any

OWN = ("name", "pkgs", "version")  # what states that are done together may differ in


def installed(
    name: Name,
    version: Name | None = None,
    refresh: bool | None = None,
    skip_suggestions: bool = False,
    pkgs: Names | None = None,
    sources: Names | None = None,
    allow_updates: bool = False,
    pkg_verify: Any = False,
    normalize: bool = True,
    ignore_epoch: bool = False,
    reinstall: bool = False,
    hold: Annotated[bool | None, requires_feature("holdable")] = None,
    ignore_types: Any = None,
    resolve_capabilities: bool = False,
    report_reboot_exit_codes: bool = True,
    how: AnyInstalling = Installing(),
) -> Planned:
    """Make sure that packages are installed.

    name: One package, or with pkgs or sources only the state's name.
    version: The version of `name`; it may have operators and a glob (`>=1.2,<2`, `1.2*`), or be
      `latest`.
    refresh: Renew the package lists first; without it only when a package is not known, false
      never.
    skip_suggestions: ignored; nothing is installed that is only suggested.
    pkgs: Several packages, each a name or `name: version`.
    sources: Several packages as `name: file` (salt://, http(s)://, a path).
    allow_updates: A newer version than the one given will do.
    pkg_verify: Install packages anew of which files were altered.
    normalize: `name:amd64` on an amd64 machine is `name`.
    ignore_epoch: Compare versions without their epoch.
    reinstall: Install the packages anew in each run.
    hold: Keep the packages at their version from now on, or (false) no longer.
    ignore_types: The types of files that pkg_verify does not look at, such as `config`.
    resolve_capabilities: Names may be something that a package provides; without it only names that
      no package has.
    report_reboot_exit_codes: ignored; it is for Windows.

        web server:
          pkg.installed:
            - pkgs: [nginx, certbot: '>=2.0']

    Behaviour: Salt 3008's pkg.installed. With `aggregate: True` several states install in one
    transaction.
    """
    wanted = selection.wanted(name, version, pkgs, sources, normalize)
    if resolve_capabilities:
        wanted = _provided(wanted)
    if not wanted:
        return "No packages to install provided"
    share = _share(name, wanted)
    wanted = {package: want for package, want in wanted.items() if package not in share}
    if share and not wanted:
        return (yield from _report_share(share))
    if sources is None and not resolve_capabilities:
        wanted = _real_names(wanted)
    present = simulation.present()
    files = selection.local_files(wanted) if sources is not None else {}
    wanted = _versions(wanted, files, refresh, how.cache_valid_time)
    asked = _or_newer(wanted) if allow_updates else wanted
    missing = {
        package: want
        for package, want in asked.items()
        if not selection.fits(present.get(package), want, ignore_epoch)
    }
    again = [package for package in wanted if reinstall and package not in missing]
    if pkg_verify:
        unaltered = [package for package in wanted if package not in {*missing, *again}]
        again += _altered(unaltered, [*_listed(ignore_types), *_ignored_by(pkg_verify)])
    holding = Holding(wanted, hold)
    if not missing and not again and not holding.changes:
        if share:
            return (yield from _report_share(share))
        already = _already(wanted, bool(files)) + ("." if holding.said() else "")
        return "\n".join([already, *holding.said()])
    _refuse_held(missing, present, how.update_holds)
    todo = _Installation(missing, again, files, how.options(bool(again)), ignore_epoch)
    others = _others(name)
    todo.choose(present, refresh, how.cache_valid_time, others)

    def planned(changes: pkg.Changes | None) -> Plan:
        return Plan(
            holding.merged({**share, **(changes or todo.guessed)}),
            "\n".join([*todo.told(), *holding.told()]),
            exact=changes is not None,
            why="the package lists do not know it yet" if changes is None else None,
            provides=simulation.brought(todo.guessed if changes is None else changes),
        )

    at_least = planned(todo.at_least())
    yield simulation.ahead(at_least, lambda: planned(todo.foreseen()), todo.refuse_unlisted)
    selection.answer(how.debconf)
    held = held_packages() & {*missing} if how.update_holds else frozenset()
    with pkg.environment(how.env):
        changes = {**share, **todo.carry_out(present, others)}
    pkg.set_holds(sorted(held | {*holding.add}), holding.drop)
    there = {*missing, *again, *others}
    already_there = [
        _named(package, want) for package, want in asked.items() if package not in there
    ]
    lines = [*_shared(share), *todo.done(), *holding.done()]
    if already_there and missing:
        lines.append(f"The following packages were already installed: {', '.join(already_there)}")
    return Done("\n".join(lines), holding.merged(changes))


def _report_share(share: dict[str, Any]) -> Planned:
    """Report what another state of the same transaction has installed for this one."""
    names = ", ".join(share)
    yield Plan(
        share,
        f"The following packages would be installed/updated: {names}",
        provides=simulation.brought(share),
    )
    return Done("\n".join(_shared(share)), share)


def _shared(share: Mapping[str, Any]) -> list[str]:
    return [f"The following packages were installed/updated: {', '.join(share)}"] * bool(share)


def _provided(wanted: Mapping[str, str | None]) -> dict[str, str | None]:
    """The packages that provide what is asked for."""
    manager = pkg.require("capabilities", "resolve_capabilities")
    providing = manager.resolve_capabilities(tuple(wanted))
    return {providing.get(name, name): want for name, want in wanted.items()}


def _real_names(wanted: dict[str, str | None]) -> dict[str, str | None]:
    """Names that no package has, by the package that provides them: by its own name a state sees it
    again.
    """
    present = simulation.present()
    absent = [name for name, want in wanted.items() if want is None and name not in present]
    newest = simulation.candidates(absent) if absent else {}
    unknown = tuple(name for name in absent if name not in newest)
    if not unknown or not pkg.provider().has("capabilities"):
        return wanted
    providing = simulation.provided(unknown)
    return {providing.get(name, name): want for name, want in wanted.items()}


def _altered(names: list[str], ignored: list[str]) -> list[str]:
    """The installed packages of which files were altered."""
    manager = pkg.require("verifiable", "pkg_verify")
    return manager.verify(tuple(names), ignored) if names else []


def _ignored_by(pkg_verify: Any) -> list[str]:
    """The types of files that do not count, where they are said as options of pkg_verify."""
    options = pkg_verify if isinstance(pkg_verify, list) else []
    return [
        kind
        for option in options
        if isinstance(option, dict)
        for kind in _listed(option.get("ignore_types"))
    ]


def _listed(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else [*(value or ())]


def _versions(
    wanted: dict[str, str | None], files: Mapping[str, str], refresh: bool | None, valid: int
) -> dict[str, str | None]:
    """The wanted versions: those of the files, and the newest one for `latest`."""
    if files:
        held = {package: pkg.provider().file_info(path) for package, path in files.items()}
        _refuse_other_names({package: name for package, (name, _) in held.items()}, files)
        return {package: version for package, (_, version) in held.items()}
    latest = [package for package, want in wanted.items() if want == "latest"]
    if not latest:
        return wanted
    newest, _ = simulation.known(latest, refresh, valid)
    here.follows(repr(newest))
    return {
        package: newest.get(package) if want == "latest" else want
        for package, want in wanted.items()
    }


def _refuse_other_names(names: Mapping[str, str], files: Mapping[str, str]) -> None:
    """Raise StateFailed for a file that holds another package than the one it is said to hold.

    names: what each file holds.
    """
    for package, name in names.items():
        if name not in (package, package.partition(":")[0]):
            raise StateFailed(
                f"sources: {files[package]} holds the package {name}, not {package}: write `{name}:"
                " ...`"
            )


def _or_newer(wanted: Mapping[str, str | None]) -> dict[str, str | None]:
    """The wanted versions, each of which may be a newer one."""
    return {
        package: f">={want}" if want and want[0] not in "<>=!" else want
        for package, want in wanted.items()
    }


def _already(wanted: Mapping[str, str | None], from_files: bool) -> str:
    desired = " and are at the desired version" if any(wanted.values()) and not from_files else ""
    return f"All specified packages are already installed{desired}"


def _refuse_held(missing: Iterable[str], present: Mapping[str, str], update: bool) -> None:
    held = [] if update else [package for package in missing if package in present]
    held = [package for package in held if package in held_packages()]
    if held:
        raise StateFailed(
            f"The following packages are held: {', '.join(held)}. Set update_holds to True to"
            " change them all the same."
        )


def _named(name: str, want: str | None) -> str:
    """A package with what is asked of its version."""
    return f"{name}{'' if not want or want[0] in '<>=!' else '='}{want or ''}"


class _Installation:
    """The packages to install, and how."""

    def __init__(
        self,
        missing: dict[str, str | None],
        again: list[str],
        files: dict[str, str],
        options: InstallOptions,
        epoch: bool,
    ) -> None:
        self._missing, self._again, self._files = missing, again, files
        self._options, self._epoch = options, epoch
        self._names = [*missing, *again]
        self._others: frozenset[str] = frozenset()
        self._targets: dict[str, PackageTarget] = {}
        self._own: dict[str, str | None] = {}
        self._newest: dict[str, str] = {}
        self.guessed: dict[str, Any] = {}

    def choose(
        self, present: Mapping[str, str], refresh: bool | None, valid: int, others: frozenset[str]
    ) -> None:
        """Look for what is to be installed. others: what other states of the transaction ask
        for.
        """
        names, self._others = self._names, others
        if not names:
            return
        if self._files:
            self._targets = {
                package: PackageTarget(package, path=self._files[package]) for package in names
            }
            versions = {
                package: str(self._missing.get(package) or "installed") for package in names
            }
        else:
            self._newest, certain = simulation.known(names, refresh, valid)
            exact = self._exact_versions(present)
            self._targets = {
                package: PackageTarget(package, exact.get(package) or "") for package in names
            }
            versions = {
                package: exact.get(package) or self._newest.get(package, "installed")
                for package in names
            }
            self._own = {
                package: exact.get(package)
                for package in names
                if certain and package not in others
            }
        self._guess(present, versions)

    def at_least(self) -> pkg.Changes | None:
        """Return what will be changed, but for what the packages bring along; None when nobody can
        say.
        """
        if not pkg.asks_ahead():
            simulation.plan(self.guessed)
            return self.guessed
        own = self._own
        if not self._names or (own and own.keys() <= self._newest.keys() and not any(own.values())):
            return self.guessed
        return self._simulated

    def foreseen(self) -> pkg.Changes | None:
        """Return what the package manager would change; None when it cannot say. Raises
        StateFailed where it refuses.
        """
        if not self._names:
            return {}
        changes = self._simulated
        if changes is None:
            self.refuse_unlisted()
        if changes is None and (self._own.keys() == self._targets.keys() or self._files):
            simulation.refuse(self._transaction(self._targets), selection.PROBLEM)
        return None if changes is None else _without(self._others, changes)

    def refuse_unlisted(self) -> None:
        """Raise StateFailed for what no package list has."""
        if not self._files:
            own = [package for package in self._names if package not in self._others]
            selection.refuse_unlisted(own, self._newest)

    @cached_property
    def _simulated(self) -> pkg.Changes | None:
        changes = simulation.to_install(self._targets, self._options)
        if changes is None and self._others:  # what another state asked must not fail this one
            alone = {n: target for n, target in self._targets.items() if n not in self._others}
            changes = simulation.to_install(alone, self._options) if alone else None
        if changes is None and self._own:
            selection.refuse_unknown(self._own, self._newest)
        if changes is None:
            return None
        changes = {**(self.guessed if self._again else {}), **changes}
        simulation.plan(changes)
        return changes

    def _exact_versions(self, present: Mapping[str, str]) -> dict[str, str | None]:
        """The versions to install; an older one than is there has to be allowed."""
        exact = {
            package: selection.version_for(package, want, self._epoch)
            for package, want in self._missing.items()
        }
        manager = pkg.provider()
        older = (
            want and package in present and manager.compare(present[package], want) > 0
            for package, want in exact.items()
        )
        self._options = self._options._replace(downgrade=any(older))
        return exact

    def _guess(self, present: Mapping[str, str], versions: Mapping[str, str]) -> None:
        """Note what changes at least, without what the packages bring along."""
        missing = {
            package: {"old": present.get(package, ""), "new": versions[package]}
            for package in self._missing
        }
        again = {
            package: {"old": present.get(package, ""), "new": present.get(package, "")}
            for package in self._again
        }
        self.guessed = missing | again

    def _transaction(self, names: Iterable[str]) -> Transaction:
        return Transaction("install", tuple(self._targets[name] for name in names), self._options)

    def carry_out(self, present: Mapping[str, str], others: frozenset[str]) -> dict[str, Any]:
        """Install; the changes without those that other states of this transaction report."""
        if not self._targets:
            return {}
        undone = ""
        try:
            try:
                selection.carry_out(self._transaction(self._targets))
            except pkg.NotDone:
                raise
            except CommandFailed:
                own = [package for package in self._targets if package not in others]
                if not others or not own:
                    raise
                # what another state asked for must not fail this one
                selection.carry_out(self._transaction(own))
        except pkg.NotDone as failure:
            undone = failure.message
        except CommandFailed as failure:
            done = selection.differences(present, pkg.list_pkgs())
            raise StateFailed(selection.PROBLEM + failure.message, changes=done) from None
        after = pkg.list_pkgs()
        changes = selection.differences(present, after)
        own_missing = {
            package: want for package, want in self._missing.items() if package not in others
        }
        failed = [
            package
            for package, want in own_missing.items()
            if not selection.fits(after.get(package), want, self._epoch)
        ]
        if failed:
            named = ", ".join(_named(package, self._missing[package]) for package in failed)
            many = f"The following packages failed to install/update: {named}"
            raise StateFailed(f"{many}\n{undone}".strip(), changes=changes)
        changes |= {
            package: self.guessed[package] for package in self._again if package not in changes
        }
        self._missing = own_missing
        return _without(others, changes)

    def told(self) -> list[str]:
        lines = [
            f"The following packages would be installed/updated: {', '.join(self._missing)}"
        ] * bool(self._missing)
        lines += [f"The following packages would be reinstalled: {', '.join(self._again)}"] * bool(
            self._again
        )
        return lines or ["All specified packages are already installed."]

    def done(self) -> list[str]:
        named = ", ".join(
            package if package in self._files else _named(package, want)
            for package, want in self._missing.items()
        )
        lines = [f"The following packages were installed/updated: {named}"] * bool(self._missing)
        lines += [f"Package {package} was reinstalled." for package in self._again]
        return lines or ["All specified packages are already installed."]


# ---------------------------------------------------------------- several states, one transaction


def _store() -> MutableMapping[Any, Any]:
    return here.store("pkg.aggregated")


def _state(name: str) -> tuple[str, str] | None:
    return (here.chunk.id, name) if here.chunk else None


def _without(others: Collection[str], changes: dict[str, Any]) -> dict[str, Any]:
    """The changes without those of others' packages, which are kept until their turn."""
    done = _store().setdefault("done", {})
    done.update({package: changes[package] for package in others if package in changes})
    return {package: change for package, change in changes.items() if package not in others}


def _share(name: str, wanted: Iterable[str]) -> dict[str, Any]:
    """Return what another state has installed for the one that runs now: package -> change."""
    done = _store().get("done", {})
    if _state(name) not in _store().get("taken", ()):
        return {}
    return {package: done.pop(package) for package in wanted if package in done}


def _others(name: str) -> frozenset[str]:
    """The packages that the state that runs now installs for others."""
    packages: frozenset[str] = _store().get(_state(name), frozenset())
    return packages


def mod_aggregate(
    low: dict[str, Any], chunks: list[dict[str, Any]], running: dict[str, Any]
) -> dict[str, Any]:
    """pkg.installed with the packages of other such states that install in the same way."""
    if low.get("fun") != "installed" or low.get("sources") is not None:
        return low
    own = selection.wanted(low["name"], _text(low.get("version")), low.get("pkgs"), None)
    others: dict[str, str | None] = {}
    for chunk in chunks:
        if chunk.get("fun") == "installed" and _how(chunk) == _how(low) and "sources" not in chunk:
            more = selection.wanted(
                chunk["name"], _text(chunk.get("version")), chunk.get("pkgs"), None
            )
            combine_plans = {**own, **others}
            if all(combine_plans.get(package, want) == want for package, want in more.items()):
                others |= {package: want for package, want in more.items() if package not in own}
                _store().setdefault("taken", set()).add((chunk["__id__"], chunk["name"]))
    if not others:
        return low
    _store()[low["__id__"], low["name"]] = frozenset(others)
    listed = [
        package if want is None else {package: want} for package, want in {**own, **others}.items()
    ]
    return {**{key: value for key, value in low.items() if key != "version"}, "pkgs": listed}


def _how(low: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a state says of how to install."""
    arguments = {*inspect.signature(installed).parameters, *Installing._fields}
    return {key: value for key, value in low.items() if key in arguments and key not in OWN}


def _text(version: object) -> str | None:
    return None if version is None else str(version)
