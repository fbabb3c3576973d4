# SPDX-License-Identifier: Apache-2.0
"""What no state declares any more: as an SLS file that removes it, and for programs."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from runner.output.text import counted, safe
from runner.output.yaml_ import text as yaml_text

if TYPE_CHECKING:
    from runner.pipeline.orphans import Orphan, Orphans


def sls(orphans: Orphans) -> str:
    """An SLS file that removes what can be removed; the rest stands in its comments."""
    return "".join(f"{safe(line)}\n" for line in _lines(orphans))


def _lines(orphans: Orphans) -> Iterator[str]:
    yield "#!yaml"  # a name that a server or an archive chose is no template
    number = len(orphans.removable)
    if not (number or orphans.changed or orphans.by_hand):
        yield "# Nothing: the tree declares all that earlier highstates made."
        return
    yield f"# {counted(number, 'thing')} of earlier highstates that no state declares any more"
    for orphan in orphans.removable:
        yield ""
        yield f"# {_one_line(_made_by(orphan))}"
        items = [{key: value} for key, value in orphan.arguments.items()]
        yield yaml_text({f"prune {orphan.thing}": {orphan.function: items}})
    yield from _comments("Left as they are", orphans.changed)
    yield from _comments("Not to be removed by a state", orphans.by_hand)


def _comments(title: str, orphans: Sequence[Orphan]) -> Iterator[str]:
    if orphans:
        yield ""
        yield f"# {title}:"
    for orphan in orphans:
        yield f"#   {_one_line(orphan.thing)}: {_one_line(orphan.stays)}"
        yield f"#     {_one_line(_made_by(orphan))}"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _made_by(orphan: Orphan) -> str:
    row = orphan.row
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(row.made_at))
    where = f" at {row.place}" if row.place else ""
    return f"{row.state} {row.id}{where}, run {row.run} ({when})"


def as_data(orphans: Orphans) -> dict[str, list[dict[str, Any]]]:
    """The same for programs."""
    kinds = {
        "orphans": orphans.removable,
        "left": orphans.changed,
        "not_removable": orphans.by_hand,
    }
    return {kind: [orphan.as_data() for orphan in found] for kind, found in kinds.items()}
