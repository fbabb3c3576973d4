# SPDX-License-Identifier: Apache-2.0
"""Answers as YAML."""

from __future__ import annotations

from runner.model.plain_values import plain
from runner.model.stdlib import dumps, pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# what turns the direction of writing or cannot be seen: a reader would be shown something else than
# what is there
_MISLEADING = pattern(
    "[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f]"
)


def text(data: object) -> str:
    """Block style, in the order of the data."""
    if isinstance(data, str):
        return data
    if type(data) in (bool, int, type(None)):
        return dumps(plain(data))
    import yaml

    class Dumper(yaml.SafeDumper):
        """Texts of several lines stand as they are, those that mislead in quotes, where escapes may
        stand.
        """

    def represent(dumper: Any, text: str) -> Any:
        style = "|" if "\n" in text.strip("\n") else None
        return dumper.represent_scalar(
            "tag:yaml.org,2002:str", text, '"' if _MISLEADING.search(text) else style
        )

    Dumper.add_representer(str, represent)
    dumped: str = yaml.dump(
        plain(data), Dumper=Dumper, default_flow_style=False, sort_keys=False, allow_unicode=True
    )
    shown = _MISLEADING.sub(lambda match: f"\\u{ord(match[0]):04X}", dumped)
    return shown.removesuffix("\n...\n").rstrip("\n")
