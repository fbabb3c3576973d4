# SPDX-License-Identifier: Apache-2.0
"""What a transaction of packages does."""

from typing import Literal

Action = Literal["install", "remove", "purge", "upgrade", "full-upgrade", "autoremove"]
