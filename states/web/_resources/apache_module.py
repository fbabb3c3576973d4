# SPDX-License-Identifier: Apache-2.0
"""Apache's modules that are enabled."""

from __future__ import annotations

from collections.abc import Iterator

from runner.api import Resource
from states.web._resources._apache import enabled

ROLE = "services"


def resources(name: str | None) -> Iterator[Resource]:
    """The modules that are enabled."""
    yield from enabled("mod", "apache_module.enabled", name)
