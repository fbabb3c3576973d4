"""pkg.held and pkg.unheld, and the argument `hold` of pkg.installed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from modules import pkg
from runner.api import Name, Plan, Planned, StateFailed, requires_feature
from states.pkg import _selection as selection
from states.pkg import _simulation as simulation
from states.pkg._selection import Names


@requires_feature("holdable")
def held(
    name: Name, version: Name | None = None, pkgs: Names | None = None, replace: bool = False
) -> Planned:
    """Make sure that packages stay at their version.

    name: one package; pkgs: several. version: accepted; a package is held, not a version.
    replace: other held packages are let go.

        linux-image-amd64:
          pkg.held: []

    Behaviour: Salt 3008's pkg.held.
    """
    wanted = [selection.name_of(each) for each in pkgs or [name]]
    has = pkg.provider().held()
    present = simulation.present()
    add = [each for each in wanted if each not in has]
    absent = tuple(each for each in add if each not in present)
    unknown = sorted(set(absent) - set(simulation.candidates(absent))) if absent else []
    if unknown:
        raise StateFailed(
            f"Unable to locate package {', '.join(unknown)}", missing=("pkg", unknown[0])
        )
    drop = [each for each in has if replace and each not in wanted]
    if not add and not drop:
        return "No changes made"
    changes = {each: _change(each, "install" if each in present else None, "hold") for each in add}
    changes |= {each: _change(each, "hold", "install") for each in drop}
    told = [f"The following package would be held: {each}" for each in add]
    yield Plan(
        changes,
        "\n".join([*told, *(f"The following package would be unheld: {each}" for each in drop)]),
    )
    pkg.provider().hold(add, drop)
    return "\n".join([*(f"Package {each} is now being held" for each in add), *map(_let_go, drop)])


@requires_feature("holdable")
def unheld(
    name: Name, version: Name | None = None, pkgs: Names | None = None, all_: bool = False
) -> Planned:
    """Make sure that packages may change their version. Arguments as those of pkg.held.

    all: whatever is held.

        linux-image-amd64:
          pkg.unheld: []

    Behaviour: Salt 3008's pkg.unheld.
    """
    has = pkg.provider().held()
    wanted = has if all_ else [selection.name_of(each) for each in pkgs or [name]]
    drop = [each for each in wanted if each in has]
    if not drop:
        return "No changes made"
    told = "\n".join(f"The following package would be unheld: {each}" for each in drop)
    yield Plan({each: _change(each, "hold", "install") for each in drop}, told)
    pkg.provider().hold([], drop)
    return "\n".join(map(_let_go, drop))


def held_packages() -> frozenset[str]:
    """Return the packages that are held; none where the package manager holds none."""
    manager = pkg.provider()
    return frozenset(manager.held()) if manager.has("holdable") else frozenset()


def _change(name: str, old: str | None, new: str) -> dict[str, Any]:
    """Salt's answer for one package."""
    told = f"Package {name} is now being held." if new == "hold" else _let_go(name)
    return {"name": name, "changes": {"old": old, "new": new}, "result": True, "comment": told}


def _let_go(name: str) -> str:
    return f"Package {name} is no longer being held."


class Holding:
    """Packages that are to be held from now on, or no longer."""

    def __init__(self, wanted: Iterable[str], hold: bool | None) -> None:
        self._names = list(wanted) if hold is not None else []
        self._hold = hold
        has = pkg.provider().held() if hold is not None else []
        self.add = [each for each in self._names if hold and each not in has]
        self.drop = [each for each in self._names if not hold and each in has]
        self.changes = [*self.add, *self.drop]

    def merged(self, changes: Mapping[str, Any]) -> dict[str, Any]:
        """The changes of packages with those of their holds, a package that has both with both."""
        word = ("install", "hold") if self._hold else ("hold", "install")
        found = dict(changes)
        for each in self.changes:
            new = f"{found[each]['new']}\n{word[1]}" if each in found else word[1]
            found[each] = {"old": word[0], "new": new}
        return found

    def said(self) -> list[str]:
        word = "is already set to be held." if self._hold else "is already set not to be held."
        return [f"Package {each} {word}" for each in self._names]

    def told(self) -> list[str]:
        word = "is set to be held." if self._hold else "is set not to be held."
        return [f"Package {each} {word}" for each in self.changes]

    def done(self) -> list[str]:
        word = "is now being held." if self._hold else "is no longer being held."
        return [f"Package {each} {word}" for each in self.changes]
