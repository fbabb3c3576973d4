# SPDX-License-Identifier: Apache-2.0
"""Properties: what can be measured on the machine, compared with what is wanted and put right, one
after another.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any, Literal

from runner.api import Done, Plan
from runner.model.records import Record


def shown(value: Any) -> str:
    """A value as people read it."""
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


class Property(Record):
    """One property of a thing on the machine.

    name: the key of its change.
    wanted: the value from the SLS; None: it is not managed.
    get: returns the current value. set: changes it to the value that it receives.
    matching: for a list, "any" (the default): one of its values will do, and else the first is set;
    "all": the whole list is the value.
    is_to_s, should_to_s: the text of the current and of the wanted value; by default as they are.
    change_to_s: the whole text of a change, from both values; None by default.
    """

    name: str
    wanted: Any
    get: Callable[[], Any]
    set: Callable[[Any], object]
    matching: Literal["any", "all"] = "any"
    is_to_s: Callable[[Any], Any] = shown
    should_to_s: Callable[[Any], Any] = shown
    change_to_s: Callable[[Any, Any], str] | None = None

    @property
    def target(self) -> Any:
        """The value to set."""
        return self.wanted[0] if self._chooses else self.wanted

    @property
    def _chooses(self) -> bool:
        return self.matching == "any" and isinstance(self.wanted, list) and bool(self.wanted)

    def fits(self, current: Any) -> bool:
        """Return whether the current value will do."""
        return current in self.wanted if self._chooses else current == self.wanted

    def change_text(self, current: Any) -> str:
        """The change as people read it."""
        if self.change_to_s is not None:
            return self.change_to_s(current, self.target)
        return (
            f"{self.name} changed from {self.is_to_s(current)} to {self.should_to_s(self.target)}"
        )


def ensured(
    name: str,
    exists: bool,
    create: Callable[[], object] | None = None,
    properties: Sequence[Property] = (),
    destroy: Callable[[], object] | None = None,
) -> Generator[Plan, None, str | Done]:
    """Make sure that a thing exists with its properties; with `destroy`, that it does not.

    name: its name, the key of its change when it is created or removed.
    exists: True if it exists now.
    create: makes it, with all its properties: where it is missing, no property is looked at.
    properties: compared and set in their order; none by default.
    destroy: removes it; give this or `create`.

    Yields one Plan, or none; returns the outcome. Raises what the functions raise.

    >>> def present(name: str, owner: str | None = None) -> Planned:
    ...     owned = Property("owner", owner, lambda: owner_of(name), lambda new: chown(name, new))
    ...     create = lambda: make(name, owner)
    ...     return (yield from ensured(name, exists(name), create, [owned]))
    """
    change = destroy or create
    assert change is not None, "give create or destroy"
    wanted = destroy is None
    if exists is not wanted:
        old, new = ("absent", "present") if wanted else ("present", "absent")
        yield Plan(
            {name: {"old": old, "new": new}},
            f"{name} is set to be {'created' if wanted else 'removed'}",
        )
        change()
        return f"{name} was {'created' if wanted else 'removed'}"
    if not wanted:
        return f"{name} is absent already"
    current_values = [(wanted, wanted.get()) for wanted in properties if wanted.wanted is not None]
    wrong = [(wanted, current) for wanted, current in current_values if not wanted.fits(current)]
    if not wrong:
        return f"{name} is in the correct state"
    comment = "; ".join(differing.change_text(current) for differing, current in wrong)
    changes = {
        differing.name: {
            "old": differing.is_to_s(now),
            "new": differing.should_to_s(differing.target),
        }
        for differing, now in wrong
    }
    yield Plan(changes, comment)
    for differing, _ in wrong:
        differing.set(differing.target)
    return comment
