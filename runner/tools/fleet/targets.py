# SPDX-License-Identifier: Apache-2.0
"""Which hosts a target in Salt's words means, as far as their grains and pillar are known."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from runner.language.targeting import match
from runner.model.diagnostics import similar, suggestion
from runner.model.errors import RunnerError
from runner.model.records import Record
from runner.tools.fleet.records import Host

SHOWN = 10  # IDs that a message lists


class Unknown(match.Undecided):
    """A target asks for a grain that nobody has asked this host for."""


class HostGrains(Record):
    """The grains of a host that are known. age: seconds since the host was asked for all of them;
    None: it never was.
    """

    grains: Mapping[str, Any]
    age: float | None = None


class Selection(Record):
    """The hosts that a target means. undecided: those whose grains it needs and nobody knows;
    unrendered: those whose pillar it needs, and why there is none; age: of the oldest grains that
    were looked at in the cache.
    """

    hosts: tuple[str, ...]
    undecided: tuple[str, ...] = ()
    unrendered: Mapping[str, RunnerError] = {}
    age: float | None = None


def select(
    target: str,
    hosts: Sequence[Host],
    nodegroups: Mapping[str, Any],
    facts: Callable[[Host], HostGrains],
    pillar: Callable[[Host, Mapping[str, Any]], Mapping[str, Any]],
) -> Selection:
    """The hosts that a target means. Raises RunnerError for a target that cannot be read.

    pillar: renders the pillar of a host with these grains; it is asked only where the target does.
    """
    groups = {**_inventory_groups(hosts), **nodegroups}
    problem = match.mistake(target, "compound", groups)
    if problem:
        raise problem
    chosen, undecided, unrendered, ages = [], [], {}, []
    for host in hosts:
        grains = _Grains(host.name, facts(host))
        try:
            if match.matches(
                target,
                "compound",
                id=host.name,
                grains=grains,
                pillar=_HostPillar(host, grains, pillar),
                nodegroups=groups,
            ):
                chosen.append(host.name)
        except match.Undecided:
            undecided.append(host.name)
        except _Unrendered as error:
            unrendered[host.name] = error.error
        if grains.asked and grains.facts.age is not None:
            ages.append(grains.facts.age)
    return Selection(tuple(chosen), tuple(undecided), unrendered, max(ages, default=None))


def no_match(target: str, hosts: Sequence[Host], where: str) -> RunnerError:
    """The error of a target that means no host, with the IDs that look like it."""
    if not hosts:
        return RunnerError(
            f"there is no host in {where}", hint="an inventory lists them; see `-i`", code="match"
        )
    names = [host.name for host in hosts]
    near = similar(target, [*names, *_inventory_groups(hosts)], 3)
    if "," in target and "@" not in target:
        hint = f"a list of IDs is written L@{target}"
    elif near:
        hint = suggestion(*near)
    else:
        more = f", and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        hint = f"the hosts are {', '.join(names[:SHOWN])}{more}"
    count = f"the {len(names)} hosts" if len(names) > 1 else "the host"
    return RunnerError(f"{target!r} matches none of {count} of {where}", hint=hint, code="match")


def strangers(target: str, hosts: Sequence[Host]) -> list[str]:
    """The IDs that a target lists (`L@web1,web2`) and no host has."""
    known = {host.name for host in hosts}
    lists = (word[2:].split(",") for word in target.split() if word.startswith("L@"))
    return [name for names in lists for name in names if name and name not in known]


def _inventory_groups(hosts: Sequence[Host]) -> dict[str, list[str]]:
    """The groups of the inventory as node groups: `N@webservers`."""
    members: dict[str, list[str]] = {}
    for host in hosts:
        for group in host.groups:
            members.setdefault(group, []).append(host.name)
    return {group: [f"L@{','.join(names)}"] for group, names in members.items()}


class _Grains(Mapping[str, Any]):
    """The known grains of a host; a look at others raises Unknown, unless all are known."""

    def __init__(self, name: str, facts: HostGrains) -> None:
        self.facts, self.asked = facts, False
        self._known = {"id": name, **facts.grains}

    def __contains__(self, key: object) -> bool:
        if key in self._known:
            self.asked |= key != "id"
            return True
        # `roles:web` asks for the keys `roles` and `roles:web`
        if not any(str(key).startswith(known) for known in self._known):
            self._need_all()
        return False

    def __getitem__(self, key: str) -> Any:
        if key not in self:
            raise KeyError(key)
        return self._known[key]

    def __iter__(self) -> Iterator[str]:
        self._need_all()
        return iter(self._known)

    def __len__(self) -> int:
        self._need_all()
        return len(self._known)

    def _need_all(self) -> None:
        self.asked = True
        if self.facts.age is None:
            raise Unknown


class _Unrendered(Exception):
    """The pillar of a host cannot be rendered."""

    def __init__(self, error: RunnerError) -> None:
        super().__init__(error.message)
        self.error = error


class _HostPillar(Mapping[str, Any]):
    """The pillar of a host, rendered at the first look, which takes all of its grains."""

    def __init__(
        self,
        host: Host,
        grains: _Grains,
        render: Callable[[Host, Mapping[str, Any]], Mapping[str, Any]],
    ) -> None:
        self._host, self._grains, self._render = host, grains, render
        self._data: Mapping[str, Any] | None = None

    def _rendered(self) -> Mapping[str, Any]:
        if self._data is None:
            grains = dict(self._grains)
            try:
                self._data = self._render(self._host, grains)
            except RunnerError as error:
                raise _Unrendered(error) from None
        return self._data

    def __getitem__(self, key: str) -> Any:
        return self._rendered()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rendered())

    def __len__(self) -> int:
        return len(self._rendered())
