# SPDX-License-Identifier: Apache-2.0
"""External pillars (`ext_pillar` of the configuration): data from commands, trees of files, stacks
of templates, git repositories, Vault and Hiera.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from runner.language.pillar.external import commands, file_tree, hiera, stack, vault
from runner.language.pillar.external.tools import Tools
from runner.model.diagnostics import similar, suggestion
from runner.model.errors import RunnerError
from runner.model.records import Record
from runner.support.log import LOG

__all__ = ["Tools", "gather"]

Merge = Callable[[Mapping[str, Any], Mapping[str, Any]], dict[str, Any]]
Look = Callable[[Tools, Mapping[str, Any], Any], Any]  # (tools, pillar so far, what is configured)

LOOKS: Mapping[str, Look] = {
    "cmd_yaml": commands.yaml,
    "cmd_json": commands.json,
    "file_tree": file_tree.look,
    "git": lambda tools, pillar, items: tools.of_git(items),
    "hiera": hiera.look,
    "stack": stack.look,
    "vault": vault.look,
}


class ExternalPillar(Record):
    """One item of `ext_pillar`."""

    name: str
    settings: Any


def gather(
    entries: Any,
    pillar: Mapping[str, Any],
    tools: Tools,
    merge: Merge,
    note: Callable[[str, Mapping[str, Any]], None] = lambda name, data: None,
) -> dict[str, Any]:
    """The pillar with what the external ones add, each laid over those before it. Raises
    RunnerError.

    note: is told what each of them gives.
    """
    merged = dict(pillar)
    for entry in _entries(entries, tools):
        look = LOOKS.get(entry.name)
        if look is None:
            raise _unknown(entry.name, tools)
        with LOG.timed(f"external pillar {entry.name}"):
            data = look(tools, merged, entry.settings)
        if not isinstance(data, Mapping):
            raise tools.problem(
                f"the external pillar {entry.name} gives {data!r:.60}, not a mapping"
            )
        note(entry.name, data)
        merged = merge(merged, data)
    return merged


def _entries(entries: Any, tools: Tools) -> Iterator[ExternalPillar]:
    hint = "write\n    ext_pillar:\n      - cmd_yaml: cat /etc/facts.yaml"
    if not isinstance(entries, list):
        raise tools.problem('The "ext_pillar" option is malformed: it is not a list', hint)
    for item in entries:
        if not isinstance(item, Mapping):
            raise tools.problem(
                f'The "ext_pillar" option is malformed: {item!r} is not a mapping', hint
            )
        yield from (ExternalPillar(str(name), settings) for name, settings in item.items())


def _unknown(name: str, tools: Tools) -> RunnerError:
    near = similar(name, LOOKS)
    known = f"there are {', '.join(LOOKS)}"
    return tools.problem(
        f"runner has no external pillar {name!r}",
        f"{suggestion(near[0])} ({known})" if near else known,
    )
