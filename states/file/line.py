"""file.line: one line of a file is there, reads so, or is gone."""

from __future__ import annotations

import re
from typing import Literal

from modules import file
from runner.api import AbsolutePath, Mode, Planned, StateFailed
from states.file import _edits, _lines

Doing = Literal["ensure", "replace", "delete", "insert"]


def line(
    name: AbsolutePath,
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

    name: the file. content: the line. match: a regular expression of the line to replace or delete; without it the
    content is looked for. mode: ensure (there, at its place), replace, delete, insert. location: start or end, for
    insert. before, after: regular expressions of the neighbours. show_changes: report the diff.
    backup: keep a copy with the date in its name. quiet: nothing that matches is no failure. indent: keep the
    indentation of the line that is replaced, or of the neighbour. create: an empty file when there is none, with user,
    group and file_mode.

        /etc/default/grub:
          file.line:
            - mode: replace
            - match: ^GRUB_TIMEOUT=
            - content: GRUB_TIMEOUT=1

    Behaviour: Salt 3008's file.line.
    """
    if not mode:
        raise StateFailed("Mode was not defined. How to process the file?")
    if mode not in ("ensure", "replace", "delete", "insert"):
        raise StateFailed(f'Unknown mode: "{mode}"; it is ensure, replace, delete or insert')
    if mode != "delete" and content is None:
        raise StateFailed("Content can only be empty if mode is ['delete']")
    there = file.exists(name)
    old = _edits.existing_text(name) if there or not create else ""
    body = old.split("\n") if old else []
    try:
        new = "\n".join(_edited(body, content or "", match or content or "", mode, location, before, after, indent))
    except re.error as problem:
        raise StateFailed(f"{problem.pattern!r} is not a regular expression: {problem}") from problem
    except _Unclear as problem:
        if quiet:
            return "No changes needed to be made"
        raise StateFailed(str(problem)) from None
    if new == old and there:
        return "No changes needed to be made"
    import time

    stamp = time.strftime(".%Y-%m-%d-%H-%M-%S") if backup and there else False
    if not there:
        return (yield from _created(name, new, user, group, file_mode))
    return (
        yield from _edits.edited(
            name,
            old,
            new,
            backup=stamp,
            show=show_changes,
            planned="Changes would be made",
            done="Changes were made",
        )
    )


def _created(name: str, new: str, user: str | int | None, group: str | int | None, mode: str | None) -> Planned:
    from runner.api import Plan

    yield Plan({"diff": _lines.diff("", new)}, "Changes would be made", provides=[("file", name)])
    file.write(name, new.encode(), user=user, group=group, mode=mode)
    return "Changes were made"


class _Unclear(Exception):
    """Where the line goes cannot be told."""


def _edited(
    body: list[str],
    content: str,
    match: str,
    mode: str,
    location: str | None,
    before: str | None,
    after: str | None,
    indent: bool,
) -> list[str]:
    if mode == "delete":
        return [each for each in body if not re.search(match, each)]
    if mode == "replace":
        return [_like(each, content, indent) if re.search(match, each) else each for each in body]
    if mode == "insert":
        return _inserted(body, content, location, before, after, indent)
    return _ensured(body, content, before, after, indent)


def _like(model: str, content: str, indent: bool) -> str:
    """The content with the indentation of a line."""
    if not indent:
        return content
    lead = model[: len(model) - len(model.lstrip(" \t"))]
    return lead + content.lstrip(" \t") if lead else content


def _only(body: list[str], pattern: str, name: str, several: bool = False) -> int | None:
    """The line that a neighbour's expression means; None for none."""
    found = [index for index, each in enumerate(body) if re.search(pattern, each)]
    if len(found) > 1 and not several:
        raise _Unclear(f'Found more than expected occurrences in "{name}" expression')
    return found[0] if found else None


def _inserted(
    body: list[str], content: str, location: str | None, before: str | None, after: str | None, indent: bool
) -> list[str]:
    if before is None and after is None:
        if location not in ("start", "end"):
            raise _Unclear('On insert either "location" or "before/after" conditions are required.')
        return [content, *body] if location == "start" else [*body, content]
    at_after = None if after is None else _only(body, after, "after")
    at_before = None if before is None else _only(body, before, "before")
    if at_after is None and at_before is None:
        raise _Unclear("Neither before or after was found in file")
    if at_before is not None:
        lines = _like(body[at_before], content, indent)
        return body if at_before and body[at_before - 1] == lines else [*body[:at_before], lines, *body[at_before:]]
    assert at_after is not None
    lines = _like(body[at_after], content, indent)
    following = body[at_after + 1 : at_after + 2]
    return body if following == [lines] else [*body[: at_after + 1], lines, *body[at_after + 1 :]]


def _ensured(body: list[str], content: str, before: str | None, after: str | None, indent: bool) -> list[str]:
    at_after = None if after is None else _only(body, after, "after")
    at_before = None if before is None else _only(body, before, "before")
    if after is not None and before is not None and at_after is not None and at_before is not None:
        inner = body[at_after + 1 : at_before]
        if len(inner) > 1:
            raise _Unclear('Found more than one line between boundaries "before" and "after".')
        lines = _like(body[at_after], content, indent)
        return [*body[: at_after + 1], lines, *body[at_before:]]
    if at_after is None and at_before is None:
        raise _Unclear("Wrong conditions? Unable to ensure line without knowing where to put it before and/or after.")
    return _inserted(
        body, content, None, None if at_before is None else before, None if at_after is None else after, indent
    )
