# SPDX-License-Identifier: Apache-2.0
"""file.prepend: a file has some lines, added at its start."""

from __future__ import annotations

from typing import Any

from modules import file
from runner.api import AbsolutePath, OneOrMany, Planned
from states.file import _lines


@file.validated
def prepend(
    name: AbsolutePath,
    text: OneOrMany[_lines.Text] | None = None,
    makedirs: bool = False,
    source: str | None = None,
    source_hash: str | None = None,
    template: str | bool | None = "jinja",
    sources: list[str | dict[str, Any]] | None = None,
    source_hashes: list[str] | None = None,
    defaults: dict[str, Any] | None = None,
    context: dict[str, Any] | None = None,
    header: bool = False,
    show_changes: bool = True,
) -> Planned:
    """Make sure that a file has some texts as whole lines; those that it lacks are added at its
    start.

    name: The file; created when it is missing.
    text: A text or a list of them, each of one or more lines.
    makedirs: Create missing parent folders.
    source, source_hash, template, sources, source_hashes, defaults, context: as of file.append.
    header: The file has to begin with exactly these lines, even where it has them elsewhere.
    show_changes: False hides the difference.

        /etc/motd:
          file.prepend:
            - text: This machine is managed.

    Behaviour: Salt 3008's file.prepend.
    """
    wanted = _lines.chunks(
        text,
        sources or ([source] if source else []),
        source_hashes or ([source_hash] if source_hash else []),
        template,
        {**(defaults or {}), **(context or {})},
    )
    head = [line for chunk in wanted for line in chunk.splitlines()]

    def join(old: str, lines: list[str]) -> str:
        return "".join(line + "\n" for line in lines) + old

    def missing(old: str, chunk: str) -> bool:
        if header:
            return old.splitlines()[: len(head)] != head
        return not _lines.contains(old, chunk)

    return (
        yield from _lines.add_lines(
            name,
            wanted,
            makedirs,
            join,
            missing,
            _lines.diff if show_changes else _lines.hidden,
            "Prepended",
        )
    )
