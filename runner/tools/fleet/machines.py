# SPDX-License-Identifier: Apache-2.0
"""The machines of one fleet command: which there are, which a target means, what they answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from runner.model.diagnostics import similar, suggestion
from runner.sources.config.options import Options
from runner.tools.fleet.inventory import Inventory, Listed, check_names, listed_in
from runner.tools.fleet.playing import Play, Played, gather_job
from runner.tools.fleet.progress import Progress
from runner.tools.fleet.records import Host, Job, Limits
from runner.tools.fleet.selecting import Chosen, choose
from runner.tools.fleet.targets import no_match, strangers


class Machines:
    """folder: a private one, for what Ansible's programs are given."""

    def __init__(
        self, options: Options, inventory: Inventory, environ: Mapping[str, str], folder: str
    ) -> None:
        self._options, self._inventory = options, inventory
        self._environ, self._folder = environ, folder

    def listed(self) -> Listed:
        """Return what the inventory says. Raises RunnerError where it cannot be read."""
        return listed_in(self._inventory, self._environ, self._folder)

    def choose(
        self, target: str, forks: int, asking: Callable[[int], Progress], refresh: bool
    ) -> Chosen:
        """The hosts that a target means. asking: is told how many are asked for their grains;
        refresh: believe no grains of earlier runs. Raises RunnerError where it means none, and
        KeyboardInterrupt.
        """
        hosts, _, warnings = self.listed()

        def ask(names: Sequence[str]) -> Played:
            return self.play(gather_job(), Limits(forks), names, asking(len(names)))

        chosen = choose(self._options, target, hosts, ask, refresh)
        if not (chosen.hosts or chosen.unclear):
            raise no_match(target, hosts, self._inventory.shown)
        return chosen._replace(warnings=(*warnings, *_strangers(target, hosts, self._inventory)))

    def play(self, job: Job, limits: Limits, hosts: Sequence[str], progress: Progress) -> Played:
        """Let hosts do a job. Raises RunnerError where nothing could be run."""
        check_names(hosts)
        config = self._options.raw.get("conf_file")
        play = Play(job, limits, self._inventory, config, self._environ, self._folder, progress)
        return play.run(hosts)


def _strangers(target: str, hosts: Sequence[Host], inventory: Inventory) -> Iterator[str]:
    names = [host.name for host in hosts]
    for name in strangers(target, hosts):
        near = similar(name, names)
        meant = f"; {suggestion(*near)}" if near else ""
        yield f"no host of {inventory.shown} is called {name}{meant}"
