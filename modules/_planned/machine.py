# SPDX-License-Identifier: Apache-2.0
"""The planned machine: this machine as the plans of a dry run so far would leave it.

Data only, and all of it. What a look makes of it stands with the look; what alters it in a dry run
stands beside the changer that it stands in for.
"""

from __future__ import annotations

from contextlib import contextmanager

from runner.api import apart, here
from runner.api.planning import Overview

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any, TypeVar

    from modules._planned.files import Entry
    from modules._planned.overlay import Overlay
    from modules._planned.view import Base, View
    from modules.mount import Mounted
    from modules.pkg._ahead import PlannedPackage
    from modules.pkg.package_manager import Changes
    from runner.model.chunk import Chunk

    K = TypeVar("K")
    V = TypeVar("V")

Service = tuple[str, str]  # the user whose it is ("": the system's), its name


class PlannedMachine(Overview):
    """What was planned; all is empty where nothing was. None and False stand for what will be gone.

    files: with all that they hold; None where none was planned. view: what commands see of them,
    and what it was made for; view_works: what could be laid over the machine. base: what
    commands see of packages.
    covered: by folder, what was mounted there and what was seen there before each planned mount.
    simulated: by the tag of a state, the packages that its Plan changes; carried_out: the tags of
    those whose transactions were planned; purged: packages without configuration. packages: those
    of which it is known what they bring. answers: of debconf, by question; None for what nobody
    knows. python_packages: by environment ("": the system's), with their versions. tool_packages:
    of other languages, by tool and place, as the tool lists them; open_tools: those of
    which that is not known. coming: the versions of packages
    that states which are still to come would install. rules: of packet filters, as their programs
    list them.
    """

    def __init__(self) -> None:
        super().__init__()
        self.files: Overlay | None = None
        self.view: View | None = None
        self.base: Base | None = None
        self.view_made_for: tuple[int, Chunk | None] | None = None
        self.view_works: set[object] = set()
        self.environment: dict[str, str | None] = {}
        self.kernel_parameters: dict[str, str] = {}  # by path below /proc/sys
        self.locales: dict[str, bool] = {}  # whether programs can use it, as `locale -a` has it
        self.kernel_modules: dict[str, bool] = {}
        self.mounts: dict[str, Mounted | None] = {}
        self.covered: dict[str, list[tuple[Mounted | None, Entry | None]]] = {}
        self.rules: dict[str, str] = {}
        self.swaps: dict[str, dict[str, str] | None] = {}
        self.running: dict[Service, bool] = {}
        self.enabled: dict[Service, bool] = {}
        self.simulated: dict[str, Changes] = {}
        self.carried_out: set[str] = set()
        self.purged: set[str] = set()
        self.holds: dict[str, bool] = {}
        self.packages: dict[str, PlannedPackage] = {}
        self.answers: dict[str, str | None] = {}
        self.python_packages: dict[str, dict[str, str | None]] = {}
        self.tool_packages: dict[tuple[str, str], dict[str, Any]] = {}
        self.open_tools: set[tuple[str, str]] = set()
        self.coming: dict[str, str] = {}

    @property
    def is_seen_by_commands(self) -> bool:
        return self.view is not None

    def copied(self) -> PlannedMachine:
        """Return a copy, in which something else can be planned."""
        copy = PlannedMachine()
        copy.__dict__ |= {name: apart.copied(value) for name, value in vars(self).items()}
        return copy


def merged(now: Mapping[K, V], planned: Mapping[K, V | None]) -> dict[K, V]:
    """Return what there is, with what was planned of it."""
    return {key: value for key, value in {**now, **planned}.items() if value is not None}


def merged_names(now: Iterable[str], planned: Mapping[str, bool]) -> list[str]:
    """Return the names of what there is, with what was planned of it."""
    if not planned:
        return list(now)
    return sorted(name for name, is_so in {**dict.fromkeys(now, True), **planned}.items() if is_so)


@contextmanager
def looks_kept(*topics: str) -> Iterator[None]:
    """Keep the answers of `cached_look` on some topics, where only the planned machine changes."""
    answers = here.store("cached_look")
    kept = {topic: dict(answers.get(topic, {})) for topic in topics}
    try:
        yield
    finally:
        for topic, known in kept.items():
            answers.setdefault(topic, {}).update(known)
