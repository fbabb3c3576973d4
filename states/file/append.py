# SPDX-License-Identifier: Apache-2.0
"""file.append: a file has some lines, added at its end."""

from __future__ import annotations

from typing import Any

from modules import file
from runner.api import AbsolutePath, OneOrMany, Planned
from states.file import _lines


@file.validated
def append(
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
    ignore_whitespace: bool = True,
    show_changes: bool = True,
) -> Planned:
    """Make sure that a file has some texts as whole lines; those that it lacks are added at its
    end.

    name: The file; created when it is missing.
    text: A text or a list of them, each of one or more lines.
    makedirs: Create missing parent folders.
    source: A file (salt://, a path) that holds the text instead.
    source_hash: The digest that the source has to have.
    template: What renders the sources, or null for nothing.
    sources: Several files that hold the texts, each as `source`.
    source_hashes: The digests that the `sources` have to have, in their order.
    defaults: Variables of the sources' templates that `context` does not have.
    context: Variables of the sources' templates.
    ignore_whitespace: Compare without regard to white space; false searches for the text as a
      regular expression.
    show_changes: False hides the difference.

        /etc/profile:
          file.append:
            - text: umask 027

    Behaviour: Salt 3008's file.append.
    """
    wanted = _lines.chunks(
        text,
        sources or ([source] if source else []),
        source_hashes or ([source_hash] if source_hash else []),
        template,
        {**(defaults or {}), **(context or {})},
    )

    def join(old: str, lines: list[str]) -> str:
        separator = "\n" if old and not old.endswith("\n") else ""
        return old + separator + "".join(line + "\n" for line in lines)

    def missing(old: str, chunk: str) -> bool:
        return not _lines.contains(old, chunk, ignore_whitespace)

    return (
        yield from _lines.add_lines(
            name,
            wanted,
            makedirs,
            join,
            missing,
            _lines.spaced_diff if show_changes else _lines.hidden,
            "Appended",
        )
    )
