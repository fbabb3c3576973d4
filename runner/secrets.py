"""Secret values never leave a run: they are replaced wherever they would be shown."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from runner.model import Result, Value

HIDDEN = "**********"
SHORTEST = 4  # shorter values would tear ordinary words apart


def hidden(result: Result, secrets: Collection[str]) -> Result:
    """A result without secrets; with `no_log` nothing but the keys of its changes is left."""
    if result.chunk.args.get("no_log"):
        return replace(result, comment=HIDDEN, changes=dict.fromkeys(result.changes, HIDDEN), warnings=())
    found = [secret for secret in secrets if len(secret) >= SHORTEST]
    if not found:
        return result
    found.sort(key=len, reverse=True)
    return replace(result, comment=mask(result.comment, found), changes=mask(result.changes, found))


def mask(value: Value, secrets: Collection[str]) -> Value:
    """A value with each secret in its strings replaced."""
    if isinstance(value, str):
        for secret in secrets:
            value = value.replace(secret, HIDDEN)
        return value
    if isinstance(value, Mapping):
        return {key: mask(item, secrets) for key, item in value.items()}
    return [mask(item, secrets) for item in value] if isinstance(value, list | tuple) else value
