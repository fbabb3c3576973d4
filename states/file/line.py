# SPDX-License-Identifier: Apache-2.0
"""file.line: one line of a file is there, reads so, or is gone."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Collection

from modules import file
from modules.file.edit_line import LinePlace, edited_line
from runner.api import FilePath, Mode, Planned, StateFailed, here
from states.file import _edits, _lines


@file.validated
def line(
    name: FilePath,
    content: str | None = None,
    match: str | None = None,
    mode: str | None = None,
    location: str | None = None,
    before: str | None = None,
    after: str | None = None,
    show_changes: bool = True,
    backup: str | bool = False,
    quiet: bool = False,
    indent: bool = True,
    create: bool = False,
    user: str | int | None = None,
    group: str | int | None = None,
    file_mode: Mode | None = None,
) -> Planned:
    """Edit one line of a file.

    name: The file.
    content: The text of the line.
    match: A regular expression of the line to replace, or of those to delete; without it the
      content is looked for, unless `before` or `after` is given.
    mode: What to do: `ensure` that the line is there and at its place, `replace` it, `delete` all
      that match or `insert` it.
    location: The `start` or the `end` of the file, for insert: the line is not added where it
      stands there already, alone or beside lines of other states.
    before: A regular expression of the line that the content stands before.
    after: A regular expression of the line that the content stands after.
    show_changes: False hides the diff.
    backup: Keep a copy with the date in its name.
    quiet: Ignored; a missing file and what is not clear are failures in any case, as with Salt.
    indent: Keep the indentation of the line that is replaced, or of the neighbour.
    create: Start with an empty file where there is none.
    user: The owner of the file after a change; without it as it is.
    group: The group of the file after a change; without it as it is.
    file_mode: The rights of the file after a change; without it as they are.

        /etc/default/grub:
          file.line:
            - mode: replace
            - match: ^GRUB_TIMEOUT=
            - content: GRUB_TIMEOUT=1
    """
    if not mode:
        raise StateFailed("Mode was not defined. How to process the file?")
    doing = mode.lower()
    if doing not in ("ensure", "replace", "delete", "insert"):
        raise StateFailed(f'Unknown mode: "{mode}"; it is ensure, replace, delete or insert')
    if doing != "delete" and content is None:
        raise StateFailed("Content can only be empty if mode is ['delete']")
    if location not in (None, "start", "end"):
        raise StateFailed(f"location {location!r} is neither start nor end")
    exists = file.exists(name)
    old: _lines.Text = _lines.WholeText("")
    if exists or not create:
        _edits.refuse_missing(name)
        old = _lines.text_at(name)
    place = LinePlace(
        location, before, after, indent, _inserted_lines(name, location) if location else ()
    )
    match = place.sought(match, content)
    if doing == "delete" and not match and content:
        here.warn("`before` and `after` say nothing of what is deleted: write it as `match`")
    told = [match] if doing in ("delete", "replace") else [before, after]
    wanted = [_lines.compiled(each, 0) for each in told if each]

    def edit(text: _lines.Text) -> str | file.Edited | None:
        lines = text.excerpt(wanted)
        return text.spliced(lines, edited_line(lines, content or "", match, doing, place))

    new = edit(old)
    if doing == "replace" and new is None and content and not _has_line(old, content.strip()):
        here.warn(f"no line of {name} matches {match!r}, so that {content!r} is missing")
    if new is None and exists:
        return "No changes needed to be made"
    _edits.warn_unsettled(name, new, edit)
    return (
        yield from _edits.edited(
            name,
            old,
            new or "",
            backup=time.strftime(".%Y-%m-%d-%H-%M-%S") if backup and exists else False,
            show=show_changes,
            planned="Changes would be made",
            done="Changes were made",
            user=user,
            group=group,
            mode=file_mode,
        )
    )


def _has_line(text: _lines.Text, line: str) -> bool:
    """Return whether a text has a line, white space around it left out."""
    return text.any(lambda part: line in {each.strip() for each in part.split("\n")})


def _inserted_lines(name: str, location: str) -> Collection[str]:
    """The lines that states of this run insert at the same end of a file, without the spaces around
    them.
    """
    known = here.store("file.line")
    if "inserted" not in known:
        inserted = known["inserted"] = defaultdict(set)
        for chunk in here.chunks:
            if chunk.function == "file.line":
                content = str(chunk.args.get("content", "")).strip()
                inserted[chunk.name, chunk.args.get("location")].add(content)
    lines: set[str] = known["inserted"][name, location]
    return lines
