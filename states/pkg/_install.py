"""pkg.installed, and what several such states do in one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from modules import pkg
from runner.api import (
    OPEN,
    CommandFailed,
    Done,
    Line,
    Name,
    OneOrMany,
    Plan,
    Planned,
    StateFailed,
    here,
    requires_feature,
)
from states.pkg import _ahead as ahead
from states.pkg import _wanted as packages
from states.pkg._hold import Holding
from states.pkg._wanted import Names

OWN = ("name", "pkgs", "version")  # what states that are done together may differ in


def installed(
    name: Name,
    version: Name | None = None,
    refresh: bool | None = None,
    fromrepo: Name | None = None,
    skip_verify: bool = False,
    skip_suggestions: bool = False,
    pkgs: Names | None = None,
    sources: Names | None = None,
    allow_updates: bool = False,
    pkg_verify: Any = False,
    normalize: bool = True,
    ignore_epoch: bool = False,
    reinstall: bool = False,
    update_holds: Annotated[bool, requires_feature("holdable")] = False,
    hold: Annotated[bool | None, requires_feature("holdable")] = None,
    cache_valid_time: int = 0,
    install_recommends: bool = True,
    only_upgrade: bool = False,
    debconf: Line | None = None,
    force_conf_new: bool = False,
    ignore_types: Any = None,
    resolve_capabilities: bool = False,
    report_reboot_exit_codes: bool = True,
    enablerepo: OneOrMany[Line] | None = None,
    disablerepo: OneOrMany[Line] | None = None,
    disableexcludes: Line | None = None,
    setopt: OneOrMany[Line] | None = None,
    no_recommends: bool = False,
) -> Planned:
    """Make sure that packages are installed.

    name, version: one package; the version may have operators and a glob (`>=1.2,<2`, `1.2*`), or
    be latest. pkgs: several, each a name or `name: version`. sources: several as `name: file`
    (salt://, http(s)://, a path). allow_updates: a newer version than the one given will do.
    ignore_epoch: compare versions without it. normalize: `name:amd64` on an amd64 machine is
    `name`. refresh: renew the package lists first (without it: only when a package is not known);
    cache_valid_time: seconds for which they need no renewal. fromrepo: the release to install from.
    skip_verify: do not check signatures. install_recommends: also what is recommended.
    only_upgrade: only what is installed already. reinstall: in each run. hold: keep the packages at
    their version from now on, or (false) no longer. update_holds: change packages that are held.
    debconf: a file with answers, given before. force_conf_new: new configuration files replace
    changed ones. skip_suggestions, report_reboot_exit_codes: accepted, for other systems;
    enablerepo, disablerepo, disableexcludes, setopt (dnf) and no_recommends (zypper) too: apt has
    nothing like them. pkg_verify, ignore_types, resolve_capabilities: refused, they are for rpm.

        web server:
          pkg.installed:
            - pkgs: [nginx, certbot: '>=2.0']

    Behaviour: Salt 3008's pkg.installed. With `aggregate: True` several states install in one
    transaction.
    """
    _refuse(
        pkg_verify=pkg_verify, ignore_types=ignore_types, resolve_capabilities=resolve_capabilities
    )
    wanted = packages.wanted(name, version, pkgs, sources, normalize)
    if not wanted:
        return "No packages to install provided"
    share = {each: found for each in wanted if (found := _done().pop(each, None))}
    if share:
        ahead.plan(share)
        yield Plan(
            share,
            f"The following packages would be installed/updated: {', '.join(share)}",
            provides=OPEN,
        )
        return Done(f"The following packages were installed/updated: {', '.join(share)}", share)
    present = ahead.present()
    files = packages.local_files(wanted) if sources is not None else {}
    if files:
        wanted = {each: pkg.provider().file_info(path)[1] for each, path in files.items()}
    if "latest" in wanted.values():
        asked_for = [each for each, want in wanted.items() if want == "latest"]
        newest, _ = ahead.known(asked_for, refresh, cache_valid_time)
        here.follows(repr(newest))
        wanted = {
            each: newest.get(each) if want == "latest" else want for each, want in wanted.items()
        }
    asked = {
        each: f">={want}" if want and allow_updates and want[0] not in "<>=!" else want
        for each, want in wanted.items()
    }
    missing = {
        each: want
        for each, want in asked.items()
        if not packages.fits(present.get(each), want, ignore_epoch)
    }
    again = [each for each in wanted if reinstall and each not in missing]
    holding = Holding(wanted, hold)
    if not missing and not again and not holding.changes:
        return "\n".join(
            [_already(wanted, bool(files)) + ("." if holding.said() else ""), *holding.said()]
        )
    _refuse_held(missing, present, update_holds)
    words = packages.options(fromrepo, skip_verify, install_recommends, only_upgrade)
    words += ["--reinstall"] if again else []
    words += ["--allow-change-held-packages"] if update_holds else []
    words += ["-o", "DPkg::Options::=--force-confnew"] if force_conf_new else []
    todo = _Todo(missing, again, files, words, ignore_epoch)
    others = _others(name)
    simulated = todo.look(present, refresh, cache_valid_time, others)
    yield Plan(
        holding.merged(simulated or todo.guessed),
        "\n".join([*todo.told(), *holding.told()]),
        exact=simulated is not None,
        why="the package lists do not know it yet" if simulated is None else None,
        provides=OPEN,
    )
    if debconf:
        _answer(debconf)
    held = set(pkg.provider().held()) & set(missing) if update_holds else set()
    changes = todo.carry_out(present, others)
    pkg.provider().hold(sorted(held | set(holding.add)), holding.drop)
    there = {*missing, *again, *others}
    kept = [_named(each, want) for each, want in asked.items() if each not in there]
    lines = [*todo.done(), *holding.done()]
    lines += [f"The following packages were already installed: {', '.join(kept)}"] * bool(
        kept and missing
    )
    return Done("\n".join(lines), holding.merged(changes))


def _answer(source: str) -> None:
    from modules import debconf

    debconf.set_file(packages.local_file(source))


def _refuse(**given: Any) -> None:
    for argument, value in given.items():
        if value:
            raise StateFailed(f"{argument} is for systems with rpm; this one has dpkg")


def _already(wanted: Mapping[str, str | None], from_files: bool) -> str:
    desired = " and are at the desired version" if any(wanted.values()) and not from_files else ""
    return f"All specified packages are already installed{desired}"


def _refuse_held(missing: Iterable[str], present: Mapping[str, str], update: bool) -> None:
    if update:
        return
    held = [each for each in missing if each in present and each in pkg.provider().held()]
    if held:
        raise StateFailed(
            f"The following packages are held: {', '.join(held)}. Set update_holds to True to"
            " change them all the same."
        )


def _named(name: str, want: str | None) -> str:
    """A package with what is asked of its version."""
    return f"{name}{'' if not want or want[0] in '<>=!' else '='}{want or ''}"


class _Todo:
    """What has to be installed, and how."""

    def __init__(
        self,
        missing: dict[str, str | None],
        again: list[str],
        files: dict[str, str],
        words: list[str],
        epoch: bool,
    ) -> None:
        self._missing, self._again, self._files, self._words, self._epoch = (
            missing,
            again,
            files,
            words,
            epoch,
        )
        self._targets: dict[str, str] = {}
        self.guessed: dict[str, Any] = {}

    def look(
        self, present: Mapping[str, str], refresh: bool | None, valid: int, others: frozenset[str]
    ) -> dict[str, dict[str, str]] | None:
        """What apt would change; None when it cannot say."""
        if not self._missing and not self._again:
            return {}
        names = [*self._missing, *self._again]
        own: dict[str, str | None] = {}
        newest: dict[str, str] = {}
        if self._files:
            self._targets = {each: self._files[each] for each in names}
            versions = {each: str(self._missing.get(each) or "installed") for each in names}
        else:
            newest, certain = ahead.known(names, refresh, valid)
            exact = {
                each: packages.version_for(each, want, self._epoch)
                for each, want in self._missing.items()
            }
            if any(
                want and pkg.provider().compare(present.get(each, ""), "gt", want)
                for each, want in exact.items()
            ):
                self._words.append("--allow-downgrades")
            self._targets = {
                each: f"{each}={exact[each]}" if exact.get(each) else each for each in names
            }
            versions = {each: exact.get(each) or newest.get(each, "installed") for each in names}
            own = {each: exact.get(each) for each in names if certain and each not in others}
        self.guessed = {
            each: {"old": present.get(each, ""), "new": versions[each]} for each in self._missing
        }
        self.guessed |= {
            each: {"old": present.get(each, ""), "new": present.get(each, "")}
            for each in self._again
        }
        if not here.dry and own and own.keys() <= newest.keys() and not any(own.values()):
            return self.guessed  # what it brings along is told when it is done
        found = ahead.to_install(self._targets, self._words)
        if found is None and others:  # what another state asked for must not fail this one
            alone = {name: told for name, told in self._targets.items() if name not in others}
            found = ahead.to_install(alone, self._words) if alone else None
        if found is None and own:
            packages.refuse_unknown(own, newest)
        if found is None and here.dry and not self._files:
            packages.refuse_unlisted([each for each in names if each not in others], newest)
        if found is None and here.dry and (own.keys() == self._targets.keys() or self._files):
            ahead.refuse("install", self._targets.values(), self._words, packages.PROBLEM)
        if found is None:
            return None
        found = {**(self.guessed if self._again else {}), **found}
        if here.dry:
            _done().update({each: found.pop(each) for each in others if each in found})
        ahead.plan(found)
        return found

    def carry_out(self, present: Mapping[str, str], others: frozenset[str]) -> dict[str, Any]:
        """Install; the changes without those that other states of this transaction report."""
        if not self._targets:
            return {}
        try:
            try:
                pkg.provider().install(list(self._targets.values()), self._words)
            except CommandFailed:
                own = [target for each, target in self._targets.items() if each not in others]
                if not others or not own:
                    raise
                pkg.provider().install(
                    own, self._words
                )  # what another state asked for must not fail this one
        except CommandFailed as failure:
            done = packages.differences(present, pkg.list_pkgs())
            raise StateFailed(packages.PROBLEM + failure.message, changes=done) from None
        after = pkg.list_pkgs()
        changes = packages.differences(present, after)
        own_missing = {each: want for each, want in self._missing.items() if each not in others}
        failed = [
            each
            for each, want in own_missing.items()
            if not packages.fits(after.get(each), want, self._epoch)
        ]
        if failed:
            named = ", ".join(_named(each, self._missing[each]) for each in failed)
            raise StateFailed(
                f"The following packages failed to install/update: {named}", changes=changes
            )
        changes |= {each: self.guessed[each] for each in self._again if each not in changes}
        _done().update({each: changes.pop(each) for each in others if each in changes})
        self._missing = own_missing
        return changes

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
            each if each in self._files else _named(each, want)
            for each, want in self._missing.items()
        )
        lines = [f"The following packages were installed/updated: {named}"] * bool(self._missing)
        lines += [f"Package {each} was reinstalled." for each in self._again]
        return lines or ["All specified packages are already installed."]


# ---------------------------------------------------------------- several states, one transaction


def _done() -> dict[str, Any]:
    """What was installed for states whose turn is still to come: package -> its change."""
    found: dict[str, Any] = here.store("pkg.aggregated").setdefault("done", {})
    return found


def _others(name: str) -> frozenset[str]:
    """The packages that the state that runs now installs for others."""
    chunk = here.chunk
    found: frozenset[str] = here.store("pkg.aggregated").get(
        (chunk.id, name) if chunk else None, frozenset()
    )
    return found


def mod_aggregate(
    low: dict[str, Any], chunks: list[dict[str, Any]], running: dict[str, Any]
) -> dict[str, Any]:
    """pkg.installed with the packages of other such states that install in the same way."""
    if low.get("fun") != "installed" or low.get("sources") is not None:
        return low
    own = packages.wanted(low["name"], _text(low.get("version")), low.get("pkgs"), None)
    others: dict[str, str | None] = {}
    for chunk in chunks:
        if chunk.get("fun") == "installed" and _how(chunk) == _how(low) and "sources" not in chunk:
            more = packages.wanted(
                chunk["name"], _text(chunk.get("version")), chunk.get("pkgs"), None
            )
            combine_plans = {**own, **others}
            if all(combine_plans.get(each, want) == want for each, want in more.items()):
                others |= {each: want for each, want in more.items() if each not in own}
    if not others:
        return low
    here.store("pkg.aggregated")[(low["__id__"], low["name"])] = frozenset(others)
    listed = [each if want is None else {each: want} for each, want in {**own, **others}.items()]
    return {**{key: value for key, value in low.items() if key != "version"}, "pkgs": listed}


def _how(low: Mapping[str, Any]) -> dict[str, Any]:
    """What a state says of how to install."""
    import inspect

    arguments = inspect.signature(installed).parameters
    return {key: value for key, value in low.items() if key in arguments and key not in OWN}


def _text(version: object) -> str | None:
    return None if version is None else str(version)
