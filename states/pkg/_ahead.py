"""What the package manager is asked once for all states of a run, and what a dry run knows of those
before.

A state brings what it asks for and what that needs, as far as nothing before it has brought that.
One simulation for all states of a kind, taken apart along the dependencies, tells it; where that is
not certain, the state is simulated alone.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from modules import pkg
from modules.pkg.need import Need
from runner.api import Chunk, StateFailed, here
from states.pkg import _wanted as packages

Changes = dict[str, dict[str, str]]
_Names = tuple[str, ...]
_NAME = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9.+_:-]*\Z")
_INSTALLING = ("installed", "latest")
_LOOKED_UP = (*_INSTALLING, "downloaded", "held")


def present() -> dict[str, str]:
    """The packages with their versions that are installed, or will be once the plans of this dry
    run are done.
    """
    found = pkg.list_pkgs()
    plans = here.store("pkg.planned")
    if not plans or not here.dry:  # what is only planned (no-op) is not there for a state that runs
        return found
    found = dict(found)
    for tag, changes in plans.items():
        done = here.results.get(tag)
        if (
            done is None or done.result is not None
        ):  # looked at for another state, or it failed after all
            continue
        for name, change in changes.items():
            if change["new"]:
                found[name] = change["new"]
            else:
                found.pop(name, None)
    return found


def plan(changes: Changes) -> None:
    """Keep in mind what the state that runs now will do."""
    if here.dry and here.chunk:
        here.store("pkg.planned")[here.chunk.tag] = changes


def candidates(names: Collection[str]) -> dict[str, str]:
    """The newest versions of packages; asked once for all that the states of this run name."""
    kept = here.store("pkg.ahead")
    if "names" not in kept:
        kept["names"] = {name for chunk in here.chunks for name in _names(chunk, _LOOKED_UP)}
    found = pkg.provider().candidates(tuple(sorted({*kept["names"], *names})))
    return {name: found[name] for name in names if name in found}


def known(names: Iterable[str], refresh: bool | None, valid: int) -> tuple[dict[str, str], bool]:
    """The newest versions that could be installed, and whether this is certain.

    The lists are renewed when asked, or when a name is not known; a dry run does not, and cannot
    know.
    """
    names = tuple(names)
    certain = packages.refresh_lists(valid) if refresh else True
    newest = candidates(names)
    if refresh is None and set(names) - set(newest):
        certain = packages.refresh_lists(valid)
        newest = candidates(names)
    return newest, certain


def to_install(targets: Mapping[str, str], options: list[str]) -> Changes | None:
    """What installing would change, the plans of this dry run done; None when the package manager
    cannot say.

    targets: each package as the package manager is told.
    """
    before = present()
    found = (
        _share(targets, options, before)
        if all(name == told for name, told in targets.items())
        else None
    )
    if found is None:
        found = pkg.provider().simulate("install", list(targets.values()), options)
    if found is None:
        return None
    return _beyond(before, found)


def to_remove(names: Collection[str]) -> Changes | None:
    """What removing would change, the plans of this dry run done; None when the package manager
    cannot say.
    """
    before = present()
    asked = _removals()
    whole = (
        pkg.provider().foresee("remove", asked, ())
        if len(asked) > len(names) and {*names} <= {*asked}
        else None
    )
    if whole is not None and whole.keys() == set(asked) and not _connected(tuple(sorted(whole))):
        return {name: whole[name] for name in names}
    found = pkg.provider().simulate("remove", list(names))
    if found is None:
        refuse("remove", names, [])
    return None if found is None else _beyond(before, found)


def to_upgrade() -> Changes:
    """What bringing all packages to their newest version would change, the plans of this dry run
    done.
    """
    found = pkg.provider().simulate("dist-upgrade", [])
    if found is None:
        refuse("dist-upgrade", [], [])
    return _beyond(present(), found or {})


def refuse(action: str, targets: Collection[str], options: list[str], told: str = "") -> None:
    """Raise StateFailed with what the package manager has against a change, told what failed; it
    may have nothing.
    """
    if why := pkg.provider().refusal(action, list(targets), options):
        raise StateFailed(told + why, missing=packages.LISTS)


def _beyond(before: Mapping[str, str], found: Changes) -> Changes:
    """Changes without those that are planned already."""
    return {
        name: {"old": before.get(name, ""), "new": change["new"]}
        for name, change in found.items()
        if before.get(name, "") != change["new"] or change["old"] == change["new"]
    }


def _share(names: Collection[str], options: list[str], before: Mapping[str, str]) -> Changes | None:
    """A state's share of what all states with its options would change together; None when that is
    not certain.
    """
    there = pkg.list_pkgs()
    states = _together(options, there)
    while any({*names} <= {*each} for each in states) and len(states) > 1:
        asked = tuple(sorted({name for each in states for name in each}))
        whole = pkg.provider().foresee("install", asked, tuple(options))
        if whole is not None and all(change["new"] for change in whole.values()):
            needs = pkg.provider().needs(tuple(sorted(whole)))
            return _Closure(
                whole, needs, there, before, asked, "--no-install-recommends" not in options
            ).of(names)
        half = (
            len(states) // 2
        )  # some do not go together, or something has to go: which state's doing is it?
        states = (
            states[:half] if any({*names} <= {*each} for each in states[:half]) else states[half:]
        )
    return None


class _Closure:
    """What packages bring along, of what is brought for all."""

    def __init__(
        self,
        whole: Changes,
        needs: Mapping[str, list[Need]],
        there: Mapping[str, str],
        before: Mapping[str, str],
        asked: Collection[str],
        recommends: bool,
    ) -> None:
        self._whole, self._needs, self._there, self._asked, self._recommends = (
            whole,
            needs,
            there,
            asked,
            recommends,
        )
        self._met = {
            name
            for name, version in before.items()
            if whole.get(name, {"new": version})["new"] == version
        }

    def of(self, names: Collection[str]) -> Changes | None:
        found: set[str] = set()
        todo = list(names)
        while todo:
            each = todo.pop()
            if each in found or each in self._met:
                continue
            if each not in self._whole or each in self._there:
                # something that is installed already changes with it: perhaps for another state
                return None
            found.add(each)
            for need in self._needs.get(each, ()):
                brought = self._brought(need, names)
                if brought is None:
                    return None
                todo += brought
        return {name: change for name, change in self._whole.items() if name in found}

    def _brought(self, need: Need, names: Collection[str]) -> list[str] | None:
        """What meets a need; nothing when it is met; None when that is not certain."""
        every = {name for names in need.alternatives for name in names}
        if (
            not every
            or every & self._met
            or every & set(names)
            or (need.weak and not self._recommends)
        ):
            return []
        first = [name for name in need.alternatives[0] if name in self._whole]
        if len(first) != 1 or (first[0] in self._asked and first[0] != need.alternatives[0][0]):
            return None
        return first


def _connected(names: tuple[str, ...]) -> bool:
    """Whether one of these packages needs another one."""
    needs = pkg.provider().needs(names)
    return any(
        {*names} & {each for alternative in need.alternatives for each in alternative} - {name}
        for name in names
        for need in needs.get(name, ())
    )


def _together(options: list[str], there: Mapping[str, str]) -> list[_Names]:
    """What each state with these options asks for without a version, and that is not there."""
    same = [
        chunk for chunk in here.chunks if chunk.state == "pkg" and _options(chunk.args) == options
    ]
    asked = [_names(chunk, _INSTALLING, versions=False) for chunk in same]
    newest = candidates({name for names in asked for name in names})
    known = [
        tuple(name for name in names if name in newest and name not in there) for names in asked
    ]
    return [names for names in known if names]


def _removals() -> tuple[str, ...]:
    there = pkg.list_pkgs()
    return tuple(
        sorted(
            {name for chunk in here.chunks for name in _names(chunk, ("removed",)) if name in there}
        )
    )


def _options(args: Mapping[str, Any]) -> list[str]:
    """What apt-get is told for a state, by what it says."""
    extra = any(args.get(key) for key in ("reinstall", "update_holds", "force_conf_new"))
    told = packages.options(
        args.get("fromrepo"),
        args.get("skip_verify", False),
        args.get("install_recommends", True),
        args.get("only_upgrade", False),
    )
    return [*told, "alone"] if extra else told


def _names(chunk: Chunk, functions: Iterable[str], versions: bool = True) -> list[str]:
    """The packages that a state names, if it is one of some functions."""
    args = chunk.args
    if chunk.state != "pkg" or chunk.fun not in functions or args.get("sources") is not None:
        return []
    listed = args.get("pkgs")
    try:
        found = packages.wanted(
            chunk.name, None, listed if isinstance(listed, list) else None, None
        )
    except StateFailed:
        return []
    alone = args.get("version") is not None and not versions
    return (
        []
        if alone
        else [
            name for name, want in found.items() if _NAME.match(name) and (versions or want is None)
        ]
    )


__all__ = [
    "Changes",
    "candidates",
    "known",
    "plan",
    "present",
    "refuse",
    "to_install",
    "to_remove",
    "to_upgrade",
]
