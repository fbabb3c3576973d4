# SPDX-License-Identifier: Apache-2.0
"""The changes that transactions would make: asked once for all states of a run, with the plans of a
dry run done.

A state brings what it asks for and what that needs, as far as nothing before it has brought that.
One simulation for all states of a kind, taken apart along the dependencies, tells it; where that is
not certain, the state is simulated alone.
"""

from __future__ import annotations

from contextlib import suppress

from modules import pkg
from modules.pkg import Changes, InstallOptions, Need, PackageTarget, Simulation, Transaction
from runner.api import Chunk, CommandFailed, Plan, StateFailed, here, pattern
from states.pkg import _selection as selection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

_Names = tuple[str, ...]
_NAME = pattern(r"[a-zA-Z0-9][a-zA-Z0-9.+_:-]*\Z")
_INSTALLING = ("installed", "latest")
_LOOKED_UP = (*_INSTALLING, "downloaded", "held")


def present() -> dict[str, str]:
    """The packages with their versions that are installed, or will be once the plans of this dry
    run are done.
    """
    return pkg.list_pkgs()


def ahead(
    plan: Plan, look: Callable[[], Plan | None], check: Callable[[], None] = lambda: None
) -> Plan:
    """A Plan with what a dry run asks the package manager for; with a check alone, where it is to
    ask nothing.
    """

    def unasked() -> Plan:
        check()
        return plan._replace(exact=False, why="`foresee: {packages: never}` asks for nothing more")

    return plan._replace(in_dry_run=look if pkg.asks_ahead() else unasked)


plan = pkg.note_plan
brought = pkg.brought


def candidates(names: Collection[str]) -> dict[str, str]:
    """The newest versions of packages; asked once for all that the states of this run name."""
    versions = pkg.provider().candidates(tuple(sorted({*_looked_up(), *names})))
    return {name: versions[name] for name in names if name in versions}


def _looked_up() -> set[str]:
    store = here.store("pkg.ahead")
    if "names" not in store:
        store["names"] = {name for chunk in here.chunks for name in _names(chunk, _LOOKED_UP)}
    names: set[str] = store["names"]
    return names


def provided(names: Sequence[str]) -> dict[str, str]:
    """The packages that provide names which are no packages; asked once for all such names of this
    run, where each is clear.
    """
    manager = pkg.provider()
    others = _looked_up() - present().keys()
    every = {*others - candidates(others).keys(), *names}
    with suppress(CommandFailed):
        return manager.resolve_capabilities(tuple(sorted(every)))
    return manager.resolve_capabilities(tuple(names))


def known(names: Iterable[str], refresh: bool | None, valid: int) -> tuple[dict[str, str], bool]:
    """The newest versions that could be installed, and whether this is certain.

    The lists are renewed when asked, or when a name is not known; a dry run does not, and cannot
    know.
    """
    names = tuple(names)
    certain = selection.refresh_lists(valid) if refresh else True
    newest = candidates(names)
    if refresh is None and set(names) - set(newest):
        certain = selection.refresh_lists(valid)
        newest = candidates(names)
    return newest, certain


def to_install(targets: Mapping[str, PackageTarget], options: InstallOptions) -> Changes | None:
    """Return what installing would change, the plans of this dry run done; None when the package
    manager cannot say.

    targets: by the names that the state has for them.
    """
    before = present()
    plain = all(target == PackageTarget(name) for name, target in targets.items())
    changes = _share(targets, options, before) if plain else None
    if changes is None:
        return _simulated(Transaction("install", tuple(targets.values()), options)).changes
    return _beyond(before, changes)


