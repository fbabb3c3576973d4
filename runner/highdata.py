"""High data: the values between high.py, which gathers them, and low.py, which makes chunks of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from runner.model import Place, Value


class Item(NamedTuple):
    """One entry of a state's list: a function (`key` None) or an argument."""

    key: str | None
    value: Value
    place: Place


@dataclass(slots=True)
class Body:
    """One state of an ID: `file:` with what its list says. Only this stage and low.py append to it."""

    state: str
    items: list[Item]
    place: Place


@dataclass(slots=True)
class Declaration:
    """One ID with its states."""

    id: str
    sls: str
    env: str
    place: Place
    bodies: dict[str, Body] = field(default_factory=dict)
    included_from: tuple[str, ...] = ()


@dataclass(slots=True)
class HighData:
    """All declarations in the order of rendering, with what SLS files say of others' IDs."""

    declarations: dict[str, Declaration] = field(default_factory=dict)
    extends: list[Declaration] = field(default_factory=list)
    excludes: list[tuple[str, str, Place]] = field(default_factory=list)  # (sls | id, name, place)
    rendered: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)  # (env, sls) -> chain of includers
