# SPDX-License-Identifier: Apache-2.0
"""Profiles of AppArmor. Salt has nothing like it."""

from __future__ import annotations

from collections.abc import Iterator

from modules import file
from modules.security import apparmor
from runner.api import Name, Plan, Planned
from runner.api.claims import VALUE, Claim
from runner.api.offline import offline_as
from states._rights import only_root

dry_run_check = only_root("apparmor_parser")

_LINKS = {"enforce": None, "complain": "force-complain", "disabled": "disable"}


def owns(fun: str, name: str, **_: object) -> Iterator[Claim]:
    """The mode of a profile."""
    yield Claim(VALUE, f"apparmor {name}", "mode", values=(fun,))


def enforced(name: Name) -> Planned:
    """Make sure that a profile is loaded and enforced, now and after a restart.

    name: The profile: its file in /etc/apparmor.d, or the path of its program.

        usr.sbin.tcpdump:
          apparmor.enforced: []
    """
    return (yield from _in_mode(name, "enforce"))


def complain(name: Name) -> Planned:
    """Make sure that a profile is loaded and only logs what it would refuse, now and after a
    restart.

    name: as of apparmor.enforced.

        /usr/sbin/tcpdump:
          apparmor.complain: []
    """
    return (yield from _in_mode(name, "complain"))


def disabled(name: Name) -> Planned:
    """Make sure that a profile is not loaded, now and after a restart.

    name: as of apparmor.enforced.

        usr.sbin.tcpdump:
          apparmor.disabled: []
    """
    return (yield from _in_mode(name, "disabled"))


@offline_as(lambda path, wanted: dict.fromkeys(apparmor.names(path), wanted))  # links say it
def _modes(path: str, wanted: str) -> dict[str, str]:
    """The modes of the profiles of a file; wanted: the one that they should have."""
    loaded = apparmor.status()
    return {profile: loaded.get(profile, "disabled") for profile in apparmor.names(path)}


def _in_mode(name: str, wanted: str) -> Planned:
    path = apparmor.path_of(name)
    modes = _modes(path, wanted)
    changes = {
        profile: {"old": mode, "new": wanted} for profile, mode in modes.items() if mode != wanted
    }
    kind = _LINKS[wanted]
    marked = [
        other for other in ("disable", "force-complain") if file.lexists(apparmor.link(path, other))
    ]
    if not changes and marked == ([kind] if kind else []):
        return f"The profile {name} is in the correct state"
    start = {"old": ", ".join(marked) or "enforce", "new": kind or "enforce"}
    if not changes:
        changes = {"at the next start": start}
    yield Plan(changes, f"The profile {name} is set to be changed to {wanted}")
    if wanted != "disabled":
        apparmor.mark(path, kind)
        apparmor.load(path, complain=wanted == "complain")
    else:
        if any(mode != "disabled" for mode in modes.values()):
            apparmor.unload(path)
        apparmor.mark(path, kind)
    return f"The profile {name} was changed to {wanted}"
