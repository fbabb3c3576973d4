"""An undo, for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from runner.output.text import counted

if TYPE_CHECKING:
    from runner.history.undo import Undo


def lines(undo: Undo, done: bool, dry: bool, earlier: int | None) -> Iterator[str]:
    """The lines of an undo, done or planned. earlier: a run that could be undone instead."""
    yield f"Run {undo.run}: {undo.command}"
    for step in undo.steps:
        yield f"  {step}"
        if step.refused:
            yield f"    left out: {step.refused}"
    restored, left_out = len(undo.restored), len(undo.refused)
    if not undo.steps:
        yield "All is as it was before this run."
    else:
        verb, rest = (
            ("Would restore", "would be left out") if dry else ("Restored", _were(left_out))
        )
        yield f"{verb} {counted(restored, 'path')}{f'; {left_out} {rest}' if left_out else ''}."
    if left_out and not restored and earlier is not None:
        yield f"`runner undo {earlier} --test` shows what can be restored of the run before."


def _were(number: int) -> str:
    return "was left out" if number == 1 else "were left out"
