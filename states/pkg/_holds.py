# SPDX-License-Identifier: Apache-2.0
"""pkg.held and pkg.unheld, and the argument `hold` of pkg.installed."""

from __future__ import annotations

from modules import pkg
from runner.api import Name, Plan, Planned, StateFailed, requires_feature
from states.pkg import _selection as selection
from states.pkg import _simulation as simulation
from states.pkg._selection import Names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any


@requires_feature("holdable")
def held(
    name: Name, version: Name | None = None, pkgs: Names | None = None, replace: bool = False
) -> Planned:
    """Make sure that packages stay at their version.

    name: The package.
    version: Ignored; a package is held, not a version.
    pkgs: Several packages.
    replace: Let other packages go that are held.

        linux-image-amd64:
          pkg.held: []
    """
    wanted = [selection.name_of(entry) for entry in pkgs or [name]]
    has = pkg.list_holds()
    present = simulation.present()
    add = [package for package in wanted if package not in has]
    absent = tuple(package for package in add if package not in present)
    unknown = sorted(set(absent) - set(simulation.candidates(absent))) if absent else []
    if unknown:
        raise StateFailed(
            f"Unable to locate package {', '.join(unknown)}", missing=("pkg", unknown[0])
        )
    drop = [package for package in has if replace and package not in wanted]
    if not add and not drop:
        return "No changes made"
    changes = {
        package: _change(package, "install" if package in present else None, "hold")
        for package in add
    }
    changes |= {package: _change(package, "hold", "install") for package in drop}
    comments = [f"The following package would be held: {package}" for package in add]
    yield Plan(
        changes,
        "\n".join(
            [*comments, *(f"The following package would be unheld: {package}" for package in drop)]
        ),
    )
    pkg.set_holds(add, drop)
    return "\n".join(
        [*(f"Package {package} is now being held" for package in add), *map(_let_go, drop)]
    )


@requires_feature("holdable")
def unheld(
    name: Name, version: Name | None = None, pkgs: Names | None = None, all_: bool = False
) -> Planned:
    """Make sure that packages may change their version.

    name, version, pkgs: As of pkg.held.
    all: Let all packages go that are held.

        linux-image-amd64:
          pkg.unheld: []
    """
    has = pkg.list_holds()
    wanted = has if all_ else [selection.name_of(entry) for entry in pkgs or [name]]
    drop = [package for package in wanted if package in has]
    if not drop:
        return "No changes made"
    comment = "\n".join(f"The following package would be unheld: {package}" for package in drop)
    yield Plan({package: _change(package, "hold", "install") for package in drop}, comment)
    pkg.set_holds([], drop)
    return "\n".join(map(_let_go, drop))


def held_packages() -> frozenset[str]:
    """Return the packages that are held; none where the package manager holds none."""
    return frozenset(pkg.list_holds()) if pkg.provider().has("holdable") else frozenset()


def _change(name: str, old: str | None, new: str) -> dict[str, Any]:
    """Salt's answer for one package."""
    comment = f"Package {name} is now being held." if new == "hold" else _let_go(name)
    return {"name": name, "changes": {"old": old, "new": new}, "result": True, "comment": comment}


def _let_go(name: str) -> str:
    return f"Package {name} is no longer being held."


class Holding:
    """Packages that are to be held from now on, or no longer."""

    def __init__(self, wanted: Iterable[str], hold: bool | None) -> None:
        self._names = list(wanted) if hold is not None else []
        self._hold = hold
        has = pkg.list_holds() if hold is not None else []
        self.add = [package for package in self._names if hold and package not in has]
        self.drop = [package for package in self._names if not hold and package in has]
        self.changes = [*self.add, *self.drop]

    def merged(self, changes: Mapping[str, Any]) -> dict[str, Any]:
        """The changes of packages with those of their holds, a package that has both with both."""
        word = ("install", "hold") if self._hold else ("hold", "install")
        combined = dict(changes)
        for package in self.changes:
            new = f"{combined[package]['new']}\n{word[1]}" if package in combined else word[1]
            combined[package] = {"old": word[0], "new": new}
        return combined

    def said(self) -> list[str]:
        word = "is already set to be held." if self._hold else "is already set not to be held."
        return [f"Package {package} {word}" for package in self._names]

    def told(self) -> list[str]:
        word = "is set to be held." if self._hold else "is set not to be held."
        return [f"Package {package} {word}" for package in self.changes]

    def done(self) -> list[str]:
        word = "is now being held." if self._hold else "is no longer being held."
        return [f"Package {package} {word}" for package in self.changes]
