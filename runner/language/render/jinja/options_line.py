# SPDX-License-Identifier: Apache-2.0
"""The line `#jinja2: {"trim_blocks": true}` at the head of a template: options of Jinja for this
file alone.
"""

from __future__ import annotations

import re

from runner.model import json_text
from runner.model.diagnostics import did_you_mean
from runner.model.errors import RenderError
from runner.model.places import Source
from runner.model.records import Record
from runner.sources.config import jinja_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# the first line, or the second where the first one names the renderers (what is left of that is an
# empty line)
_LINE = r"((?:#!(?!/).*)?\n)?#jinja2:[ \t]*(\{.*)(?:\n|\Z)"


class Headed(Record):
    """A template without that line."""

    text: str
    options: tuple[tuple[str, Any], ...] = ()
    lines: int = 0  # that were taken from its head
    place: Source | None = None  # of the options


def headed(text: str, file: str) -> Headed:
    """The options in the head of a template. Raises RenderError for options that are none."""
    header = None
    if text.startswith(("#", "\n#")) and "#jinja2:" in text:
        header = re.match(_LINE, text)
    if header is None:
        return Headed(text)
    lead = header[1] or ""
    place = Source(file, 2 if lead else 1, header.start(2) - len(lead) + 1)
    try:
        options = json_text.parse_json(header[2])
    except ValueError as error:
        hint = 'write JSON: `#jinja2: {"trim_blocks": true}`'
        raise RenderError(
            f"the options after #jinja2: are no JSON: {error}", place, hint, "jinja"
        ) from None
    for name, value in options.items():
        _check(name, value, place)
    return Headed(lead + text[header.end() :], tuple(sorted(options.items())), 1, place)


def _check(name: str, value: Any, place: Source) -> None:
    if name not in jinja_options.NAMES:
        hint = did_you_mean(name, jinja_options.NAMES) or "there are " + ", ".join(
            jinja_options.NAMES
        )
        raise RenderError(f"Jinja has no option {name!r}", place, hint, "jinja")
    if not isinstance(value, str | None if name in jinja_options.TEXTS else bool):
        kind = "a text" if name in jinja_options.TEXTS else "true or false"
        raise RenderError(f"{name} is {kind}, not {value!r}", place, None, "jinja")
