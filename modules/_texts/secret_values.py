# SPDX-License-Identifier: Apache-2.0
"""Values that are secrets, whatever their names."""

from __future__ import annotations

from typing import Any

from runner.api import here, texts_in


def hide(value: Any) -> None:
    """Have reports and the history not show a value; who asks on the command line sees it."""
    if not here.called_directly:
        for text in texts_in(value):
            here.secret(text)
