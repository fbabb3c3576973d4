# SPDX-License-Identifier: Apache-2.0
"""Services as they were: running or not, started with the machine or not, masked or not.

A user's service is called USER/NAME.
"""

from __future__ import annotations

from modules import service
from modules.service._former import state_of
from modules.service.user_units import account
from modules.undo import _packages
from modules.undo._kind import Future, State, one_by_one
from runner.api import CommandFailed, StateFailed

# where the units and scripts of services lie
UNITS = (
    "/etc/systemd/system",
    "/usr/local/lib/systemd/system",
    "/usr/lib/systemd/system",
    "/etc/init.d",
)


STOPPED: State = {"running": False, "enabled": False, "masked": False}


def _restore(shown: str, former: State, present: State) -> None:
    owner, _, name = shown.rpartition("/")
    user = owner or None
    was, now = former or STOPPED, _look(shown)  # its unit may have come with a package or file
    if not now and was["masked"]:  # a mask needs no unit behind it
        service.mask(name, user=user)
        return
    if not now:
        raise StateFailed("there is no such service")
    if now["masked"] and not was["masked"]:
        service.unmask_(name, user=user)
    if now["running"] and not was["running"]:
        service.stop(name, user=user)
    if "runlevels" in was and "runlevels" in now:
        _restore_runlevels(name, {*was["runlevels"]}, {*now["runlevels"]})
    elif was["enabled"] != now["enabled"] and not was["masked"]:
        (service.enable if was["enabled"] else service.disable)(name, user=user)
    if was["running"] and not now["running"]:
        service.start(name, user=user)
    if was["masked"] and not now["masked"]:
        service.mask(name, user=user)


def _restore_runlevels(name: str, was: set[str], now: set[str]) -> None:
    if missing := sorted(was - now):
        service.enable(name, runlevels=missing)
    if more := sorted(now - was):
        service.disable(name, runlevels=more)


def _refused(name: str, former: State, now: State, future: Future) -> str:
    there = now or (former or STOPPED)["masked"] or _comes(name, future)
    return "" if there else "there is no such service"


def _comes(name: str, future: Future) -> bool:
    """Return whether a service that is not there may come with a file or package that is restored
    before.
    """
    owner, _, unit = name.rpartition("/")
    try:
        folders = [account(owner).folder()] if owner else UNITS
    except StateFailed:
        return False
    name = unit if "." in unit else f"{unit}.service"
    if any(future("path", f"{folder}/{name}") for folder in folders):
        return True
    return bool(future("package", "").keys() - _packages.PACKAGE.look("").keys())


def _look(name: str) -> State:
    owner, _, unit = name.rpartition("/")
    try:
        return state_of(service.services(owner), unit, owner).state
    except (CommandFailed, StateFailed):  # its user is gone, or no systemd runs for the user
        return {}


SERVICE = one_by_one(_look, _restore, _refused, can_react=lambda state: bool(state.get("running")))
