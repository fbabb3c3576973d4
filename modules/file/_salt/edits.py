# SPDX-License-Identifier: Apache-2.0
"""Edits of texts under Salt's names and arguments, for `runner call`, module.run and classic
modules.
"""

from __future__ import annotations

import re
import subprocess
from typing import Any

from modules import _paths
from modules.file import _look, bounded_regex, differences, edit_line, edits
from modules.file._backed_up import backed_up
from modules.file._contents import write
from modules.file._salt.arguments import lines_given
from modules.file._salt.arguments import path_given as _path
from modules.file.large_texts import WholeText
from runner.api import StateFailed, refuse_unforeseen


def _text(path: str, encoding: str | None = None) -> str:
    if not _paths.isfile(path):
        raise StateFailed(f"File not found: {path}", missing=("file", path))
    try:
        return _look.read_bytes(path).decode(encoding or "utf-8", "surrogateescape")
    except LookupError:
        raise StateFailed(f"encoding: {encoding!r} is none that Python knows") from None


def _write_text(
    path: str,
    old: str,
    new: str,
    backup: str | bool,
    show: bool = True,
    dry_run: bool = False,
    encoding: str | None = None,
) -> str | bool:
    """Write a text that is another one; the difference, or with show=False whether there is one."""
    if old != new and not dry_run:
        with backed_up(path, backup):
            write.write(path, new.encode(encoding or "utf-8", "surrogateescape"))
    return differences.diff(old, new) if show else old != new


def replace(
    path: str,
    pattern: str,
    repl: str,
    count: int = 0,
    flags: list[str | int] | int | str = 8,
    bufsize: int | str = 1,
    append_if_not_found: bool = False,
    prepend_if_not_found: bool = False,
    not_found_content: str | None = None,
    backup: str | bool = ".bak",
    dry_run: bool = False,
    search_only: bool = False,
    show_changes: bool = True,
    ignore_if_missing: bool = False,
    preserve_inode: bool = True,
    backslash_literal: bool = False,
    encoding: str | None = None,
) -> str | bool:
    """Replace what matches a regular expression; the difference, or with show_changes=False whether
    there was one. Raises StateFailed for arguments that exclude each other.

    The arguments of the state file.replace, and dry_run: change nothing; search_only: only whether
    it matches. preserve_inode: accepted and without effect, files are written whole.
    """
    path = _path(path)
    if append_if_not_found and prepend_if_not_found:
        raise StateFailed("Only one of append and prepend_if_not_found is permitted")
    if ignore_if_missing and not _paths.exists(path):
        return False
    old, expression = _text(path, encoding), edits.compiled(pattern, flags)
    if search_only:
        return bounded_regex.matches(expression, old)
    repl = str(repl)
    content = repl if not_found_content is None else not_found_content
    text = repl.replace("\\", r"\\") if backslash_literal else repl
    new = edits.substituted(expression, text, old, int(count))
    if (append_if_not_found or prepend_if_not_found) and not edits.found_in(
        expression, content, old
    ):
        with_cr = not edits.takes_cr(expression, text, content, int(count))
        new = edits.added(old, content, append_if_not_found, edits.ending(old), with_cr)
    return _write_text(path, old, new, backup, show_changes, dry_run, encoding)


def append(path: str, *args: Any, **kwargs: Any) -> str:
    """Add lines to the end of a file (also as the argument `args`), also when it has them."""
    path, lines = _path(path), lines_given(args, kwargs)
    old = _text(path)
    if lines:
        head = old if not old or old.endswith("\n") else f"{old}\n"
        _write_text(path, old, head + "".join(lines), backup=False)
    return f'Wrote {len(lines)} lines to "{path}"'


def prepend(path: str, *args: Any, **kwargs: Any) -> str:
    """Add lines to the beginning of a file (also as the argument `args`); it is created when it is
    missing.
    """
    path, lines = _path(path), lines_given(args, kwargs)
    old = _text(path) if _paths.exists(path) else ""
    write.write(path, ("".join(lines) + old).encode("utf-8", "surrogateescape"))
    return f'Prepended {len(lines)} lines to "{path}"'


def comment_line(
    path: str, regex: str, char: str = "#", cmnt: bool = True, backup: str | bool = ".bak"
) -> str | bool:
    """Put a comment sign before the lines that match, or with cmnt=False remove it; the
    difference, False if none. Raises StateFailed for a binary file.

    regex: finds the lines from their beginning, without the sign.
    """
    path = _path(path)
    old = _text(path)
    if "\0" in old:
        raise StateFailed(f"Cannot perform string replacements on a binary file: {path}")
    new = (edits.commented_out if cmnt else edits.bared_lines)(old, regex, char)
    _write_text(path, old, new, backup)
    return differences.diff(old, new, context=0) if new != old else False


def comment(path: str, regex: str, char: str = "#", backup: str | bool = ".bak") -> str | bool:
    """Comment out the lines that match; return the difference, False when no line matches."""
    return comment_line(path, regex, char, True, backup)


def uncomment(path: str, regex: str, char: str = "#", backup: str | bool = ".bak") -> str | bool:
    """Take the comment sign from the lines that match behind it; the difference, False when no line
    matches.
    """
    return comment_line(path, regex, char, False, backup)


