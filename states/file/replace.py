# SPDX-License-Identifier: Apache-2.0
"""file.replace: what matches a regular expression in a file reads otherwise."""

from __future__ import annotations

from functools import partial

from modules import file
from modules.file.edits import found_in, replaced, takes_cr
from modules.file.large_texts import LargeText, is_by_lines
from runner.api import FilePath, Plan, Planned, StateFailed, TextEncoding
from states.file import _edits, _lines


@file.validated
def replace(
    name: FilePath,
    pattern: str,
    repl: str,
    count: int = 0,
    flags: list[str | int] | int | str = 8,
    bufsize: int | str = 1,
    append_if_not_found: bool = False,
    prepend_if_not_found: bool = False,
    not_found_content: str | None = None,
    backup: str | bool = ".bak",
    show_changes: bool = True,
    ignore_if_missing: bool = False,
    backslash_literal: bool = False,
    encoding: TextEncoding | None = None,
) -> Planned:
    """Replace what matches a regular expression in a file.

    name: The file, which has to exist.
    pattern: A Python regular expression; write it so that it does not match what `repl` makes of
      it, or each run replaces again.
    repl: The text that replaces a match; `\\1` is the first group.
    count: The most replacements, 0 for all.
    flags: Flags of the expression, such as [IGNORECASE, DOTALL]; without them MULTILINE.
    bufsize: Ignored.
    append_if_not_found: Add `not_found_content` (or `repl`) at the end of the file when nothing
      matches.
    prepend_if_not_found: Add `not_found_content` (or `repl`) at the beginning of the file when
      nothing matches.
    not_found_content: What is added when nothing matches, instead of `repl`.
    backup: The end of the name that a copy of the old file gets; false makes none.
    show_changes: False hides the diff.
    ignore_if_missing: A missing file is not a failure.
    backslash_literal: Backslashes in `repl` mean themselves.
    encoding: The encoding of the file; without it UTF-8.

        /etc/ssh/sshd_config:
          file.replace:
            - pattern: '^#?PermitRootLogin .*$'
            - repl: PermitRootLogin no
            - append_if_not_found: True
    """
    if append_if_not_found and prepend_if_not_found:
        raise StateFailed("Only one of append and prepend_if_not_found is permitted")
    if not file.exists(name):
        if ignore_if_missing:
            return "No changes needed to be made"
        raise StateFailed(f"{name}: file not found", missing=("file", name))
    old = _lines.text_at(name, encoding)
    expression = _lines.compiled(pattern, flags)
    if isinstance(old, LargeText) and (count or not is_by_lines(expression)):
        old = old.whole("count" if count else _lines.by_lines(pattern))
    _edits.refuse_binary(name, old)
    content = repl if not_found_content is None else not_found_content
    written = repl.replace("\\", r"\\") if backslash_literal else repl
    found = partial(found_in, expression, content)

    def edit(text: _lines.Text) -> str | file.Edited | None:
        new = replaced(text, expression, written, count)
        adds = append_if_not_found or prepend_if_not_found
        if adds and not text.any(found, overlap=len(content) + 1):
            with_cr = not takes_cr(expression, written, content, count)
            new = text.edited(_lines.adding(text, content, append_if_not_found, with_cr))
        return new

    new = edit(old)
    _edits.warn_of_carriage_returns(name, old, expression)
    if new is None:
        return "No changes needed to be made"
    _edits.warn_unsettled(name, new, edit)
    changes = {"diff": _lines.diff_of(old, new) if show_changes else True}
    yield Plan(changes, "Changes would have been made", provides=_lines.provided(name, new))
    with file.backed_up(name, backup):
        _lines.write_text(name, new, encoding=encoding)
    return "Changes were made"
