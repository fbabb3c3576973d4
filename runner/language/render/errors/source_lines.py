# SPDX-License-Identifier: Apache-2.0
"""The places of an error in templates, and their lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import FrameType, TracebackType
from typing import Any

import jinja2
from jinja2.debug import get_template_locals

from runner.model.places import Source
from runner.support.files.text import line_to_show
from runner.support.yaml.rendered_text import brief


def without(places: list[Source], file: str, line: int) -> tuple[Source, ...]:
    return tuple(place for place in places if (place.file, place.line) != (file, line))


def frames(traceback: TracebackType | None) -> Iterator[tuple[Source, FrameType]]:
    """The frames of an exception in templates, outermost first."""
    while traceback is not None:
        template = traceback.tb_frame.f_globals.get("__jinja_template__")
        # stands for a filter or test that is not there
        missing = re.fullmatch(r"t_\d+", traceback.tb_frame.f_code.co_name)
        if isinstance(template, jinja2.Template) and not missing:
            line = template.get_corresponding_lineno(traceback.tb_lineno)
            file = str(traceback.tb_frame.f_globals.get("placed_file", template.filename))
            yield Source(file, line), traceback.tb_frame
        traceback = traceback.tb_next


def locals_of(frame: FrameType | None) -> dict[str, Any]:
    """The variables of a template at a place."""
    return dict(get_template_locals(frame.f_locals).items()) if frame else {}


def values_of(frame: FrameType, row: str) -> tuple[tuple[str, str], ...]:
    """The values of the template's own variables in a line."""
    own = {name.split("_", 2)[2] for name in frame.f_locals if re.match(r"l_\d+_", name)}
    words = dict.fromkeys(re.findall(r"(?<![\w.'\"])[A-Za-z_]\w*", row))
    own -= {"pillar", "grains", "opts", "salt"}
    values = {
        name: value for name, value in locals_of(frame).items() if name in own and name in words
    }
    plain = (str, int, float, bool, list, dict, type(None))
    return tuple(
        (name, _brief(values[name])) for name in words if isinstance(values.get(name, ...), plain)
    )[:4]


def _brief(value: Any) -> str:
    try:
        return brief(value)
    except jinja2.UndefinedError:
        return f"{type(value).__name__} with a part that is undefined"


def row_of(source: Source) -> str:
    return line_to_show(source.file, source.line)


def column_of(row: str, pattern: str) -> int:
    """The column of a pattern, in an expression rather than in the text before it."""
    starts = [match.start() for match in re.finditer(pattern, row)]
    tag = re.search(r"\{\{|\{%", row)
    inside = [start for start in starts if tag and start > tag.start()]
    return (inside or starts)[0] + 1 if starts else 0


def tag_column(row: str) -> int:
    """The column of the only expression or tag of a line."""
    tags = list(re.finditer(r"\{\{|\{%", row))
    return tags[0].start() + 1 if len(tags) == 1 else 0


def call_column(source: Source, message: str) -> int:
    """The column of the function that a message names in quotes."""
    named = re.search(r"'([\w.]+)'", message)
    row = row_of(source)
    return (column_of(row, rf"(?<![\w.]){re.escape(named[1])}") if named else 0) or tag_column(row)
