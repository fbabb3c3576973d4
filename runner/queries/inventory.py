"""The resources of a machine as the text of an SLS."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from runner.api import Resource
from runner.model.chunk import RESERVED

TAKEN = (*RESERVED, "chain", "defaults")
PLAIN = "#!yaml"  # no template: contents may hold what looks like one


SLOT = "__slot__:"  # would be called when the state runs


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
    resources = list(resources)
    parts = []
    states = by_id(resources)
    remarks = {
        id_: item.note
        for id_, item in zip(states, (item for item in resources if item.function), strict=True)
    }
    for id_, body in states.items():
        parts += [f"# {line}" for line in remarks[id_].splitlines()]
        parts.append(_yaml({id_: body}))
    parts += [f"# {item.note}" for item in resources if not item.function]
    whole = "\n".join(part.rstrip("\n") for part in parts) + "\n" if parts else ""
    return f"{PLAIN}\n{whole}" if re.search(r"\{[{%#]", whole) else whole


def _yaml(data: Any) -> str:
    import yaml

    class Dumper(yaml.SafeDumper):
        """Lists below their key are indented, texts of several lines stand as they are."""

        def increase_indent(self, flow: bool = False, indentless: bool = False) -> Any:
            return super().increase_indent(flow, False)

    def represent(dumper: yaml.SafeDumper, value: str) -> Any:
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=_style(value))

    Dumper.add_representer(str, represent)
    dumped = yaml.dump(data, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=10**6)
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
