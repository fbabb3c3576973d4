"""The same as YAML."""

from __future__ import annotations

from runner.plain_values import plain


def text(data: object) -> str:
    """Block style, in the order of the data."""
    import yaml

    if isinstance(data, str):
        return data
    dumped: str = yaml.safe_dump(plain(data), default_flow_style=False, sort_keys=False, allow_unicode=True)
    return dumped.removesuffix("\n...\n").rstrip("\n")
