# SPDX-License-Identifier: Apache-2.0
"""States that end the run: what comes after them is left to the next one."""

from __future__ import annotations

from typing import Final

from runner.model.result import ENDS_RUN

THE_RUN_ENDS: Final = {ENDS_RUN: True}  # `extra` of the `Done` of such a state
