# SPDX-License-Identifier: Apache-2.0
"""pkg.autoremoved: what came along with packages goes after them."""

from __future__ import annotations

from modules import pkg
from modules.pkg import PackageTarget, Transaction
from runner.api import OPEN, Done, Name, Plan, Planned, StateFailed, here
from states.pkg import _selection as selection
from states.pkg import _simulation as simulation


def autoremoved(name: Name, purge: bool = False) -> Planned:
    """Make sure that no packages are left that came along with others and that nothing needs any
    more, as by `apt autoremove`: the package manager says which. The state runs after all other
    states of pkg.

    Nothing is removed where the running kernel, or what runner or the package manager need, would
    go, too.

    name: Names the state.
    purge: Their configuration goes, too.

        leftovers:
          pkg.autoremoved: []

    Salt has nothing like it.
    """
    pending = bool(pkg.planned_changes()) and not pkg.provider().has("simulates_plans")
    going = simulation.unneeded()
    here.follows(repr(going))
    if lost := sorted(going.keys() & pkg.indispensable()):
        raise StateFailed(
            f"Nothing is removed: {', '.join(lost)} would go, too, and this machine, or runner,"
            " works by it. Name it in pkg.declared, which marks it as installed by hand"
        )
    if not going and not pending:
        return "No package is left that nothing needs any more"
    simulation.plan(going)
    yield Plan(
        going,
        f"The following packages will be removed: {', '.join(sorted(going))}.",
        exact=not pending,
        why="other packages are to be installed or removed before" if pending else None,
        provides=OPEN,
    )
    targets = tuple(map(PackageTarget, sorted(going)))
    transaction = Transaction("purge" if purge else "remove", targets)
    done = selection.carried_out(transaction, pkg.list_pkgs())
    return Done(f"The following packages were removed: {', '.join(sorted(going))}.", done)
