# SPDX-License-Identifier: Apache-2.0
"""Restoring what is no path: users, crontabs, services, packages, settings of the kernel, mounts,
the attributes of files.

`KINDS` is the table: a kind of FormerState, and how it is looked at and restored, by the modules'
own changers. A new kind is a `before=` of the changers that alter it, and a row here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from modules.undo import _accounts, _jobs, _kernel, _packages, _services, _settings, _tools
from modules.undo._kind import Change, Future, UndoKind
from runner.api import RunnerError

KINDS: Mapping[str, UndoKind] = {
    "user": _accounts.USER,
    "password": _accounts.PASSWORD,
    "group": _accounts.GROUP,
    "lingering": _accounts.LINGERING,
    "crontab": _accounts.CRONTAB,
    "at jobs": _jobs.JOBS,
    "debconf answer": _settings.DEBCONF,
    "service": _services.SERVICE,
    "package": _packages.PACKAGE,
    "held package": _packages.HELD,
    "automatic package": _packages.AUTOMATIC,
    "alternatives": _settings.ALTERNATIVES,
    "hostname": _settings.HOSTNAME,
    "locales": _settings.LOCALES,
    "attributes": _settings.ATTRIBUTES,
    "capabilities": _settings.CAPABILITIES,
    "sysctl": _kernel.SYSCTL,
    "kernel module": _kernel.MODULE,
    "mount": _kernel.MOUNT,
    "swap": _kernel.SWAP,
    "swap file": _kernel.SWAP_FILE,
    "pipx": _tools.programs("pipx"),
    "uv_tool": _tools.programs("uv_tool"),
    "flatpak": _tools.FLATPAK,
    "flatpak remote": _tools.FLATPAK_REMOTE,
    "compose project": _tools.PROJECT,
}


def _kind_named(kind: str) -> UndoKind:
    if kind not in KINDS:
        raise RunnerError(f"undo knows no {kind!r}", hint=f"it knows: {', '.join(KINDS)}")
    return KINDS[kind]


def look(kind: str, name: str = "") -> dict[str, Any]:
    """The present state of a part of the machine, as undo restores it; empty when it is not there.
    Raises RunnerError for an unknown kind.

    name: of a package may be empty: all packages.

        runner call undo.look user zoe
    """
    return dict(_kind_named(kind).look(name))


def refusals(kind: str, changes: Mapping[str, Change], future: Future) -> dict[str, str]:
    """The names that cannot be restored, with the reasons. Raises RunnerError for an unknown kind.

    changes: name -> (what it was, what it is now). future: gives the state of a part of the machine
    after what is restored before.
    """
    return _kind_named(kind).refusals(changes, future)


def notes(kind: str, changes: Mapping[str, Change]) -> dict[str, str]:
    """What of those that are restored will not be as it was, by name. Raises RunnerError for an
    unknown kind.

    changes: as of undo.restore.
    """
    return _kind_named(kind).notes(changes)


def restore(kind: str, changes: Mapping[str, Change]) -> None:
    """Restore parts of the machine of one kind. Raises RunnerError for an unknown kind, StateFailed
    where something stands in the way.

    changes: name -> (what it was, what it is now).
    """
    _kind_named(kind).restore(changes)


def is_private(kind: str) -> bool:
    """Return whether only undo may see the states of a kind. Raises RunnerError for an unknown
    kind.
    """
    return _kind_named(kind).private


def part_of(kind: str) -> str:
    """The kind that things of this kind come and go with; empty when there is none. Raises
    RunnerError for an unknown kind.
    """
    return _kind_named(kind).part_of


def along(kind: str) -> tuple[str, ...]:
    """The kinds that a change of this kind may change, too."""
    return KINDS[kind].along if kind in KINDS else ()


def can_react(kind: str, name: str, future: Future) -> bool:
    """Return whether something may react to what it watches: a service that will not run has no
    need to.

    future: gives the state of a part of the machine after what is restored.
    """
    return kind not in KINDS or KINDS[kind].can_react(future(kind, name))
