# SPDX-License-Identifier: Apache-2.0
"""file.accumulated: texts that several states gather for one file."""

from __future__ import annotations

from typing import Any

from runner.api import FilePath, OneOrMany, StateFailed, here


def accumulated(name: str, filename: FilePath, text: OneOrMany[Any]) -> str:
    """Gather texts for a file that a template or file.blockreplace of this run writes.

    name: The accumulator's name; templates read it as `accumulator['name']`.
    filename: The file that the texts are for; its state has to be named in require_in or watch_in,
      since it must run later.
    text: One text or several, or data that a template takes apart.

        admins:
          file.accumulated:
            - filename: /etc/motd
            - text: Ask zoe.
            - require_in:
              - file: /etc/motd
        /etc/motd:
          file.blockreplace:
            - append_if_not_found: True
    """
    here.store("file.accumulated for").setdefault(filename, {}).setdefault(name, set()).update(
        _takers(name)
    )
    gathered = here.store("file.accumulated").setdefault(filename, {}).setdefault(name, [])
    new = [item for item in text if item not in gathered]
    if not new:
        return ""
    gathered += new
    return f"Accumulator {name} for file {filename} was charged by text"


def _takers(name: str) -> set[str]:
    """The IDs of the states that wait for this one and write its texts; StateFailed where there is
    none.
    """
    chunk = here.chunk
    if chunk is None:
        return set()
    waiting = here.store("file.accumulated waiting")
    if not waiting:
        for other in here.chunks:
            for requisite in other.requisites if other.state == "file" else ():
                if requisite.kind in ("require", "watch"):
                    waiting.setdefault(requisite.target, set()).add(other.id)
    takers: set[str] = waiting.get(chunk.id, set()) | waiting.get(chunk.name, set())
    if not takers:
        raise StateFailed(f"Orphaned accumulator {name} in {chunk.sls}:{chunk.id}")
    return takers
