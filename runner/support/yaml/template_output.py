# SPDX-License-Identifier: Apache-2.0
"""The output of values in a template: mappings and lists as Python writes them, and so that YAML
reads the same again.
"""

from __future__ import annotations

import sys

from runner.model.stdlib import pattern

BREAKS = pattern(r"[\n\t\r]")


def printed(value: object) -> str:
    r"""The text of a value.

    A text in a mapping that has line breaks or tabs gets double quotes: only in these does YAML
    read `\n` as one.

    >>> print(printed({"key": "a\nb", "rest": ["it's", 1, None]}))
    {'key': "a\nb", 'rest': ["it's", 1, None]}

    An ordered mapping is shown as any other: only text operations (`~`, format) show its kind, as
    with Salt.
    """
    text = str(value)
    if not isinstance(value, dict | list | tuple) or (
        "\\" not in text and "OrderedDict(" not in text
    ):
        return text
    return _written(value)


def _written(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {_item(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_written, value)) + "]"
    if type(value) is tuple:
        return "(" + ", ".join(map(_written, value)) + (",)" if len(value) == 1 else ")")
    return repr(value)


def _item(value: object) -> str:
    """A value of a mapping."""
    if not isinstance(value, str) or not BREAKS.search(value):
        return _written(value)
    import yaml

    written: str = yaml.safe_dump(
        str.__str__(value), default_style='"', allow_unicode=True, width=sys.maxsize
    )
    return written.removesuffix("\n")
