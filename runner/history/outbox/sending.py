# SPDX-License-Identifier: Apache-2.0
"""What each way of delivery has: it sends one report, or says why not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from runner.model.errors import RunnerError


class NotDelivered(RunnerError):
    """The destination did not take a report. answered: it said so, for this report."""

    code = "report"

    def __init__(self, message: str, hint: str | None = None, answered: bool = False) -> None:
        super().__init__(message, hint=hint)
        self.answered = answered


class Refused(NotDelivered):
    """The destination will never take this report."""


# sends one report, by its name, text and parsed contents; raises NotDelivered
Send = Callable[[str, bytes, dict[str, Any]], None]