def _simulated(transaction: Transaction) -> Simulation:
    """Return what a transaction would change, the plans of this dry run done."""
    manager = pkg.provider()
    versions = pkg.planned_changes()
    if manager.has("simulates_plans"):
        holds = tuple(sorted(pkg.list_holds()))
        if versions or holds != tuple(sorted(manager.held())):
            return manager.simulate_after(transaction, tuple(sorted(versions.items())), holds)
    simulation = manager.simulate(transaction)
    if simulation.changes is None or not versions:
        return simulation
    changes = _beyond(present(), simulation.changes)
    if transaction.action == "install":  # what is there now, and will be gone
        newest = candidates([name for name in versions if not versions[name]])
        for target in transaction.targets:
            if versions.get(target.name) == "" and target.name in newest:
                new = target.version or newest[target.name]
                changes.setdefault(target.name, {"old": "", "new": new})
    return simulation._replace(changes=changes)


def to_remove(names: Collection[str]) -> Changes | None:
    """Return what removing would change, the plans of this dry run done; None when the package
    manager cannot say.
    """
    manager = pkg.provider()
    asked = () if any(pkg.planned_changes().values()) else _removals()
    if len(asked) > len(names) and {*names} <= {*asked} and manager.has("dependencies"):
        whole = manager.simulate(_removal(asked)).changes
        if whole and whole.keys() == {*asked} and not _connected(tuple(sorted(whole))):
            return {name: whole[name] for name in names}
    return _alone(_removal(names))


def to_purge(names: Collection[str]) -> Changes | None:
    """Return what purging would remove, as to_remove does."""
    return _alone(Transaction("purge", tuple(map(PackageTarget, names))))


def _alone(transaction: Transaction) -> Changes | None:
    """Return what a transaction would change. Raises StateFailed where it is refused."""
    changes = _simulated(transaction).changes
    if changes is None:
        refuse(transaction)
    return changes


def _removal(names: Iterable[str]) -> Transaction:
    return Transaction("remove", tuple(map(PackageTarget, names)))


def to_upgrade(transaction: Transaction) -> tuple[Changes, tuple[str, ...]]:
    """Return what bringing all packages to their newest version would change, the plans of this dry
    run done, and the packages that are kept back.
    """
    return _alone(transaction) or {}, _simulated(transaction).kept


def unneeded() -> Changes:
    """Return what goes when nothing stays that came along with others and that nothing needs any
    more, the plans of this dry run done.
    """
    return _alone(Transaction("autoremove")) or {}


def refuse(transaction: Transaction, problem: str = "") -> None:
    """Raise StateFailed with what the package manager has against a transaction, which may be
    nothing.

    problem: the beginning of the message.
    """
    if why := _simulated(transaction).refusal:
        lists = None if transaction.action in ("remove", "purge") else selection.LISTS
        raise StateFailed(problem + why, missing=lists)


def _beyond(before: Mapping[str, str], changes: Changes) -> Changes:
    """Changes without those that are planned already."""
    return {
        name: {"old": before.get(name, ""), "new": change["new"]}
        for name, change in changes.items()
        if before.get(name, "") != change["new"] or change["old"] == change["new"]
    }


def _share(
    names: Collection[str], options: InstallOptions, before: Mapping[str, str]
) -> Changes | None:
    """Return a state's share of what all states with its options would change together; None when
    that is not certain.
    """
    manager = pkg.provider()
    if _chooses_sources(options) or not manager.has("dependencies"):
        return None
    there = manager.list_pkgs()
    states = every = _asked_with(options, there)
    while any({*names} <= {*asked} for asked in states) and len(states) > 1:
        together = tuple(sorted({name for asked in states for name in asked}))
        transaction = Transaction("install", tuple(map(PackageTarget, together)), options)
        whole = manager.simulate(transaction).changes
        if whole is not None and all(change["new"] for change in whole.values()):
            if len(states) < len(every) and not _holds_plans(whole):
                return None  # what they do not go together with may have been planned
            pkg.note_coming(whole)
            needs = manager.needs(tuple(sorted(whole)))
            closure = _Closure(whole, needs, there, before, together, options.recommended)
            return closure.of(names)
        # some do not go together, or something has to go: which state's doing is it?
        half = len(states) // 2
        first = any({*names} <= {*asked} for asked in states[:half])
        states = states[:half] if first else states[half:]
    return None


