# SPDX-License-Identifier: Apache-2.0
"""dpkg's record of what is installed, as plans would leave it: apt-get simulates on a copy."""

from __future__ import annotations

from modules import _paths, file
from modules.pkg.apt import questions
from modules.pkg.apt.questions import STATUS, UPDATES
from runner.api import here, pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

_STATUS = pattern(r"(?m)^(Status: )(?:install|hold)\b")
Row = tuple[str, str, str, str, str]  # name, what is wanted, state, version, architecture


def rows() -> list[Row] | None:
    """Return what dpkg says of each package; None where dpkg itself has to be asked."""
    try:
        if _paths.listdir(UPDATES):
            return None
        with _paths.open_bytes(STATUS) as file_:
            return rows_of(file_.read().decode("latin-1"))  # the fields that are read are ASCII
    except OSError:
        return None


def rows_of(text: str) -> list[Row] | None:
    """The rows of a text as dpkg writes it; None for any other."""
    found = []
    for entry in text.split("\n\n"):
        if not entry:
            continue
        end = entry.find("\n")
        status = entry.find("\nStatus: ", end)
        if not entry.startswith("Package: ") or status < 0:
            return None
        words = entry[status + 9 :].partition("\n")[0].split(" ")
        if len(words) != 3:
            return None
        wanted, _, state = words
        built_for = version = ""
        if state != "not-installed":
            at = entry.find("\nArchitecture: ", status)
            behind = entry.find("\nVersion: ", at)
            if at < 0 or behind < 0:
                return None
            built_for = entry[at + 15 : entry.find("\n", at + 15)]
            version = entry[behind + 10 :].partition("\n")[0]
        found.append((entry[9:end], wanted, state, version, built_for))
    return found


def row(line: str) -> Row:
    """A row in the words of dpkg-query."""
    name, wanted, state, version, built_for = line.split("\t")
    return name, wanted, state, version, built_for


def planned_status(versions: Mapping[str, str], held: Collection[str]) -> list[str]:
    """Return the options by which apt-get takes packages for installed in other versions, "" for
    those that are not. held: those that are held.
    """
    path = f"{here.scratch()}/status"
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as copy:
        for entry in (*_remaining(versions), *_installed(versions)):
            name = entry.partition("\n")[0].removeprefix("Package: ")
            copy.write(_STATUS.sub(r"\1hold" if name in held else r"\1install", entry, count=1))
    return ["-o", f"Dir::State::status={path}"]


def _remaining(versions: Mapping[str, str]) -> Iterator[str]:
    """The entries of packages that stay as they are."""
    text = file.read_bytes(STATUS).decode("utf-8", "surrogateescape")
    for entry in text.split("\n\n"):
        name = entry.partition("\n")[0].removeprefix("Package: ")
        if entry.strip() and name not in versions:
            yield f"{entry.strip()}\n\n"


def _installed(versions: Mapping[str, str]) -> Iterator[str]:
    """The entries that other packages will have."""
    words = [f"{name}={version}" for name, version in versions.items() if version]
    shown = questions.probe("apt-cache", "show", "--", *words).stdout if words else ""
    for entry in shown.split("\n\n"):
        first, _, rest = entry.strip().partition("\n")
        if first:
            yield f"{first}\nStatus: install ok installed\n{rest}\n\n"