def line(
    path: str,
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
) -> str | bool:
    """Edit one line of a file; the difference, False when there is none. Raises StateFailed without
    the file and for an unknown mode. The arguments are those of the state.
    """
    path = _path(path)
    if not _paths.isfile(path):
        if quiet:
            return False
        raise StateFailed(
            f'File "{path}" does not exists or is not a file.', missing=("file", path)
        )
    if mode is None:
        raise StateFailed("Mode was not defined. How to process the file?")
    doing = str(mode).lower()
    if doing not in ("ensure", "replace", "delete", "insert"):
        raise StateFailed(f'Unknown mode: "{mode}"; it is ensure, replace, delete or insert')
    if doing != "delete" and content is None:
        raise StateFailed("Content can only be empty if mode is ['delete']")
    old = _text(path)
    place = edit_line.LinePlace(location, before, after, indent)
    new = "\n".join(
        edit_line.edited_line(
            old.split("\n") if old else [],
            content or "",
            place.sought(match, content),
            doing,
            place,
        )
    )
    return _write_text(path, old, new, backup, show_changes) if new != old else False


def blockreplace(
    path: str,
    marker_start: str = "#-- start managed zone --",
    marker_end: str = "#-- end managed zone --",
    content: str = "",
    append_if_not_found: bool = False,
    prepend_if_not_found: bool = False,
    backup: str | bool = ".bak",
    dry_run: bool = False,
    show_changes: bool = True,
    append_newline: bool | None = False,
    insert_before_match: str | None = None,
    insert_after_match: str | None = None,
) -> str | bool:
    """Set the block between two markers of a file; the difference, or with show_changes=False
    whether there is one. Raises StateFailed for arguments that exclude each other.

    The arguments are those of the state file.blockreplace, and dry_run: change nothing.
    """
    path = _path(path)
    place = (append_if_not_found, prepend_if_not_found, insert_before_match, insert_after_match)
    if sum(map(bool, place)) > 1:
        raise StateFailed(
            "Only one of append_if_not_found, prepend_if_not_found, insert_before_match, and"
            " insert_after_match is permitted"
        )
    old = _text(path)
    block = content + (
        "\n" if append_newline or (append_newline is None and not content.endswith("\n")) else ""
    )
    block = block.replace("\r\n", "\n").replace("\n", edits.ending(old))
    new = edits.with_block(WholeText(old), marker_start, marker_end, block, *place)
    return _write_text(path, old, old if new is None else str(new), backup, show_changes, dry_run)


def sed(
    path: str,
    before: str,
    after: str,
    limit: str = "",
    backup: str = ".bak",
    options: str = "-r -e",
    flags: str = "g",
    escape_all: bool = False,
    negate_match: bool = False,
) -> dict[str, Any] | bool:
    """Edit a file with the program sed: `after` for `before` in lines that match `limit`; False
    without the file. Raises StateFailed for the option -i.

    options: of sed. flags: behind the expression. negate_match: in the lines that do not match
    `limit`.
    """
    path = _path(path)
    if not _paths.exists(path):
        return False
    if re.search(r"(^|\s)(-[A-Za-z]*i|--in-place)", options):
        raise StateFailed(
            "sed's -i is not for `options`: the file is written whole, with a copy that `backup`"
            " names"
        )
    before, after = (str(text).replace("/", r"\/") for text in (before, after))
    if escape_all:
        after = _escaped(after)
    where = f"/{str(limit).replace('/', chr(92) + '/')}/" if limit else ""
    expression = (
        f"{where}{'!' if negate_match else ''} s/{before}/{after}/{str(flags).replace('/', '')}"
    )
    argv = ["sed", *options.split(), expression, path]
    refuse_unforeseen(argv[0])
    done = subprocess.run(argv, capture_output=True, check=False)  # its answer byte for byte
    if done.returncode == 0:
        with backed_up(path, backup):
            if done.stdout != _look.read_bytes(path):
                write.write(path, done.stdout)
    stderr = done.stderr.decode("utf-8", "replace").strip()
    return {"pid": 0, "retcode": done.returncode, "stdout": "", "stderr": stderr}


def _escaped(text: str) -> str:
    for letter in "'\"\\":
        text = text.replace(letter, f"\\{letter}")
    return text


def psed(
    path: str,
    before: str,
    after: str,
    limit: str = "",
    backup: str = ".bak",
    flags: str = "gMS",
    escape_all: bool = False,
    multi: bool = False,
) -> None:
    """Put `after` for what matches `before` (Python's regular expressions) in the lines that match
    `limit`.

    flags: g for every match of a line; I, L, M, S, U and X are Python's. multi: take the file as
    one text.
    """
    path = _path(path)
    old = _text(path)
    number = 0
    for letter in str(flags):
        number |= getattr(re, letter, 0) if letter in "ILMSUX" else 0
    expression, wanted = (
        edits.compiled(str(before), number),
        edits.compiled(str(limit), number) if limit else None,
    )
    text = _escaped(str(after)) if escape_all else str(after)
    count = 0 if "g" in str(flags) else 1
    parts = [old] if multi else differences.lines_of(old)
    fitting = bounded_regex.matching(wanted, parts) if wanted else [True] * len(parts)
    chosen = [part for part, fits in zip(parts, fitting, strict=True) if fits]
    edited = iter(edits.substituted_parts(expression, text, chosen, count))
    new = "".join(next(edited) if fits else part for part, fits in zip(parts, fitting, strict=True))
    with backed_up(path, backup):
        _write_text(path, old, new, backup=False)
