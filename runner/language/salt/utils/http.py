# SPDX-License-Identifier: Apache-2.0
"""salt.utils.http: requests."""

from __future__ import annotations

from typing import Any

from runner.api import here


def query(url: str, method: str = "GET", **options: Any) -> dict[str, Any]:
    """The answer to a request, as http.query returns it."""
    answer: dict[str, Any] = here.call("http.query", url, method=method, **options)
    return answer