def _holds_plans(whole: Changes) -> bool:
    """Return whether a transaction has all that the plans of this dry run so far install."""
    planned = pkg.planned_changes().items()
    return all(version and whole.get(name, {}).get("new") == version for name, version in planned)


def _chooses_sources(options: InstallOptions) -> bool:
    """Return whether packages may come in another version than what they need is known of."""
    words = (options.repository, options.disable_excludes)
    return any((*words, *options.enable, *options.disable, *options.settings))


class _Closure:
    """The dependencies that packages bring along, of those brought for all."""

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
        self._unchanged = {name for name in there if before.get(name) == there[name]}

    def of(self, names: Collection[str]) -> Changes | None:
        reached: set[str] = set()
        todo = list(names)
        while todo:
            package = todo.pop()
            if package in reached or package in self._met:
                continue
            if package not in self._whole:
                return None
            reached.add(package)
            for need in self._needs.get(package, ()):
                brought = self._brought(need, names)
                if brought is None:
                    return None
                todo += brought
        newer = reached & self._there.keys()
        if any(
            self._mentions(name, newer)
            for name in self._there.keys() & self._whole.keys() - reached
        ):
            return None  # what is installed may have to change with them: perhaps for another state
        return {name: change for name, change in self._whole.items() if name in reached}

    def _mentions(self, package: str, names: Collection[str]) -> bool:
        """Return whether one of these names stands in what a package needs."""
        return any(
            name in names
            for need in self._needs.get(package, ())
            for alternative in need.alternatives
            for name in alternative
        )

    def _brought(self, need: Need, names: Collection[str]) -> list[str] | None:
        """Return what meets a need; nothing when it is met; None when that is not certain."""
        every = {name for names in need.alternatives for name in names}
        if (
            not every
            or every & self._met
            or every & set(names)
            or self._unchanged.intersection(need.enough)
            or (need.weak and not self._recommends)
        ):
            return []
        first = [name for name in need.alternatives[0] if name in self._whole]
        if len(first) != 1 or (first[0] in self._asked and first[0] != need.alternatives[0][0]):
            return None
        return first


def _connected(names: tuple[str, ...]) -> bool:
    """Return whether one of these packages needs another one."""
    needs = pkg.provider().needs(names)
    return any(
        {*names}
        & {package for alternative in need.alternatives for package in alternative} - {name}
        for name in names
        for need in needs.get(name, ())
    )


def _asked_with(options: InstallOptions, there: Mapping[str, str]) -> list[_Names]:
    """Return what each state with these options asks for without a version, and that is not
    there.
    """
    same = [
        chunk
        for chunk in here.chunks
        if chunk.state == "pkg" and selection.options_of(chunk) == options
    ]
    asked = [_names(chunk, _INSTALLING, versions=False) for chunk in same]
    newest = candidates({name for names in asked for name in names})
    known = [
        tuple(name for name in names if name in newest and name not in there) for names in asked
    ]
    return [names for names in known if names]


def _removals() -> tuple[str, ...]:
    there = pkg.provider().list_pkgs()
    return tuple(
        sorted(
            {name for chunk in here.chunks for name in _names(chunk, ("removed",)) if name in there}
        )
    )


def _names(chunk: Chunk, functions: Iterable[str], versions: bool = True) -> list[str]:
    """The packages that a state names, if it is one of some functions."""
    args = chunk.args
    if chunk.state != "pkg" or chunk.fun not in functions or args.get("sources") is not None:
        return []
    listed = args.get("pkgs")
    try:
        requested = selection.wanted(
            chunk.name, None, listed if isinstance(listed, list) else None, None
        )
    except StateFailed:
        return []
    alone = args.get("version") is not None and not versions
    return (
        []
        if alone
        else [
            name
            for name, want in requested.items()
            if _NAME.match(name) and (versions or want is None)
        ]
    )
