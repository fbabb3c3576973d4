# SPDX-License-Identifier: Apache-2.0
"""An undo, for people and as a value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from runner.output.text import counted

if TYPE_CHECKING:
    from runner.history.undo import Undo, UndoStep
    from runner.model.result import Result


class Undone(Protocol):
    """An undo, done or planned. earlier: a run that could be undone instead."""

    @property
    def undo(self) -> Undo: ...
    @property
    def done(self) -> bool: ...
    @property
    def earlier(self) -> int | None: ...
    @property
    def reactions(self) -> tuple[Result, ...]: ...


def value(undone: Undone) -> Mapping[str, Any]:
    """An undo as programs read it."""
    undo = undone.undo
    results = {result.chunk.id: result for result in undone.reactions}
    return {
        "run": undo.run,
        "command": undo.command,
        "done": undone.done,
        "later": [number for number, _ in undo.later],
        "steps": [
            {
                "kind": step.kind,
                "path": step.subject if step.kind == "path" else None,
                "what": str(step),
                "refused": step.refused or None,
                "note": step.note or None,
            }
            for step in undo.steps
        ],
        "unknown": list(undo.unknown),
        "watchers": [
            {
                "state": str(watcher),
                "of": list(watcher.of),
                "result": results[watcher.id].result if watcher.id in results else None,
                "comment": results[watcher.id].comment if watcher.id in results else None,
            }
            for watcher in undo.watchers
        ],
    }


def lines(undone: Undone, dry: bool, react: bool) -> Iterator[str]:
    """The lines of an undo. react: those who watch what is restored react."""
    undo = undone.undo
    for number, command in undo.later:
        yield f"Run {number} stays, nothing that it changed can be restored: {command}"
    yield f"Run {undo.run}: {undo.command}"
    for step in undo.steps:
        yield f"  {step}"
        if step.refused:
            yield f"    left out: {step.refused}"
        if step.note:
            yield f"    {step.note}"
    for call in undo.unknown:
        yield f"  {call}"
        yield "    left out: what it changed was not recorded, and cannot be undone"
    yield _summary(undo, dry)
    yield from _reactions(undone, dry, react)
    if undo.is_partial and not undo.restored and undone.earlier is not None:
        yield (
            f"`runner undo {undone.earlier} --test` shows what can be restored of the run before."
        )


def _summary(undo: Undo, dry: bool) -> str:
    restored, left_out = undo.restored, len(undo.refused) + len(undo.unknown)
    if not undo.steps and not undo.unknown:
        return "All is as it was before this run."
    verb, were = (
        ("Would restore", "would be") if dry else ("Restored", "was" if left_out == 1 else "were")
    )
    return f"{verb} {_counted(restored)}{f'; {left_out} {were} left out' if left_out else ''}."


def _counted(steps: tuple[UndoStep, ...]) -> str:
    paths = sum(step.kind == "path" for step in steps)
    others = len(steps) - paths
    more = counted(others, "other part") + " of the machine" if others else ""
    return " and ".join(filter(None, [counted(paths, "path") if paths or not others else "", more]))


def _reactions(undone: Undone, dry: bool, react: bool) -> Iterator[str]:
    watchers = undone.undo.watchers
    if not watchers:
        return
    for result in undone.reactions:
        outcome = "reacted" if result.result is not False else "failed to react"
        first, *more = str(result.comment).splitlines() or [""]
        yield f"  {result.chunk.function} {result.chunk.id} {outcome}: {first}"
        yield from (f"    {line}" for line in more)
    if undone.reactions:
        return
    who = ", ".join(map(str, watchers))
    verb, reacts = ("watches", "it reacts") if len(watchers) == 1 else ("watch", "they react")
    if react:
        yield f"{who} {verb} what {'would be' if dry else 'is'} restored and would react."
    else:
        yield f"{who} {verb} what is restored; with --react {reacts} too."
