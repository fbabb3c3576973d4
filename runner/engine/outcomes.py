# SPDX-License-Identifier: Apache-2.0
"""What states have come to, and would come to as the looks of prereqs show: of those that
requisites name together it is worked out once for all that name them.
"""

from __future__ import annotations

from collections.abc import Callable

from runner.engine import decide as decisions
from runner.engine.decide import Telling
from runner.model.result import Result

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from runner.engine.step import RunPlan
    from runner.model.chunk import EdgeGroup

    Targets = tuple[int, ...]  # of a group: the same tuple for all that name them together


class Outcomes:
    """The results so far of one run, and the looks that still hold.

    A look holds until a function is called that may change something, or a state ends which the
    look went by.
    """

    def __init__(self, plan: RunPlan, results: Mapping[int, Result]) -> None:
        self._plan, self._relations, self._results = plan, plan.relations, results
        self._have_ended: set[int] = set()  # targets
        self._told: dict[int, Telling] = {}  # what these have come to
        self._looks: dict[int, Result] = {}
        self._looked: dict[int, Telling] = {}  # by targets, as far as these have not ended
        self._going_by: dict[int, set[int]] = {}  # the looks that go by targets
        self._targets_with: dict[int, list[int]] = {}  # by a state
        self._rank: dict[int, int] = {}  # of those that have requisites
        self._failed: dict[int, tuple[int, Result]] = {}  # the first that looks at targets
        # of targets: what they say, and which of them have changed
        self._lows: dict[int, list[Mapping[str, Any]]] = {}
        self._changed: dict[tuple[int, bool], list[str]] = {}
        if self._relations.looks:
            self._note_targets()

    def _note_targets(self) -> None:
        ordered = [group for group in self._relations.edges.groups if group.kind.orders]
        for targets in {id(group.targets): group.targets for group in ordered}.values():
            for target in targets:
                self._targets_with.setdefault(target, []).append(id(targets))
        self._rank = {holder: rank for rank, holder in enumerate(self._relations.by_holder)}

    def note(self, position: int, result: Result) -> None:
        """Note that a state has ended."""
        if not self._relations.looks:
            return
        self._drop(position)
        for group in self._relations.of(position).groups if result.result is False else ():
            if group.kind.prepares:
                failed = self._rank[position], result
                known = self._failed.get(id(group.targets), failed)
                self._failed[id(group.targets)] = min(failed, known, key=lambda pair: pair[0])

    def failed_before(self, position: int) -> Result | None:
        """The state that had a prereq on this one, to prepare its change, and failed."""
        if not self._failed:
            return None
        found = map(self._failed.get, self._targets_with.get(position, ()))
        return min(filter(None, found), default=(0, None), key=lambda pair: pair[0])[1]

    def have_ended(self, targets: Targets) -> bool:
        """Return whether all of these states have."""
        if id(targets) not in self._have_ended:
            if not all(target in self._results for target in targets):
                return False
            self._have_ended.add(id(targets))
        return True

    def of(self, targets: Targets) -> Telling | None:
        """What states have come to; None as long as one has not ended."""
        if id(targets) not in self._told:
            if not self.have_ended(targets):
                return None
            self._told[id(targets)] = decisions.telling([self._results[each] for each in targets])
        return self._told[id(targets)]

    def lows(self, targets: Targets) -> list[Mapping[str, Any]]:
        """The low chunks of states."""
        if id(targets) not in self._lows:
            self._lows[id(targets)] = [self._plan.chunk(target).low for target in targets]
        return self._lows[id(targets)]

    def changed(self, group: EdgeGroup, noop: bool) -> list[str]:
        """What has changed of the states that a requisite stands for, as messages call it. noop: it
        is asked for a state that is only planned, and for which it counts what others only plan.
        """
        key = id(group.targets), noop
        if key in self._changed:
            return self._changed[key]
        titles = []
        for target in group.targets:
            result = self._results.get(target)
            if result is not None and noop:
                result = result._replace(noop=False)
            if decisions.sets_off(result):
                titles.append(self._plan.steps[target].title)
        if self.have_ended(group.targets):
            self._changed[key] = titles
        return titles

    # -------------------------------------------------- looks

    def look(self, position: int) -> Result | None:
        """What a state has come to, or would by a look that holds."""
        return self._results.get(position) or self._looks.get(position)

    def looked(self, targets: Targets, look: Callable[[int], Result]) -> Telling:
        """What states would come to. look: takes the look at one of them."""
        number = id(targets)
        if number in self._looked:
            return self._looked[number]
        telling = self.of(targets)
        if telling is None:
            telling = decisions.telling([look(target) for target in targets])
            if all(map(self.look, targets)):
                self._looked[number] = telling
        return telling

    def keep(self, position: int, look: Result) -> None:
        """Have a look hold."""
        self._looks[position] = look
        for group in self._relations.of(position).groups:
            if group.kind.orders:
                self._going_by.setdefault(id(group.targets), set()).add(position)

    def forget_looks(self) -> None:
        """Note that a function is called that may change something."""
        if self._looks or self._looked:
            self._looks.clear()
            self._looked.clear()
            self._going_by.clear()

    def _drop(self, position: int) -> None:
        """Forget the looks that went by a state, and those that went by them."""
        positions = [position]
        while positions:
            position = positions.pop()
            self._looks.pop(position, None)
            for targets in self._targets_with.get(position, ()):
                self._looked.pop(targets, None)
                positions += self._going_by.pop(targets, ())
