"""file.line: one line of a file is there, reads so, or is gone."""

from __future__ import annotations

from modules import file
from runner.api import AbsolutePath, Mode, Planned, Record, StateFailed
from states.file import _edits, _lines


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
    doing = mode.lower()
    if doing not in ("ensure", "replace", "delete", "insert"):
        raise StateFailed(f'Unknown mode: "{mode}"; it is ensure, replace, delete or insert')
    if doing != "delete" and content is None:
        raise StateFailed("Content can only be empty if mode is ['delete']")
    if location not in (None, "start", "end"):
        raise StateFailed(f"location {location!r} is neither start nor end")
    there = file.exists(name)
    old = _edits.existing_text(name) if there or not create else ""
    place = _Place(location, before, after, indent)
    new = "\n".join(_edited(old.split("\n") if old else [], content or "", match or content or "", doing, place))
    if new == old and there:
        return "No changes needed to be made"
    import time

    return (
        yield from _edits.edited(
            name,
            old,
            new,
            backup=time.strftime(".%Y-%m-%d-%H-%M-%S") if backup and there else False,
            show=show_changes,
            planned="Changes would be made",
            done="Changes were made",
            user=user,
            group=group,
            mode=file_mode,
        )
    )


class _Place(Record):
    """Where the line goes."""

    location: str | None
    before: str | None
    after: str | None
    indent: bool


def _edited(body: list[str], content: str, match: str, doing: str, place: _Place) -> list[str]:
    """The lines of the file (the last one is empty where the text ends with a newline), one of them edited."""
    if doing == "delete":
        at = _first(body[:-1] if body and not body[-1] else body, match) if match else None
        return body if at is None else [*body[:at], *body[at + 1 :]]
    if doing == "replace":
        at = _first(body, match)
        return body if at is None else [*body[:at], _instead(body[at], content, place), *body[at + 1 :]]
    return _inserted(body, content, place) if doing == "insert" else _ensured(body, content, place)


def _first(body: list[str], match: str) -> int | None:
    """The first line that matches."""
    expression = _lines.compiled(match, 0)
    return next((index for index, line in enumerate(body) if expression.search(f"{line}\n")), None)


def _like(model: str, content: str, place: _Place) -> str:
    """The content as a line, with the indentation of another one."""
    content = content.rstrip(" \t").removesuffix("\n")
    if not place.indent:
        return content
    return model[: len(model) - len(model.lstrip(" \t"))] + content.lstrip()


def _instead(line: str, content: str, place: _Place) -> str:
    """The content in the place of a line, ending as that did."""
    return _like(line, content, place) + ("\r" if line.endswith("\r") else "")


def _only(body: list[str], pattern: str | None, name: str) -> int | None:
    """The line that a neighbour's expression means; None for none."""
    if pattern is None:
        return None
    expression = _lines.compiled(pattern, 0)
    found = [index for index, line in enumerate(body) if expression.search(line)]
    if len(found) > 1:
        raise StateFailed(f'Found more than expected occurrences in "{name}" expression')
    return found[0] if found else None


def _inserted(body: list[str], content: str, place: _Place) -> list[str]:
    if place.location == "start":
        end = "\r" if body and body[0].endswith("\r") else ""
        return [content.rstrip() + end, *(body or [""])]
    if place.location == "end":
        end = "\r" if len(body) > 1 and not body[-1] and body[-2].endswith("\r") else ""
        return [*body[:-1], *(line + end for line in body[-1:]), content.lstrip() if place.indent else content]
    if place.before is None and place.after is None:
        raise StateFailed('On insert either "location" or "before/after" conditions are required.')
    at_after = _only(body, place.after, "after")
    at_before = _only(body, place.before, "before")
    if at_before is not None:
        return _put(body, at_before, at_before - 1, content, _like(body[at_before], content, place))
    if at_after is None:
        raise StateFailed("Neither before or after was found in file")
    return _put(body, at_after + 1, at_after + 1, content, _like(body[at_after], content, place))


def _put(body: list[str], at: int, has: int, content: str, line: str) -> list[str]:
    """The lines with one more, unless the neighbour that would be it is it. has: the number of that neighbour."""
    if 0 <= has < len(body) and body[has].removesuffix("\r") in (content, line):
        return body
    return [*body[:at], line, *body[at:]]


def _ensured(body: list[str], content: str, place: _Place) -> list[str]:
    at_after = _only(body, place.after, "after")
    at_before = _only(body, place.before, "before")
    if at_after is not None and at_before is not None:
        if not 1 <= at_before - at_after <= 2:
            raise StateFailed('Found more than one line between boundaries "before" and "after".')
        if at_before - at_after == 1:
            return _put(body, at_before, -1, content, _like(body[at_after], content, place))
        has = body[at_after + 1]
        new = _like(body[at_after], content, place) + ("\r" if has.endswith("\r") else "")
        return [*body[: at_after + 1], new, *body[at_before:]]
    if at_after is not None:
        return _put(body, at_after + 1, at_after + 1, content, _like(body[at_after], content, place))
    if at_before is not None:
        model = body[at_before - 1] if at_before else ""
        return _put(body, at_before, at_before - 1, content, _like(model, content, place))
    raise StateFailed("Wrong conditions? Unable to ensure line without knowing where to put it before and/or after.")
