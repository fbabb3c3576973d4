# SPDX-License-Identifier: Apache-2.0
"""file.prepend: a file has some lines, added at its start."""

from __future__ import annotations

from modules import file
from runner.api import AsText, FilePath, OneOrMany, Planned
from states.file import _lines
from states.file._lines import SourcesOfTexts, TextSources


@file.validated
def prepend(
    name: FilePath,
    text: AsText[OneOrMany[_lines.Value]] | None = None,
    makedirs: bool = False,
    sources: TextSources = SourcesOfTexts(),
    header: bool = False,
    show_changes: bool = True,
) -> Planned:
    """Make sure that a file has some texts as whole lines; those that it lacks are added at its
    start.

    name: The file; created when it is missing.
    text: A text or a list of them, each of one or more lines.
    makedirs: Create missing parent folders.
    header: The file has to begin with exactly these lines, even where it has them elsewhere.
    show_changes: False hides the diff.

        /etc/motd:
          file.prepend:
            - text: This machine is managed.
    """
    wanted = sources.or_given(text)
    head = [line for chunk in wanted for line in _lines.plain_lines(chunk)]

    def missing(old: _lines.Text, chunk: str) -> bool:
        if header:
            return _lines.plain_lines(old.first())[: len(head)] != head
        return not _lines.has_lines(old, chunk)

    return (
        yield from _lines.add_lines(
            name,
            wanted,
            makedirs,
            at_end=False,
            missing_lines=missing,
            show=_lines.diff if show_changes else _lines.hidden,
        )
    )
