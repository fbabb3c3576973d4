# SPDX-License-Identifier: Apache-2.0
"""What the providers of package managers have in common."""

from __future__ import annotations

import fnmatch
import functools
import os
import time
from collections.abc import Callable

from modules.pkg import _stand_ins
from modules.pkg._former import former_holds, former_packages, nothing_lasting
from modules.pkg.package_manager import TOUCHED, Changes, Simulation, Transaction, Versions
from runner.api import cached_look, changer, fetcher, pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

transacts = changer(
    touches=TOUCHED, before=former_packages, planned=_stand_ins, planned_touches=["files"]
)
"""A provider's `run`."""
holds = changer(
    touches=["packages", "candidates"], before=former_holds, planned=_stand_ins, planned_touches=[]
)
"""A provider's `hold`."""

_SIZE = pattern("[0-9]{1,18}")
Solver = Callable[[Transaction], Simulation]


def size_of(text: str) -> int:
    """The bytes that a package list tells of an archive; 0, which none has, for what is no size.

    >>> size_of("70"), size_of("-1"), size_of("9" * 5000)
    (70, 0, 0)
    """
    return int(text) if _SIZE.fullmatch(text) else 0


def solved_once(*files: str) -> Callable[[Solver], Solver]:
    """A provider's `simulate`, asked once for each transaction unless it has package files.

    files: those that the answer depends on.
    """

    def wrap(solver: Solver) -> Solver:
        kept = cached_look("candidates", *files)(solver)

        @functools.wraps(solver)
        def simulate(transaction: Transaction) -> Simulation:
            from_files = any(target.path for target in transaction.targets)
            return (solver if from_files else kept)(transaction)

        return simulate

    return wrap


def renewal(renew: Callable[[], object]) -> tuple[Callable[[], Any], Callable[[], None]]:
    """Return a provider's `refresh_db` and `renew_db`, of a function that renews the package lists
    and raises CommandFailed when that fails.
    """

    @fetcher(refreshes="package lists")
    def refresh_db() -> bool:
        """Renew the package lists, at most once a run. Raises CommandFailed when that fails."""
        renew()
        return True

    @changer(touches=["package lists", "candidates"], before=nothing_lasting)
    def renew_db() -> None:
        """Renew the package lists after the repositories changed."""
        renew()

    return refresh_db, renew_db


def none_left() -> Versions:
    """The `leftovers` of a tool that keeps no account of what removed packages leave."""
    return {}


def plain_name(name: str) -> str:
    """The `normal` of a tool that has no architectures in the names of packages."""
    return name


def age(times: Iterable[float]) -> float | None:
    """Return the seconds since the last of some times; None without any."""
    last = max(times, default=None)
    return None if last is None else time.time() - last


def in_cache(path: str, seen: os.stat_result) -> dict[str, Any]:
    """Return what `archives` says of a version."""
    size, changed = seen.st_size, int(seen.st_ctime)
    return {"path": path, "size": size, "creation_date_time_t": changed}


def going(names: Iterable[str], installed: Versions) -> Changes:
    """Return the changes when packages go."""
    return {name: {"old": installed.get(name, ""), "new": ""} for name in names}


def matched(patterns: Iterable[str], installed: Iterable[str]) -> list[str]:
    """Return the packages that names and globs mean; a name need not be installed."""
    names: list[str] = []
    for each in patterns:
        names += fnmatch.filter(installed, each) if {*each} & {*"*?["} else [each]
    return list(dict.fromkeys(names))
