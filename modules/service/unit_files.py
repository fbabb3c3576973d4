# SPDX-License-Identifier: Apache-2.0
"""Unit files of systemd: where they lie, and what systemd-analyze says of them before they do."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from modules import _paths, cmd, file
from modules._planned.overlay import is_planned
from modules.service import _planned_units
from modules.service.user_units import account, systemctl
from runner.api import Record, fetcher, here
from runner.api.offline import is_offline

FOLDER = "/etc/systemd/system"


class UnitVerdict(Record):
    """The judgement of systemd-analyze of units.

    errors: why systemd would refuse one; empty when it would not. warnings: what it ignores.
    programs: those that the units start and that are not there.
    """

    errors: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()


@fetcher
def verify(
    files: Mapping[str, str], units: tuple[str, ...], target: str = FOLDER, user: str = ""
) -> UnitVerdict:
    """Have systemd-analyze verify units that are not installed yet.

    files: texts by their paths below the folder target. units: the names of those to verify. user:
    they are units of this user.
    """
    folder = f"{here.scratch()}/units"
    for path, text in files.items():
        copy = path.replace(target, folder, 1)
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        with open(copy, "w", encoding="utf-8") as stream:
            stream.write(text)
    paths = [f"{folder}/{unit}" for unit in units]
    scope: list[str] = []
    env: dict[str, str] = {}
    # not in the user's own folder: what root leaves there would keep systemd from starting
    if user:
        runtime = f"{here.scratch()}/runtime"
        os.makedirs(runtime, exist_ok=True)
        scope, env = ["--user"], {"XDG_RUNTIME_DIR": runtime, "HOME": account(user).home}
    if is_offline() and not cmd.which("systemd-analyze"):
        return UnitVerdict()  # it comes later, or with another image
    done = cmd.probe(["systemd-analyze", *scope, "verify", "--man=no", *paths], env=env)
    lines = tuple(
        line.replace(folder, target)
        for line in done.stderr.splitlines()
        if folder in line or any(line.startswith(f"{unit}:") for unit in units)
    )
    if not done.retcode:
        return UnitVerdict(warnings=lines)
    missing = re.findall(r"Command (\S+) is not executable: No such file", done.stderr)
    planned = [path for path in missing if is_planned(path) and _paths.isfile(path)]
    if planned:  # systemd-analyze does not see them
        lines = tuple(line for line in lines if not any(f" {path} " in line for path in planned))
        if not lines:
            return UnitVerdict()
    return UnitVerdict(lines or tuple(done.stderr.strip().splitlines()), programs=tuple(missing))


def installed_text(unit: str, user: str = "") -> str | None:
    """The text of a unit that is installed; None where there is none. user: of this user."""
    if is_offline() or _planned_units.concerns(unit, user):
        path = _planned_units.definition(unit, user)
    else:
        asks = ("show", "--property=FragmentPath", "--value", "--", unit)
        path = cmd.probe(systemctl(user, *asks)).stdout.strip()
    return file.read_bytes(path).decode("utf-8", "replace") if file.is_file(path) else None


def ends_by_itself(unit: str, user: str = "") -> bool:
    """Return whether a service has ended when its start is done, as its files say."""
    return _planned_units.ends_by_itself(unit, user)
