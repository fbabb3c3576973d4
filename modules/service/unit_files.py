"""Unit files of systemd: where they lie, and what systemd-analyze says of them before they do."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from modules import cmd, file
from runner.api import Record, fetcher, here

FOLDER = "/etc/systemd/system"


class Verdict(Record):
    """The judgement of systemd-analyze of units.

    errors: why systemd would refuse one; empty when it would not. warnings: what it ignores.
    programs: those that the units start and that are not there.
    """

    errors: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()


@fetcher
def verify(files: Mapping[str, str], units: tuple[str, ...]) -> Verdict:
    """Have systemd-analyze verify units that are not installed yet.

    files: texts by their paths below FOLDER. units: the names of those to verify.
    """
    folder = f"{here.scratch()}/units"
    for path, text in files.items():
        copy = path.replace(FOLDER, folder, 1)
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        with open(copy, "w", encoding="utf-8") as stream:
            stream.write(text)
    paths = [f"{folder}/{unit}" for unit in units]
    done = cmd.probe(["systemd-analyze", "verify", "--man=no", *paths])
    lines = tuple(
        line.replace(folder, FOLDER)
        for line in done.stderr.splitlines()
        if folder in line or any(line.startswith(f"{unit}:") for unit in units)
    )
    if not done.retcode:
        return Verdict(warnings=lines)
    missing = re.findall(r"Command (\S+) is not executable: No such file", done.stderr)
    return Verdict(lines or tuple(done.stderr.strip().splitlines()), programs=tuple(missing))


def installed_text(unit: str) -> str | None:
    """The text of a unit that is installed; None where there is none."""
    done = cmd.probe(["systemctl", "show", "--property=FragmentPath", "--value", "--", unit])
    path = done.stdout.strip()
    return file.read_bytes(path).decode("utf-8", "replace") if file.is_file(path) else None
