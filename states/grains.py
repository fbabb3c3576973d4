# SPDX-License-Identifier: Apache-2.0
"""Static grains: what only its owner knows about this machine, kept in the file `grains` beside the
configuration.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from modules import grains
from modules.grains import static
from runner.api import Done, NotEmpty, OneOrMany, Plan, Planned, StateFailed
from runner.api.opposite import Opposite, Removal

_NONE: Any = object()


def exists(name: str, delimiter: str = ":") -> str:
    """Make sure that a grain is there; changes nothing.

    name: The grain, nested ones as a:b.
    delimiter: The text between the parts of the name.

        roles:
          grains.exists: []
    """
    name = name.replace(delimiter, ":")
    if _value(name) is _NONE:
        raise StateFailed("Grain does not exist", missing=("grain", name))
    return "Grain exists"


def present(name: str, value: Any, delimiter: str = ":", force: bool = False) -> Planned:
    """Make sure that a grain has a value.

    name: The grain, nested ones as a:b.
    value: The value of the grain, of any kind.
    delimiter: The text between the parts of the name.
    force: Replace lists and mappings, and a plain value by a mapping.

        datacentre:
          grains.present:
            - value: berlin-2
    """
    name = name.replace(delimiter, ":")
    old = _value(name)
    if old is not _NONE and old == value:
        return "Grain is already set"
    wanted = static.with_value(name, value, force=force)
    comment = f"Grain {name} is set to be {'added' if old is _NONE else 'changed'}"
    yield Plan(wanted, comment, provides=[("grain", name)])
    static.put(wanted)
    return f"Set grain {name} to {value}"


def absent(
    name: Annotated[str, NotEmpty()],
    destructive: bool = False,
    delimiter: str = ":",
    force: bool = False,
) -> Planned:
    """Make sure that a grain has no value.

    name: The grain, nested ones as a:b.
    destructive: Remove the name as well, not only its value.
    delimiter: The text between the parts of the name.
    force: Remove lists and mappings, too.

        old_role:
          grains.absent:
            - destructive: True

    Behaviour: Salt 3008's grains.absent. What the machine itself says of a grain is not removed by
    it.
    """
    name = name.replace(delimiter, ":")
    old = _value(name)
    if old is _NONE:
        return Done(f"Grain {name} does not exist", missing=[("grain", name)])
    if old is None and not destructive:
        return "Grain is already set"
    if not destructive:
        emptied = static.with_value(name, None, force=force)
        yield Plan(
            {"grain": name, "value": None}, f"Value for grain {name} is set to be deleted (None)"
        )
        static.put(emptied)
        return f"Value for grain {name} was set to None"
    if isinstance(old, dict | list) and not force:
        raise StateFailed(f"The key '{name}' {static.IS_NESTED}")
    rest = static.without(name)
    if rest is None and name not in static.read():
        raise StateFailed(
            f"Grain {name} is not in {static.place()}: only static grains can be removed"
        )
    yield Plan({"deleted": name}, f"Grain {name} is set to be deleted")
    if rest is None:
        static.drop(name)
    else:
        static.put(rest)
    return f"Grain {name} was deleted"


def append(name: str, value: Any, convert: bool = False, delimiter: str = ":") -> Planned:
    """Make sure that a grain that is a list has a value.

    name: The grain, nested ones as a:b; it has to be there.
    value: A value, or a list of them.
    convert: Make a list of a grain that is none.
    delimiter: The text between the parts of the name.

        roles:
          grains.append:
            - value: web

    Behaviour: Salt 3008's grains.append; of a list of values only those that are missing are added.
    """
    name = name.replace(delimiter, ":")
    old = _value(name)
    if old is _NONE:
        raise StateFailed(f"Grain {name} does not exist", missing=("grain", name))
    if not isinstance(old, list) and not convert:
        raise StateFailed(f"Grain {name} is not a valid list")
    present_values = old if isinstance(old, list) else [old]
    missing = _missing(value, present_values)
    if not missing:
        return f"Value {value} is already in the list for grain {name}"
    comment = f"Value {value} in grain {name} is set to be added"
    if present_values is not old:
        comment = f"Grain {name} is set to be converted to list and value {value} will be added"
    wanted = static.with_list(name, [*present_values, *missing])
    yield Plan({"added": value}, comment)
    static.put(wanted)
    return f"Value {value} was added to grain {name}"


def list_present(name: str, value: Any, delimiter: str = ":") -> Planned:
    """Make sure that a list of the grains has a value or some; the list is made when it is missing.

    name: The grain, nested ones as a:b.
    value: A value, or a list of them.
    delimiter: The text between the parts of the name.

        roles:
          grains.list_present:
            - value: [web, cache]
    """
    name = name.replace(delimiter, ":")
    old = _value(name)
    present_values = [] if old is _NONE or old is None else old
    if not isinstance(present_values, list):
        raise StateFailed(f"Grain {name} is not a valid list")
    missing = _missing(value, present_values)
    if not missing:
        return f"Value {value} is already in grain {name} (or pending)"
    wanted = static.with_list(name, [*present_values, *missing])
    shown = missing if isinstance(value, list) else value
    comment = (
        f"Value {shown} is set to be appended to grain {name}"
        if present_values
        else f"Grain {name} is set to be added"
    )
    yield Plan({"new": wanted}, comment, provides=[("grain", name)])
    static.put(wanted)
    known = [item for item in value if item not in missing] if isinstance(value, list) else []
    before = (
        f'Removed value {known} from update due to value found in "{name}" (or pending).\n'
        if known
        else ""
    )
    return f"{before}Append value {shown} to grain {name}"


def list_absent(name: str, value: OneOrMany[Any], delimiter: str = ":") -> Planned:
    """Make sure that a list of the grains does not have a value or some.

    name: The grain, nested ones as a:b.
    value: A value, or a list of them.
    delimiter: The text between the parts of the name.

        roles:
          grains.list_absent:
            - value: cache
    """
    name = name.replace(delimiter, ":")
    current = _value(name)
    if current is _NONE or current is None:
        return Done(f"Grain {name} does not exist", missing=[("grain", name)])
    if not isinstance(current, list):
        raise StateFailed(f"Grain {name} is not a valid list")
    present_values = [item for item in value if item in current]
    if not present_values:
        lines = (f"Value {item} is absent from grain {name}" for item in value)
        return Done("\n".join(lines), missing=[("grain", name)])
    wanted = static.with_list(name, [item for item in current if item not in present_values])
    yield Plan(
        {"deleted": present_values},
        _listing(value, present_values, name, f"in grain {name} is set to be deleted"),
    )
    static.put(wanted)
    return _listing(value, present_values, name, f"was deleted from grain {name}")


def _listing(values: list[Any], present_values: list[Any], name: str, of_those: str) -> str:
    lines = (
        f"Value {item} {of_those if item in present_values else f'is absent from grain {name}'}"
        for item in values
    )
    return "\n".join(lines)


def _value(name: str) -> Any:
    return grains.get(name, _NONE)


def _missing(value: Any, present_values: list[Any]) -> list[Any]:
    return [
        item
        for item in (value if isinstance(value, list) else [value])
        if item not in present_values
    ]


def _grain(name: str, **_: object) -> Iterator[Removal]:
    """The name of a grain goes with its value."""
    yield Removal(name, {"destructive": True})


DECIDES = {"present": "value"}
TOLD_APART_BY = "delimiter"
OPPOSITE = {"present": Opposite("absent", things=_grain)}
