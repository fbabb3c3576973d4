# SPDX-License-Identifier: Apache-2.0
"""file.blockreplace: what stands between two marker lines of a file."""

from __future__ import annotations

from typing import NoReturn

from modules import file
from modules.file.edits import ending, with_block
from runner.api import FilePath, Planned, StateFailed
from states.file import _edits, _lines
from states.file._contents import blocks
from states.file._lines import SourcesOfTexts, TextSources

NEWLINE = "\n"


@file.validated
def blockreplace(
    name: FilePath,
    marker_start: str = "#-- start managed zone --",
    marker_end: str = "#-- end managed zone --",
    sources: TextSources = SourcesOfTexts(),
    content: str = "",
    append_if_not_found: bool = False,
    prepend_if_not_found: bool = False,
    backup: str | bool = ".bak",
    show_changes: bool = True,
    append_newline: bool | None = None,
    insert_before_match: str | None = None,
    insert_after_match: str | None = None,
) -> Planned:
    """Make sure that a block of a file, between two marker lines, has these contents.

    Of append_if_not_found, prepend_if_not_found, insert_before_match and insert_after_match one may
    be given; without any, a file without the block fails.

    name: The file.
    marker_start: A text that the line before the block holds.
    marker_end: A text that the line after the block holds.
    source: A file (salt://, a path) whose text follows `content` in the block; what
      file.accumulated gathered for this file follows it.
    sources: Several files whose texts follow `content`, each as `source`.
    content: The block.
    append_if_not_found: Put a block that is not there yet, with its markers, at the end of the
      file.
    prepend_if_not_found: Put a block that is not there yet at the beginning of the file.
    backup: The end of the name that a copy of the old file gets; false makes none.
    show_changes: False hides the diff.
    append_newline: End the block with a newline; without it only when it does not have one.
    insert_before_match: Put a block that is not there yet before the line that matches this regular
      expression.
    insert_after_match: Put a block that is not there yet after the line that matches this regular
      expression.

        /etc/hosts:
          file.blockreplace:
            - content: 10.0.0.5 db
            - append_if_not_found: True
    """
    place = (append_if_not_found, prepend_if_not_found, insert_before_match, insert_after_match)
    if sum(map(bool, place)) > 1:
        _refuse(
            "Only one of append_if_not_found, prepend_if_not_found, insert_before_match, and"
            " insert_after_match is permitted"
        )
    _edits.refuse_missing(name)
    old = _lines.text_at(name)
    block = content + "".join(sources.texts())
    for text in filter(None, blocks(name)):
        block += f"{NEWLINE if block else ''}{text}"
    if append_newline or (append_newline is None and not block.endswith("\n")):
        block += "\n"
    block = block.replace("\r\n", "\n").replace("\n", ending(old.first()))

    def edit(text: _lines.Text) -> str | file.Edited | None:
        return with_block(text, marker_start, marker_end, block, *place)

    try:
        new = edit(old)
    except StateFailed as failure:
        _refuse(failure.message)
    if new is None:
        return "No changes needed to be made"
    _edits.warn_unsettled(name, new, edit)
    return (
        yield from _edits.edited(
            name,
            old,
            new,
            backup=backup,
            show=show_changes,
            planned="Changes would be made",
            done="Changes were made",
        )
    )


def _refuse(why: str) -> NoReturn:
    raise StateFailed(f"Encountered error managing block: {why}")
