"""The same as YAML."""

from __future__ import annotations

from typing import Any

from runner.plain_values import plain


def text(data: object) -> str:
    """Block style, in the order of the data."""
    import yaml

    if isinstance(data, str):
        return data

    class Dumper(yaml.SafeDumper):
        """Texts of several lines stand as they are."""

    def represent(dumper: Any, text: str) -> Any:
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text.strip("\n") else None)

    Dumper.add_representer(str, represent)
    dumped: str = yaml.dump(plain(data), Dumper=Dumper, default_flow_style=False, sort_keys=False, allow_unicode=True)
    return dumped.removesuffix("\n...\n").rstrip("\n")
