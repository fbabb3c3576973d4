"""The network: the machine's name, interfaces of ifupdown, routes."""

from __future__ import annotations

from collections.abc import Iterator

from states.network._managed import managed
from states.network._routes import routes
from states.network._system import system


def autorequire(name: str, **_: object) -> Iterator[tuple[str, str]]:
    """An interface comes after ifupdown."""
    yield "pkg", "ifupdown"


__all__ = ["autorequire", "managed", "routes", "system"]
