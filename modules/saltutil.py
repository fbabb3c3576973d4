"""What a Salt master would have to do: nothing here, so that trees that call it run."""

from __future__ import annotations

from typing import Any


def refresh_pillar(*args: Any, **kwargs: Any) -> bool:
    """Nothing to do: the pillar is read in each run."""
    return True


def refresh_grains(*args: Any, **kwargs: Any) -> bool:
    """Nothing to do: grains are looked up in each run."""
    return True


def sync_all(*args: Any, **kwargs: Any) -> dict[str, list[str]]:
    """Nothing to do: a tree's modules are used where they lie."""
    return {}


def sync_modules(*args: Any, **kwargs: Any) -> list[str]:
    """Nothing to do."""
    return []


sync_states = sync_grains = sync_utils = sync_modules
