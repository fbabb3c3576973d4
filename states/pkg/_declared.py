# SPDX-License-Identifier: Apache-2.0
"""pkg.declared: what no state declares goes."""

from __future__ import annotations

import fnmatch

from modules import pkg
from modules.pkg import PackageTarget, Transaction
from runner.api import (
    OPEN,
    Chunk,
    Done,
    Line,
    Name,
    OneOrMany,
    Plan,
    Planned,
    Record,
    StateFailed,
    here,
    requires_feature,
)
from states.pkg import _selection as selection
from states.pkg import _simulation as simulation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

DECLARING = ("installed", "latest", "uptodate", "held", "group_installed")


class Marks(Record):
    """Packages to be marked anew: as added for others, and as installed by hand."""

    automatic: tuple[str, ...]
    manual: tuple[str, ...]


@requires_feature("install_reasons")
def declared(name: Name, keep: OneOrMany[Line] | None = None) -> Planned:
    """Make sure that only those packages are installed that states declare, and what these need.

    A package that was installed by hand and that no pkg.installed, latest, uptodate (with pkgs),
    held or group_installed of the highstate names is marked as added for others; then all packages
    go that nothing needs any more, as by `apt autoremove`. Declared packages that came along with
    others are marked as installed by hand. A dry run lists them all, by the package manager's own
    solver. The state runs after all other states of pkg.

    These stay in any case: what the system or its package manager cannot be without (essential,
    protected and required packages of Debian, protected ones of dnf, HoldPkg and base of pacman),
    the running kernel, held packages, and what runner itself needs. Nothing is removed by a run
    that has not all SLS files of the highstate, that declares no package, or in which a state of
    pkg failed.

    name: Names the state.
    keep: Further packages that stay, with globs: what you install by hand, and what the machine
      starts and is reached by (boot loader, firmware, openssh-server) unless states declare it.

        nothing else:
          pkg.declared:
            - keep: [openssh-server, 'linux-image-*', 'grub-*', 'firmware-*']

    Idea: aconfmgr and decman (Arch Linux). Salt has nothing like it.
    """
    manager = pkg.provider()
    _refuse_partial_run()
    before = manager.list_pkgs()
    names = _declared_names()
    marks, going = _removals(names, names | _kept(simulation.present()) | pkg.indispensable())
    changes = _marked(marks, going, before)
    if not changes:
        return "Only declared packages are installed"
    simulation.plan(going)
    pending = simulation.present() != before
    yield Plan(
        changes,
        _comment(marks, going, "would be"),
        exact=not pending,
        why="other packages are to be installed or removed before" if pending else None,
        provides=OPEN,
    )
    manager.mark(marks.automatic, marks.manual)
    left = [package for package in going if package in manager.list_pkgs()]
    done = selection.carried_out(Transaction("remove", tuple(map(PackageTarget, left))), before)
    return Done(_comment(marks, going, "were"), _marked(marks, going, before) | done)


# ---------------------------------------------------------------- what is declared


def _refuse_partial_run() -> None:
    """Raise StateFailed for a run that does not tell all that is declared."""
    if missing := here.missing_sls():
        raise StateFailed(
            "Nothing is removed: this run lacks SLS files of the highstate, whose packages would"
            f" go ({', '.join(missing)}). Run the highstate"
        )
    failed = [
        f"{chunk.id} (pkg.{chunk.fun})"
        for chunk in _states()
        if (result := here.results.get(chunk.tag)) and result.result is False
    ]
    if failed:
        raise StateFailed(f"Nothing is removed, because states of pkg failed: {', '.join(failed)}")


def _states() -> Iterator[Chunk]:
    """Generate the states of pkg of the run, those included that --only or --exclude leaves out."""
    return (chunk for chunk in (*here.chunks, *here.left_out) if chunk.state == "pkg")


