"""file.accumulated: texts that several states gather for one file."""

from __future__ import annotations

from runner.api import AbsolutePath, OneOrMany, StateFailed, here


def accumulated(name: str, filename: AbsolutePath, text: OneOrMany[str | int | float]) -> str:
    """Gather texts for a file that a template or file.blockreplace of this run writes.

    name: of the accumulator; templates read it as `accumulator['name']`. filename: the file that they are for; its
    state has to be named in require_in or watch_in, since it must run later. text: one or several.

        admins:
          file.accumulated:
            - filename: /etc/motd
            - text: Ask zoe.
            - require_in:
              - file: /etc/motd

    Behaviour: Salt 3008's file.accumulated.
    """
    _refuse_orphan(name, filename)
    gathered = here.store("file.accumulated").setdefault(filename, {}).setdefault(name, [])
    for each in (str(item) for item in text):
        if each not in gathered:
            gathered.append(each)
    return f"Accumulator {name} for file {filename} was charged by text"


def _refuse_orphan(name: str, filename: str) -> None:
    """No state that runs later would read it."""
    chunk = here.chunk
    if chunk is None:
        return
    later = [other for other in here.chunks if other.state == "file" and filename in (other.name, other.id)]
    waits = ("require", "watch", "require_any", "watch_any", "onchanges", "prereq")
    for other in later:
        for requisite in other.requisites:
            if requisite.kind in waits and requisite.target in (chunk.id, chunk.name):
                return
    raise StateFailed(f"Orphaned accumulator {name} in {chunk.sls}:{chunk.id}")
