# SPDX-License-Identifier: Apache-2.0
"""file.append: a file has some lines, added at its end."""

from __future__ import annotations

from modules import file
from runner.api import AsText, FilePath, OneOrMany, Planned
from states.file import _lines
from states.file._lines import SourcesOfTexts, TextSources


@file.validated
def append(
    name: FilePath,
    text: AsText[OneOrMany[_lines.Value]] | None = None,
    makedirs: bool = False,
    sources: TextSources = SourcesOfTexts(),
    ignore_whitespace: bool = True,
    show_changes: bool = True,
) -> Planned:
    """Make sure that a file has some texts as whole lines; those that it lacks are added at its
    end.

    name: The file; created when it is missing.
    text: A text or a list of them, each of one or more lines.
    makedirs: Create missing parent folders.
    ignore_whitespace: Compare without regard to white space; false searches for the text as a
      regular expression.
    show_changes: False hides the diff.

        /etc/profile:
          file.append:
            - text: umask 027
    """
    wanted = sources.or_given(text)

    def missing(old: _lines.Text, chunk: str) -> bool:
        return not _lines.has_lines(old, chunk, ignore_whitespace)

    return (
        yield from _lines.add_lines(
            name,
            wanted,
            makedirs,
            at_end=True,
            missing_lines=missing,
            show=_lines.spaced_diff if show_changes else _lines.hidden,
        )
    )