def _declared_names() -> set[str]:
    """Return the packages that the run declares. Raises StateFailed when there is none."""
    names = {name for chunk in _states() for name in _names(chunk)}
    if not names:
        raise StateFailed(
            "Nothing is removed: no other state of this run declares a package (pkg.installed, say)"
        )
    return names


def _kept(present: Iterable[str]) -> set[str]:
    """Return the packages to keep: what all states of pkg.declared say counts together."""
    listed = (chunk.args.get("keep") for chunk in _states() if chunk.fun == "declared")
    patterns = [
        str(pattern)
        for keep in listed
        for pattern in (keep if isinstance(keep, list) else [keep] if keep else [])
    ]
    return {one for one in present if any(fnmatch.fnmatchcase(one, part) for part in patterns)}


def _names(chunk: Chunk) -> set[str]:
    """Return the packages that a state declares."""
    if chunk.fun not in DECLARING:
        return set()
    args = chunk.args
    listed = args.get("sources") or args.get("pkgs")
    if chunk.fun == "group_installed":
        return _members(chunk)
    if chunk.fun == "uptodate" and not listed:
        return set()
    pkgs = listed if isinstance(listed, list) else None
    names = {*selection.wanted(chunk.name, None, pkgs, None)}
    manager = pkg.provider()
    if args.get("resolve_capabilities") and manager.has("capabilities"):
        names |= {*manager.resolve_capabilities(tuple(sorted(names))).values()}
    return names


def _members(chunk: Chunk) -> set[str]:
    """Return the packages of a group that is declared; optional ones stay where they are."""
    manager = pkg.provider()
    group = manager.group(chunk.name) if manager.has("groups") else None
    include = chunk.args.get("include")
    names = {str(one) for one in (include if isinstance(include, list) else [include]) if one}
    return names if group is None else names | {*group.mandatory, *group.default, *group.optional}


# ---------------------------------------------------------------- what goes


def _removals(names: set[str], stays: set[str]) -> tuple[Marks, pkg.Changes]:
    """Return the packages to mark anew, and the changes when then nothing stays that is not needed.

    names: the declared packages. stays: they and others that are not to go.
    Raises StateFailed when the package manager refuses, or would remove what is to stay.
    """
    manager = pkg.provider()
    by_hand = {*manager.manually_installed()}
    added = {*manager.list_pkgs()} - by_hand
    automatic = tuple(sorted(by_hand - stays))
    manual = tuple(sorted(added & names))
    simulated = manager.simulate_marks(automatic, manual)
    if simulated.changes is None or stays & {*simulated.changes}:
        # it would take what came along with others and is to stay all the same
        manual = tuple(sorted(added & stays))
        simulated = manager.simulate_marks(automatic, manual)
    if simulated.changes is None:
        raise StateFailed(
            f"Nothing is removed: {simulated.refusal or 'the package manager does not say why'}"
        )
    if lost := sorted(stays & {*simulated.changes}):
        raise StateFailed(
            f"Nothing is removed: the package manager would remove {', '.join(lost)}, too"
        )
    return Marks(automatic, manual), simulated.changes


def _marked(
    marks: Marks, going: pkg.Changes, before: Mapping[str, str]
) -> dict[str, dict[str, str]]:
    """Return the changes: packages that go with their version, others with their mark."""
    changes = {name: {"old": before.get(name, ""), "new": ""} for name in sorted(going)}
    for names, old, new in (
        (marks.automatic, "manual", "automatic"),
        (marks.manual, "automatic", "manual"),
    ):
        changes |= {name: {"old": old, "new": new} for name in names if name not in going}
    return changes


def _comment(marks: Marks, going: pkg.Changes, verb: str) -> str:
    staying = [name for name in marks.automatic if name not in going]
    parts = (
        (sorted(going), f"The following packages {verb} removed"),
        (staying, f"Needed by others, the following packages {verb} marked automatic"),
        (marks.manual, f"The following packages {verb} marked as installed by hand"),
    )
    return ". ".join(f"{text}: {', '.join(names)}" for names, text in parts if names) + "."
