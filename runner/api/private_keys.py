# SPDX-License-Identifier: Apache-2.0
"""Private keys in texts, which are secrets under any name."""

from __future__ import annotations

from runner.support.redaction.keys import private_keys as private_keys
