# SPDX-License-Identifier: Apache-2.0
"""From a target to hosts: those whose grains it needs and nobody knows are asked first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from runner.model.records import Record
from runner.sources.config.options import Options
from runner.tools.fleet.facts import FactsCache
from runner.tools.fleet.host_pillar import pillar_of
from runner.tools.fleet.playing import Played, grains_of
from runner.tools.fleet.records import FAILED, Host, HostOutcome
from runner.tools.fleet.targets import HostGrains, Selection, select


class Chosen(Record):
    """The hosts that a target means. unclear: what came of those that could not be asked, so that
    nobody knows whether it means them; age: of the oldest grains that were used, in seconds;
    asked: what came of asking; warnings: about the inventory.
    """

    hosts: tuple[str, ...]
    unclear: tuple[HostOutcome, ...] = ()
    age: float | None = None
    asked: Played | None = None
    warnings: tuple[str, ...] = ()


def choose(
    options: Options,
    target: str,
    hosts: Sequence[Host],
    ask: Callable[[Sequence[str]], Played],
    refresh: bool = False,
) -> Chosen:
    """The hosts that a target means. ask: gathers the grains of hosts; refresh: ask also those
    whose grains are in the cache.
    """
    cache = FactsCache(options.cachedir)
    fresh: dict[str, HostGrains] = {}

    def facts(host: Host) -> HostGrains:
        if host.name in fresh:
            return fresh[host.name]
        return HostGrains(host.grains) if refresh else cache.facts(host)

    def selected(among: Sequence[Host]) -> Selection:
        return select(target, among, options.nodegroups, facts, _pillar(options))

    first = selected(hosts)
    asked, silent = None, []
    if first.undecided:
        asked = ask(first.undecided)
        said = {host.name: host.grains for host in hosts}
        for outcome in asked.outcomes:
            grains = grains_of(outcome)
            if grains is None:
                silent.append(_unclear(outcome.kind, outcome.host, target, outcome.message))
                continue
            fresh[outcome.host] = HostGrains({**grains, **said[outcome.host]}, 0.0)
    without = {outcome.host for outcome in silent}
    last = selected([host for host in hosts if host.name not in without])
    for name, error in last.unrendered.items():
        silent.append(_unclear(FAILED, name, target, f"its pillar: {error.message}"))
    return Chosen(last.hosts, tuple(silent), last.age, asked)


def _pillar(options: Options) -> Callable[[Host, Mapping[str, Any]], Mapping[str, Any]]:
    return lambda host, grains: pillar_of(options, host.name, grains)


def _unclear(kind: str, host: str, target: str, why: str) -> HostOutcome:
    return HostOutcome(
        host, kind, message=f"nobody knows whether {target!r} means it: {why or 'no grains'}"
    )
