# SPDX-License-Identifier: Apache-2.0
"""The resources of a machine as the text of an SLS."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from runner.api import Resource
from runner.model.chunk import RESERVED, SLOT

TAKEN = (*RESERVED, "chain", "defaults")
PLAIN = "#!yaml"  # no template: contents may hold what looks like one


def by_id(resources: Iterable[Resource]) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """The states as an SLS says them; each has an ID of its own."""
    made: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for item in resources:
        if item.function:
            made[_id(item, made)] = {item.function: _arguments(item, _id(item, made))}
    return made


def _id(resource: Resource, taken: Mapping[str, Any]) -> str:
    if (
        resource.name not in taken
        and resource.name not in TAKEN
        and not resource.name.startswith("__")
    ):
        return resource.name
    user = resource.arguments.get("user")
    longer = f"{resource.function} {resource.name}" + (f" of {user}" if user else "")
    number = 2
    candidate = longer
    while candidate in taken:
        candidate, number = f"{longer} ({number})", number + 1
    return candidate


def _arguments(item: Resource, known_as: str) -> list[dict[str, Any]]:
    name = {} if known_as == item.name else {"name": item.name}
    arguments = {**name, **item.arguments}
    return [{key: value} for key, value in arguments.items() if not str(value).startswith(SLOT)]


def text(resources: Iterable[Resource]) -> str:
    """The SLS, with what is to be said of a state above it."""
    return texts([resources])[0]


def texts(groups: Iterable[Iterable[Resource]]) -> list[str]:
    """An SLS for each group; no ID stands in two of them."""
    listed = [list(group) for group in groups]
    states = iter(by_id(item for group in listed for item in group).items())
    return [
        _text([(item, next(states) if item.function else None) for item in group])
        for group in listed
    ]


def _text(items: list[tuple[Resource, tuple[str, Any] | None]]) -> str:
    parts = []
    for item, state in items:
        if state:
            parts += [*_comment(item.note), _yaml(dict([state]))]
    for item, state in items:
        parts += [] if state else _comment(item.note)
    whole = "\n".join(part.rstrip("\n") for part in parts) + "\n" if parts else ""
    return f"{PLAIN}\n{whole}" if re.search(r"\{[{%#]", whole) else whole


def _comment(note: str) -> list[str]:
    """The lines of a comment: whatever was found on the machine, it ends none."""
    lines = note.encode("utf-8", "backslashreplace").decode().splitlines()
    return [
        f"# {''.join(char if char.isprintable() else repr(char)[1:-1] for char in line)}"
        for line in lines
    ]


def _yaml(data: Any) -> str:
    import yaml

    class SlsDumper(yaml.SafeDumper):
        """Lists below their key are indented, texts of several lines stand as they are."""

        def increase_indent(self, flow: bool = False, indentless: bool = False) -> Any:
            return super().increase_indent(flow, False)

    def represent(dumper: yaml.SafeDumper, value: str) -> Any:
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=_style(value))

    SlsDumper.add_representer(str, represent)
    dumped = yaml.dump(data, Dumper=SlsDumper, sort_keys=False, allow_unicode=True, width=10**6)
    return str(dumped)


def _style(value: str) -> str | None:
    """Lines stand as they are where YAML brings back exactly those; other texts of several lines
    are quoted.
    """
    if "\n" not in value:
        return None
    return (
        "|"
        if re.fullmatch(r"[^\s](?:[\t\n -~\u00a1-\u1fff]*[^\s])?\n?", value) and "\t" not in value
        else '"'
    )
