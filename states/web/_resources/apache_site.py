# SPDX-License-Identifier: Apache-2.0
"""Apache's sites that are enabled."""

from __future__ import annotations

from collections.abc import Iterator

from runner.api import Resource
from states.web._resources._apache import enabled

ROLE = "services"


def resources(name: str | None) -> Iterator[Resource]:
    """The sites that are enabled."""
    yield from enabled("site", "apache_site.enabled", name)
