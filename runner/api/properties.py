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
    """One property of a thing.

    name: the key of its change. wanted: the value from the SLS; None: it is not managed. get:
    measures it. set: puts it right; receives the value. matching: of a list, "any": one that is
    there will do, and else the first is used; "all": the whole list. is_to_s, should_to_s: how the
    value that is and the one that should be are told. change_to_s: the whole message.
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

    exists: whether it does. create: makes it, with all that is wanted: where it is missing, no
    property is looked at. The properties are compared and put right in their order.

    >>> def present(name: str, owner: str | None = None) -> Planned:
    ...     owned = Property("owner", owner, lambda: owner_of(name), lambda value: chown(name,
    value)) ...     return (yield from ensured(name, exists(name), lambda: create(name, owner),
    [owned]))
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
